"""Everything that can be said about a masked table beside its original, in one call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from crypsis.errors import CrypsisError, TableError
from crypsis.kernels.arrays import Floats
from crypsis.measures.information_loss import cell_information_losses
from crypsis.measures.measure import (
    BoundMeasure,
    Measure,
    Reading,
    check_measured_rows,
    max_score_of_measures,
    mean_score_of_measures,
    measures,
    sample_records_to_measure,
)
from crypsis.measures.record_linkage import BoundRecordLinkage
from crypsis.table.aligning import aligned_pair
from crypsis.table.frames import Frame, as_table
from crypsis.table.table import Table

ORDERS = 99
"""Random orders with which the order of the file is compared: a file in a random order passes once in a hundred."""
FEWEST = 30
"""Records below which the order is not judged."""
SAMPLE = 1000
"""Records by which it is judged, taken at equal distances."""

NOT_IN_PLACE = (
    "the rows of the two files do not correspond (a random order fits as well) and no column identifies them, so "
    "records cannot be compared one by one; give the file in the order of the original, or with a column that "
    "identifies its rows"
)


def assessed_rows_correspond(original: Table, masked: Table) -> bool:
    """Whether rows of a masked table to assess correspond to its original's: they fit better than random orders.

    Every column that both tables publish takes part, masked or not: a column left as collected shows the order best. A
    column fits by the mean loss of its cells; the fit is standardised by its mean and deviation over the order of the
    file and `ORDERS` random ones, and the columns are summed by the squares of what is better than the mean. Rows
    correspond where no random order fits better, which is so by chance once in `ORDERS` + 1 times.

    >>> people = crypsis.example(100)
    >>> shuffled = people.take(np.random.default_rng(0).permutation(100))
    >>> assessed_rows_correspond(people, people), assessed_rows_correspond(people, shuffled)
    (True, False)
    """
    if len(original) < FEWEST:
        return True
    rows = sample_records_to_measure(len(original), SAMPLE)
    original, masked = original.take(rows), masked.take(rows)
    rng = np.random.default_rng(len(original))
    orders = [masked, *(masked.take(rng.permutation(len(masked))) for _ in range(ORDERS))]
    fits = [_fits(original, orders, name) for name in original.names if name in masked.names]
    if not any(fit.any() for fit in fits):
        return True
    together = np.sum(np.maximum(fits, 0.0) ** 2, axis=0)
    return bool(together[0] > together[1:].max())


def _fits(original: Table, orders: Sequence[Table], name: str) -> Floats:
    """How much better than the mean a column fits in each order, in standard deviations; 0 where it cannot show it."""
    try:
        losses = np.array([float(cell_information_losses(original, order, name).mean()) for order in orders])
    except TableError:
        return np.zeros(len(orders))
    spread = float(losses.std())
    return (losses.mean() - losses) / spread if spread > 1e-12 else np.zeros(len(orders))


# -- Everything that can be said about a masked table beside its original, in one call.

Choice = Iterable[str] | Mapping[str, Measure] | None


@dataclass(frozen=True)
class Assessment:
    """Readings of losses and risks, what could not be read and why, and the two classic scores.

    Only readings in per cent (0–100) enter the scores; the others keep units of their own. ``print`` shows a table,
    ``assessment["cell-loss"]`` is one reading.

    Parameters
    ----------
    readings : tuple of Reading
        One of every measure that applies.
    skipped : mapping of str to str
        Name of a measure → why it does not apply.

    Examples
    --------
    >>> table = crypsis.Table.from_columns({"x": [1, 2, 3, 4]}, roles={"x": "quasi"})
    >>> assessment = crypsis.assess(table, table, chosen=["cell-loss", "record-linkage"])
    >>> assessment.information_loss, assessment.disclosure_risk, assessment.mean_score
    (0.0, 100.0, 50.0)

    Notes
    -----
    ``mean_score`` is (mean loss + mean risk) / 2, ``max_score`` the larger of the two means.
    """

    readings: tuple[Reading, ...]
    skipped: Mapping[str, str]

    def _percent(self, aim: str) -> list[float]:
        return [reading.value for reading in self.readings if reading.aim == aim and reading.unit == "%"]

    @property
    def information_loss(self) -> float | None:
        """Mean of the losses in per cent, or None where there is none."""
        losses = self._percent("loss")
        return float(np.mean(losses)) if losses else None

    @property
    def disclosure_risk(self) -> float | None:
        """Mean of the risks in per cent, or None where there is none."""
        risks = self._percent("risk")
        return float(np.mean(risks)) if risks else None

    @property
    def mean_score(self) -> float | None:
        """(loss + risk) / 2, or None where one side is missing."""
        losses, risks = self._percent("loss"), self._percent("risk")
        return mean_score_of_measures(losses, risks) if losses and risks else None

    @property
    def max_score(self) -> float | None:
        """The worse of loss and risk, or None where one side is missing."""
        losses, risks = self._percent("loss"), self._percent("risk")
        return max_score_of_measures(losses, risks) if losses and risks else None

    def __getitem__(self, name: str) -> Reading:
        for reading in self.readings:
            if reading.measure == name:
                return reading
        raise KeyError(name)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, words and lists, ready for JSON."""
        return {
            "information_loss": self.information_loss,
            "disclosure_risk": self.disclosure_risk,
            "mean_score": self.mean_score,
            "max_score": self.max_score,
            "readings": [_plain(reading) for reading in self.readings],
            "skipped": dict(self.skipped),
        }

    def __str__(self) -> str:
        """A table to read: losses, then risks, then scores, then what was left out."""
        head = ("measure", "value", "unit", "95 % interval", "guessing", "outsiders")
        rows = [head, *(_row(reading) for aim in ("loss", "risk", "privacy") for reading in self._by_aim(aim))]
        widths = [max(len(row[place]) for row in rows) for place in range(len(head))]
        lines = [_line(row, widths) for row in rows]
        lines.insert(1, "  ".join("─" * width for width in widths))
        scores = {
            "information loss": self.information_loss,
            "disclosure risk": self.disclosure_risk,
            "mean score": self.mean_score,
            "max score": self.max_score,
        }
        lines.extend(["", *(f"{name:<17} {value:8.3f} %" for name, value in scores.items() if value is not None)])
        notes = [f"{reading.measure}: {reading.warning}" for reading in self.readings if reading.warning]
        notes += [f"{name} says nothing here: {reason}" for name, reason in self.skipped.items()]
        return "\n".join([*lines, *([""] if notes else []), *notes])

    def _by_aim(self, aim: str) -> list[Reading]:
        return [reading for reading in self.readings if reading.aim == aim]


def _plain(reading: Reading) -> dict[str, Any]:
    plain = asdict(reading)
    plain["scope"] = list(reading.scope)
    plain["interval"] = None if reading.interval is None else list(reading.interval)
    return plain


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}" if abs(value) < 1000 else f"{value:.1f}"


def _row(reading: Reading) -> tuple[str, ...]:
    interval = "" if reading.interval is None else f"{_number(reading.interval[0])} – {_number(reading.interval[1])}"
    arrow = "↓" if reading.better == "low" else "↑"
    return (
        f"{reading.measure} {arrow}",
        _number(reading.value),
        reading.unit,
        interval,
        _number(reading.baseline),
        _number(reading.control),
    )


def _line(row: tuple[str, ...], widths: list[int]) -> str:
    cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
    cells[1] = row[1].rjust(widths[1])
    return "  ".join(cells).rstrip()


def _chosen_measures(choice: Choice) -> tuple[dict[str, Measure], dict[str, str]]:
    """Measures by name with default settings unless given; those that cannot stand without settings, and why."""
    if isinstance(choice, Mapping):
        return dict(choice), {}
    chosen, refused = {}, {}
    for name in measures if choice is None else choice:
        try:
            chosen[name] = measures.build(name)
        except CrypsisError as error:
            if choice is not None:
                raise
            refused[name] = str(error)
    return chosen, refused


def assess(
    original: Table | Frame,
    masked: Table | Frame,
    chosen: Choice = None,
    family: str | None = None,
    control: Table | Frame | None = None,
    *,
    corresponding: bool | None = None,
) -> Assessment:
    """Read every measure that applies to a masked table and its original.

    Parameters
    ----------
    original, masked : Table or frame
        Row by row the same records. A frame takes its roles from the table beside it; of two frames no column has a
        role, and only measures that name their columns apply.
    chosen : iterable of str, or mapping of str to Measure, optional
        Names, or measures with settings by name; by default every registered measure.
    family : {"aggregation", "recoding", "perturbation"}, optional
        How the table was masked: measures without a meaning after it are left out.
    control : Table or frame, optional
        People who are not in the file, for the control rate of record linkage.
    corresponding : bool, optional
        Whether row i of one is row i of the other; otherwise only measures that compare the files as wholes apply. By
        default frames are judged by their values, and tables are taken at their word.

    Returns
    -------
    Assessment
        Readings, and under `skipped` each measure that does not apply with its reason.

    Raises
    ------
    TableError
        If rows or columns of the masked table are not those of the original.

    Examples
    --------
    >>> original = crypsis.Table.from_columns({"x": [1, 2, 3, 4]}, roles={"x": "quasi"})
    >>> masked = crypsis.Microaggregation(k=2).mask(original, np.random.default_rng(0))
    >>> round(crypsis.assess(original, masked, family="aggregation")["sse-ratio"].value, 2)
    20.0
    """
    judged = corresponding is None and not (isinstance(original, Table) and isinstance(masked, Table))
    original, masked = aligned_pair(original, masked)
    control = None if control is None else as_table(control)
    check_measured_rows(original.rows, masked)
    if judged:
        corresponding = assessed_rows_correspond(original, masked)
    picked, skipped = _chosen_measures(chosen)
    readings: list[Reading] = []
    for name, measure in picked.items():
        try:
            bound = _bind(measure, original, family, corresponding, named=chosen is not None)
            if isinstance(bound, BoundRecordLinkage):
                readings.append(bound.explain(masked, control))
            else:
                readings.append(bound.explain(masked))
        except TableError as error:
            skipped[name] = str(error)
    return Assessment(tuple(readings), skipped)


def assess_before_and_after(original: Table, masked: Table, family: str | None) -> tuple[Assessment, Assessment]:
    """Every measure on the original, of which only risks say something, and on the masked table; each is bound once."""
    picked, skipped = _chosen_measures(None)
    before, after = list[Reading](), list[Reading]()
    for name, measure in picked.items():
        try:
            bound = _bind(measure, original, family, named=False)
            after.append(bound.explain(masked))
        except TableError as error:
            skipped[name] = str(error)
            continue
        if after[-1].aim == "risk":
            with suppress(TableError):
                before.append(bound.explain(original))
    return Assessment(tuple(before), {}), Assessment(tuple(after), skipped)


def _bind(
    measure: Measure, original: Table, family: str | None, corresponding: bool | None = None, *, named: bool
) -> BoundMeasure:
    """A measure bound to the original; an error says why it does not apply, or says nothing of its own."""
    reason = measure.obstacle(original) or ("" if named else measure.redundant(original))
    if not reason and corresponding is False and measure.row_wise:
        reason = NOT_IN_PLACE
    if not reason and family is not None and family not in measure.valid_for:
        reason = f"the number has no meaning after {family}; it is valid after {', '.join(sorted(measure.valid_for))}"
    if reason:
        raise TableError(reason)
    return measure.against(original)
