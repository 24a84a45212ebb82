"""`crypsis audit` on files and releases, beside the file as it was collected."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import crypsis
from crypsis.cli.app import app
from crypsis.errors import TableError
from crypsis.table.files import write_table
from crypsis.table.table import Table

REASON = "invented people"


@pytest.fixture
def people() -> Table:
    rng = np.random.default_rng(1)
    columns = {
        "age": rng.integers(20, 60, 200).tolist(),
        "town": [f"t{n}" for n in rng.integers(0, 5, 200)],
        "colour": [f"c{n}" for n in rng.integers(0, 3, 200)],
        "weight": (rng.permutation(200) + 0.5).tolist(),
    }
    return Table.from_columns(columns, {"age": "quasi", "town": "quasi", "colour": "other", "weight": "other"})


def looked(*arguments: Path | str) -> tuple[int, str]:
    answer = CliRunner().invoke(app, ["audit", *map(str, arguments)])
    return answer.exit_code, answer.output


@pytest.mark.parametrize("order", ["shuffled", "kept"])
def test_a_release_is_audited_beside_its_original_in_any_order(people: Table, tmp_path: Path, order: str) -> None:
    """Roles are those of the release, and what was waived there is found again."""
    write_table(people, tmp_path / "people.csv")
    masked = crypsis.Microaggregation(k=5).mask(people, np.random.default_rng(2))
    waivers = dict.fromkeys(("singling-out:weight", "combination:colour", "combination:weight"), REASON)
    crypsis.publish(
        masked, tmp_path / "out", models=[crypsis.KAnonymity(k=5)], original=people, waivers=waivers, order=order
    )
    code, text = looked(tmp_path / "out", "--original", tmp_path / "people.csv")
    assert code == 1
    assert "weight singles out 100 % of the records by itself" in text
    assert "nobody decided" not in text
    assert "hold a value" not in text.replace("hold a value that no other record holds", "")
    assert ("the release is shuffled" in text) == (order == "shuffled")


def test_a_file_in_another_order_is_refused(people: Table, tmp_path: Path) -> None:
    write_table(people, tmp_path / "people.csv")
    write_table(people.take(np.random.default_rng(3).permutation(200)), tmp_path / "mixed.csv")
    answer = CliRunner().invoke(
        app, ["audit", str(tmp_path / "mixed.csv"), "--original", str(tmp_path / "people.csv"), "--quasi", "age"]
    )
    assert isinstance(answer.exception, TableError)
    assert "in another order" in str(answer.exception)


def test_what_a_plan_does_not_state_stops_a_release(tmp_path: Path) -> None:
    file, plan = tmp_path / "people.csv", tmp_path / "plan.toml"
    write_table(crypsis.example(200), file)
    assert CliRunner().invoke(app, ["init", str(file), "-o", str(plan)]).exit_code == 0

    def standing() -> str:
        (line,) = (line for line in looked(file, "-p", str(plan))[1].splitlines() if "whoever knows diagnosis" in line)
        return line

    assert "stops a release" in standing()
    known = 'diagnosis = { role = "confidential"'
    plan.write_text(plan.read_text().replace(known, f'{known}, because = "in no register"'))
    assert "reported" in standing()
