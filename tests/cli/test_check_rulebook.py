"""`crypsis check --rulebook`: a gate before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from crypsis.cli.app import app
from crypsis.table.example import example
from crypsis.table.files import write_table


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plan")
    write_table(example(150, seed=3), folder / "people.csv")
    answer = CliRunner().invoke(app, ["init", str(folder / "people.csv"), "-o", str(folder / "plan.toml")])
    assert answer.exit_code == 0, answer.output
    return folder / "plan.toml"


def check(plan: Path, *options: str) -> tuple[int, str]:
    answer = CliRunner().invoke(app, ["check", str(plan), "--no-estimate", *options])
    return answer.exit_code, answer.output


def test_a_plan_that_keeps_the_rules_passes(plan: Path) -> None:
    code, said = check(plan, "--rulebook", "licensed")
    assert code == 0
    assert "kept" in said


def test_a_broken_rule_is_named_and_exits_1_unless_waived(plan: Path) -> None:
    code, said = check(plan, "--rulebook", "public-use")
    assert code == 1
    assert "l-diversity" in said
    assert "BROKEN" in said
    code, said = check(plan, "--rulebook", "public-use", "--waive", "l=agreed with the board")
    assert code == 0
    assert "waived: agreed with the board" in said
