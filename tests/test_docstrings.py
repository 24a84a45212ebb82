"""Docstrings: counted over the package, numpy style over the public names, and their examples are run.

`scripts/shape --list` prints the figures and what each docstring lacks; an inherited docstring counts.
"""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import numpy as np
import pytest

import crypsis

ROOT = Path(crypsis.__file__).parent
SHAPE = SimpleNamespace(**run_path(str(Path(__file__).parents[1] / "scripts" / "shape")))
TARGET = 0.95


def test_every_public_definition_has_a_docstring() -> None:
    _, missing = SHAPE.undocumented()
    assert not missing, f"{len(missing)} without a docstring: {missing[:20]}"


def test_public_names_have_numpy_docstrings() -> None:
    counted = SHAPE.public()
    bad = [each for each in counted if each.lacks]
    share = 1 - len(bad) / len(counted)
    assert share >= TARGET, f"{share:.1%} of {len(counted)}: " + "; ".join(
        f"{e.name} lacks {e.lacks}" for e in bad[:30]
    )


def test_public_names_have_examples() -> None:
    missing = [e.name for e in SHAPE.public() if not e.example]
    assert not missing, f"{len(missing)} without an example: {missing}"


# -- a class by hand --


class Kept:
    """A base whose method is documented."""

    def size(self, k: int) -> int:
        """Twice `k`.

        Parameters
        ----------
        k : int
            A number.

        Returns
        -------
        int
        """
        return 2 * k


class Heir(Kept):
    """Overrides without a docstring."""

    def size(self, k: int) -> int:
        return 3 * k

    def lost(self, k: int) -> int:
        return k

    def half(self, k: int) -> int:
        """Half of `k`."""
        return k // 2


def test_an_inherited_docstring_counts() -> None:
    assert SHAPE.lacking(Heir.size) == ()
    assert SHAPE.lacking(Heir.lost) == ("docstring",)
    assert SHAPE.lacking(Heir.half) == ("Parameters", "Returns")


# -- examples --


def modules_with_examples() -> list[str]:
    found = [ROOT / path for path in SHAPE.trees() if ">>> " in (ROOT / path).read_text(encoding="utf-8")]
    names = (".".join(("crypsis", *path.relative_to(ROOT).with_suffix("").parts)) for path in found)
    return [name.removesuffix(".__init__") for name in names]


@pytest.mark.parametrize("module", modules_with_examples())
def test_examples_do_what_they_say(module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = doctest.testmod(importlib.import_module(module), extraglobs={"crypsis": crypsis, "np": np})
    assert result.attempted > 0
    assert result.failed == 0
