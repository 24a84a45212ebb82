"""A confidential column that would single people out is released only if somebody says that nobody outside knows it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from cli.test_commands import crypsis
from crypsis import protect, to_frame
from crypsis.errors import ReleaseRefused
from crypsis.masking import Microaggregation
from crypsis.plan import Plan
from crypsis.privacy import KAnonymity
from crypsis.release import publish, verify
from crypsis.release.lazy_audit import audit_lazy_release
from crypsis.release.lazy_release import publish_counted
from crypsis.release.manifest import write_sealed
from crypsis.table.example import example
from crypsis.table.files import write_table
from crypsis.table.lazy import count_lazily
from crypsis.table.table import Table

ASSUMED = "It is assumed that nobody outside knows diagnosis"
K5 = [KAnonymity(k=5)]


@pytest.fixture(scope="module")
def people() -> Table:
    return example(300).drop(["income"])


@pytest.fixture(scope="module")
def masked(people: Table) -> Table:
    return Microaggregation(k=5).mask(people, np.random.default_rng(1))


def test_what_nobody_stated_stops_a_release(people: Table, masked: Table, tmp_path: Path) -> None:
    with pytest.raises(ReleaseRefused) as refused:
        publish(masked, tmp_path / "out", models=K5, original=people, unstated=["diagnosis"])
    told = str(refused.value)
    assert "whoever knows diagnosis together with" in told
    assert 'quasi_identifiers=[…, "diagnosis"] masks it' in told
    assert 'confidential=[…, "diagnosis"] says that nobody outside knows it' in told
    assert "assumption:diagnosis" in refused.value.findings
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("stated", ["role", "waiver"])
def test_what_is_stated_is_printed_as_an_assumption(people: Table, masked: Table, tmp_path: Path, stated: str) -> None:
    reasons = {"assumption:diagnosis": "in no register outside"}
    unstated = ["diagnosis"] if stated == "waiver" else []
    folder = publish(masked, tmp_path / "out", models=K5, original=people, unstated=unstated, waivers=reasons)
    for part in ("public", "internal"):
        assert ASSUMED in (folder / part / "report.html").read_text()
    assert "in no register outside" in (folder / "internal" / "report.html").read_text()
    assert "in no register outside" not in (folder / "public" / "report.html").read_text()
    assert json.loads((folder / "public" / "manifest.json").read_text())["assumed"] == ["diagnosis"]
    found = verify(folder)
    assert (found.sound, found.assumed) == (True, ("diagnosis",))
    assert not [note for note in found.notes if "the file reveals" in note]
    assert ASSUMED in crypsis("verify", folder).stdout


def test_a_manifest_that_hides_the_assumption_is_noticed(people: Table, masked: Table, tmp_path: Path) -> None:
    folder = publish(masked, tmp_path / "out", models=K5, original=people)
    shutil.rmtree(folder / "internal")
    path = folder / "public" / "manifest.json"
    manifest = json.loads(path.read_text())
    write_sealed(path, {key: value for key, value in manifest.items() if key != "seal"} | {"assumed": []})
    found = verify(folder)
    assert "public/report.json and public/manifest.json are not of one release" in found.problems
    assert any("the file reveals: whoever knows diagnosis" in note for note in found.notes)


def test_one_stated_column_answers_for_a_combination(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    columns = {"sex": ["f", "m"] * 100, "a": rng.integers(0, 20, 200).tolist(), "b": rng.integers(0, 20, 200).tolist()}
    table = Table.from_columns(columns, {"sex": "quasi", "a": "confidential", "b": "confidential"})
    with pytest.raises(ReleaseRefused, match="whoever knows"):
        publish(table, tmp_path / "out", models=K5, unstated=["a", "b"])
    folder = publish(table, tmp_path / "out", models=K5, unstated=["a"])
    assert verify(folder).assumed == ("b",)


def test_files_that_are_counted_have_the_same_gate(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    frame = pl.DataFrame({"sex": ["f", "m"] * 300, "ill": [f"i{n}" for n in rng.integers(0, 190, 600)]})
    held = count_lazily(frame.lazy(), quasi_identifiers=["sex"], hierarchies={"sex": "merge:1"}).decide_roles(
        {"ill": "confidential"}
    )
    with pytest.raises(ReleaseRefused, match="whoever knows ill together with sex"):
        publish_counted(held, [0], tmp_path / "out", models=K5, suppression=0.0, unstated=["ill"])
    folder = publish_counted(held, [0], tmp_path / "out", models=K5, suppression=0.0)
    assert verify(folder).assumed == ("ill",)
    roles = {"sex": "quasi", "ill": "confidential"}
    assert [each.refuses for each in audit_lazy_release(folder / "public", roles).findings] == [False, False]


def test_who_names_a_column_confidential_in_python_says_that_nobody_knows_it(tmp_path: Path) -> None:
    frame = to_frame(example(120).drop(["income", "person"]))
    quasi = ["age", "sex", "district", "education", "marital", "occupation", "hours"]
    with protect(frame, quasi_identifiers=quasi, confidential=["diagnosis"], budget="1 generations", seed=1) as run:
        run.release(folder=tmp_path / "out")
    assert verify(tmp_path / "out").assumed == ("diagnosis",)


def test_a_suggested_role_says_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_table(example(200), tmp_path / "people.csv")
    drafted = crypsis("init", "people.csv", "-o", "plan.toml")
    assert "whoever knows income together with" in drafted.stdout
    assert "May somebody outside know income? Make it quasi." in drafted.stdout
    assert "no release before income has the role quasi" in crypsis("check", "plan.toml", "--no-estimate").stdout
    stated = crypsis("init", "people.csv", "--confidential", "income,diagnosis", "-o", "stated.toml")
    assert "whoever knows" not in stated.stdout
    assert 'because = "declared confidential when the plan was drafted"' in (tmp_path / "stated.toml").read_text()
    assert "no release before" not in crypsis("check", "stated.toml", "--no-estimate").stdout
    crypsis("init", "people.csv", "--cautious", "-o", "safe.toml")
    safe = Plan.read(tmp_path / "safe.toml")
    because = {name: column.because for name, column in safe.columns.items() if column.role == "confidential"}
    assert set(because) == {"income", "diagnosis"}
    assert set(because.values()) == {"assumed when the plan was drafted: an outcome that nobody outside has"}
