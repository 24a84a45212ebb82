"""Rooms whose names are loaded when first used: a command imports what it needs, not all that exists.

The ``__init__`` of a room lists its public names as import lines under ``if TYPE_CHECKING``, as type checkers read
them, and calls `load_when_used`. The lines are the only list: they are read from the source of the room.
"""

from __future__ import annotations

import re
import sys
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

_IMPORT = re.compile(r"^[ ]+from[ ]+(crypsis[\w.]*)[ ]+import[ ]+(?:\(([^)]*)\)|([^\n(]+))", re.MULTILINE)
_NAME = re.compile(r"\w+")


class _Room(ModuleType):
    """A package whose listed names are imported when they are asked for."""

    def __getattr__(self, name: str) -> Any:
        home = listed(self.__name__).get(name)
        if home is None:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        found = import_module(f"{home}.{name}") if home == self.__name__ else getattr(import_module(home), name)
        super().__setattr__(name, found)
        return found

    def __setattr__(self, name: str, value: Any) -> None:
        """Import binds a module of the room to its name; a public name that is the same wins, as in any package."""
        if isinstance(value, ModuleType) and listed(self.__name__).get(name) == value.__name__:
            value = getattr(value, name)
        super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *listed(self.__name__)})


def load_when_used(room: str) -> None:
    """Let a package load its listed names when they are first used.

    Parameters
    ----------
    room : str
        Name of the package; called from its ``__init__``.
    """
    sys.modules[room].__class__ = _Room


@cache
def listed(room: str) -> dict[str, str]:
    """The names a room lists, and the modules that hold them, in the order of the lines.

    Parameters
    ----------
    room : str
        Name of a package, which is imported.

    Returns
    -------
    dict of str to str
        Empty for a module that lists none.

    Examples
    --------
    >>> listed("crypsis.privacy")["KAnonymity"]
    'crypsis.privacy.anonymity'
    """
    loader = getattr(import_module(room).__spec__, "loader", None)
    source = loader.get_source(room) if loader is not None else None
    lines = _IMPORT.findall(source or "")
    return {name: home for home, several, one in lines for name in _NAME.findall(several or one)}


def place(room: str, module: str) -> tuple[int, ...]:
    """Where a room lists a module: the number of its line, then of the line in the room on that line.

    Parameters
    ----------
    room : str
        Name of a package.
    module : str
        Name of a module.

    Returns
    -------
    tuple of int
        Behind all lines if it is not listed.

    Examples
    --------
    >>> place("crypsis.privacy", "crypsis.privacy.anonymity")
    (1,)
    """
    lines = list(dict.fromkeys(home for home in listed(room).values() if home != room))
    for number, home in enumerate(lines):
        if module == home:
            return (number,)
        if module.startswith(f"{home}."):
            return number, *place(home, module)
    return (len(lines),)
