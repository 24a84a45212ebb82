"""One registry per family of things a plan may name: masking methods, partitioners, measures, models, searches.

The registered thing is a settings class: a frozen pydantic model whose fields are explained and bounded.
The same fields make the plan, the command line's help, the studio's form, the reference page and the
sentence that refuses a bad value. Outside packages register through entry points ``crypsis.<family>``.
What the package itself offers is imported: a registry is told the modules of rooms above it that add to it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.metadata import entry_points
from typing import Annotated, Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, ValidationInfo, field_validator

from crypsis.errors import PlanError, listing, suggestion

MOST = 2**31 - 1
"""No whole number in a plan is larger, but for the seed: what counts or sizes something is a slip of the pen there."""


class Settings(BaseModel):
    """Base of every registered settings class: immutable, and a misspelt setting is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @field_validator("*")
    @classmethod
    def _is_within_reason(cls, value: Any, info: ValidationInfo) -> Any:
        """A number that no table and no machine could meet is refused where it is written, not where it would fail."""
        if isinstance(value, int) and abs(value) > MOST and info.field_name != "seed":
            raise ValueError(f"is beyond ±{MOST}; give a smaller number")
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError("is no finite number; give one")
        return value


class NamesColumn:
    """Mark of a setting whose text is the name of a column, so that a form offers the columns of the table."""


ColumnName = Annotated[str, NamesColumn()]
"""Type of a setting that names a column."""

S = TypeVar("S", bound=Settings)
T = TypeVar("T", bound=Settings)


class Registry(Generic[S]):
    """Names → settings classes of one family, in order of registration.

    Parameters
    ----------
    family : str
        What the registered things are, in the singular.
    built_in : tuple of str
        Modules of this package that add to the registry and are not imported with it; imported at the first question.
    """

    def __init__(self, family: str, built_in: tuple[str, ...] = ()) -> None:
        self.family = family
        self._built_in = built_in
        self._classes: dict[str, type[S]] = {}
        self._complete = False

    def add(self, name: str) -> Callable[[type[T]], type[T]]:
        """Decorator: register a settings class under a name a person would type."""

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
        self._load()
        return name in self._classes

    def __getitem__(self, name: str) -> type[S]:
        self._load()
        try:
            return self._classes[name]
        except KeyError:
            raise PlanError(
                f"there is no {self.family} called {name!r}{suggestion(name, self._classes)}; "
                f"known: {listing(sorted(self._classes), most=40)}"
            ) from None

    def build(self, name: str, **settings: Any) -> S:
        """An instance of the named class, or a sentence that says which setting is wrong and why."""
        cls = self[name]
        try:
            return cls(**settings)
        except ValidationError as error:
            raise PlanError(f"{self.family} {name!r}: {explain(error, cls)}") from None

    def name_of(self, instance: S) -> str:
        for name, cls in self._classes.items():
            if type(instance) is cls:
                return name
        raise PlanError(f"{type(instance).__name__} is not a registered {self.family}")

    def _load(self) -> None:
        """Import what adds to the registry: our own modules, then those of outside packages."""
        if not self._complete:
            self._complete = True
            for module in self._built_in:
                import_module(module)
            for entry in entry_points(group=f"crypsis.{self.family.replace(' ', '_')}"):
                entry.load()


def explain(error: ValidationError, cls: type[BaseModel]) -> str:
    """All problems of one settings object in one line of plain words."""
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
