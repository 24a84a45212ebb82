"""Everything a plan may name: importing fills the registries, and a named thing is built or refused in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from crypsis.errors import PlanError
from crypsis.measures import measures
from crypsis.plan.sentences import sentences
from crypsis.privacy import models
from crypsis.registry import Registry
from crypsis.searches import searches

__all__ = ["Named", "measures", "models", "searches"]

REFUSED = "registry"
"""Error type of a named thing that cannot be built; its sentences stand in the context."""


class Named(BaseModel):
    """The name of a registered thing, fields of the plan's own, and beside them the thing's settings."""

    model_config = ConfigDict(frozen=True, extra="allow")

    registry: ClassVar[Registry[Any]]
    """Where the name is looked up."""
    key: ClassVar[str]
    """The field that holds the name."""

    @property
    def settings(self) -> dict[str, Any]:
        return dict(self.model_extra or {})

    @classmethod
    def own(cls) -> list[str]:
        """Keys that belong to the plan and not to the thing."""
        return [field.alias or name for name, field in cls.model_fields.items()]

    @classmethod
    def refusals(cls, given: Mapping[str, Any]) -> list[str]:
        """Why what stands in a document cannot be built; empty if it can, or if its name is not even there."""
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
            return sentences(error, chosen, own)
        return []

    @model_validator(mode="after")
    def _buildable(self) -> Named:
        refusals = self.refusals({self.key: getattr(self, self.key), **self.settings})
        if refusals:
            raise PydanticCustomError(REFUSED, "{words}", {"words": "; ".join(refusals)})
        return self

    def build(self) -> Any:
        return self.registry.build(getattr(self, self.key), **self.settings)
