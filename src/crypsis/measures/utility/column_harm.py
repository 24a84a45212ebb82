"""What a masking did to one column, in counts and per cent."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tail:
    """Records beyond a point of the original: below it for a point under 50 %, above it otherwise.

    point          per cent of the original
    before, after  records strictly beyond it
    """

    point: float
    before: int
    after: int


@dataclass(frozen=True)
class ColumnHarm:
    """What a masking did to one column, in counts and per cent; no value is named.

    Attributes
    ----------
    name : str
        The column.
    loss : float
        Mean cell loss over all records, per cent.
    distance : float
        Total variation distance of the distributions before and after, per cent; numbers in quantile bins.
    kolmogorov : float or None
        Largest difference of the distribution functions of a number, per cent.
    shifted : float or None
        The same where shifts of less than a twentieth of the range (1 to 99 % points) are forgiven.
    values : int
        Distinct values of the original (groups, where the column is recoded to one level).
    vanished, vanished_records : int
        Values that no released record can hold, and original records that held them; of a number only where it has at
        most twenty values, all whole.
    merged, merged_records : int
        Further values that are released only within groups of values, and original records that held them.
    tails : tuple of Tail
        Of a number.
    filled, blanked, changed : int
        Released cells that have a value where the original has none, none where it has one, and another value.
    records : int
        Records of the original.
    constant : bool
        Whether a column that varies in the original has one value in the released file, or none.
    total_change : float
        How far the total of a number moved, per cent of the total, or of a tenth of a standard deviation for each
        record where that is more; missing cells count as the mean. 0 for a category.

    Examples
    --------
    >>> original, masked = crypsis.example_pair("categories")
    >>> harm = crypsis.Distributions(original).harm(masked, "town")
    >>> round(harm.distance, 1), harm.vanished
    (20.0, 0)
    """

    name: str
    loss: float
    distance: float
    kolmogorov: float | None
    shifted: float | None
    values: int
    vanished: int
    vanished_records: int
    merged: int
    merged_records: int
    tails: tuple[Tail, ...]
    filled: int
    blanked: int
    changed: int
    records: int
    constant: bool = False
    total_change: float = 0.0

    @property
    def moved(self) -> float:
        """How far the distribution moved, per cent: `shifted` for a number, total variation for a category."""
        return self.distance if self.shifted is None else self.shifted

    @property
    def lost_values(self) -> float:
        """Values that vanished or are released only within groups, per cent of the values."""
        return 100.0 * (self.vanished + self.merged) / max(self.values, 1)

    @property
    def emptied(self) -> Tail | None:
        """The end of a number, 5 or 95 %, that lost the greatest part of its records; None where none lost any."""
        ends = [tail for tail in self.tails if tail.point in (5.0, 95.0) and tail.after < tail.before]
        return min(ends, key=lambda tail: tail.after / tail.before, default=None)

    @property
    def vanished_share(self) -> float:
        """Original records whose value vanished, per cent."""
        return 100.0 * self.vanished_records / max(self.records, 1)

    @property
    def emptied_share(self) -> float:
        """Records that the end of a number lost, per cent of those it held; 0 where it held hardly any.

        An end of fewer than one record in a hundred is no end of the distribution but a few extreme values.
        """
        tail = self.emptied
        if tail is None or 100 * tail.before < self.records:
            return 0.0
        return 100.0 * (tail.before - tail.after) / tail.before

    @property
    def figures(self) -> dict[str, float]:
        """What `Usefulness` judges, per cent."""
        return {
            "loss": self.loss,
            "distance": self.moved,
            "vanished": self.vanished_share,
            "tail": self.emptied_share,
            "constant": 100.0 if self.constant else 0.0,
            "total": self.total_change,
        }
