"""Descriptions of maskings in words: columns, class sizes, and which records bear loss and risk."""

from __future__ import annotations

from collections.abc import Mapping

from crypsis.errors import listing
from crypsis.measures.masking_description import ClassCount, ColumnDescription, MaskingDescription, Treatment
from crypsis.text.levels import level_text

SHOWN = 0.5
"""Per cent of the records below which a level of a locally recoded column is not mentioned."""


def column_text(column: ColumnDescription) -> str:
    """What a masking does to a column.

    Examples
    --------
    >>> column_text(ColumnDescription("income", Treatment.MOVED, loss=2.0, changed=40.0, shift=0.21))
    '40 % of its numbers changed, by 0.21 standard deviations on average'
    """
    return "; ".join(filter(None, (_treatment(column), missing_text(column.blanked, column.filled))))


def _treatment(column: ColumnDescription) -> str:
    """What becomes of the values that are there."""
    if column.treatment is Treatment.UNCHANGED:
        return "as collected"
    if column.treatment is Treatment.GENERALISED:
        return level_text(column.levels[0].level)
    if column.treatment is Treatment.LOCALLY_RECODED:
        parts = [f"{_share(each.share)} {level_text(each.level)}" for each in column.levels if each.share >= SHOWN]
        if column.replaced >= SHOWN:
            parts.append(f"{_share(column.replaced)} replaced by another value")
        return ", ".join(parts) or "recoded record by record"
    if column.treatment is Treatment.MOVED:
        return f"{_share(column.changed)} of its numbers changed, by {column.shift:.2f} standard deviations on average"
    return f"{_share(column.changed)} of its values replaced by another category"


def _share(percent: float) -> str:
    """Whole per cent; where that would say none or all and it is not so, a decimal more or a bound."""
    if percent in (0.0, 100.0) or 0.5 <= percent < 99.5:
        return f"{percent:.0f} %"
    return "under 0.1 %" if percent < 0.05 else "over 99.9 %" if percent > 99.95 else f"{percent:.1f} %"


def missing_text(blanked: int, filled: int) -> str:
    """How many cells lost their value, and how many were given one they never had; empty if none.

    Examples
    --------
    >>> missing_text(1, 0), missing_text(12, 3)
    ('1 cell blanked', '12 cells blanked, 3 missing cells filled in')
    """
    parts = [(blanked, "cell", "blanked"), (filled, "missing cell", "filled in")]
    return ", ".join(f"{count} {noun}{'s'[: count != 1]} {done}" for count, noun, done in parts if count)


def blanked_text(cells: Mapping[str, int], because: str = "others of their group lack a value") -> str:
    """Which columns lost values and why, to be added to a sentence; empty if none did.

    cells  blanked cells by column

    Examples
    --------
    >>> blanked_text({"age": 0, "hours": 3})
    '; 3 cells of hours blanked, as others of their group lack a value'
    """
    parts = [f"{count} cell{'s'[: count != 1]} of {name}" for name, count in cells.items() if count]
    return f"; {listing(parts)} blanked, as {because}" if parts else ""


def class_size_text(count: ClassCount) -> str:
    """A range of class sizes.

    Examples
    --------
    >>> class_size_text(ClassCount(5, 9, 3)), class_size_text(ClassCount(100, None, 1))
    ('5 to 9', '100 or more')
    """
    if count.high is None:
        return f"{count.low} or more"
    return f"{count.low}" if count.low == count.high else f"{count.low} to {count.high}"


def burden_text(description: MaskingDescription) -> list[str]:
    """Which records bear the loss, and which are still re-identified: one sentence each, without a full stop."""
    sentences = []
    if description.hardest is not None:
        hardest = description.hardest
        sentences.append(
            f"the {hardest.records} records with the greatest loss ({hardest.share:.0f} %) bear "
            f"{hardest.loss_share:.0f} % of the loss; {hardest.unique} of them are unique in the original, "
            f"{hardest.suppressed} are suppressed"
        )
    if description.reidentified is not None:
        found = description.reidentified
        sentences.append(
            f"an intruder who knows all {found.columns} quasi-identifiers re-identifies {found.certain} records for "
            f"certain and {found.likely} more with probability 1/2 or more"
        )
    return sentences
