"""What Crypsis stands on: the page names all of it, and the lock has it by hashes in the versions that are tested."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
FILE = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = FILE["project"]
LOCKED = ("all", "dask")
"""Extras of the image, as `scripts/lock` names them."""


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(path: Path) -> dict[str, str]:
    found = re.findall(r"^([\w.-]+)==([^\s;\\]+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {plain(name): number for name, number in found}


def asked(lines: list[str]) -> list[Requirement]:
    """Requirements with our own extras unfolded."""
    found = []
    for each in map(Requirement, lines):
        if plain(each.name) != "crypsis":
            found.append(each)
        for extra in each.extras if plain(each.name) == "crypsis" else ():
            found += asked(PROJECT["optional-dependencies"][extra])
    return found


CONSTRAINTS, LOCK = pins(ROOT / "constraints.txt"), pins(ROOT / "requirements.lock")


def test_every_dependency_is_listed_with_its_licence() -> None:
    page = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| ([\w.-]+) \| [^|]+ \| ([^|]+) \|", page, re.MULTILINE))
    for line in (*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["all"]):
        for each in asked([line]):
            name = plain(each.name)
            assert rows.get(name, "?").strip() not in ("?", ""), f"{name}: run scripts/licences and renew the page"


def test_the_lock_has_the_tested_versions_and_nothing_else() -> None:
    other = {name: number for name, number in LOCK.items() if CONSTRAINTS.get(name) != number}
    assert not other, f"not as in constraints.txt: {other}; run scripts/lock"


@pytest.mark.parametrize("extra", ["", *LOCKED, "build"])
def test_the_lock_has_all_that_the_image_needs(extra: str) -> None:
    groups = {"": PROJECT["dependencies"], "build": FILE["dependency-groups"]["build"]}
    for each in asked(groups[extra] if extra in groups else PROJECT["optional-dependencies"][extra]):
        number = LOCK.get(plain(each.name))
        assert number, f"{each.name} is not in requirements.lock; run scripts/lock"
        assert number in each.specifier, f"{each.name} {number} is not {each.specifier}; run scripts/lock"


def test_every_locked_package_has_a_hash() -> None:
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    entries = re.split(r"^(?=[\w.-]+==)", text, flags=re.MULTILINE)[1:]
    assert len(entries) == len(LOCK)
    for entry in entries:
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", entry), entry.split()[0]
