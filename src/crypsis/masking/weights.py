"""Published sampling weights: rounded, with noise and calibrated, or raked to margins of the released file.

A weight as collected tells the stratum, the size of the household and whatever else it was computed from. Rounded to
few values it tells less; with noise and calibrated, weighted totals stay; raked to what the file publishes it follows
from published cells and a few totals alone (Deville and Särndal 1992).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from crypsis.errors import PlanError, unknown_column
from crypsis.kernels.arrays import Floats
from crypsis.kernels.raking import Raking, rake
from crypsis.table.attribute import UNPUBLISHED, Role
from crypsis.table.equivalence_classes import EquivalenceClasses, equivalence_classes
from crypsis.table.hierarchy import MISSING
from crypsis.table.population import weight_column
from crypsis.table.table import Table

Ints = NDArray[np.int64]

FORMS = '"rounded:10" (to multiples of 10), "noise:0.2" (by about 20 %), "raked" or "raked:region,sex"'
"""How the treatment of a weight is written."""
FEWEST = 20
"""Records of a margin; rarer values make one together."""
PARTS = 5
"""Parts with as many records each into which a number of many values is cut for its margin."""
MOST_GROUPS = 40
"""Values of a category that have margins of their own, the commonest first."""
CYCLES, CLOSE = 60, 1e-6
"""Rounds of fitting at most, and the largest relative distance from a total with which they end."""
STEEPEST = 2.0
"""How far the logarithm of a weight may move in one step for a number's total."""
DIGITS = 5
"""Significant digits of the mean of published weights."""
LARGEST_NOISE = 1.0


@dataclass(frozen=True)
class WeightTreatment:
    """What is done to a weight before it is published.

    >>> read_weight_treatment("rounded:10")
    WeightTreatment(how='rounded', amount=10.0, columns=())
    """

    how: Literal["rounded", "noise", "raked"]
    amount: float = 0.0
    columns: tuple[str, ...] = ()


def read_weight_treatment(text: str) -> WeightTreatment:
    """Read the treatment of a published weight."""
    how, _, rest = text.partition(":")
    if how == "raked":
        return WeightTreatment("raked", columns=tuple(name.strip() for name in rest.split(",") if name.strip()))
    try:
        amount = float(rest)
    except ValueError:
        amount = -1.0
    if how == "rounded" and 0 < amount < np.inf:
        return WeightTreatment("rounded", amount)
    if how == "noise" and 0 < amount <= LARGEST_NOISE:
        return WeightTreatment("noise", amount)
    raise PlanError(f"{text!r} is no way to publish a weight; write {FORMS}")


def draw_weight_noise(table: Table, rng: Generator) -> Table:
    """The table with noise on the weight that is published so; drawn once, before any search."""
    name = _treated_weight(table)
    if not name or read_weight_treatment(table.attribute(name).publish).how != "noise":
        return table
    spread = read_weight_treatment(table.attribute(name).publish).amount
    factor = np.exp(rng.normal(0.0, spread, len(table)) - spread**2 / 2)
    return table.with_columns({name: table.column(name) * factor})


def publish_weight(masked: Table, collected: Table) -> Table:
    """The masked table with its weight as it is published; a table without such a weight comes back as it is.

    `masked`, `collected`: row by row the same records.

    >>> people = Table.from_columns({"town": list("aabb"), "w": [9, 11, 29, 33]}, {"town": "quasi", "w": "weight"})
    >>> people = people.with_columns({}, attributes={"w": people.attribute("w").but(publish="rounded:10")})
    >>> publish_weight(people, people).column("w").tolist()
    [10.0, 10.0, 30.0, 30.0]
    """
    name = _treated_weight(collected)
    if not name or name not in masked.names:
        return masked
    treatment = read_weight_treatment(collected.attribute(name).publish)
    held = np.nan_to_num(collected.column(name), nan=0.0)
    if treatment.how == "rounded":
        base = treatment.amount
        found = np.where(held > 0, np.maximum(base * np.round(held / base), base), held)
    else:
        start = masked.column(name) if treatment.how == "noise" else np.full(len(held), held.mean())
        start = np.where(masked.kept & ~np.isnan(collected.column(name)), np.nan_to_num(start, nan=0.0), 0.0)
        names = weight_margins(masked, name, treatment)
        found = rake_weights(start, held, masked, collected, names, parts=treatment.how == "raked")
    found = np.where(np.isnan(collected.column(name)), np.nan, _round_weights(found))
    return masked.with_columns({name: found}, {name: 0}, {name: collected.attribute(name)})


def _treated_weight(table: Table) -> str:
    """The weight with a treatment; empty where there is none."""
    name = weight_column(table)
    return name if name and table.attribute(name).publish and table.holds_numbers(name) else ""


def _round_weights(weights: Floats) -> Floats:
    """Weights with five significant digits of their mean, so that no digit beyond says anything."""
    mean = float(np.mean(weights)) if len(weights) else 0.0
    return np.round(weights, max(0, DIGITS - 1 - int(np.floor(np.log10(mean))))) if mean > 0 else weights


def weight_margins(masked: Table, name: str, treatment: WeightTreatment) -> list[str]:
    """Columns whose margins and totals the weight keeps.

    Noise is calibrated by every published column; a raked weight follows from those that are named, else from the
    quasi-identifiers and strata: all records of a class then have one weight, which says nothing beyond the class.
    """
    if treatment.columns:
        return [each for each in treatment.columns if each in masked.names]
    roles = [Role.QUASI_IDENTIFIER, Role.STRATUM]
    roles += [Role.CONFIDENTIAL, Role.OTHER] if treatment.how == "noise" else []
    return [each for each in masked.names_by_role(*roles) if each != name and not masked.attribute(each).derived]


def weight_margin_obstacle(table: Table, name: str) -> str:
    """Why a weight cannot be published as its attribute says; empty if it can."""
    text = table.attribute(name).publish
    treatment = read_weight_treatment(text)
    if unknown := unknown_column(treatment.columns, table.names):
        return f"columns.{name}.publish: {unknown}"
    if hidden := [each for each in treatment.columns if table.attribute(each).role in UNPUBLISHED or each == name]:
        return (
            f"columns.{name}.publish: {hidden[0]!r} is not published beside the weight, so no margin of it is; name "
            f"other columns"
        )
    if not table.holds_numbers(name):
        return f"columns.{name}.publish: {name!r} holds no numbers and cannot weigh records"
    if bool((table.column(name) < 0).any()):
        return f"columns.{name}.publish: {name!r} holds negative numbers and cannot weigh records"
    return ""


def rake_weights(
    start: Floats, held: Floats, masked: Table, collected: Table, names: Sequence[str], *, parts: bool = True
) -> Floats:
    """Weights near some others with which the released file has the weighted margins and totals of the collected one.

    Margins: for every published value of a column (of a number, for each fifth of the records), the collected weight of
    its records. Totals: the collected weighted total of every number, in the published numbers. Each is fitted in turn,
    by a factor or by a power of a factor, until all hold.

    `start` float64[n]: 0 for a record that is not released; `held` float64[n]: collected weights; `parts`: whether
    numbers have margins, which can contradict their totals where the numbers are masked, beside their totals.
    """
    released = start > 0
    if not released.any():
        return start.copy()
    whole = float(held.sum())
    margins = [_margin(masked, name, released) for name in names if parts or not masked.holds_numbers(name)]
    share = whole / float(held[released].sum())  # what suppressed records stood for is shared by all others
    totals = [share * np.bincount(codes, weights=held * released) for codes in margins]
    numbers = [each for name in names if (each := _number_total(masked, collected, name, held)) is not None]
    return _fit(start, whole, margins, totals, numbers, released)


def rake_counted_weights(tuples: Table, names: Sequence[str], records: Ints, held: Floats) -> Floats:
    """float64[tuples]: the raked weight of a record of each distinct tuple, from counts alone.

    `tuples`: as they are published, without those that are suppressed; `records` int64[tuples]: records with a weight;
    `held` float64[tuples]: the sum of their collected weights.
    """
    released = tuples.kept & (records > 0)
    weights, whole = np.where(released, records, 0).astype(np.float64), float(held.sum())
    if not released.any() or not whole:
        return np.zeros(len(tuples))
    margins = [_margin(tuples, name, released, records) for name in names]
    share = whole / float(held[released].sum())
    totals = [share * np.bincount(codes, weights=held * released) for codes in margins]
    numbers = []
    for name in names:
        if tuples.holds_numbers(name) and not tuples.attribute(name).dates:
            values = np.nan_to_num(tuples.column(name))
            size = float(np.average(np.abs(values[released]), weights=records[released]))
            if size > 0 and np.ptp(values[released]) > 0:
                numbers.append((values / size, float(held @ values) / size))
    weights = _fit(weights, whole, margins, totals, numbers, released)
    return _round_weights(np.divide(weights, records, out=np.zeros_like(weights), where=released))


def _fit(
    start: Floats,
    whole: float,
    margins: Sequence[Ints],
    totals: Sequence[NDArray[np.floating]],
    numbers: Sequence[tuple[Floats, float]],
    released: NDArray[np.bool_],
) -> Floats:
    """Weights of one sum with which all margins and totals hold, fitted in turn."""
    cells = _cells(margins, [values for values, _ in numbers], released)
    begun = np.bincount(cells.of[released], weights=start[released], minlength=cells.count)
    values = np.array([values[cells.first] for values, _ in numbers]).reshape(len(numbers), cells.count)
    raking = Raking(
        np.array([codes[cells.first] for codes in margins], dtype=np.int64).reshape(len(margins), cells.count),
        _stack_padded(totals),
        values,
        np.array([wanted for _, wanted in numbers], dtype=np.float64),
        STEEPEST / np.abs(values).max(axis=1, initial=1e-300),
    )
    weights = rake(np.asarray(begun * (whole / float(begun.sum())), dtype=np.float64), raking, CYCLES, CLOSE)
    return np.asarray(start * np.append(weights / begun, 0.0)[cells.of])


def _stack_padded(totals: Sequence[NDArray[np.floating]]) -> Floats:
    """float64[margins, codes]: the totals of every margin, 0 for codes that it does not have."""
    found = np.zeros((len(totals), max([len(each) for each in totals], default=1)))
    for row, each in zip(found, totals, strict=True):
        row[: len(each)] = each
    return found


def _cells(margins: Sequence[Ints], numbers: Sequence[Floats], released: NDArray[np.bool_]) -> EquivalenceClasses:
    """Records that raking tells apart in nothing, so that one factor holds for all of them."""
    ranks = [np.unique(values, return_inverse=True)[1] for values in numbers]
    columns = [*margins, *ranks] or [np.zeros(len(released), dtype=np.int64)]
    return equivalence_classes(np.stack(columns, axis=1), released)


def _margin(masked: Table, name: str, released: NDArray[np.bool_], records: Ints | None = None) -> Ints:
    """int64[n]: the part of a column in which each record is published; rare parts are one.

    `records` int64[n]: how many records each row stands for; one unless given.
    """
    if masked.holds_numbers(name):
        column = masked.column(name)
        rows = np.flatnonzero(released & ~np.isnan(column))
        if records is not None:
            rows = rows[np.argsort(column[rows], kind="stable")]
            reached = np.cumsum(records[rows])
            wanted = np.arange(1, PARTS) / PARTS * (reached[-1] if rows.size else 0)
            edges = np.unique(column[rows][np.searchsorted(reached, wanted)]) if rows.size else np.zeros(0)
        else:
            edges = np.unique(np.quantile(column[rows], np.arange(1, PARTS) / PARTS)) if rows.size else np.zeros(0)
        codes = np.where(np.isnan(column), len(edges) + 1, np.searchsorted(edges, column, side="left"))
    else:
        codes = np.where(masked.column(name) == MISSING, len(masked.labels(name)), masked.column(name))
    each = None if records is None else records[released]
    counts = np.bincount(codes[released], each, minlength=int(codes.max(initial=0)) + 1)
    common = np.argsort(-counts, kind="stable")[:MOST_GROUPS]
    own = np.zeros(len(counts), dtype=np.int64)
    kept = [code for code in common.tolist() if counts[code] >= FEWEST]
    own[kept] = 1 + np.arange(len(kept))
    return own[codes]


def _number_total(masked: Table, collected: Table, name: str, held: Floats) -> tuple[Floats, float] | None:
    """A published number, 0 where it is missing, in units of its size, and the weighted total to be kept."""
    if not (masked.holds_numbers(name) and collected.holds_numbers(name)) or masked.attribute(name).dates:
        return None
    before, after = np.nan_to_num(collected.column(name)), np.nan_to_num(masked.column(name))
    size = float(np.abs(after).mean())
    if size <= 0 or np.ptp(after) == 0:
        return None
    return after / size, float(held @ before) / size
