"""Registries of the classes that a plan may name: masking methods, partitioners, measures, models, searches.

A registered class is a settings class: a frozen pydantic model whose fields are described and bounded. The same fields
make the plan, the help of the command line, the form of the studio, the reference page and the message that refuses a
bad value. Other packages register through entry points ``crypsis.<family>``. Classes of this package are imported: a
registry has the names of the packages that add to it, and asked for one class it first tries the listed class that is
called so, since the others may not be needed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.metadata import entry_points
from typing import Annotated, Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, ValidationInfo, field_validator

from crypsis.errors import PlanError, listing, suggestion
from crypsis.lazy_imports import public_names

MOST = 2**31 - 1
"""Largest whole number of a setting, except a seed; a larger number is a typing error."""


class Settings(BaseModel):
    """Base of every registered settings class: immutable, and an unknown setting is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    @classmethod
    def in_brief(cls) -> str:
        """What it is: the first paragraph of the docstring in one line, without a full stop."""
        return " ".join((cls.__doc__ or "").strip().split("\n\n")[0].split()).rstrip(".")

    @classmethod
    def paper(cls) -> str:
        """The paper it follows, as the Notes of the docstring name it, in one line; empty if they name none."""
        found = re.search(r"^ *- Paper: (.*(?:\n {6}.*)*)", cls.__doc__ or "", re.MULTILINE)
        return " ".join(found[1].split()) if found else ""

    @field_validator("*")
    @classmethod
    def _is_within_reason(cls, value: Any, info: ValidationInfo) -> Any:
        """Refuse numbers that no table and no machine can meet, where they are written."""
        if isinstance(value, int) and abs(value) > MOST and info.field_name != "seed":
            raise ValueError(f"is beyond ±{MOST}; give a smaller number")
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError("is no finite number; give a finite one")
        return value


class NamesColumn:
    """Mark of a setting whose text is the name of a column, so that a form offers the columns of the table."""


ColumnName = Annotated[str, NamesColumn()]
"""Type of a setting that names a column."""

S = TypeVar("S", bound=Settings)
T = TypeVar("T", bound=Settings)


class Registry(Generic[S]):
    """The settings classes of one family by name, in the order in which the packages list them.

    >>> "k-anonymity" in crypsis.models
    True
    >>> crypsis.models.build("k-anonymity", k=5).k
    5
    """

    def __init__(self, family: str, built_in: tuple[str, ...] = ()) -> None:
        self.family = family
        self._built_in = built_in
        self._classes: dict[str, type[S]] = {}
        self._complete = False

    def add(self, name: str) -> Callable[[type[T]], type[T]]:
        """Decorate a settings class to register it."""

        def register(cls: type[T]) -> type[T]:
            if name in self._classes:
                raise ValueError(f"{self.family} {name!r} is registered twice")
            self._classes[name] = cls  # type: ignore[assignment]
            return cls

        return register

    def __iter__(self) -> Iterator[str]:
        self._load()
        return iter(self._classes)

    def __contains__(self, name: object) -> bool:
        self._find(name)
        return name in self._classes

    def __getitem__(self, name: str) -> type[S]:
        self._find(name)
        try:
            return self._classes[name]
        except KeyError:
            raise PlanError(
                f"there is no {self.family} called {name!r}{suggestion(name, self._classes)}; "
                f"known: {listing(sorted(self._classes), most=40)}"
            ) from None

    def build(self, name: str, **settings: Any) -> S:
        """Build an instance of a registered class."""
        cls = self[name]
        try:
            return cls(**settings)
        except ValidationError as error:
            raise PlanError(f"{self.family} {name!r}: {explain_registry_settings(error, cls)}") from None

    def name_of(self, instance: S) -> str:
        """The name under which the class of an instance is registered."""
        for name, cls in self._classes.items():
            if type(instance) is cls:
                return name
        raise PlanError(f"{type(instance).__name__} is not a registered {self.family}")

    def _find(self, name: object) -> None:
        """Import the listed class that has the name; everything if there is none."""
        if name in self._classes or self._complete:
            return
        called = str(name).replace("-", "")
        for package in self._built_in:
            for each in public_names(package):
                if each.lower().removesuffix("search") == called:
                    getattr(import_module(package), each)
        if name not in self._classes:
            self._load()

    def _load(self) -> None:
        """Import what adds to the registry: our own modules, then those of outside packages."""
        if not self._complete:
            self._complete = True
            for package in self._built_in:
                for each in public_names(package):
                    getattr(import_module(package), each)
            places = {name: self._place(cls) for name, cls in self._classes.items()}
            self._classes = {name: self._classes[name] for name in sorted(places, key=lambda each: places[each])}
            for entry in entry_points(group=f"crypsis.{self.family.replace(' ', '_')}"):
                entry.load()

    def _place(self, cls: type[S]) -> tuple[int, ...]:
        """Where the packages list a class, so that the order does not depend on what was imported first."""
        for number, package in enumerate(self._built_in):
            if cls.__module__.startswith(package):
                return number, *position_in_registry(package, cls.__module__)
        return (len(self._built_in),)


def explain_registry_settings(error: ValidationError, cls: type[BaseModel]) -> str:
    """Registries: what is wrong with the settings of a registered class, all problems in one line."""
    known = list(cls.model_fields)
    problems = []
    for item in error.errors(include_url=False):
        where = ".".join(str(part) for part in item["loc"]) or "settings"
        if item["type"] == "extra_forbidden":
            problems.append(f"unknown setting {where!r}{suggestion(where, known)}; known: {listing(known)}")
        elif item["type"] == "missing":
            problems.append(f"setting {where!r} is needed")
        else:
            found = "" if isinstance(item["input"], dict) else f" (found {item['input']!r})"
            message = item["msg"].removeprefix("Value error, ")
            problems.append(f"{where}: {message[:1].lower()}{message[1:]}{found}")
    return "; ".join(problems)


def position_in_registry(package: str, module: str) -> tuple[int, ...]:
    """Order of a registry: where the stub of a package lists a module, by the number of its line.

    >>> position_in_registry("crypsis.privacy", "crypsis.privacy.anonymity")
    (0,)
    """
    homes = list(dict.fromkeys(home for home in public_names(package).values() if home != package))
    for number, home in enumerate(homes):
        if module == home:
            return (number,)
        if module.startswith(f"{home}."):
            return number, *position_in_registry(home, module)
    return (len(homes),)
