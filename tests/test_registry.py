"""Registries: what the package offers is imported, what others offer comes through entry points."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from crypsis import registry
from crypsis.errors import PlanError
from crypsis.registry import Registry, Settings

ROOT = Path(__file__).parents[1]

ALONE = """
import importlib.metadata
importlib.metadata.entry_points = lambda **group: ()
from crypsis.masking import Microaggregation, partitioners
print(type(Microaggregation(partitioner="memetic").chosen_partitioner()).__name__, *partitioners)
"""


def test_the_package_has_no_entry_point_of_a_registry() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert not [group for group in project.get("entry-points", {}) if group.startswith("crypsis.")]


def test_masking_knows_every_partitioner_without_entry_points_and_without_importing_searches() -> None:
    answer = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True, check=True)
    chosen, *known = answer.stdout.split()
    assert chosen == "Memetic"
    assert {"mdav", "blocks", "genetic", "one-step", "two-step", "memetic"} <= set(known)


def test_built_in_modules_come_first_and_outside_packages_follow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    things: Registry[Settings] = Registry("thing", built_in=("a_built_in_module",))
    for module, name in (("a_built_in_module", "ours"), ("an_outside_module", "theirs")):
        (tmp_path / f"{module}.py").write_text(
            "from crypsis.registry import Settings\nfrom registry_under_test import things\n"
            f"@things.add({name!r})\nclass Thing(Settings):\n    pass\n"
        )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(sys.modules, "registry_under_test", type(sys)("registry_under_test"))
    monkeypatch.setattr(sys.modules["registry_under_test"], "things", things, raising=False)
    entry = EntryPoint("any", "an_outside_module", "crypsis.thing")
    monkeypatch.setattr(registry, "entry_points", lambda group: [entry] if group == "crypsis.thing" else [])
    assert list(things) == ["ours", "theirs"]
    with pytest.raises(PlanError, match="no thing called 'urs'"):
        things["urs"]
