"""Every k names its columns, and k over all quasi-identifiers stands beside it wherever a release speaks."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from cli.test_commands import crypsis
from crypsis.privacy import KAnonymity
from crypsis.privacy.anonymity import SmallestClass
from crypsis.release import ReleaseDescription, publish, verify
from crypsis.release.manifest import seal
from crypsis.table.files import write_table
from crypsis.table.table import Table
from waiving import waive, waiving

NAMES = ("sex", "age", "zip")
CLAIM = "every record shares its values of sex with at least 5 records"
BESIDE = "over all quasi-identifiers together (sex, age, zip) the smallest class has 1 record"


@pytest.fixture
def people() -> Table:
    """Two sexes, twenty ages, twenty places: the demand names the sexes only."""
    columns = {"sex": ["f", "m"] * 10, "age": list(range(20)), "zip": [f"z{n}" for n in range(20)]}
    return Table.from_columns(columns, dict.fromkeys(NAMES, "quasi"))


@pytest.fixture
def released(people: Table, tmp_path: Path) -> Path:
    model = KAnonymity(k=5, quasi_identifiers=("sex",))
    return publish(people, tmp_path / "out", models=[model], original=people, waivers=waiving("age", "zip"))


def pages(folder: Path) -> list[str]:
    return [(folder / part / "report.html").read_text() for part in ("public", "internal")]


def test_both_reports_and_the_manifest_name_the_columns_and_k_over_all(released: Path) -> None:
    for text in pages(released):
        assert "shares its quasi-identifiers" not in text
        assert "its values of sex with at least 5 records" in text
        assert f"{BESIDE[0].upper()}{BESIDE[1:]}." in text
    report = json.loads((released / "public" / "report.json").read_text())
    manifest = json.loads((released / "public" / "manifest.json").read_text())
    inside = json.loads((released / "internal" / "report.json").read_text())
    assert report["guarantees"] == [CLAIM]
    assert manifest["requirements"][0]["verdict"]["columns"] == ["sex"]
    for content in (report, manifest, inside):
        assert content["smallest_class"] == {"columns": list(NAMES), "size": 1}


def test_verify_finds_it_again_and_a_forged_one_out(released: Path) -> None:
    found = verify(released)
    assert found.sound
    assert found.smallest_class == SmallestClass(NAMES, 1)
    path = released / "public" / "manifest.json"
    content = json.loads(path.read_text()) | {"smallest_class": {"columns": list(NAMES), "size": 5}}
    path.write_text(json.dumps(content | {"seal": seal(content)}))
    said = "public/manifest.json has another k over all quasi-identifiers than the data"
    assert said in verify(released / "public").problems


def test_a_report_with_another_k_is_found_out(released: Path) -> None:
    path = released / "public" / "report.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"smallest_class": None}))
    said = "public/report.json has another k over all quasi-identifiers than the data"
    assert said in verify(released).problems


def test_the_command_line_says_both(people: Path, tmp_path: Path) -> None:
    write_table(people, tmp_path / "people.csv")
    demand = 'k-anonymity:k=5,quasi_identifiers=["sex"]'
    roles, reasons = ("-q", ",".join(NAMES)), waive("age", "zip")
    answer = crypsis("release", tmp_path / "people.csv", *roles, "-r", demand, *reasons, "-o", tmp_path / "out")
    assert answer.returncode == 0, answer.stderr
    for text in (answer.stdout, crypsis("verify", tmp_path / "out").stdout):
        assert f"{BESIDE[0].upper()}{BESIDE[1:]}." in text
    assert "k-anonymity over sex: 10 attained, at least 5 required" in answer.stdout
    told = json.loads(crypsis("verify", tmp_path / "out", "--json").stdout)
    assert told["smallest_class"] == {"columns": list(NAMES), "size": 1}
    pair = (tmp_path / "people.csv", tmp_path / "people.csv")
    judged = crypsis("assess", *pair, "-q", ",".join(NAMES), "-r", demand).stdout
    assert "at least 5 required over sex, 10 attained" in judged
    assert f"{BESIDE[0].upper()}{BESIDE[1:]}." in judged


def test_suppressed_records_form_no_class(people: Table, tmp_path: Path) -> None:
    alone = people.with_columns({"age": np.array([1.0] * 19 + [2.0])}).with_columns({"zip": np.zeros(20, np.int32)})
    alone = alone.with_columns({"sex": np.zeros(20, np.int32)})
    publish(alone.without(np.arange(20) == 19), tmp_path / "out", models=[KAnonymity(k=5)])
    assert verify(tmp_path / "out").smallest_class == SmallestClass(NAMES, 19)


def test_without_a_quasi_identifier_that_is_said(people: Table, tmp_path: Path) -> None:
    plain = Table.from_columns({"sex": ["f", "m"] * 10}, {"sex": "other"})
    publish(plain, tmp_path / "out", models=[KAnonymity(k=5, quasi_identifiers=("sex",))])
    assert verify(tmp_path / "out").smallest_class is None
    assert all("No column of the file is a quasi-identifier" in text for text in pages(tmp_path / "out"))


def test_after_perturbation_a_class_protects_nobody(people: Table, tmp_path: Path) -> None:
    from crypsis.measures import measures
    from crypsis.release import MeasuredLimit

    same = people.with_columns({"age": np.zeros(20), "zip": np.zeros(20, np.int32)})
    description = ReleaseDescription("Noise", "Noise was added.", "perturbation")
    limit = MeasuredLimit(measures.build("record-linkage"), 50.0)
    publish(same, tmp_path / "out", models=[], original=people, description=description, limits=[limit])
    for text in pages(tmp_path / "out"):
        assert "the smallest class has 10 records, which protects nobody in a perturbed file." in text
