"""Which columns a method masks: those it was given, else every quasi-identifier it can treat."""

from __future__ import annotations

from crypsis.errors import TableError
from crypsis.table.attribute import Kind
from crypsis.table.table import Table


def chosen_columns(table: Table, named: tuple[str, ...], kinds: frozenset[Kind], method: str, reason: str) -> list[str]:
    """Names of the columns to mask; a named column of the wrong kind is refused with the reason."""
    for name in named:
        kind = table.attribute(name).kind
        if table.level(name) != 0:
            raise TableError(f"{method}: column {name!r} is already generalised; mask before generalising")
        if kind not in kinds:
            raise TableError(f"{method}: column {name!r} is {kind}, and {reason}")
    fitting = [n for n in table.quasi_identifiers if table.attribute(n).kind in kinds and table.level(n) == 0]
    chosen = list(named) or fitting
    if not chosen:
        kinds_in_words = " or ".join(sorted(kind.value for kind in kinds))
        raise TableError(f"{method}: no quasi-identifier is {kinds_in_words}; name the columns to mask")
    return chosen
