"""For every setting of a registered class, two values that should make a difference.

Most are found by themselves: a flag is flipped, a choice takes each of its words, a number moves inside its
bounds, and a field that gives examples, `Field(examples=[…])`, takes each of them. What cannot be guessed is written
down in OTHER (another value) and CONTEXT (settings under which the field matters). A setting for which no variation
is known fails the test: nobody adds one that moves nothing.
"""

from __future__ import annotations

import typing
from collections.abc import Iterator
from typing import Any, Literal

from annotated_types import Ge, Gt, Le, Lt
from pydantic.fields import FieldInfo

from crypsis.registry import Settings


def variations(cls: type[Settings], field: str, base: dict[str, Any], other: Any = None) -> Iterator[dict[str, Any]]:
    """Settings that differ from `base` in one field only."""
    info = cls.model_fields[field]
    present = base.get(field, info.get_default(call_default_factory=True))
    for value in [other] if other is not None else info.examples or list(_guesses(info, present)):
        yield base | {field: value}


def _guesses(info: FieldInfo, present: Any) -> Iterator[Any]:
    kind = info.annotation
    if typing.get_origin(kind) is Literal:
        yield from (word for word in typing.get_args(kind) if word != present)
    elif kind is bool:
        yield not present
    elif kind in (int, float):
        yield from _numbers(info, present, kind)


def _numbers(info: FieldInfo, present: Any, kind: type) -> Iterator[Any]:
    low = next(
        (m.ge for m in info.metadata if isinstance(m, Ge)),
        next((m.gt for m in info.metadata if isinstance(m, Gt)), None),
    )
    high = next(
        (m.le for m in info.metadata if isinstance(m, Le)),
        next((m.lt for m in info.metadata if isinstance(m, Lt)), None),
    )
    strict_low = any(isinstance(m, Gt) for m in info.metadata)
    strict_high = any(isinstance(m, Lt) for m in info.metadata)
    start = present if isinstance(present, (int, float)) else (low or 1)
    for candidate in (start * 2, start + 1, start / 2, start + 3, start * 4):
        value = kind(candidate)
        fits = (low is None or (value > low if strict_low else value >= low)) and (
            high is None or (value < high if strict_high else value <= high)
        )
        if fits and value != present:
            yield value
