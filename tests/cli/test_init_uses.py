"""`crypsis init --use`: analyses that matter become declared uses of the plan, or are refused in a sentence."""

from __future__ import annotations

import io
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

import pytest

from crypsis.cli import main
from crypsis.measures.estimate_use import EstimateUse
from crypsis.plan import Plan
from crypsis.table.example import example
from crypsis.table.files import write_table


def init(*arguments: object) -> tuple[int, str]:
    """Exit code, and what was printed."""
    said = io.StringIO()
    with (
        redirect_stdout(said),
        redirect_stderr(said),
        patch.object(sys, "argv", ["crypsis", "init", *map(str, arguments)]),
    ):
        try:
            main()
        except SystemExit as ending:
            return int(ending.code or 0), said.getvalue()
    return 0, said.getvalue()


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "people.csv"
    write_table(example(200, seed=3), path)
    return path


def test_uses_are_written_into_the_plan(people: Path, tmp_path: Path) -> None:
    lines = ["income ~ age + education", "mean income by sex", "total income", "share sex + education"]
    code, said = init(people, "--cautious", "-o", tmp_path / "p.toml", *(f"--use={line}" for line in lines))
    assert code == 0, said
    plan = Plan.read(tmp_path / "p.toml")
    assert [use.title for use in plan.use] == lines
    assert [use.build() for use in plan.use] == [EstimateUse.read(line) for line in lines]
    assert {use.treated_as for use in plan.use} == {"objective"}


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("wages ~ age", "there is no column 'wages'"),
        ("income", "cannot be read; write it as one of"),
        ("sex ~ age", "'sex' is nominal and this use needs numbers"),
        ("share person", "'person'"),
    ],
)
def test_a_use_that_cannot_be_served_is_refused_and_nothing_is_written(
    people: Path, tmp_path: Path, line: str, why: str
) -> None:
    code, said = init(people, "--cautious", "-o", tmp_path / "p.toml", "--use", line)
    assert code == 2
    assert why in said
    assert not (tmp_path / "p.toml").exists()
