"""What attackers find is measured before a release, stated in both reports, and limited."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import crypsis
from cli.test_commands import crypsis as command
from crypsis.attacks.linkage import Attacker, MeasuredAttack, attack_by_linkage, choose_worst_linkage
from crypsis.errors import ReleaseRefused
from crypsis.measures.class_risk import class_risk
from crypsis.release import MeasuredLimit, publish, verify
from crypsis.release.bundle import complaints_above_limit
from crypsis.release.guarantees import complaints_of_contradictions
from crypsis.release.manifest import MANIFEST, write_sealed
from crypsis.table.table import Table
from crypsis.text import measured_attack_text

WAIVED = {"singling-out:income": "kept in one office", "assumption:income": "kept in one office"}
K5 = [crypsis.KAnonymity(k=5)]
FOUND = MeasuredAttack(Attacker.ONE_TO_ONE, "register", ("age", "sex"), False, 7.0, (6.0, 8.0), 500, 500, 5.0)


@pytest.fixture(scope="module")
def people() -> Table:
    return crypsis.example(300)


@pytest.fixture(scope="module")
def released(people: Table, tmp_path_factory: pytest.TempPathFactory) -> Path:
    masked = crypsis.Microaggregation(k=5).mask(people, np.random.default_rng(1))
    return publish(masked, tmp_path_factory.mktemp("release") / "out", models=K5, original=people, waivers=WAIVED)


def test_both_attackers_are_in_the_internal_report_and_the_larger_in_the_public_one(released: Path) -> None:
    inside = json.loads((released / "internal" / "report.json").read_text())["attacks"]
    assert [each["attacker"] for each in inside] == ["one-to-one", "learned"]
    assert all(each["interval"][0] <= each["found"] <= each["interval"][1] for each in inside)
    assert all(each["found"] <= each["class_risk"] for each in inside)
    [outside] = json.loads((released / "public" / "report.json").read_text())["attacks"]
    assert outside["found"] == pytest.approx(max(each["found"] for each in inside), abs=0.051)
    page = (released / "public" / "report.html").read_text()
    assert "An intruder who knows all quasi-identifiers of everybody" in page
    assert "assigns people to records one-to-one finds" in page


def test_the_terminal_says_who_finds_how_many(released: Path) -> None:
    found = verify(released)
    assert found.sound, found.problems
    said = command("verify", released).stdout
    assert "assigns people to records one-to-one finds" in said
    assert said.count("who also knows one of 2 confidential columns finds up to") == 1
    assert "in which tenth of all values it lies" in said
    assert "who predicts it" in said
    assert "the classes over the records" in said


def test_homogeneous_classes_are_printed(tmp_path: Path) -> None:
    columns = {"town": ["a"] * 60 + ["b"] * 60, "ill": ["x"] * 60 + ["x", "y"] * 30}
    table = Table.from_columns(columns, {"town": "quasi", "ill": "confidential"})
    folder = publish(table, tmp_path / "out", models=K5, original=table)
    assert any("ill" in sentence and "50" in sentence for sentence in verify(folder).statements)
    assert "class" in command("verify", folder).stdout


@pytest.mark.parametrize(
    ("key", "change", "words"),
    [
        ("attacks", {"class_risk": 3.0}, "another class risk than the data"),
        ("confidential", {"exact": 21.0}, "counts other confidential values"),
        ("attacks", {"remark": "call 555-1234"}, "of another type"),
        ("attacks", {"knows": ["nobody"]}, "cannot be judged"),
    ],
)
def test_a_forged_statement_about_attackers_is_found(
    released: Path, tmp_path: Path, key: str, change: dict[str, object], words: str
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(released / "public", copy)
    manifest = json.loads((copy / MANIFEST).read_text())
    manifest[key][0].update(change)
    write_sealed(copy / MANIFEST, {name: value for name, value in manifest.items() if name != "seal"})
    assert any(words in problem for problem in verify(copy).problems)


def test_a_file_that_contradicts_its_classes_is_refused() -> None:
    assert not complaints_of_contradictions([replace(FOUND, interval=(4.9, 9.0)), replace(FOUND, class_risk=None)])
    (found,) = complaints_of_contradictions([FOUND])
    assert re.search(r"contradict each other.*finds 7 % \(6–8\).*at most 5 %", found)


def test_a_release_whose_classes_are_miscounted_is_refused(
    people: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By arithmetic no attack exceeds the classes it looks in; a defect of counting is what the refusal is for."""
    masked = crypsis.Microaggregation(k=5).mask(people, np.random.default_rng(1))

    def count_half(table: Table, columns: Sequence[str]) -> float:
        return class_risk(table, columns) / 2

    monkeypatch.setattr("crypsis.attacks.linkage.class_risk", count_half)
    with pytest.raises(
        ReleaseRefused, match=r"contradict each other.*the classes over the records; please report this"
    ):
        publish(masked, tmp_path / "out", models=K5, original=people, waivers=WAIVED)
    assert not (tmp_path / "out").exists()


def test_a_draw_of_people_is_said_to_be_one() -> None:
    drawn = replace(FOUND, people=500, people_in_all=9000)
    assert "of 500 people drawn from 9000 (a search for all of them may find more, up to" in (
        measured_attack_text(drawn)
    )
    assert "may find more)" in measured_attack_text(replace(drawn, class_risk=None))
    assert "drawn" not in measured_attack_text(FOUND)


def test_the_limit_on_risk_holds_for_the_most_successful_attacker() -> None:
    learned = replace(FOUND, attacker=Attacker.LEARNED, found=9.0, interval=(8.0, 10.0), class_risk=None)
    limits = [MeasuredLimit(crypsis.RecordLinkage(), 8.0), MeasuredLimit(crypsis.IntervalDisclosure(), 1.0)]
    assert not complaints_above_limit([FOUND], limits)
    (found,) = complaints_above_limit([FOUND, learned], limits)
    assert re.search(r"has learned on a similar file.*finds 9 %.*limit on the risk is 8 %", found)
    assert choose_worst_linkage([FOUND, learned]) == (learned,)


def test_a_perturbed_file_is_refused_by_an_attacker_that_was_not_limited(people: Table, tmp_path: Path) -> None:
    masked = crypsis.RankSwapping(percent=30).mask(people, np.random.default_rng(1))
    nearest = crypsis.RecordLinkage().against(people).read(masked)
    worst = max(
        each.found or 0.0 for each in attack_by_linkage(people, masked, "", people.quasi_identifiers, "perturbation")
    )
    assert worst > nearest + 1
    limits = [MeasuredLimit(crypsis.RecordLinkage(), nearest + 1)]
    with pytest.raises(ReleaseRefused, match="assigns people to records one-to-one finds"):
        publish(masked, tmp_path / "out", models=[], original=people, waivers=WAIVED, limits=limits)
    assert not (tmp_path / "out").exists()
    folder = publish(
        masked,
        tmp_path / "out",
        models=[],
        original=people,
        waivers=WAIVED,
        limits=[MeasuredLimit(crypsis.RecordLinkage(), 100)],
    )
    assert verify(folder).sound
    assert json.loads((folder / "public" / "report.json").read_text())["confidential"] == []


def test_a_limit_names_its_attacker_in_the_public_report(people: Table, tmp_path: Path) -> None:
    masked = crypsis.Microaggregation(k=5).mask(people, np.random.default_rng(1))
    limit = MeasuredLimit(crypsis.RecordLinkage(columns=("age", "sex")), 50)
    folder = publish(masked, tmp_path / "out", models=K5, original=people, waivers=WAIVED, limits=[limit])
    said = json.loads((folder / "public" / "report.json").read_text())["guarantees"]
    assert (
        "the limit set on the people found is kept, measured for an intruder who knows age, sex of a person and "
        "takes the nearest record"
    ) in said
    assert verify(folder).sound


def test_who_knows_an_unstated_column_is_asked_about(people: Table, tmp_path: Path) -> None:
    masked = crypsis.Microaggregation(k=5).mask(people, np.random.default_rng(1))
    terms = {"models": K5, "original": people, "waivers": WAIVED}
    folder = publish(masked, tmp_path / "out", unstated=["income"], **terms)
    [asked] = [each for each in verify(folder).statements if "say in the plan why" in each]
    assert "make income a quasi-identifier, demand l-diversity or t-closeness" in asked
