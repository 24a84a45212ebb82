"""The one scorer of masked tables: losses, risks, uses, limits and models, bound to the original once.

Risks are read once for each intruder, by the columns the intruder knows; the worst counts. Of the risks, those are read
that mean something after a family of masking; where none does, as class risk after a perturbation, one-to-one linkage
takes their place. Held-out attacks judge a perturbed table beside a limit; where it keeps all else, a learned attacker
is measured too, whom no search is fitted to, and the larger figure is its risk.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property, partial
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import SearchError, TableError, listing
from crypsis.measures.linkage_attacks import HELD_OUT, HeldOutLinkage
from crypsis.measures.measure import Aim, BoundMeasure, Measure, Reading
from crypsis.measures.one_to_one_linkage import LEARNED, ONE_TO_ONE, OneToOneLinkage, PublishedClasses, learn_one_to_one
from crypsis.measures.record_linkage import RecordLinkage
from crypsis.measures.utility.analyses import Analyses, AnalysesChanged
from crypsis.measures.utility.distributions import Distributions
from crypsis.table.equivalence_classes import MissingReading, alike_on_both_sides
from crypsis.table.table import PERTURBATION, Table
from crypsis.tasks import Tasks, complete

ALL_KNOWING = "all-knowing"
"""Figure of every solution where no intruder of the plan knows every quasi-identifier: the risk to one who does."""
KNOWN_CLASS = "k.scenarios"
"""Figure beside it: the smallest class over what each intruder of the plan knows."""


@dataclass(frozen=True)
class AllKnowing:
    """Risks by every quasi-identifier, bound to the original once."""

    bound: tuple[tuple[Measure, BoundMeasure], ...]

    @classmethod
    def of(cls, original: Table, risks: Sequence[Measure]) -> AllKnowing:
        """Risks, each by those quasi-identifiers that it can read, or by columns of its own."""
        found = []
        for risk in risks:
            names = risk.columns or columns_objective_reads(risk, original, original.quasi_identifiers)
            measure = risk.model_copy(update={"columns": names})
            found.append((measure, measure.against(original)))
        return cls(tuple(found))

    def risk(self, masked: Table, family: str) -> float | None:
        """Mean of the risks; None where one has no meaning after a family of masking."""
        if not all(family in measure.valid_for for measure, _ in self.bound):
            return None
        try:
            return float(np.mean([bound.read(masked) for _, bound in self.bound]))
        except TableError:
            return None


def columns_objective_reads(measure: Measure, table: Table, knows: Sequence[str]) -> tuple[str, ...]:
    """Those of the columns that a measure can read as the scorer of masked tables binds it to the original."""
    if not measure.model_copy(update={"columns": tuple(knows)}).obstacle(table):
        return tuple(knows)
    return tuple(name for name in knows if not measure.model_copy(update={"columns": (name,)}).obstacle(table))


# -- A measure that is ready to read masked tables, for whoever may know what.


@dataclass(frozen=True)
class BoundReader:
    """A measure bound to the original: once, or once for each intruder."""

    title: str  # name of the figure
    measure: Measure  # the settings
    bound: Mapping[str, BoundMeasure]  # intruder (or '') → bound measure

    def read_tasks(self, masked: Table) -> Tasks[dict[str, float]]:
        """The reading for every intruder, small where it is good, in tasks."""
        found = dict[str, float]()
        for intruder, bound in self.bound.items():
            found[intruder] = self.measure.orient((yield from bound.read_tasks(masked)))
        return found


# -- Demands as a constraint: what meets them all comes before what does not, and that by how much is missed.

TOLERANCE = 1e-9
FAR = 1000.0
"""Beyond any loss or risk in per cent."""


class Model(Protocol):
    """A privacy model, as far as an objective needs it."""

    def obstacle(self, table: Table) -> str:
        """Why the model cannot judge the table; empty if it can."""

    def judge(self, table: Table) -> Any:
        """The verdict on the table."""

    def bind_original(self, original: Table) -> Model:
        """The same demand, judged by the true values where it reads missing cells by them."""

    def shortfall(self, table: Table) -> float:
        """How far the table falls short, 0 … 1; 0 exactly where the model holds."""


@dataclass(frozen=True)
class UseDemand:
    """A use the released file must still serve: its measure, and how much that may change."""

    title: str
    measure: Measure
    tolerance: float
    weight: float = 1.0
    treated_as: Literal["objective", "limit", "report"] = "limit"


@dataclass(frozen=True)
class LimitDemand:
    """A largest reading, of a measure or (measure None) of a figure every table has: loss, risk, suppressed."""

    title: str
    at_most: float
    measure: Measure | None = None


def infeasible_objective_scores(shortfall: float) -> tuple[float, float]:
    """Loss and risk that the objective gives to a masked table that misses a demand.

    Every candidate that meets the demands dominates it, and of two that miss them the one that misses less dominates
    the other. So dominance, weighted means and archives keep feasible candidates first without knowing of demands.

    >>> infeasible_objective_scores(0.25)
    (1250.0, 1250.0)
    """
    return FAR * (1.0 + shortfall), FAR * (1.0 + shortfall)


def keeps_objective_limit(value: float, limit: float, better: str = "low") -> bool:
    """Whether a reading keeps the limit that an objective sets, apart from the last digits of its sum.

    `value`, `limit`: the reading, and what it may be at most (better "low") or at least ("high").

    >>> keeps_objective_limit(10.000000000000004, 10.0), keeps_objective_limit(10.1, 10.0)
    (True, False)
    >>> keeps_objective_limit(10.1, 10.0, "high")
    True
    """
    return bool(value <= limit + TOLERANCE if better == "low" else value >= limit - TOLERANCE)


def excess_over_objective_limit(value: float, at_most: float) -> float:
    """How far a reading exceeds its limit in the objective that scores masked tables, relative to it.

    >>> excess_over_objective_limit(5.0, 5.0), excess_over_objective_limit(20.0, 5.0)
    (0.0, 0.75)
    """
    if keeps_objective_limit(value, at_most):
        return 0.0
    return 1.0 if math.isinf(value) else (value - at_most) / (value - at_most + (at_most if at_most > 0 else 1.0))


# -- What one masked table was found to be: figures, verdicts, and typed reasons why it may not be released.


@dataclass(frozen=True)
class Complaint:
    """Why a masked table may not be released."""

    # what is not kept; 'no-model': the family of the masking gives class sizes no meaning, so no model can be judged
    kind: Literal["model", "no-model", "suppression", "limit", "use"]
    subject: str = ""  # the model, measure or use
    required: float | None = None  # the threshold and what was found; `attained` is None where it cannot be read
    attained: float | None = None
    sense: str = "at most"  # on which side of the threshold the table must be
    offending: int = 0  # for a model: how many records offend, of how many
    records: int = 0
    columns: tuple[str, ...] = ()  # for a model: the columns the intruder was taken to know


@dataclass(frozen=True)
class Omission:
    """Why a figure is not given: it has no meaning after a `family` of masking, or cannot be read (`detail`)."""

    reason: Literal["family", "classes", "unreadable"]
    detail: str = ""


@dataclass(frozen=True)
class Evaluation:
    """Everything the objective found on one masked table.

    Attributes
    ----------
    figures
        By name; None where the figure would mean nothing.
    omissions
        Why a figure is not given.
    intervals
        95 % interval of a figure that is an estimate.
    baselines
        What guessing without the masked file achieves.
    notes
        Why a figure should be read with care.
    verdicts
        The verdict of every required model, as plain data.
    complaints
        Why the table may not be released; empty if it may.
    columns
        Loss, distance of the distribution (numbers: Kolmogorov, categories: total variation) and share of records
        whose value vanished, of each quasi-identifier, per cent.

    Examples
    --------
    >>> people = crypsis.example(100)
    >>> objective = crypsis.Objective(people, {"loss": crypsis.InformationLoss(), "risk": crypsis.ClassRisk()})
    >>> evaluation = objective.evaluate(people, "aggregation")
    >>> evaluation.figures["loss"], evaluation.complaints
    (0.0, ())
    """

    figures: Mapping[str, float | None]
    omissions: Mapping[str, Omission] = field(default_factory=dict)
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    baselines: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    verdicts: tuple[Mapping[str, Any], ...] = ()
    complaints: tuple[Complaint, ...] = ()
    columns: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for a store."""
        return asdict(self)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Evaluation:
        """The evaluation that was stored.

        Parameters
        ----------
        content
            What `to_dict` gave.
        """
        return cls(
            figures=content["figures"],
            omissions={name: Omission(**each) for name, each in content["omissions"].items()},
            intervals={name: (low, high) for name, (low, high) in content["intervals"].items()},
            baselines=content["baselines"],
            notes=tuple(content["notes"]),
            verdicts=tuple(content["verdicts"]),
            complaints=tuple(
                Complaint(**{**each, "columns": tuple(each["columns"])}) for each in content["complaints"]
            ),
            columns=content.get("columns", {}),
        )


def _finite_objective_figure(value: float | None) -> float | None:
    """A figure of the scorer of masked tables that can be stored; None where it is infinite or not known."""
    return None if value is None or not math.isfinite(value) else float(value)


def _plain_verdict(verdict: Any) -> dict[str, Any]:
    """A verdict as plain data."""
    plain = {name: value.item() if hasattr(value, "item") else value for name, value in asdict(verdict).items()}
    plain["attained"] = _finite_objective_figure(plain["attained"])
    return plain


# -- What has been read of one masked table while it is evaluated.


@dataclass
class FiguresFound:
    """What has been read of one masked table so far."""

    family: str
    figures: dict[str, float | None] = field(default_factory=dict)
    omissions: dict[str, Omission] = field(default_factory=dict)
    intervals: dict[str, tuple[float, float]] = field(default_factory=dict)
    baselines: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    by_intruder: dict[str, dict[str, float]] = field(default_factory=dict)
    """Measure → intruder → reading."""

    def omit(self, name: str, reason: Literal["family", "classes", "unreadable"], detail: str = "") -> None:
        """Leave a figure out, for a reason."""
        self.figures[name], self.omissions[name] = None, Omission(reason, detail)

    def remark(self, title: str, reading: Reading) -> None:
        """Keep interval, baseline and warning of a reading."""
        if reading.interval is not None:
            self.intervals[title] = (float(reading.interval[0]), float(reading.interval[1]))
        if reading.baseline is not None:
            self.baselines[title] = float(reading.baseline)
        if reading.warning:
            self.notes.append(f"{title}: {reading.warning}")

    def mean(self, titles: Sequence[str]) -> float | None:
        """The mean of some figures; None if one is missing."""
        values = [self.figures[title] for title in titles]
        return None if None in values or not values else float(np.mean(values))  # type: ignore[arg-type]

    def span_risk(self, titles: Sequence[str]) -> None:
        """The interval of the overall risk: the means of the ends, where every risk has an interval."""
        spans = [self.intervals[title] for title in titles if title in self.intervals]
        if self.figures["risk"] is not None and len(spans) == len(titles):
            low, high = np.mean(spans, axis=0)
            self.intervals["risk"] = (float(low), float(high))


# -- The one scorer of masked tables: losses, risks, uses, limits and models, bound to the original once.
#
# Risks are read once for each intruder, by the columns the intruder knows; the worst counts. Of the risks, those are
# read that mean something after a family of masking; where none does, as class risk after a perturbation, one-to-one
# linkage takes their place. Held-out attacks judge a perturbed table beside a limit; where it keeps all else, a
# learned attacker is measured too, whom no search is fitted to, and the larger figure is its risk.

ANALYSES_KEPT = "analyses"
"""Figure of every solution: estimates of analyses drawn at random that stay inside the original's intervals."""
ANALYSES, ASKED = 60, 5000
"""Analyses that every solution is asked, and records they are asked of; the reports ask others, of all records."""
ANYBODY = "anybody"
"""Name of the intruder who knows every quasi-identifier, where no other is named."""


class Objective:
    """Losses, risks and demands, bound to the original once and scored on many masked tables.

    Attributes
    ----------
    original
        The table before masking.
    measures
        At least one loss and one risk, by name.
    intruders
        Who may look people up, and by which columns; by default one who knows every quasi-identifier.
    uses, limits, models
        What a masked table must keep to be released.
    suppression
        Largest share of records that may be suppressed.

    Examples
    --------
    >>> people = crypsis.example(100)
    >>> objective = crypsis.Objective(people, {"loss": crypsis.InformationLoss(), "risk": crypsis.ClassRisk()})
    >>> objective.score(people)  # the original: no loss, and the intruder finds everybody
    (0.0, 100.0)
    """

    def __init__(
        self,
        original: Table,
        measures: Mapping[str, Measure],
        *,
        intruders: Mapping[str, Sequence[str]] | None = None,
        uses: Sequence[UseDemand] = (),
        limits: Sequence[LimitDemand] = (),
        models: Sequence[Model] = (),
        suppression: float = 1.0,
        missing: MissingReading = "own",
    ) -> None:
        self._given: dict[str, Any] = {
            "original": original, "measures": dict(measures), "intruders": intruders, "uses": tuple(uses),
            "limits": tuple(limits), "models": tuple(models), "suppression": suppression,
            "missing": missing,
        }  # fmt: skip
        if not {"loss", "risk"} <= {measure.aim for measure in measures.values()}:
            raise SearchError(
                f"a search weighs a loss against a risk, and the measures chosen are {listing(sorted(measures))}; "
                f"name at least one of each, or none to use the search's own"
            )
        self.original, self.measures = original, dict(measures)
        self.models = tuple(model.bind_original(original) for model in models)
        self.suppression, self.missing = suppression, missing
        self.intruders = {name: tuple(knows) for name, knows in (intruders or {}).items()}
        if not self.intruders:
            self.intruders = {ANYBODY: tuple(original.quasi_identifiers)}
        everything = set(original.quasi_identifiers)
        self.covers_all = any(set(knows) >= everything for knows in self.intruders.values())
        readers = {name: self._reader(name, measure) for name, measure in measures.items()}
        self.losses = [reader for reader in readers.values() if reader.measure.aim == "loss"]
        self.risks = [reader for reader in readers.values() if reader.measure.aim != "loss"]
        self.uses = [(use, self._reader(use.title, use.measure)) for use in uses]
        self.limits = [self._limit(limit, readers) for limit in limits]
        self._steering = [use for use in uses if use.treated_as == "objective"]
        self._distributions = Distributions(original)
        self._knowing: dict[tuple[Measure, ...], AllKnowing] = {}

    def __getstate__(self) -> dict[str, Any]:
        return self._given

    def __setstate__(self, given: dict[str, Any]) -> None:
        self.__init__(**given)  # type: ignore[misc]

    @property
    def axes(self) -> tuple[str, ...]:
        """What a front minimises."""
        return ("loss", "risk", "uses") if self._steering else ("loss", "risk")

    def _reader(self, title: str, measure: Measure) -> BoundReader:
        if measure.aim != "risk" or measure.columns:
            obstacle = measure.obstacle(self.original)
            if obstacle:
                raise SearchError(f"measure {title!r} cannot be read: {obstacle}")
            return BoundReader(title, measure, {"": measure.against(self.original)})
        bound = {}
        for intruder, knows in self.intruders.items():
            names = columns_objective_reads(measure, self.original, knows)
            if names:
                bound[intruder] = measure.model_copy(update={"columns": names}).against(self.original)
        if not bound:
            first = next(iter(self.intruders.values()))
            reason = measure.model_copy(update={"columns": first}).obstacle(self.original)
            raise SearchError(f"measure {title!r} cannot be read for any intruder: {reason}")
        return BoundReader(title, measure, bound)

    def _limit(self, limit: LimitDemand, readers: Mapping[str, BoundReader]) -> tuple[str, float, BoundReader | None]:
        """Title, largest reading, and the reader where no other reads the same."""
        taken = readers.get(limit.title)
        if limit.measure is None or (taken is not None and taken.measure == limit.measure):
            return limit.title, limit.at_most, None
        title = limit.title if taken is None else f"{limit.title} (limited)"
        return title, limit.at_most, self._reader(title, limit.measure)

    @property
    def held_out_limit(self) -> float | None:
        """What held-out attacks may find in a perturbed table: the least of the limits on the risk and on linkage."""
        readers = [*self.risks, *(reader for _, _, reader in self.limits if reader is not None)]
        kinds = RecordLinkage | OneToOneLinkage | HeldOutLinkage
        linkage = {"risk", *(reader.title for reader in readers if isinstance(reader.measure, kinds))}
        return min((most for title, most, _ in self.limits if title in linkage), default=None)

    @cached_property
    def _held_out(self) -> BoundReader | None:
        """The held-out attacks, for every intruder; None where no risk is limited, or they are limited themselves."""
        named = {title for title, _, _ in self.limits} | set(self.measures)
        return None if self.held_out_limit is None or HELD_OUT in named else self._reader(HELD_OUT, HeldOutLinkage())

    def risks_after(self, family: str) -> list[BoundReader]:
        """The risks that mean something after a family of masking; one-to-one linkage where none does.

        Parameters
        ----------
        family
            How a table was masked.
        """
        known = [reader for reader in self.risks if not family or family in reader.measure.valid_for]
        return known or [self._one_to_one]

    @cached_property
    def _one_to_one(self) -> BoundReader:
        """What stands for the risk of a table without classes."""
        return self._reader(ONE_TO_ONE, OneToOneLinkage())

    # -- scoring --

    def score(self, masked: Table, family: str = "") -> tuple[float, float]:
        """Mean loss, and mean risk to the worst intruder: the quick numbers a search minimises.

        Parameters
        ----------
        masked
            A candidate, decoded.
        family
            Its masking family; models are not asked after a perturbation, whose classes mean nothing.
        """
        return complete(self.score_tasks(masked, family))

    def score_tasks(self, masked: Table, family: str = "") -> Tasks[tuple[float, float]]:
        """`score` in tasks: measure by measure."""
        losses, read = list[float](), dict[str, dict[str, float]]()
        for reader in self.losses:
            losses += (yield from reader.read_tasks(masked)).values()
        for reader in self.risks_after(family):
            read[reader.title] = yield from reader.read_tasks(masked)
        loss, risk = float(np.mean(losses)), max(v for v in self._risks(read).values() if v is not None)
        [short] = yield [partial(self.shortfall, masked, family, {"loss": loss, "risk": risk})]
        return infeasible_objective_scores(short) if short else (loss, risk)

    def shortfall(self, masked: Table, family: str = "", known: Mapping[str, float] | None = None) -> float:
        """How far a masked table misses the demanded models, limits and uses.

        Parameters
        ----------
        masked
            A candidate, decoded.
        family
            Its masking family.
        known
            Readings that need not be taken again.
        """
        misses = [] if family == PERTURBATION else [model.shortfall(masked) for model in self.models]
        read = {"suppressed": _suppressed_share(masked), **(known or {})}
        if self.suppression < 1.0:
            misses.append(excess_over_objective_limit(read["suppressed"], 100.0 * self.suppression))
        for title, most, reader in self.limits:
            misses.append(excess_over_objective_limit(self._read_limited(title, reader, read, masked), most))
        for use, reader in self.uses:
            if use.treated_as == "limit":
                misses.append(
                    excess_over_objective_limit(self._read_limited(use.title, reader, read, masked), use.tolerance)
                )
        return float(np.mean(misses)) if misses else 0.0

    def _read_limited(self, title: str, reader: BoundReader | None, read: Mapping[str, float], masked: Table) -> float:
        """A reading that is limited: known already, or taken now, of the worst intruder."""
        if title in read:
            return read[title]
        if reader is None:
            reader = next((r for r in (*self.losses, *self.risks) if r.title == title), None)
        if reader is None:
            value = self.overall("loss" if title == "loss" else "risk", masked, "")
            return math.inf if value is None else value
        try:
            return max(bound.read(masked) for bound in reader.bound.values())
        except TableError:
            return math.inf

    def _risks(self, read: Mapping[str, Mapping[str, float]]) -> dict[str, float | None]:
        """Intruder → mean of the risks that can be read by what the intruder knows."""
        found: dict[str, float | None] = {}
        for intruder in self.intruders:
            each = [by[intruder if intruder in by else ""] for by in read.values() if intruder in by or "" in by]
            found[intruder] = float(np.mean(each)) if each else None
        return found

    # -- evaluating --

    def evaluate(self, masked: Table, family: str) -> Evaluation:
        """All figures, verdicts and complaints of one masked table.

        Parameters
        ----------
        masked
            A masked version of the original, row by row.
        family
            How it was masked: aggregation, recoding or perturbation.
        """
        return complete(self.evaluate_tasks(masked, family))

    def evaluate_tasks(self, masked: Table, family: str) -> Tasks[Evaluation]:
        """`evaluate` in tasks: measure by measure, model by model, column by column."""
        found = FiguresFound(family)
        own = [reader for _, _, reader in self.limits if reader is not None]
        for reader in [*self.losses, *self.risks_after(family), *(reader for _, reader in self.uses), *own]:
            yield from self._explain_tasks(reader, masked, found)
        if family == PERTURBATION and self._held_out is not None:
            yield from self._explain_tasks(self._held_out, masked, found)
        self._aggregate(found)
        if not self.covers_all:
            [found.figures[ALL_KNOWING]] = yield [partial(self._all_knowing(found.family).risk, masked, found.family)]
        harms = yield [
            partial(self._distributions.figures, masked, (name,)) for name in self.original.quasi_identifiers
        ]
        yield [partial(self._class_sizes, masked, found)]
        [found.figures[ANALYSES_KEPT]] = yield [partial(self._ask, masked)]
        found.figures["suppressed"] = _suppressed_share(masked)
        verdicts = yield [] if family == PERTURBATION else [partial(_judge, model, masked) for model in self.models]
        complaints = self._complaints(verdicts, found)
        if family == PERTURBATION and not complaints:
            yield [partial(self._attack, masked, found)]
            complaints = self._complaints(verdicts, found)
        return Evaluation(
            figures={name: _finite_objective_figure(value) for name, value in found.figures.items()},
            omissions=found.omissions,
            intervals=found.intervals,
            baselines=found.baselines,
            notes=tuple(dict.fromkeys(found.notes)),
            verdicts=tuple(_plain_verdict(verdict) for verdict in verdicts),
            complaints=tuple(complaints),
            columns={name: figures for harm in harms for name, figures in harm.items()},
        )

    def _explain_tasks(self, reader: BoundReader, masked: Table, found: FiguresFound) -> Tasks[None]:
        """Read one measure, for every intruder."""
        if found.family not in reader.measure.valid_for:
            found.omit(reader.title, "family", found.family)
            return
        try:
            readings = {}
            for intruder, bound in reader.bound.items():
                readings[intruder] = yield from bound.explain_tasks(masked)
        except TableError as error:
            found.omit(reader.title, "unreadable", str(error))
            return
        worst = max(readings.values(), key=lambda reading: reading.value)
        found.figures[reader.title] = worst.value
        found.by_intruder[reader.title] = {intruder: reading.value for intruder, reading in readings.items()}
        if len(readings) > 1:
            found.figures |= {f"{reader.title}.{intruder}": reading.value for intruder, reading in readings.items()}
        found.remark(reader.title, worst)

    def _aggregate(self, found: FiguresFound) -> None:
        """Loss, risk and uses from the single readings."""
        found.figures["loss"] = self._loss(found)
        found.figures["risk"], risks = self._risk(found)
        found.span_risk([reader.title for reader in self.risks_after(found.family)])
        if len(self.intruders) > 1:
            found.figures |= {f"risk.{intruder}": value for intruder, value in risks.items()}
        if self._steering:
            parts = [(use.weight, found.figures[use.title], use.tolerance) for use in self._steering]
            shares = [weight * 100.0 * value / tolerance for weight, value, tolerance in parts if value is not None]
            total = sum(weight for weight, _, _ in parts)
            found.figures["uses"] = sum(shares) / total if len(shares) == len(parts) else None

    def _all_knowing(self, family: str) -> AllKnowing:
        """An intruder who knows every quasi-identifier."""
        risks = tuple(reader.measure for reader in self.risks_after(family))
        if risks not in self._knowing:
            self._knowing[risks] = AllKnowing.of(self.original, risks)
        return self._knowing[risks]

    def _loss(self, found: FiguresFound) -> float | None:
        """Mean of the losses; None if one cannot be read."""
        return found.mean([reader.title for reader in self.losses])

    def _risk(self, found: FiguresFound) -> tuple[float | None, dict[str, float | None]]:
        """Mean of the risks to the worst intruder, None if one cannot be read; and to each intruder."""
        read = self.risks_after(found.family)
        risks = self._risks({reader.title: found.by_intruder.get(reader.title, {}) for reader in read})
        worst = [value for value in risks.values() if value is not None]
        lacking = any(found.figures[reader.title] is None for reader in read)
        return None if lacking or not worst else max(worst), risks

    def overall(self, figure: Literal["loss", "risk", "suppressed"], masked: Table, family: str) -> float | None:
        """One of the figures that every table has, without reading what it does not need; None if it has no meaning.

        Parameters
        ----------
        figure
            Which one.
        masked
            A masked table.
        family
            Its masking family.
        """
        found = FiguresFound(family)
        if figure == "suppressed":
            return _suppressed_share(masked)
        for reader in self.losses if figure == "loss" else self.risks_after(family):
            complete(self._explain_tasks(reader, masked, found))
        return _finite_objective_figure(self._loss(found) if figure == "loss" else self._risk(found)[0])

    @cached_property
    def _drawn_analyses(self) -> tuple[Table, NDArray[np.intp], Analyses] | None:
        """Some records of the original, their rows, and analyses drawn on them; None where none can be drawn."""
        rows = np.unique(np.linspace(0, len(self.original) - 1, min(len(self.original), ASKED)).astype(np.intp))
        some = self.original.take(rows)
        if AnalysesChanged().obstacle(some):
            return None
        asked = Analyses(some, ANALYSES)
        return (some, rows, asked) if asked.analyses else None

    def _ask(self, masked: Table) -> float | None:
        """Estimates of the analyses that a masked table leaves inside their intervals, per cent."""
        if self._drawn_analyses is None:
            return None
        return self._drawn_analyses[2].compare(masked.take(self._drawn_analyses[1])).inside

    def _attack(self, masked: Table, found: FiguresFound) -> None:
        """One-to-one and learned attackers of every intruder on a perturbed table, which a release measures too.

        Where one-to-one linkage is the risk, the larger of both is.
        """
        known = ONE_TO_ONE in found.figures
        for knows in filter(None, self.intruders.values()):
            published = PublishedClasses.of(self.original, masked, knows)
            learned = learn_one_to_one(published)
            if learned is not None and learned.found > (found.figures.get(LEARNED) or -1.0):
                found.figures[LEARNED], found.intervals[LEARNED] = learned.found, learned.interval
            if not known:
                reading = OneToOneLinkage(columns=knows).against(self.original).explain_classes(published)
                if reading.value > (found.figures.get(ONE_TO_ONE) or -1.0):
                    found.figures[ONE_TO_ONE] = reading.value
                    found.remark(ONE_TO_ONE, reading)
        worst, risk = found.figures.get(LEARNED), found.figures["risk"]
        assigned = self._one_to_one in self.risks_after(found.family)
        if assigned and worst is not None and risk is not None and worst > risk:
            found.figures["risk"], found.intervals["risk"] = worst, found.intervals[LEARNED]

    def _class_sizes(self, masked: Table, found: FiguresFound) -> None:
        """Smallest class and share of unique records, over all quasi-identifiers and over what each intruder knows."""
        if found.family == PERTURBATION:
            found.omit("k", "classes")
            found.omit("unique", "classes")
            return
        smallest, alone = dict[tuple[str, ...], float](), []
        for names in {tuple(self.original.quasi_identifiers), *self.intruders.values()} - {()}:
            alike = alike_on_both_sides(masked, names, self.missing, self.original)[masked.kept]
            smallest[names] = float(alike.min(initial=np.inf)) if len(alike) else 0.0
            alone.append(100.0 * float((alike == 1).sum()) / max(len(alike), 1))
        found.figures |= {"k": min(smallest.values(), default=0.0), "unique": max(alone, default=0.0)}
        if not self.covers_all:
            found.figures[KNOWN_CLASS] = min(smallest[names] for names in self.intruders.values() if names)

    def _complaints(self, verdicts: Sequence[Any], found: FiguresFound) -> list[Complaint]:
        complaints = [
            Complaint(
                "model",
                v.model,
                float(v.required),
                _finite_objective_figure(v.attained),
                v.sense,
                v.offending,
                v.records,
                v.columns,
            )
            for v in verdicts
            if not v.holds
        ]
        if found.family == PERTURBATION and self.models:
            complaints.append(Complaint("no-model"))
        complaints += self._found_too_much(found)
        suppressed, allowed = found.figures["suppressed"] or 0.0, 100.0 * self.suppression
        if not keeps_objective_limit(suppressed, allowed):
            complaints.append(Complaint("suppression", "", allowed, suppressed))
        for title, most, _ in self.limits:
            value = found.figures.get(title)
            if value is None or not keeps_objective_limit(value, most):
                complaints.append(Complaint("limit", title, most, value))
        for use, reader in self.uses:
            value = found.figures[reader.title]
            if use.treated_as == "limit" and (value is None or not keeps_objective_limit(value, use.tolerance)):
                complaints.append(Complaint("use", use.title, use.tolerance, value))
        return complaints

    def _found_too_much(self, found: FiguresFound) -> list[Complaint]:
        """Attacks that no search is fitted to and that find more in a perturbed table than its limits on risk allow."""
        most, named = self.held_out_limit, {title for title, _, _ in self.limits}
        if most is None or found.family != PERTURBATION:
            return []
        read = {name: found.figures.get(name) for name in (HELD_OUT, ONE_TO_ONE, LEARNED) if name not in named}
        return [
            Complaint("limit", n, most, v)
            for n, v in read.items()
            if v is not None and not keeps_objective_limit(v, most)
        ]


def _judge(model: Model, masked: Table) -> Any:
    obstacle = model.obstacle(masked)
    if obstacle:
        raise SearchError(obstacle)
    return model.judge(masked)


def _suppressed_share(masked: Table) -> float:
    """Share of suppressed records, per cent."""
    return 100.0 * float((~masked.kept).sum()) / max(len(masked), 1)


# -- Loss, risk and suppression of a whole objective, read as a measure is read.

Figure = Literal["loss", "risk", "suppressed"]

DEFINITIONS: dict[Figure, str] = {
    "loss": "mean of the losses of the plan",
    "risk": "mean of the risks of the plan to the intruder for whom it is greatest",
    "suppressed": "100 times the suppressed records over all records",
}


@dataclass(frozen=True, eq=False)
class OverallFigure:
    """A figure that every masked table has.

    >>> table = crypsis.example(30)
    >>> objective = Objective(table, {"loss": crypsis.InformationLoss(), "risk": crypsis.ClassRisk()})
    >>> OverallFigure(objective, "loss", "recoding").explain(table).value
    0.0
    """

    objective: Objective = field(repr=False)  # what is measured, bound to the original
    figure: Figure  # which figure
    family: str  # how the table was masked

    @property
    def aim(self) -> Aim:
        """Whether the figure is a risk; suppression is a loss."""
        return "risk" if self.figure == "risk" else "loss"

    def explain(self, masked: Table) -> Reading:
        """Read the figure."""
        value = self.objective.overall(self.figure, masked, self.family)
        value = math.inf if value is None else value
        return Reading(f"overall {self.figure}", value, "%", "low", self.aim, DEFINITIONS[self.figure])
