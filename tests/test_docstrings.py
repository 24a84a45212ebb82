"""Docstrings of the public names: in numpy form, and their examples do what they say."""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
from pathlib import Path

import pytest

import crypsis

SOURCE = Path(crypsis.__file__).parent
SECTION = re.compile(r"^[A-Z][A-Za-z ]+\n-{3,}$", re.MULTILINE)
ROOMS = ("crypsis.masking", "crypsis.measures", "crypsis.privacy")
"""Rooms whose public names are all documented in numpy form."""


def modules_with_examples() -> list[str]:
    """Every module of the package whose text holds an example."""
    paths = [path for path in sorted(SOURCE.rglob("*.py")) if ">>> " in path.read_text(encoding="utf-8")]
    return [".".join(("crypsis", *path.relative_to(SOURCE).with_suffix("").parts)) for path in paths]


@pytest.mark.parametrize("name", modules_with_examples())
def test_examples_do_what_they_say(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = doctest.testmod(importlib.import_module(name.removesuffix(".__init__")))
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize("name", [name for room in ROOMS for name in crypsis._ROOMS[room]])
def test_public_names_have_sections_in_numpy_form(name: str) -> None:
    thing = getattr(crypsis, name)
    if inspect.isclass(thing) or inspect.isfunction(thing):
        assert SECTION.search(inspect.cleandoc(thing.__doc__ or "")), f"crypsis.{name} has no section in numpy form"
