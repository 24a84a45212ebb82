"""The search for masked categorical files as a plan names it: a population of many methods, bred cell by cell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, takewhile, zip_longest
from typing import Annotated, Any, ClassVar, Literal, cast

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import Field

from crypsis.encodings.masked_file import MaskedFileEncoding, masked_file_key
from crypsis.errors import PlanError, SearchError
from crypsis.evolution import Budget
from crypsis.evolution.loop import evolve
from crypsis.evolution.problem import Genome, Problem, Scores
from crypsis.evolution.state import State
from crypsis.kernels.mutations import halves
from crypsis.masking import (
    BottomCoding,
    GlobalRecoding,
    MaskingMethod,
    Microaggregation,
    Pram,
    RankSwapping,
    TopCoding,
    methods,
)
from crypsis.masking.method import Family
from crypsis.measures.categorical_ledger import Seven, Stack
from crypsis.measures.categories import Pairing, readable
from crypsis.measures.categories import obstacle as no_categories
from crypsis.measures.measure import measures
from crypsis.measures.objective import Objective
from crypsis.privacy.model import PrivacyModel
from crypsis.registry import Settings
from crypsis.searches.maskings.constraints import Allowed, Constraints, misfit
from crypsis.searches.maskings.scoring import FullReadings, Ledgers
from crypsis.searches.maskings.strategy import FirstFiles, GivenFiles, MaskingStrategy, MethodFiles, Trials
from crypsis.searches.search import Idle, ObjectiveScores, Search, searches
from crypsis.table.table import Table


@dataclass(frozen=True, eq=False)
class FreshCounts:
    """Loss and risk of a file, counted afresh."""

    pairing: Pairing = field(repr=False)
    measured: Seven

    def __call__(self, genome: Genome) -> Scores:
        """Mean of the losses, mean of the risks."""
        stack = Stack(self.pairing, self.measured, 1)
        stack.fill(0, np.ascontiguousarray(genome, dtype=np.int32))
        loss, risk = halves(stack.read(0), stack.frame.chosen)
        return float(loss), float(risk)


def pose(
    settings: MaskingSearch,
    pairing: Pairing,
    constraints: Constraints,
    first: FirstFiles,
    objective: Objective | None,
    rng: Generator,
) -> Problem:
    """Loss and risk minimised; followed by tallies where all measures have some, else read in full.

    Parameters
    ----------
    settings : MaskingSearch
        How files are bred.
    pairing : Pairing
        The original, and the numbering of all files.
    constraints : Constraints
        What every file keeps.
    first : FirstFiles
        The first population; made when the search begins.
    objective : Objective or None
        What is minimised; without one, every measure of categories that has tallies.
    rng : Generator
        Chance of the first population.
    """
    encoding = constraints.encoding
    measured = own_measures(encoding) if objective is None else tallied_measures(objective, encoding)
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


def own_measures(encoding: MaskedFileEncoding) -> Seven:
    """Every registered measure of categories that has tallies and can read the columns."""
    chosen = [measures[name](columns=encoding.context.names) for name in measures if measures[name].tally]
    return Seven.of(*(measure for measure in chosen if not measure.obstacle(encoding.table)))


def tallied_measures(objective: Objective, encoding: MaskedFileEncoding) -> Seven | None:
    """The objective's measures, if tallies follow each of them over exactly the columns that change; else None."""
    readers = [*objective.losses, *objective.risks]
    chosen = [reader.measure for reader in readers]
    bound = [cast(Any, each) for reader in readers for each in reader.bound.values()]
    if not all(each.follows for each in chosen) or len(bound) > len({each.tally for each in chosen}):
        return None
    same = all(each.context.names == encoding.context.names for each in bound)
    return Seven.of(*chosen) if same else None


@dataclass(frozen=True)
class Aims:
    """What a search among given files minimises and keeps.

    objective  what is minimised; by default every measure of categories that has tallies
    models  privacy models every file must keep satisfying
    allowed  which combinations of labels a record may hold, beside `settings.forbidden`
    """

    objective: Objective | None = None
    models: Sequence[PrivacyModel] = ()
    allowed: Allowed | None = None


def pose_maskings(
    original: Table,
    population: Sequence[Table],
    settings: MaskingSearch,
    rng: Generator,
    aims: Aims | None = None,
) -> Problem:
    """The problem of improving given masked files; as `evolve_maskings`, for a loop of one's own."""
    if not population:
        raise SearchError("the population is empty; give the search at least one masked file")
    if any(not file.kept.all() for file in population):
        raise SearchError("a suppressed record has no cells to evolve; give files without suppression")
    aims = aims or Aims()
    encoding, pairings = settings.encoding(original).joined(population)
    constraints = Constraints.of(encoding, settings.forbidden, aims.allowed, aims.models)
    first = GivenFiles([pairing.codes.astype(encoding.dtype) for pairing in pairings])
    return pose(settings, pairings[0], constraints, first, aims.objective, rng)


# -- First populations for the evolution of masked files: many methods, each over a range of its parameters.

OF_EACH_OTHER = 5
"""Files of a first population by each method that the paper does not use."""


@dataclass(frozen=True)
class MaskedFiles:
    """Masked files and how each was made.

    names  methods and settings, in words
    files  the files
    """

    names: tuple[str, ...]
    files: tuple[Table, ...]

    def __len__(self) -> int:
        return len(self.files)


Coded = Annotated[
    Literal["depth", "share"],
    Field(
        description="codings and recodings by the same depth in every column, or by the same share of its categories"
    ),
]
SwapStep = Annotated[float, Field(gt=0, le=100, description="per cent of the ranks between two rank swappings")]


class PaperFamilies(Settings):
    """The families of Marés and Torra (2012): 72 or 48 microaggregations, codings, recodings, 11 swappings, 9 PRAMs.

    How many of each is printed; the parameters are not. Ours by default are those the methods offer themselves as
    `graded`: k in a range, times how the columns are grouped, times median or mode; depths 1, 2, …; swapping 5, 10, …
    per cent; θ = 0.1, 0.2, …. `swap_step` and `coded` are other readings.
    """

    codings: ClassVar[tuple[type[MaskingMethod], ...]] = (BottomCoding, TopCoding, GlobalRecoding)
    named: ClassVar[tuple[type[MaskingMethod], ...]] = (Microaggregation, *codings, RankSwapping, Pram)
    """The methods of the paper, in the order of its list."""

    least_k: int = Field(default=2, ge=2, description="smallest group size of the microaggregations")
    largest_k: int = Field(
        default=13, ge=2, description="largest group size: 13 makes 72 microaggregations, 9 makes 48"
    )
    depths: int = Field(default=4, ge=0, description="top, bottom and global recodings: depths 1 to this")
    coded: Coded = "depth"
    swappings: int = Field(default=11, ge=0, le=20, description="rank swappings: so many steps")
    swap_step: SwapStep = 5.0
    prams: int = Field(default=9, ge=0, le=9, description="invariant PRAMs with θ = 0.1, 0.2, …")
    recoded: Literal["representative", "merged"] = Field(
        default="representative", description="what a global recoding publishes: an existing category or a new label"
    )

    def methods(self, table: Table, columns: Sequence[str]) -> list[MaskingMethod]:
        """One settings object per file.

        columns  categorical columns that are masked
        """
        groups = takewhile(lambda method: method.k <= self.largest_k, Microaggregation.graded(table, columns))
        made: list[MaskingMethod] = [method for method in groups if method.k >= self.least_k]
        by_depth = zip_longest(*(islice(coding.graded(table, columns), self.depths) for coding in self.codings))
        made += [self._published(method) for depth in by_depth for method in depth if method is not None]
        swapped = islice(RankSwapping.graded(table, columns), self.swappings)
        percents = [min(100.0, self.swap_step * step) for step in range(1, self.swappings + 1)]
        made += [m.model_copy(update={"percent": percent}) for m, percent in zip(swapped, percents, strict=False)]
        made += islice(Pram.graded(table, columns), self.prams)
        return made

    def _published(self, method: MaskingMethod) -> MaskingMethod:
        """A coding as it publishes and by the depth or the share it is asked for."""
        changed: dict[str, Any] = {"label": self.recoded} if isinstance(method, GlobalRecoding) else {}
        if self.coded == "share":
            changed["share"] = method.model_dump()["depth"] / (self.depths + 1)
        return method.model_copy(update=changed)


def with_others(families: PaperFamilies, table: Table, columns: Sequence[str]) -> list[MaskingMethod]:
    """The families of the paper, then a few files by every other registered method that offers some.

    families  how many of each family
    columns  categorical columns that are masked
    """
    others: Iterable[type[MaskingMethod]] = (methods[name] for name in methods if methods[name] not in families.named)
    made = families.methods(table, columns)
    for other in others:
        made += islice(other.graded(table, columns), OF_EACH_OTHER)
    return made


def build_population(table: Table, made_by: Sequence[MaskingMethod], rng: Generator) -> MaskedFiles:
    """A masked file by each method, in order.

    table    the original
    made_by  the methods
    rng      the only source of chance

    Raises
    ------
    PlanError
        If no method is given.
    """
    if not made_by:
        raise PlanError("no masking method is given; name at least one, e.g. PaperFamilies().methods(table, columns)")
    files = tuple(method.mask(table, rng) for method in made_by)
    return MaskedFiles(tuple(describe_method(method) for method in made_by), files)


def describe_method(method: MaskingMethod) -> str:
    """A method and the settings that are not its defaults.

    method  a registered method

    Examples
    --------
    >>> from crypsis.masking import Microaggregation
    >>> describe_method(Microaggregation(k=5, numbers="mode"))
    'microaggregation k=5 numbers=mode'
    """
    changed = method.model_dump(exclude_defaults=True, exclude={"columns"})
    if "groups" in changed:
        changed["groups"] = "|".join(",".join(group) for group in changed["groups"])
    return " ".join([methods.name_of(method), *(f"{key}={value}" for key, value in changed.items())])


# -- The search for masked categorical files as a plan names it: a population of many methods, bred cell by cell.

STARTS = ("largest_k", "depths", "coded", "swappings", "swap_step", "prams")
"""Settings of the search that say which files it starts from."""


@searches.add("masking")
class MaskingSearch(Search):
    """Which category should each record show? Files masked in many ways, bred and changed cell by cell.

    Marés and Torra (2012). The file shows false values, so class sizes say nothing about it: it is judged by
    linkage, and a plan releases it by a limit on a risk. Only categorical columns are masked. With strokes = 1,
    aimed = 0 and batch = 1 this is the paper's algorithm; its number of generations and of leaders is not printed.

    Notes
    -----
    - Formula: individual: a masked file; score mean or max of (IL, DR); child against its own parent
    - Paper: Marés and Torra (2012)
    - Cost: O(1) amortised per changed cell for tallies, O(n) for linkage
    - Departures: Equation 3 as printed favours bad files; selection is proportional to max + min − score, as the text
      says

    Examples
    --------
    >>> search = crypsis.MaskingSearch(largest_k=3, depths=1, swappings=1, prams=1, batch=4)
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
    selection: Literal["turned", "inverse", "printed"] = Field(
        default="turned",
        description="chance of a file: largest + smallest − its score, 1 / score, or its score (printed Equation 3)",
    )
    leaders: float = Field(
        default=0.1, gt=0.0, le=1.0, description="best share of the files, at least two, that lead crossovers"
    )
    strokes: int = Field(default=1, ge=1, le=100_000, description="one-cell changes tried in turn in one mutation")
    aimed: float = Field(
        default=0.0, ge=0.0, le=1.0, description="share of changes aimed at records that carry the risk or the loss"
    )
    neutral: bool = Field(
        default=False,
        description="a child of the same score replaces its parent if the sum of loss and risk is no greater",
    )
    batch: int = Field(default=20, ge=1, le=10_000, description="breedings of a generation, none sharing a file")
    longest: float = Field(
        default=1.0, gt=0.0, le=1.0, description="longest stretch a crossover exchanges, as a share of the file"
    )
    forbidden: tuple[dict[str, str], ...] = Field(
        default=(), description="combinations of categories, column by column, that no masked record may have"
    )
    largest_k: int = Field(default=5, ge=2, le=100, description="microaggregations of the start: group sizes 2 to this")
    depths: int = Field(default=2, ge=0, le=20, description="codings and recodings of the start: depths 1 to this")
    coded: Coded = "depth"
    swappings: int = Field(default=5, ge=0, le=20, description="rank swappings of the start: so many steps")
    swap_step: SwapStep = 5.0
    prams: int = Field(default=5, ge=0, le=9, description="invariant PRAMs of the start, θ = 0.1, 0.2, …")
    generations: int = Field(default=200, ge=1, description="generations, where no other budget is given")

    @classmethod
    def first_settings(cls, table: Table, k: int) -> dict[str, Any]:
        return {"score": "front", "strokes": 400, "aimed": 0.7, "neutral": True, "batch": 8}

    def idle(self, guided: bool) -> Mapping[str, Idle]:
        found: dict[str, Idle] = {}
        if self.score == "front":
            found |= dict.fromkeys(("selection", "leaders"), Idle("with score 'front'", "choose 'mean' or 'max'"))
        else:
            found["highest_risk"] = Idle("with score 'mean' or 'max'", "choose 'front'")
        if not self.depths:
            found["coded"] = Idle("without codings", "set depths to 1 or more")
        if not self.swappings:
            found["swap_step"] = Idle("without rank swappings", "set swappings to 1 or more")
        if not self.crossover_rate:
            found |= dict.fromkeys(("leaders", "longest"), Idle("without crossovers", "set crossover_rate above 0"))
        return found

    def obstacle(self, table: Table) -> str:
        if not bool(table.kept.all()):
            return "the table holds suppressed records, which cannot be bred; search before suppressing"
        lacking = no_categories(table, self.columns)
        return lacking or next(filter(None, (misfit(rule, self.encoding(table)) for rule in self.forbidden)), "")

    def encoding(self, table: Table) -> MaskedFileEncoding:
        return MaskedFileEncoding(table, tuple(readable(table, self.columns)))

    def problem(self, encoding: MaskedFileEncoding, objective: Objective | None, rng: Generator) -> Problem:
        table, names = encoding.table, encoding.context.names
        families = PaperFamilies(**{name: getattr(self, name) for name in STARTS})
        constraints = Constraints.of(encoding, self.forbidden)
        first = MethodFiles(constraints, with_others(families, table, names))
        if not len(first):
            raise SearchError("no method makes a first file of this table; allow some codings, swappings or prams")
        return pose(self, encoding.context.pair(table), constraints, first, objective, rng)

    def budget(self) -> Budget:
        return Budget(generations=self.generations)


PAPER = MaskingSearch(generations=2000, crossover_rate=0.5, batch=1)
"""The paper's own way, with the budget it does not print."""

SWIFT = MaskingSearch(generations=600, strokes=200, aimed=0.7, batch=4, neutral=True)
"""Many aimed changes per breeding."""

# -- Masked files of one's own, improved: the search in one call, and what it did to the whole population.

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MaskingResult:
    """A population before and after.

    encoding  how a genome becomes a table
    settings  how the files were bred
    before, after  the first population, whole, and the last
    history  float64[h, 4]: generation, and largest, mean and smallest score
    left_out  files of the population that broke a constraint and took no part
    """

    encoding: MaskedFileEncoding = field(repr=False)
    settings: MaskingSearch
    before: State = field(repr=False)
    after: State = field(repr=False)
    history: Floats = field(repr=False)
    left_out: int

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
        return plain_scores(self.pairs_before, self.settings.score)

    @property
    def scores(self) -> Floats:
        """Score of each file."""
        return plain_scores(self.pairs, self.settings.score)

    @property
    def tried(self) -> dict[str, int]:
        """How many mutations and crossovers had a child."""
        return self._counted("created")

    @property
    def kept(self) -> dict[str, int]:
        """How many of the children took their parent's place."""
        return self._counted("survived")

    def _counted(self, what: str) -> dict[str, int]:
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


def plain_scores(pairs: Floats, score: str) -> Floats:
    """Equation 1 (mean) or Equation 2 (maximum) of loss and risk."""
    return np.asarray(pairs.mean(axis=1) if score == "mean" else pairs.max(axis=1))


def evolve_maskings(
    original: Table,
    population: Sequence[Table],
    settings: MaskingSearch,
    rng: Generator,
    aims: Aims | None = None,
    every: int = 10,
) -> MaskingResult:
    """Improve masked files of one original by mutation, crossover and deterministic crowding.

    Parameters
    ----------
    original : Table
        The table before masking.
    population : sequence of Table
        Masked tables with the original's rows; those that break a constraint take no part.
    settings : MaskingSearch
        How files are bred, and for how many generations; what it says of a start has no part in this.
    rng : Generator
        All chance.
    aims : Aims, optional
        What is minimised and kept.
    every : int
        The scores of all files are written down every so many generations.

    Returns
    -------
    MaskingResult
        No file is worse than it was: its score (under `front`: along its own ray) never grows.
    """
    problem = pose_maskings(original, population, settings, rng, aims)
    history, before = [], None
    for state in evolve(problem, rng, settings.budget()):
        if not state.whole:
            continue
        before = before or state
        if state.generation % every == 0 or state.generation == settings.generations:
            scores = plain_scores(state.scores, settings.score)
            history.append((state.generation, scores.max(), scores.mean(), scores.min()))
    assert before is not None
    left_out = len(population) - len(before.genomes)
    encoding = cast(MaskingStrategy, problem.strategy).constraints.encoding
    return MaskingResult(encoding, settings, before, state, np.array(history), left_out)
