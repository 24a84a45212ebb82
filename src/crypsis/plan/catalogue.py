"""Entries of a plan that name a registered class: built, or refused with all problems."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from crypsis.errors import PlanError
from crypsis.masking import methods
from crypsis.measures import measures
from crypsis.plan.problems import problems_of
from crypsis.privacy import models
from crypsis.registry import Registry
from crypsis.searches import searches

__all__ = ["Named", "measures", "methods", "models", "searches"]

REFUSED = "registry"
"""Error type of an entry that cannot be built; its context has the message."""


T = TypeVar("T")


class Named(BaseModel, Generic[T]):
    """An entry with the name of a registered class, fields of the plan, and the settings of the class.

    Attributes
    ----------
    registry : Registry
        Where the name is looked up.
    key : str
        The field with the name: the first one.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    registry: ClassVar[Registry[Any]]
    key: ClassVar[str]

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        cls.key = next(iter(cls.model_fields), "")

    @property
    def settings(self) -> dict[str, Any]:
        """Settings of the registered class."""
        return dict(self.model_extra or {})

    @classmethod
    def own(cls) -> list[str]:
        """Keys that belong to the plan and not to the registered class."""
        return [field.alias or name for name, field in cls.model_fields.items()]

    @classmethod
    def refusals(cls, given: Mapping[str, Any]) -> list[str]:
        """Why an entry cannot be built.

        Parameters
        ----------
        given : mapping
            The entry as written.

        Returns
        -------
        list of str
            One sentence each; empty if it can be built or has no name.
        """
        name = given.get(cls.key)
        if not isinstance(name, str):
            return []
        own = cls.own()
        registry = cls.registry
        try:
            chosen = registry[name]
        except PlanError as error:
            return [str(error)]
        try:
            chosen(**{key: value for key, value in given.items() if key not in own})
        except ValidationError as error:
            return [problem.message for problem in problems_of(error, chosen, own)]
        return []

    @model_validator(mode="after")
    def _buildable(self) -> Named[T]:
        refusals = self.refusals({self.key: getattr(self, self.key), **self.settings})
        if refusals:
            raise PydanticCustomError(REFUSED, "{message}", {"message": "; ".join(refusals)})
        return self

    def build(self) -> T:
        """Build the registered class with its settings."""
        built: T = self.registry.build(getattr(self, self.key), **self.settings)
        return built
