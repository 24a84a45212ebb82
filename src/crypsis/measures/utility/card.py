"""The utility card: what a masking did to a file, what was harmed most first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from crypsis.errors import TableError
from crypsis.measures.utility.associations import AssociationChange, association_changes
from crypsis.measures.utility.distributions import ColumnHarm, Distributions
from crypsis.measures.utility.propensity import PropensityScore, propensity_score
from crypsis.measures.utility.usefulness import Ruin, Usefulness
from crypsis.table.attribute import UNPUBLISHED
from crypsis.table.table import Table

HarmKind = Literal["loss", "distance", "vanished", "tail", "filled", "blanked", "association"]

PAIRED = 16
"""Largest number of columns whose pairs are compared."""
SAMPLE = 1000
"""Records by which the general utility is measured."""
NOTICED = 1.0
"""Harms below this many per cent do not open a card."""


@dataclass(frozen=True)
class Harm:
    """One thing that was harmed.

    Attributes
    ----------
    kind : str
        What happened: "loss", "distance", "vanished", "tail", "filled", "blanked" or "association".
    columns : tuple of str
        Where; two columns for an association.
    size : float
        Per cent: of the information, of the records, or 100 times the change of an association.
    """

    kind: HarmKind
    columns: tuple[str, ...]
    size: float


@dataclass(frozen=True)
class UseResult:
    """A declared use: how much its analysis changed, and how much it may."""

    title: str
    value: float | None
    tolerance: float


@dataclass(frozen=True)
class UtilityCard:
    """What a masking did to a file; counts and per cent only, never a value of a record.

    Attributes
    ----------
    records, released : int
        Records of the original and of the released file.
    columns : tuple of ColumnHarm
        Every published column that changed, the most harmed first.
    pairs : tuple of AssociationChange
        Pairs of columns, the largest change first.
    general : tuple of PropensityScore
        pMSE by each model that could be fitted, with its null expectation.
    uses : tuple of UseResult
        Declared uses.
    ruins : tuple of Ruin
        Columns beyond a threshold, worst first.

    Examples
    --------
    >>> original, masked = crypsis.example_pair("categories")
    >>> card = crypsis.utility_card(original, masked)
    >>> card.columns[0].name, card.harms[0].kind
    ('town', 'association')
    """

    records: int
    released: int
    columns: tuple[ColumnHarm, ...]
    pairs: tuple[AssociationChange, ...]
    general: tuple[PropensityScore, ...]
    uses: tuple[UseResult, ...]
    ruins: tuple[Ruin, ...]

    @property
    def harms(self) -> tuple[Harm, ...]:
        """What was harmed, the greatest first: sizes of at least one per cent."""
        found = [harm for column in self.columns for harm in _harms(column)]
        found += [Harm("association", (p.first, p.second), 100.0 * p.change) for p in self.pairs]
        return tuple(sorted((h for h in found if h.size >= NOTICED), key=lambda h: (-h.size, h.kind, h.columns)))


def utility_card(
    original: Table,
    masked: Table,
    useful: Usefulness | None = None,
    uses: Sequence[UseResult] = (),
    *,
    general: bool = True,
) -> UtilityCard:
    """Compare a masked table with its original, column by column, pair by pair, and as a whole.

    Parameters
    ----------
    original, masked : Table
        Row by row the same records.
    useful : Usefulness, optional
        When a column is ruined.
    uses : sequence of UseResult
        Declared uses, measured before.
    general : bool
        Whether the general utility is measured, which takes longest.

    Returns
    -------
    UtilityCard

    Examples
    --------
    >>> people = crypsis.example(60)
    >>> crypsis.utility_card(people, people).harms
    ()
    """
    useful = useful or Usefulness()
    hidden = set(original.named(*UNPUBLISHED))
    names = [name for name in original.names if name in masked.names and name not in hidden]
    harms = Distributions(original).harms(masked, names)
    changed = [h for h in harms if h.loss or h.distance or h.filled or h.blanked or h.changed]
    figures = {h.name: {"loss": h.loss, "distance": h.moved, "vanished": h.vanished_share} for h in changed}
    ranked = sorted(changed, key=lambda h: (-_severity(figures[h.name], useful), h.name))
    quasi = tuple(name for name in original.quasi_identifiers if name in names)
    paired = [*quasi, *(name for name in names if name not in quasi)][:PAIRED]
    return UtilityCard(
        len(original),
        int(masked.kept.sum()),
        tuple(ranked),
        association_changes(original, masked, paired),
        _general(original, masked, quasi or tuple(names)) if general else (),
        tuple(uses),
        useful.ruins(figures),
    )


def _severity(figures: Mapping[str, float], useful: Usefulness) -> float:
    return max(
        figures["loss"] / useful.column_loss,
        figures["distance"] / useful.distance,
        figures["vanished"] / useful.vanished,
    )


def _harms(column: ColumnHarm) -> list[Harm]:
    name, of = (column.name,), 100.0 / max(column.records, 1)
    tail = max((abs(t.before - t.after) for t in column.tails if t.point in (5.0, 95.0)), default=0)
    return [
        Harm("loss", name, column.loss),
        Harm("distance", name, column.moved),
        Harm("vanished", name, column.vanished_share),
        Harm("tail", name, of * tail),
        Harm("filled", name, of * column.filled),
        Harm("blanked", name, of * column.blanked),
    ]


def _general(original: Table, masked: Table, names: tuple[str, ...]) -> tuple[PropensityScore, ...]:
    found = []
    for model in ("pairs", "cart"):
        try:
            found.append(propensity_score(original, masked, names, model, SAMPLE))
        except TableError:  # no scikit-learn, no released record
            continue
    return tuple(found)
