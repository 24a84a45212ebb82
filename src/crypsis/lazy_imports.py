"""Packages whose public names are imported when first used: a command imports what it needs, not all that exists.

The ``__init__.pyi`` of a package lists its public names as import lines, which type checkers read too. It is the only
list.
"""

from __future__ import annotations

import ast
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any


class _LazyPackage(ModuleType):
    """A package whose public names are imported when they are asked for."""

    def __getattr__(self, name: str) -> Any:
        home = public_names(self.__name__).get(name)
        if home is None:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        found = import_module(f"{home}.{name}") if home == self.__name__ else getattr(import_module(home), name)
        super().__setattr__(name, found)
        return found

    def __setattr__(self, name: str, value: Any) -> None:
        """Import binds a module of the package to its name; a public name that is the same wins."""
        if isinstance(value, ModuleType) and public_names(self.__name__).get(name) == value.__name__:
            value = getattr(value, name)
        super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *public_names(self.__name__)})


def load_when_used(package: str) -> None:
    """Let a package, from whose ``__init__`` this is called, import its public names when they are first used."""
    module = sys.modules[package]
    module.__class__ = _LazyPackage
    module.__dict__["__all__"] = sorted(public_names(package))


@cache
def public_names(package: str) -> dict[str, str]:
    """The public names of a package and the modules that define them, in the order of its stub; none without a stub.

    >>> public_names("crypsis.privacy")["KAnonymity"]
    'crypsis.privacy.anonymity'
    """
    file = getattr(sys.modules.get(package) or import_module(package), "__file__", None)
    stub = Path(file or "").with_name("__init__.pyi")
    if file is None or not Path(file).name.startswith("__init__.") or not stub.is_file():
        return {}
    lines = [node for node in ast.parse(stub.read_bytes()).body if isinstance(node, ast.ImportFrom)]
    return {alias.name: str(node.module) for node in lines for alias in node.names}
