"""Help pages that list what is registered, so that a new thing is found without a list that names it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from typer.core import TyperCommand

if TYPE_CHECKING:
    from crypsis.registry import Registry


def listing(title: str, room: str, registry: str) -> type[TyperCommand]:
    """A command whose help ends with the members of a registry; the room is imported when the help is asked for."""

    class Listing(TyperCommand):
        def format_epilog(self, ctx: Any, formatter: Any) -> None:
            known: Registry[Any] = getattr(import_module(room), registry)
            with formatter.section(title):
                formatter.write_dl([(name, known[name].in_brief()) for name in sorted(known)])

    return Listing
