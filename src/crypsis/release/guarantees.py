"""The guarantees of a release: privacy models on the file, and limits on measures against the original."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crypsis.attacks.linkage import MeasuredAttack
from crypsis.errors import PlanError, ReleaseRefused, listing
from crypsis.kernels.arrays import Flags
from crypsis.masking.calibration import calibration_means, calibration_medians, calibration_modes
from crypsis.measures.measure import Measure, Reading, measures
from crypsis.measures.objective import OverallFigure, keeps_objective_limit
from crypsis.measures.uses import DeclaredUse
from crypsis.privacy import models as registered
from crypsis.privacy.model import PrivacyModel, Verdict, complaint_of_model
from crypsis.report.content import LimitResult
from crypsis.table.attribute import Kind
from crypsis.table.equivalence_classes import EquivalenceClasses, classes_of
from crypsis.table.hierarchy import MISSING
from crypsis.table.table import LOCAL, PERTURBATION, Table
from crypsis.text import measured_attack_text

CLOSE = 1e-9
"""Relative difference at which a number is still taken for an average."""
MOST_DECIMALS = 6
"""Numbers with more decimals are not taken for rounded ones."""

Values = NDArray[Any]


def count_unexplained_cells(original: Table, masked: Table) -> dict[str, int]:
    """For the guarantees, count changed cells of quasi-identifiers that neither recoding nor aggregation explains.

    A change is explained if the cell is blanked or has a label that the original lacks; if the column is coarsened as a
    whole, equal values to equal values and in their order; if the cell is the mean, median or mode of its class; or if
    it is the mean or median of the records that share its number, as where columns are averaged apart.

    `original`, `masked`: row by row the same records.

    >>> original = Table.from_columns({"age": [20, 22, 40, 42]}, roles={"age": "quasi"})
    >>> count_unexplained_cells(original, original.with_columns({"age": np.array([21.0, 21, 41, 41])}))
    {}
    >>> count_unexplained_cells(original, original.with_columns({"age": np.array([22.0, 20, 42, 40])}))
    {'age': 4}
    """
    found = {}
    classes = classes_of(masked, masked.quasi_identifiers)
    for name in masked.quasi_identifiers:
        if name in original.names:
            count = int(_find_unexplained(original, masked, name, classes).sum())
            if count:
                found[name] = count
    return found


def _find_unexplained(original: Table, masked: Table, name: str, classes: EquivalenceClasses) -> Flags:
    """bool[n]: changed cells of one column that nothing explains."""
    level, numbers = masked.level(name), original.holds_numbers(name)
    nothing = np.zeros(len(masked), dtype=np.bool_)
    if level not in (0, LOCAL):
        return _find_misplaced(original, masked, name)
    if level == LOCAL or numbers != masked.holds_numbers(name) or original.level(name) != 0:
        return nothing  # published by labels of its own
    before, after, new = _comparable(original, masked, name)
    lacked, shown = original.missing(name), masked.kept & ~masked.missing(name) & ~new
    changed = shown & (lacked | (before != after))
    known = shown & ~lacked
    if not changed.any():
        return nothing
    ordered = original.attribute(name).kind is not Kind.NOMINAL
    if _is_coarsened(before[known], after[known], ordered):
        changed &= lacked
    explained = _is_average(classes, before, after, ~lacked, original.attribute(name).kind, _half_step(after, numbers))
    if numbers:
        apart = classes_of(masked, [name])
        close = 0.5 if masked.attribute(name).dates else 0.0
        explained |= _is_average(apart, before, after, ~lacked, None, close) & (apart.sizes > 1)[apart.of]
    return np.asarray(changed & ~explained)


def _comparable(original: Table, masked: Table, name: str) -> tuple[Values, Values, Flags]:
    """Both columns in one numbering, and which masked cells have a label that the original lacks."""
    before, after = original.column(name), masked.column(name)
    if original.holds_numbers(name):
        return before, after, np.zeros(len(after), dtype=np.bool_)
    place = {label: code for code, label in enumerate(original.labels(name))}
    codes = np.array([*(place.get(label, len(place)) for label in masked.labels(name)), MISSING], dtype=np.int32)
    return before, codes[after], codes[after] == len(place)


def _find_misplaced(original: Table, masked: Table, name: str) -> Flags:
    """Cells of a generalised column whose group does not hold the original value."""
    own, hierarchy = original.attribute(name), masked.attribute(name).hierarchy
    if hierarchy is None or original.level(name) != 0:
        return np.zeros(len(masked), dtype=np.bool_)
    leaf = original.with_columns({}, attributes={name: own.but(hierarchy=hierarchy)}).leaf_codes(name)
    column = masked.column(name)
    return np.asarray(masked.kept & (column != MISSING) & (hierarchy.lift(leaf, masked.level(name)) != column))


def _is_coarsened(before: Values, after: Values, ordered: bool) -> bool:
    """Whether equal values became equal ones and, where they have an order, kept it."""
    _, first, place = np.unique(before, return_index=True, return_inverse=True)
    shown = after[first]
    return bool((shown[place] == after).all() and not (ordered and (np.diff(shown) < 0).any()))


def _is_average(
    classes: EquivalenceClasses, before: Values, after: Values, known: Flags, kind: Kind | None, close: float
) -> Flags:
    """Cells that are an aggregate of the known values of their class; of `kind` None, a mean or median alone."""
    inside = known & (classes.of >= 0)
    values, labels, count = before[inside], classes.of[inside], classes.count
    aggregates = [calibration_modes(values, labels, count)] if kind is not None else []
    if kind is not Kind.NOMINAL:
        aggregates.append(calibration_medians(values, labels, count, lower=True))
    if kind is None or kind is Kind.NUMERIC:
        aggregates += [
            calibration_means(values, labels, count),
            calibration_medians(values, labels, count, lower=False),
        ]
    found = np.zeros(len(after), dtype=np.bool_)
    room = close + (CLOSE * np.abs(after) if after.dtype == np.float64 else 0.0)
    for shared, there in aggregates:
        near = np.abs(np.append(shared.astype(np.float64), np.nan)[classes.of] - after) <= room
        found |= near & np.append(there, False)[classes.of]
    return found


def _half_step(column: Values, numbers: bool) -> float:
    """Half the last decimal of a column of rounded numbers; 0 for others."""
    values = column[~np.isnan(column)] if numbers else column[:0]
    for decimals in range(MOST_DECIMALS + 1) if numbers else ():
        if (np.round(values, decimals) == values).all():
            return 0.5 * 10.0**-decimals
    return 0.0


# -- The guarantees of a release: privacy models on the file, and limits on measures against the original.

ROUNDING = 1e-9
"""Per cent by which a figure may exceed another that it equals."""


@dataclass(frozen=True)
class MeasuredLimit:
    """The largest reading a released file may have: a risk limit, or the tolerance of a declared use."""

    measure: Measure | OverallFigure
    at_most: float
    name: str = ""
    """Name in reports; the name of the measure unless given."""
    binding: bool = True
    """False: the reading is reported with its tolerance and does not refuse a release."""
    declared: bool = False
    """Whether it is declared as a use; a measure of a use is one in any case."""

    @property
    def use(self) -> bool:
        """Whether reports name it among the uses of the file."""
        return self.declared or isinstance(self.measure, DeclaredUse)


def refuse_unguarded(models: Sequence[PrivacyModel], limits: Sequence[MeasuredLimit], original: Table | None) -> None:
    """Refuse a release without any guarantee, and limits without an original."""
    if limits and original is None:
        raise PlanError("a limit on a measure needs the original file to be measured against; give it, same rows")
    risky = any(limit.binding and limit.measure.aim == "risk" for limit in limits)
    if not models and not risky:
        raise PlanError(
            "a release needs at least one privacy model or one risk limit to keep; add e.g. k-anonymity with k = 5, "
            "or record-linkage at most 5 %"
        )


def refuse_meaningless_guarantees(models: Sequence[PrivacyModel], family: str) -> None:
    """Refuse a release whose guarantees are privacy models on a perturbed file, where they mean nothing."""
    if models and family == PERTURBATION:
        names = ", ".join(registered.name_of(model) for model in models)
        raise ReleaseRefused(
            f"{names} cannot protect a perturbed file: after swapping, noise or PRAM equal values do not mean equal "
            f"people; mask by aggregation or recoding, or release it by a limit on its linkage risk"
        )


def complaints_of_perturbed(models: Sequence[PrivacyModel], original: Table, masked: Table) -> list[str]:
    """Why privacy models cannot protect a file of unknown origin that neither recoding nor aggregation explains."""
    found = count_unexplained_cells(original, masked) if models and masked.provenance is None else {}
    if not found:
        return []
    names = ", ".join(registered.name_of(model) for model in models)
    cells = listing(f"{count} of {name!r}" for name, count in found.items())
    return [
        f"cells were changed ({cells}) that are neither coarser nor an average of their class, so the file is taken as "
        f"perturbed and {names} cannot protect it; publish the table as Crypsis masked it, or release it by a limit on "
        f"its linkage risk"
    ]


@dataclass(frozen=True)
class Knowledge:
    """What models need that the file does not hold."""

    population: Table | None = None  # the table around the file, for models that speak of one
    # the original, and the file in its rows, for models that read missing cells by the true values
    original: Table | None = None
    shown: Table | None = None

    def bind_model(self, model: PrivacyModel, table: Table) -> tuple[PrivacyModel, Table]:
        """A model and the table it judges."""
        if model.membership:
            return model, table if self.population is None else self.population
        if not model.beyond_file:
            return model, table
        if self.original is None or self.shown is None:
            true = getattr(model, "missing", "") == "target"
            instead = ', or set missing to "conservative", which needs none' if true else ""
            raise PlanError(
                f"{registered.name_of(model)} cannot be judged by the file alone: it {model.beyond_file}, and no "
                f"original is given; give it{instead}"
            )
        return model.bind_original(self.original), self.shown


def judge_guarantees(models: Sequence[PrivacyModel], table: Table, beside: Knowledge | None = None) -> list[Verdict]:
    """The verdicts on the guarantees of a release, whether or not they hold."""
    judged = [(beside or Knowledge()).bind_model(model, table) for model in models]
    for model, each in judged:
        obstacle = model.obstacle(each)
        if obstacle:
            raise PlanError(obstacle)
    return [model.judge(each) for model, each in judged]


def check_limits(limits: Sequence[MeasuredLimit], original: Table, masked: Table, family: str) -> list[LimitResult]:
    """The limits with their readings, whether or not they are exceeded."""
    return [_check(limit, original, masked, family) for limit in limits]


def complaints_of_guarantees(verdicts: Sequence[Verdict], limits: Sequence[LimitResult]) -> list[str]:
    """One sentence for every privacy model that fails, and for every binding limit that is exceeded."""
    exceeded = [each for each in limits if each.binding and not each.holds]
    return [
        *(complaint_of_model(each) for each in verdicts if not each.holds),
        *(f"{each.name} may be at most {each.at_most:g} and is {each.reading.value:.4g}" for each in exceeded),
    ]


def _check(limit: MeasuredLimit, original: Table, masked: Table, family: str) -> LimitResult:
    if isinstance(limit.measure, OverallFigure):
        name, reading = limit.name or limit.measure.figure, limit.measure.explain(masked)
    else:
        name, reading = limit.name or measures.name_of(limit.measure), _read(limit, original, masked, family)
    holds = keeps_objective_limit(reading.value, limit.at_most, reading.better)
    reading = replace(reading, counts=dict(reading.counts))
    return LimitResult(name, float(limit.at_most), holds, limit.binding, reading, limit.use)


def _read(limit: MeasuredLimit, original: Table, masked: Table, family: str) -> Reading:
    """The reading of a limited measure; refused if it has no meaning."""
    assert isinstance(limit.measure, Measure)
    name = limit.name or measures.name_of(limit.measure)
    obstacle = limit.measure.obstacle(original)
    if obstacle:
        raise PlanError(f"limit on {name}: {obstacle}")
    if family != "unknown" and family not in limit.measure.valid_for:
        raise PlanError(f"limit on {name}: its number has no meaning after {family}; limit another measure")
    return limit.measure.against(original).explain(masked)


def complaints_of_contradictions(attacks: Sequence[MeasuredAttack]) -> list[str]:
    """Attacks that contradict the guarantees of a file: they find more people than its classes allow."""
    return [
        f"the figures of this file contradict each other: {measured_attack_text(each)}; please report this with the "
        f"kinds of the columns and the method of masking"
        for each in attacks
        if each.class_risk is not None and each.interval is not None and each.interval[0] > each.class_risk + ROUNDING
    ]
