"""Descriptions of maskings in words: columns, class sizes, and which records bear loss and risk."""

from __future__ import annotations

from crypsis.measures.masking_description import ClassCount, ColumnDescription, MaskingDescription, Treatment
from crypsis.text.levels import level_text

SHOWN = 0.5
"""Per cent of the records below which a level of a locally recoded column is not mentioned."""


def column_text(column: ColumnDescription) -> str:
    """What a masking does to a column.

    Parameters
    ----------
    column : ColumnDescription
        The column.

    Returns
    -------
    str

    Examples
    --------
    >>> column_text(ColumnDescription("income", Treatment.MOVED, loss=2.0, changed=40.0, shift=2.1))
    '40 % of its numbers changed, by 2.1 % of the range on average'
    """
    if column.treatment is Treatment.UNCHANGED:
        return "as collected"
    if column.treatment is Treatment.GENERALISED:
        return level_text(column.levels[0].level)
    if column.treatment is Treatment.LOCALLY_RECODED:
        parts = [f"{each.share:.0f} % {level_text(each.level)}" for each in column.levels if each.share >= SHOWN]
        return ", ".join(parts) or "recoded record by record"
    if column.treatment is Treatment.MOVED:
        return f"{column.changed:.0f} % of its numbers changed, by {column.shift:.1f} % of the range on average"
    return f"{column.changed:.0f} % of its values replaced by another category"


def class_size_text(count: ClassCount) -> str:
    """A range of class sizes.

    Parameters
    ----------
    count : ClassCount
        The range.

    Returns
    -------
    str

    Examples
    --------
    >>> class_size_text(ClassCount(5, 9, 3)), class_size_text(ClassCount(100, None, 1))
    ('5 to 9', '100 or more')
    """
    if count.high is None:
        return f"{count.low} or more"
    return f"{count.low}" if count.low == count.high else f"{count.low} to {count.high}"


def burden_text(description: MaskingDescription) -> list[str]:
    """Which records bear the loss, and which are still re-identified: one sentence each, without a full stop.

    Parameters
    ----------
    description : MaskingDescription
        The masking.

    Returns
    -------
    list of str
    """
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
