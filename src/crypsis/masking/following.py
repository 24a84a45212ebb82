"""Columns that follow from masked ones: what is recomputed after every masking, wherever it was made."""

from __future__ import annotations

from crypsis.masking.weights import publish_weight
from crypsis.table.rules import recompute_derived
from crypsis.table.table import Table


def recompute_following(masked: Table, collected: Table) -> Table:
    """The masked table with the columns that follow from others as these are published: derived ones, then the weight.

    `masked`, `collected`: row by row the same records.
    """
    return publish_weight(recompute_derived(masked, collected), collected)
