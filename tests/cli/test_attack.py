"""`crypsis attack` on bundles, files and methods: what it prints and how it exits."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from cli.test_commands import crypsis
from crypsis.masking import Microaggregation
from crypsis.masking.generalisation import Generalisation
from crypsis.privacy import KAnonymity
from crypsis.release import ReleaseDescription, publish
from crypsis.table.example import example
from crypsis.table.files import read_table, write_table
from waiving import waiving

ROLES = ("--quasi", "age,hours,sex", "--confidential", "income,diagnosis", "--identifier", "person")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """People inside and outside, and two releases: one in groups of ten, one in the order of the file."""
    folder = tmp_path_factory.mktemp("attack")
    table = example(800, seed=6).drop(["district", "education", "marital", "occupation"])
    inside, outside = table.take(np.arange(400)), table.take(np.arange(400, 800))
    write_table(inside, folder / "inside.csv")
    write_table(outside, folder / "outside.csv")
    description, reasons = ReleaseDescription("Test", "Grouped.", "aggregation"), waiving("income")
    for k, order in ((10, "shuffled"), (2, "kept")):
        masked = Microaggregation(k=k, missing="aggregate").mask(inside, np.random.default_rng(0))
        publish(
            masked, folder / f"k{k}", models=[KAnonymity(k=2)], description=description, order=order, waivers=reasons
        )  # type: ignore[arg-type]
    (folder / "plan.toml").write_text(
        '[data]\nsource = "elsewhere.csv"\n[columns]\nperson = { role = "identifier" }\n'
        'age = { role = "quasi", kind = "numeric", hierarchy = "intervals:5,10,20" }\n'
        'hours = { role = "quasi", kind = "numeric" }\nsex = { role = "quasi" }\n'
        'income = { role = "confidential" }\ndiagnosis = { role = "confidential" }\n'
    )
    return folder


def test_a_safe_bundle_passes_and_says_that_this_is_no_proof(folder: Path) -> None:
    files = ("--original", folder / "inside.csv", "--control", folder / "outside.csv")
    answer = crypsis("attack", folder / "k10", *files, *ROLES, "--knows", "age,hours,sex")
    assert answer.returncode == 0, answer.stdout
    assert "no attack is a finding, which is no proof" in answer.stdout
    assert "not tried: intersection of two releases (only one release is given)" in answer.stdout


def test_the_file_itself_is_caught_and_told_as_json(folder: Path) -> None:
    files = ("--original", folder / "inside.csv", "--control", folder / "outside.csv", "--plan", folder / "plan.toml")
    answer = crypsis("attack", folder / "inside.csv", *files, "--json")
    assert answer.returncode == 1
    content = json.loads(answer.stdout)
    assert "nearest record" in content["caught"]
    nearest = next(each for each in content["attacks"] if each["attack"] == "nearest record")
    assert nearest["rate"]["value"] > 70 > nearest["control"]["value"]
    assert nearest["rate"]["interval"][0] <= nearest["rate"]["value"] <= nearest["rate"]["interval"][1]


def test_a_generalised_file_is_read_by_the_hierarchies_of_the_plan(folder: Path) -> None:
    table = read_table(folder / "inside.csv", roles={"age": "quasi"}, hierarchies={"age": "intervals:5,10,20"})
    masked = Generalisation(levels={"age": 2}, suppression=0.2).mask(table, np.random.default_rng(0))
    write_table(masked, folder / "by-tens.csv")
    files = ("--original", folder / "inside.csv", "--control", folder / "outside.csv", "--plan", folder / "plan.toml")
    answer = crypsis("attack", folder / "by-tens.csv", *files, "--knows", "age", "--json")
    content = json.loads(answer.stdout)
    assert (answer.returncode, content["caught"]) == (0, [])
    nearest = next(each for each in content["attacks"] if each["attack"] == "nearest record")
    assert nearest["counts"]["candidates, median"] > 10
    assert {each["attack"] for each in content["untried"]} >= {"undo microaggregation", "undo rank swapping"}


def test_a_method_is_tried_on_half_of_the_file(folder: Path) -> None:
    weak = ("attack", "rank-swapping", "--set", "percent=1", "--original", folder / "inside.csv", *ROLES)
    answer = crypsis(*weak, "--window", 1, "--definitions")
    assert answer.returncode == 1
    assert "rank-swapping: CAUGHT by" in answer.stdout
    assert "candidates: records within 1 % of the ranks" in answer.stdout


def test_whoever_knows_any_published_column_catches_it(folder: Path) -> None:
    files = ("--original", folder / "inside.csv", "--control", folder / "outside.csv")
    answer = crypsis("attack", folder / "k10", *files, *ROLES)
    assert answer.returncode == 1
    assert ", by income, " in answer.stdout


def test_two_releases_beside_each_other_and_no_control(folder: Path) -> None:
    answer = crypsis("attack", folder / "k10", "--second", folder / "k2", "--original", folder / "inside.csv", *ROLES)
    assert answer.returncode == 0, "without a control nothing is a finding"
    assert "intersection of two releases: right for" in answer.stdout
    assert "note: no control is given" in answer.stdout
    assert "UNDETERMINED: " in answer.stdout


@pytest.mark.parametrize(
    "words, sentence",
    [
        (("rank-swaping",), "did you mean 'rank-swapping'"),
        (("rank-swapping", "--set", "percent=200"), "percent"),
        (("rank-swapping", "--attempts", "1"), "--attempts: "),
        (("rank-swapping", "--knows", "shoe"), "there is no column 'shoe'"),
        (("rank-swapping", "--control", "inside.csv"), "keeps the other as control"),
        (("inside.csv", "--set", "k=3"), "--set is for a masking method"),
        ((".",), "not a release"),
    ],
)
def test_refusals_are_sentences(
    words: tuple[str, ...], sentence: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    answer = crypsis("attack", *words, "--original", "inside.csv", *ROLES)
    assert answer.returncode == 2
    assert sentence in answer.stderr
