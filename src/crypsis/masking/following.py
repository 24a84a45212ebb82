"""Columns that follow from masked ones: what is recomputed after every masking, wherever it was made."""

from __future__ import annotations

from crypsis.table.rules import recompute_derived
from crypsis.table.table import Table


def recompute_following(masked: Table, collected: Table) -> Table:
    """The masked table with the columns that follow from others as these are published: derived ones.

    `masked`, `collected`: row by row the same records.
    """
    if any(attribute.derived for attribute in collected.attributes):
        masked = recompute_derived(masked, collected)
    return masked
