"""Evolutionary masking of categorical files (Marés and Torra 2012): which category each record shows.

A population of files masked by many methods is bred: a mutation changes single cells of one file; a crossover exchanges
a stretch of the flattened files of two; each child competes with its own parent (deterministic crowding).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, cast

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import Field

from crypsis.encodings.masked_file import MaskedFileEncoding, masked_file_key
from crypsis.engines import Engine
from crypsis.errors import SearchError
from crypsis.evolution import Budget
from crypsis.evolution.loop import advance_loop_state, conclude_generation, evolve
from crypsis.evolution.problem import SELECTION, Child, Problem, Streams
from crypsis.evolution.selection import (
    FitnessFunction,
    WeightedMean,
    Worst,
    leaders,
    roulette,
    roulette_weights,
    select_best_on_rays,
    select_parents,
)
from crypsis.evolution.state import State, empty_search_state, extend_search_state
from crypsis.kernels.arrays import Floats
from crypsis.masking.method import Family
from crypsis.measures.categorical_ledger import Seven
from crypsis.measures.categories import Pairing, columns_of_categories
from crypsis.measures.categories import obstacle as no_categories
from crypsis.measures.objective import Objective
from crypsis.privacy.model import PrivacyModel
from crypsis.searches.categorical_masking.first_population import (
    Coding,
    FirstFiles,
    GivenFiles,
    MethodFiles,
    PaperFamilies,
    SwapStep,
    add_other_methods,
)
from crypsis.searches.categorical_masking.scoring import (
    Allowed,
    Codes,
    Constraints,
    FreshCounts,
    FullReadings,
    Ints,
    Ledgers,
    Offspring,
    Parent,
    Proposal,
    Trials,
    measures_for_quick_scoring,
    own_measures,
    scoring_constraint_obstacle,
)
from crypsis.searches.search import Idle, ObjectiveScores, Search, searches
from crypsis.table.table import Table

# -- The search for masked categorical files as a plan names it: a population of many methods, bred cell by cell.

STARTS = ("largest_k", "depths", "coding", "swappings", "swap_step", "prams")
"""Settings of the search that say which files it starts from."""


@searches.add("categorical-masking")
class CategoricalMaskingSearch(Search):
    """Which category should each record show? Files masked in many ways, bred and changed cell by cell.

    The file shows false values, so class sizes say nothing about it: it is judged by linkage, and a plan releases it by
    a limit on a risk. Only categorical columns are masked. With changes_per_mutation = 1, aimed_share = 0 and batch = 1
    this is the paper's algorithm; its number of generations and of leaders is not printed.

    Notes
    -----
    - Formula: individual: a masked file; score mean or max of (IL, DR); child against its own parent
    - Paper: Marés and Torra (2012): evolutionary masking of categorical files
    - Cost: O(1) amortised per changed cell for tallies, O(n) for linkage
    - Departures: Equation 3 as printed favours bad files; selection is proportional to max + min − score, as the text
      says

    Examples
    --------
    >>> search = crypsis.CategoricalMaskingSearch(largest_k=3, depths=1, swappings=1, prams=1, batch=4)
    >>> run = crypsis.evolve(crypsis.example(60), search=search, budget="2 generations", seed=1)
    >>> {str(solution.family) for solution in run.front if not solution.baseline}
    {'perturbation'}
    """

    family: ClassVar[Family] = Family.PERTURBATION

    columns: tuple[str, ...] = Field(
        default=(), description="categorical columns to mask; empty means every categorical quasi-identifier"
    )
    score: Literal["mean", "max", "front"] = Field(
        default="max",
        description="mean or maximum of loss and risk; front: each file follows its own ray towards none of both",
    )
    highest_risk: float = Field(
        default=100.0, gt=0.0, le=100.0, description="with score front: files of about this risk and less are bred"
    )
    crossover_rate: float = Field(default=0.3, ge=0.0, le=1.0, description="chance that a breeding is a crossover")
    selection: Literal["reversed", "inverse", "printed"] = Field(
        default="reversed",
        description="chance of a file: largest + smallest − its score, 1 / score, or its score (printed Equation 3)",
    )
    leaders: float = Field(
        default=0.1, gt=0.0, le=1.0, description="best share of the files, at least two, that lead crossovers"
    )
    changes_per_mutation: int = Field(
        default=1, ge=1, le=100_000, description="one-cell changes tried in turn in one mutation"
    )
    aimed_share: float = Field(
        default=0.0, ge=0.0, le=1.0, description="share of changes aimed at records that carry the risk or the loss"
    )
    neutral: bool = Field(
        default=False,
        description="a child of the same score replaces its parent if the sum of loss and risk is no greater",
    )
    batch: int = Field(default=20, ge=1, le=10_000, description="breedings of a generation, none sharing a file")
    crossover_length: float = Field(
        default=1.0, gt=0.0, le=1.0, description="longest stretch a crossover exchanges, as a share of the file"
    )
    forbidden: tuple[dict[str, str], ...] = Field(
        default=(), description="combinations of categories, column by column, that no masked record may have"
    )
    largest_k: int = Field(default=5, ge=2, le=100, description="microaggregations of the start: group sizes 2 to this")
    depths: int = Field(default=2, ge=0, le=20, description="codings and recodings of the start: depths 1 to this")
    coding: Coding = "depth"
    swappings: int = Field(default=5, ge=0, le=20, description="rank swappings of the start: so many steps")
    swap_step: SwapStep = 5.0
    prams: int = Field(default=5, ge=0, le=9, description="invariant PRAMs of the start, θ = 0.1, 0.2, …")
    generations: int = Field(default=200, ge=1, description="generations, where no other budget is given")

    @classmethod
    def first_settings(cls, table: Table, k: int) -> dict[str, Any]:
        return {"score": "front", "changes_per_mutation": 400, "aimed_share": 0.7, "neutral": True, "batch": 8}

    def idle(self, guided: bool) -> Mapping[str, Idle]:
        found: dict[str, Idle] = {}
        if self.score == "front":
            found |= dict.fromkeys(("selection", "leaders"), Idle("with score 'front'", "choose 'mean' or 'max'"))
        else:
            found["highest_risk"] = Idle("with score 'mean' or 'max'", "choose 'front'")
        if not self.depths:
            found["coding"] = Idle("without codings", "set depths to 1 or more")
        if not self.swappings:
            found["swap_step"] = Idle("without rank swappings", "set swappings to 1 or more")
        if not self.crossover_rate:
            found |= dict.fromkeys(
                ("leaders", "crossover_length"), Idle("without crossovers", "set crossover_rate above 0")
            )
        return found

    def obstacle(self, table: Table) -> str:
        if not bool(table.kept.all()):
            return "the table holds suppressed records, which cannot be bred; search before suppressing"
        lacking = no_categories(table, self.columns)
        return lacking or next(
            filter(None, (scoring_constraint_obstacle(rule, self.encoding(table)) for rule in self.forbidden)), ""
        )

    def encoding(self, table: Table) -> MaskedFileEncoding:
        return MaskedFileEncoding(table, tuple(columns_of_categories(table, self.columns)))

    def problem(self, encoding: MaskedFileEncoding, objective: Objective | None, rng: Generator) -> Problem:
        table, names = encoding.table, encoding.context.names
        families = PaperFamilies(**{name: getattr(self, name) for name in STARTS})
        constraints = Constraints.of(encoding, self.forbidden)
        first = MethodFiles(constraints, add_other_methods(families, table, names))
        if not len(first):
            raise SearchError("no method makes a first file of this table; allow some codings, swappings or prams")
        return _pose_categorical_masking(self, encoding.context.pair(table), constraints, first, objective, rng)

    def budget(self) -> Budget:
        return Budget(generations=self.generations)


PAPER = CategoricalMaskingSearch(generations=2000, crossover_rate=0.5, batch=1)
"""The paper's own way, with the budget it does not print."""

SWIFT = CategoricalMaskingSearch(generations=600, changes_per_mutation=200, aimed_share=0.7, batch=4, neutral=True)
"""Many aimed changes per breeding."""


def _pose_categorical_masking(
    settings: CategoricalMaskingSearch,
    pairing: Pairing,
    constraints: Constraints,
    first: FirstFiles,
    objective: Objective | None,
    rng: Generator,
) -> Problem:
    """The problem of the evolutionary masking of categorical files: loss and risk, by tallies or read in full."""
    encoding = constraints.encoding
    measured = own_measures(encoding) if objective is None else measures_for_quick_scoring(objective, encoding)
    trials: Trials
    if measured is not None:
        trials = Ledgers(pairing, measured, constraints, len(first) + 2, settings.neutral)
        evaluate: FreshCounts | ObjectiveScores = FreshCounts(pairing, measured)
    else:
        assert objective is not None
        evaluate = ObjectiveScores(encoding, objective, family=Family.PERTURBATION)
        trials = FullReadings(
            evaluate, constraints, settings.neutral, Ledgers(pairing, Seven(), constraints, 2, settings.neutral)
        )
    strategy = MaskingStrategy(settings, first, constraints, trials, dict(rng.bit_generator.state))
    return Problem(
        key=masked_file_key,
        strategy=strategy,
        start=strategy.files,
        evaluate=evaluate,
        objectives=("loss", "risk"),
    )


# -- Rays of the plane of loss and risk: each file of a front is improved along a ray of its own.

NEIGHBOURS = 8
"""Files on nearby rays with which a file is crossed."""


REACH = 1.5
"""How far above the highest risk a ray may begin: its file moves towards the origin, and its risk falls."""
RAY_CANDIDATES = 180
"""Angles among which the steepest ray is chosen."""


def assign_rays_to_maskings(pairs: Floats, highest_risk: float = 100.0) -> Floats:
    """Evolutionary search of categorical maskings: assign one of evenly spread rays to each, by its angle.

    `pairs` float64[N, 2]; returns float64[N, 2].
    """
    angles = (np.arange(len(pairs)) + 0.5) / len(pairs) * steepest_angle_of_maskings(pairs, highest_risk)
    slopes = np.empty_like(pairs)
    slopes[np.argsort(np.arctan2(pairs[:, 1], pairs[:, 0]), kind="stable")] = np.stack(
        [1.0 / np.cos(angles), 1.0 / np.sin(angles)], axis=1
    )
    return slopes


def steepest_angle_of_maskings(pairs: Floats, highest_risk: float) -> float:
    """Evolutionary search of categorical maskings: the steepest ray that files of low risk still reach.

    `pairs` float64[N, 2].
    """
    if highest_risk >= 100.0:
        return np.pi / 2
    angles = (np.arange(RAY_CANDIDATES) + 0.5) / RAY_CANDIDATES * (np.pi / 2)
    met = np.maximum(pairs[:, :1] / np.cos(angles), pairs[:, 1:] / np.sin(angles)).min(axis=0) * np.sin(angles)
    low = np.flatnonzero(met <= REACH * highest_risk)
    return float(angles[low[-1]] if len(low) else angles[0])


def draw_neighbouring_maskings(slopes: Floats, rng: Generator) -> tuple[int, int]:
    """Draw a masked categorical file, and one of the files on nearby rays, for the evolution.

    `slopes` float64[N, 2].
    """
    first = int(roulette(np.ones(len(slopes)), 1, rng)[0])
    angles = np.arctan2(slopes[:, 0], slopes[:, 1])
    apart = np.abs(angles - angles[first])
    apart[first] = np.inf
    near = np.argsort(apart, kind="stable")[: min(NEIGHBOURS, len(slopes) - 1)]
    return first, int(near[rng.integers(len(near))])


# -- The evolution of masked files as a strategy: make the first files one by one, then breed batch after batch.

MUTATION, CROSSOVER, START = "mutation", "crossover", "start"
CANDIDATES = 8
"""Records an aimed change looks at."""
GOALS = {"mean": (0.0, 1.0, 1.0, 1.0), "max": (1.0, 1.0, 1.0, 0.0), "front": (1.0, 1.0, 1.0, 1.0)}
"""Weight of the greater side, slopes of loss and risk, weight of their mean: see `kernels.mutations.fitness`."""
PAIRS = 50_000_000
"""Pairs of records worth of masking in one quantum of the first population."""


@dataclass(frozen=True, eq=False)
class MaskingStrategy:
    """One quantum makes files of the first population, or breeds a batch of files none of which takes part twice."""

    settings: CategoricalMaskingSearch  # how files are chosen and changed
    first: FirstFiles  # the first population, made when the search begins
    # what every file keeps; a file of the first population that does not takes no part
    constraints: Constraints = field(repr=False)
    trials: Trials = field(repr=False)  # how children are scored and judged
    random_state: Mapping[str, Any] = field(repr=False)  # state of the random stream the first population draws from

    @property
    def operators(self) -> tuple[str, ...]:
        """Names of the operators, in the order of the tallies."""
        return MUTATION, CROSSOVER

    @property
    def fitness(self) -> FitnessFunction:
        """Equation 1 (mean) or Equation 2 (maximum) of loss and risk."""
        return WeightedMean() if self.settings.score == "mean" else Worst()

    # -- the first population --

    def files(self) -> tuple[Codes, ...]:
        """The first population, made at once."""
        rng = Streams({START: self.random_state})[START]
        return tuple(self.first.make(place, rng) for place in range(len(self.first)))

    def begin(self, problem: Problem, rng: Generator, engine: Engine) -> State:
        """The first files."""
        state = empty_search_state(problem, Streams.spawn(rng, (SELECTION, *self.operators)))
        streams = {**state.rng, START: self.random_state}
        return self._make_first_files(problem, replace(state, rng=streams, memory={"made": np.array(0)}))

    def _make_first_files(self, problem: Problem, state: State) -> State:
        """More files of the first population: as many as one quantum holds, and at least one that takes part."""
        streams, made = Streams(state.rng), int(state.memory["made"])
        due = min(len(self.first), made + max(1, PAIRS // max(1, self._rows) ** 2))
        children: list[Child] = []
        scores = []
        while made < due or (made < len(self.first) and not (state.genomes or children)):
            codes = self.first.make(made, streams[START])
            made += 1
            if self.constraints.hold(codes):
                children.append(Child(codes, "", (), problem.key(codes)))
                scores.append(self.trials.score(codes, children[-1].key))
        whole = made == len(self.first)
        if whole and not (state.genomes or children):
            raise SearchError(
                f"none of the {made} files keeps every constraint; "
                "give files that already satisfy the models and avoid the forbidden combinations"
            )
        pairs = np.array(scores).reshape(-1, 2)
        after = replace(
            extend_search_state(state, children, pairs),
            memory={"made": np.array(made)},
            rng=streams.snapshot(),
            whole=whole,
        )
        if whole and self.settings.score == "front":
            after = replace(
                after,
                memory={**after.memory, "slopes": assign_rays_to_maskings(after.scores, self.settings.highest_risk)},
            )
        return conclude_generation(problem, after, state, children, pairs, {}, list(range(len(children))))

    @property
    def _rows(self) -> int:
        return self.constraints.encoding.table.rows

    # -- breeding --

    def advance(self, problem: Problem, state: State, engine: Engine) -> State:
        """More files of the first population or, once it is whole, a batch of breedings."""
        if int(state.memory["made"]) < len(self.first):
            return self._make_first_files(problem, state)
        if self.settings.score == "front" and (state.generation + 1) % len(state.genomes) == 1:
            state = self._adopt_better_files(state)
        streams = Streams(state.rng)
        files = zip(state.genomes, state.keys, state.scores, self._goals(state), strict=True)
        parents = [Parent(codes, key, scores, goal) for codes, key, scores, goal in files]
        proposals, makers = self._propose(state, parents, streams)
        found = self.trials.run(proposals, engine)
        return self._conclude(problem, replace(state, rng=streams.snapshot()), found, makers)

    def _conclude(
        self, problem: Problem, state: State, found: Sequence[Offspring | None], makers: Sequence[tuple[int, ...]]
    ) -> State:
        """The next generation: survivors in their parents' places, all children offered to the frontier."""
        born = [(child, made_by) for child, made_by in zip(found, makers, strict=True) if child is not None]
        children = [
            Child(child.codes, CROSSOVER if len(made_by) > 1 else MUTATION, made_by, child.key)
            for child, made_by in born
        ]
        scores = np.array([child.scores for child, _ in born]).reshape(-1, 2)
        places = np.arange(len(state.genomes), dtype=np.int64)
        for place, (child, made_by) in enumerate(born):
            if child.survives:
                places[made_by[0]] = len(places) + place
        after = advance_loop_state(state, children, scores, places, self.fitness)
        after = conclude_generation(problem, after, state, children, scores, {}, list(range(len(children))))
        more = sum(child.tried for child, _ in born) - len(born)
        return replace(after, evaluations=after.evaluations + more, hits=after.hits + len(found) - len(born))

    def _goals(self, state: State) -> Floats:
        """float64[N, 4]: what each file is held against."""
        goals = np.tile(GOALS[self.settings.score], (len(state.genomes), 1))
        if self.settings.score == "front":
            goals[:, 1:3] = state.memory["slopes"]
        return goals

    # -- who breeds --

    def _propose(
        self, state: State, parents: Sequence[Parent], streams: Streams
    ) -> tuple[list[Proposal], list[tuple[int, ...]]]:
        """What is tried on which parents."""
        proposals: list[Proposal] = []
        makers: list[tuple[int, ...]] = []
        for places in self._choose_parents(state, streams[SELECTION]):
            if len(places) == 1:
                changes = self._draw_changes(parents[places[0]], streams[MUTATION])
                proposals.append(Proposal(parents[places[0]], changes=changes))
            else:
                one, two = (parents[place] for place in places)
                span = self._draw_span(one.codes.size, streams[CROSSOVER])
                proposals += [Proposal(a, codes=cross(a.codes, b.codes, span)) for a, b in ((one, two), (two, one))]
            makers += [places] if len(places) == 1 else [places, places[::-1]]
        return proposals, makers

    def _choose_parents(self, state: State, rng: Generator) -> list[tuple[int, ...]]:
        """The files of each breeding of a batch: one to be changed, or two to be crossed; none takes part twice."""
        settings, fitness = self.settings, self.fitness(state.scores)
        weights = self._selection_weights(fitness)
        best = leaders(fitness, max(2, int(settings.leaders * len(fitness))))
        chosen: list[tuple[int, ...]] = []
        taken: set[int] = set()
        places: tuple[int, ...]
        for _ in range(min(settings.batch, max(1, len(fitness) // 2))):
            if rng.random() < settings.crossover_rate and len(fitness) > 1:
                front = settings.score == "front"
                places = (
                    draw_neighbouring_maskings(state.memory["slopes"], rng)
                    if front
                    else select_parents(weights, best, rng)
                )
            else:
                places = (int(roulette(weights, 1, rng)[0]),)
            if taken.isdisjoint(places):
                taken.update(places)
                chosen.append(places)
        return chosen

    def _selection_weights(self, fitness: Floats) -> Floats:
        if self.settings.score == "front":
            return np.ones(len(fitness))
        if self.settings.selection == "inverse":
            return np.asarray(1.0 / np.maximum(fitness, 1e-9))
        return fitness.copy() if self.settings.selection == "printed" else roulette_weights(fitness)

    # -- how --

    def _draw_changes(self, parent: Parent, rng: Generator) -> Ints:
        """int64[changes, 3]: single changes at random, some of them aimed; a cell missing in the original stays so."""
        context = self.constraints.encoding.context
        settings, sizes = self.settings, np.array(context.sizes)
        rows = rng.integers(len(parent.codes), size=settings.changes_per_mutation)
        columns = rng.integers(len(sizes), size=settings.changes_per_mutation)
        here = parent.codes[rows, columns]
        inside = here < sizes[columns]
        others = rng.integers(np.maximum(sizes[columns] - inside, 1))
        changes = np.stack([rows, columns, others + (inside & (others >= here) & (sizes[columns] > 1))], axis=1)
        if settings.aimed_share:
            draws = rng.random((settings.changes_per_mutation, 3 + CANDIDATES))
            self.trials.aim(parent, changes, draws, settings.aimed_share)
        missing = context.codes[changes[:, 0], changes[:, 1]] == sizes[changes[:, 1]]
        changes[missing, 2] = sizes[changes[missing, 1]]
        return changes

    def _draw_span(self, cells: int, rng: Generator) -> slice:
        """The stretch of the flattened file that a crossover exchanges."""
        first = int(rng.integers(cells))
        longest = max(1, int(self.settings.crossover_length * cells))
        return slice(first, int(rng.integers(first, min(cells, first + longest))) + 1)

    def _adopt_better_files(self, state: State) -> State:
        """Whoever is beaten on its own ray by another file starts again from that file."""
        adopted = select_best_on_rays(state.scores, self._goals(state))
        return replace(
            state,
            genomes=tuple(state.genomes[place] for place in adopted),
            keys=tuple(state.keys[place] for place in adopted),
            scores=state.scores[adopted],
            born=state.born[adopted],
            origin=state.origin[adopted],
            used=state.used[adopted],
        )


def cross(codes: Codes, mate: Codes, span: slice) -> Codes:
    """A file with the mate's cells in a stretch of the flattened file."""
    child = np.ascontiguousarray(codes).copy()
    child.reshape(-1)[span] = mate.reshape(-1)[span]
    return child


# -- Masked files of one's own, improved: the search in one call, and what it did to the whole population.


@dataclass(frozen=True)
class Criteria:
    """What a search among given files minimises and keeps."""

    objective: Objective | None = None  # what is minimised; by default every measure of categories that has tallies
    models: Sequence[PrivacyModel] = ()  # privacy models every file must keep satisfying
    allowed: Allowed | None = None  # which combinations of labels a record may hold, beside `settings.forbidden`


def pose_maskings(
    original: Table,
    population: Sequence[Table],
    settings: CategoricalMaskingSearch,
    rng: Generator,
    criteria: Criteria | None = None,
) -> Problem:
    """The problem of improving given masked files; as `evolve_maskings`, for a loop of one's own."""
    if not population:
        raise SearchError("the population is empty; give the search at least one masked file")
    if any(not file.kept.all() for file in population):
        raise SearchError("a suppressed record has no cells to evolve; give files without suppression")
    criteria = criteria or Criteria()
    encoding, pairings = settings.encoding(original).join_files(population)
    constraints = Constraints.of(encoding, settings.forbidden, criteria.allowed, criteria.models)
    first = GivenFiles([pairing.codes.astype(encoding.dtype) for pairing in pairings])
    return _pose_categorical_masking(settings, pairings[0], constraints, first, criteria.objective, rng)


@dataclass(frozen=True, eq=False)
class MaskingResult:
    """A population before and after."""

    encoding: MaskedFileEncoding = field(repr=False)  # how a genome becomes a table
    settings: CategoricalMaskingSearch  # how the files were bred
    before: State = field(repr=False)  # the first population, whole, and the last
    after: State = field(repr=False)
    history: Floats = field(repr=False)  # float64[h, 4]: generation, and largest, mean and smallest score
    left_out: int  # files of the population that broke a constraint and took no part

    @property
    def pairs_before(self) -> Floats:
        """float64[N, 2]: mean loss and mean risk of each file at first."""
        return self.before.scores

    @property
    def pairs(self) -> Floats:
        """float64[N, 2]: mean loss and mean risk of each file."""
        return self.after.scores

    @property
    def scores_before(self) -> Floats:
        """Score of each file at first."""
        return _plain_scores(self.pairs_before, self.settings.score)

    @property
    def scores(self) -> Floats:
        """Score of each file."""
        return _plain_scores(self.pairs, self.settings.score)

    @property
    def tried(self) -> dict[str, int]:
        """How many mutations and crossovers had a child."""
        return self._count("created")

    @property
    def kept(self) -> dict[str, int]:
        """How many of the children took their parent's place."""
        return self._count("survived")

    def _count(self, what: str) -> dict[str, int]:
        tally = self.after.tally
        return dict(zip(tally.names, tally.column(what).sum(axis=0).astype(int).tolist(), strict=True))

    @property
    def best(self) -> int:
        """The file of smallest score (under `front`: of smallest maximum)."""
        return int(np.argmin(self.scores))

    def table(self, who: int) -> Table:
        """A file of the final population."""
        return self.encoding.decode(self.after.genomes[who])

    def front(self) -> NDArray[np.int64]:
        """Files no other file beats in both loss and risk, by growing loss."""
        order = np.lexsort((self.pairs[:, 1], self.pairs[:, 0]))
        lowest = np.minimum.accumulate(np.concatenate([[np.inf], self.pairs[order, 1]]))[:-1]
        return np.asarray(order[self.pairs[order, 1] < lowest], dtype=np.int64)


def _plain_scores(pairs: Floats, score: str) -> Floats:
    """Equation 1 (mean) or Equation 2 (maximum) of loss and risk."""
    return np.asarray(pairs.mean(axis=1) if score == "mean" else pairs.max(axis=1))


def evolve_maskings(
    original: Table,
    population: Sequence[Table],
    settings: CategoricalMaskingSearch,
    rng: Generator,
    criteria: Criteria | None = None,
    every: int = 10,
) -> MaskingResult:
    """Improve masked files of one original by mutation, crossover and deterministic crowding."""
    problem = pose_maskings(original, population, settings, rng, criteria)
    history, before = [], None
    for state in evolve(problem, rng, settings.budget()):
        if not state.whole:
            continue
        before = before or state
        if state.generation % every == 0 or state.generation == settings.generations:
            scores = _plain_scores(state.scores, settings.score)
            history.append((state.generation, scores.max(), scores.mean(), scores.min()))
    assert before is not None
    left_out = len(population) - len(before.genomes)
    encoding = cast(MaskingStrategy, problem.strategy).constraints.encoding
    return MaskingResult(encoding, settings, before, state, np.array(history), left_out)
