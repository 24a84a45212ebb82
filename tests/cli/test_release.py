"""Releases on the command line: gates, exit codes, reports, and what changed since the last approval."""

from __future__ import annotations

import io
import json
import shlex
import sys
import tomllib
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import pytest

from crypsis.cli import main
from crypsis.table.example import example
from crypsis.table.files import write_table
from waiving import waive

ROLES = ["-q", "age,sex,hours", "--identifier", "person", "--confidential", "income,diagnosis"]


class Answer(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def crypsis(*arguments: object) -> Answer:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), patch.object(sys, "argv", ["crypsis", *map(str, arguments)]):
        try:
            main()
            code = 0
        except SystemExit as ending:
            code = ending.code if isinstance(ending.code, int) else 0
    return Answer(code, out.getvalue(), err.getvalue())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """people.csv, and the same people masked with k = 4 and k = 6."""
    folder = tmp_path_factory.mktemp("data")
    write_table(example(150, seed=3), folder / "people.csv")
    for k in (4, 6):
        settings = ["-s", f"k={k}", *ROLES, "--keep-order", "-o", folder / f"masked{k}.csv"]
        answer = crypsis("mask", folder / "people.csv", "microaggregation", *settings)
        assert answer.returncode == 0, answer.stderr
    return folder


@pytest.fixture(scope="module")
def released(folder: Path) -> Path:
    known = [f"--waive=earlier-release:{name}=both files are for one office" for name in ("age", "income", "diagnosis")]
    for k in (4, 6):
        answer = release(folder, k, f"release{k}", "-r", f"k-anonymity:k={k}", *(known if k == 6 else ()))
        assert answer.returncode == 0, answer.stderr
    return folder


def test_a_second_release_of_one_source_is_refused_where_both_together_reveal_more(folder: Path) -> None:
    assert release(folder, 4, "first", "-r", "k-anonymity:k=4").returncode == 0
    second = release(folder, 6, "second", "-r", "k-anonymity:k=6")
    assert second.returncode == 1
    assert "an earlier release of the same source and this one together fix it for" in second.stderr
    assert "--waive 'earlier-release:" in second.stderr
    assert not (folder / "second").exists()
    assert release(folder, 4, "again", "-r", "k-anonymity:k=4").returncode == 0, "the same classes reveal no more"
    undecided = ["--original", folder / "people.csv", *ROLES, "--family", "aggregation", "-r", "k-anonymity:k=9"]
    refused = crypsis("release", folder / "masked6.csv", *undecided, "-o", folder / "second")
    assert refused.returncode == 1
    told = " ".join(refused.stderr.split())
    for words in (
        "k-anonymity requires at least 9", "no waiver helps against it", "income singles out", "nobody decided what it",
        "an earlier release of the same source and this one together fix it for", "--propose FILE",
        f"the earlier release is in {folder / 'first'}; if nobody outside has it, --replaces "
        f"{folder / 'first'} lets this one take its place",
        "to let pass what a waiver can let pass, in this release alone, write a reason in place of each …: --waive",
        "--waive 'undecided:district=…'", "--waive 'singling-out:income=…'", "--waive 'earlier-release:",
    ):  # fmt: skip
        assert words in told, words
    assert [told.count(each) for each in ("nothing was released", "--propose FILE", "first; if nobody outside")] == [
        1
    ] * 3


def release(folder: Path, k: int, name: str, *more: object) -> Answer:
    source = folder / f"masked{k}.csv"
    common = ["--original", folder / "people.csv", *ROLES, "--family", "aggregation", "-o", folder / name]
    decided = waive("income", undecided="district education marital occupation")
    return crypsis("release", source, *common, *decided, *more)


def test_rulebooks_are_listed_and_shown() -> None:
    listed = crypsis("rulebooks")
    assert listed.returncode == 0
    for name in ("public-use", "licensed", "cell-threshold-11", "risk-limit-0.05"):
        assert name in listed.stdout
        assert crypsis("rulebooks", name).returncode == 0
    assert len(json.loads(crypsis("rulebooks", "--json").stdout)) >= 4
    unknown = crypsis("rulebooks", "licenced")
    assert unknown.returncode == 2
    assert "did you mean 'licensed'" in unknown.stderr


def test_verify_is_a_gate(released: Path) -> None:
    assert crypsis("verify", released / "release6", "--rulebook", "licensed").returncode == 0
    failing = crypsis("verify", released / "release6", "--rulebook", "risk-limit-0.05")
    assert failing.returncode == 1
    assert "BROKEN" in failing.stdout
    as_json = crypsis("verify", released / "release6", "--rulebook", "risk-limit-0.05", "--json")
    assert as_json.returncode == 1
    content = json.loads(as_json.stdout)
    assert content["sound"] is True
    assert content["rules_kept"] is False
    waived = crypsis(
        "verify",
        released / "release6",
        "--rulebook",
        "risk-limit-0.05",
        "--waive",
        "classes=research contract",
        "--waive",
        "linkage=research contract",
    )
    assert waived.returncode == 0, waived.stdout
    assert "waived: research contract" in waived.stdout


def test_a_rulebook_of_ones_own(released: Path, tmp_path: Path) -> None:
    book = tmp_path / "house.toml"
    book.write_text('title = "House"\n[[rule]]\nid = "small"\ndemand = "rows"\nat_least = 1000\n', encoding="utf-8")
    answer = crypsis("verify", released / "release4", "--rulebook", book)
    assert answer.returncode == 1
    assert "at least 1000 records" in answer.stdout


@pytest.mark.parametrize(
    ("more", "code", "words"),
    [
        (["--rulebook", "nonsense"], 2, "no rulebook 'nonsense'"),
        (["--waive", "k=because I say so"], 2, "--rulebook"),
        (["--rulebook", "licensed", "--waive", "kk=because I say so"], 2, "did you mean 'k'"),
        (["--rulebook", "licensed", "--waive", "k"], 2, "NAME=VALUE"),
        (["--rulebook", "licensed", "--waive", "k=so"], 2, "reason"),
        (["--rulebook", "licensed", "--waive", "identifiers=they agreed to it"], 2, "cannot be waived"),
    ],
)
def test_bad_gates_get_a_sentence(released: Path, more: list[str], code: int, words: str) -> None:
    answer = crypsis("verify", released / "release4", *more)
    assert answer.returncode == code
    assert words in answer.stderr
    assert "Traceback" not in answer.stderr


def test_release_stops_at_a_broken_rule_and_a_limit(folder: Path) -> None:
    answer = release(folder, 4, "stopped", "-r", "k-anonymity:k=4", "--rulebook", "cell-threshold-11")
    assert answer.returncode == 1
    assert "rule classes" in answer.stderr
    answer = release(folder, 4, "stopped", "-r", "k-anonymity:k=4", "--limit", "record-linkage=0.1")
    assert answer.returncode == 1
    assert "record-linkage may be at most 0.1" in answer.stderr
    for text, words in (
        ("record-linkage=few", "not a number"),
        ("recordlinkage=5", "did you mean"),
        ("record-linkage", "NAME"),
    ):
        answer = release(folder, 4, "stopped", "-r", "k-anonymity:k=4", "--limit", text)
        assert answer.returncode == 2
        assert words in answer.stderr
    assert not (folder / "stopped").exists()


def test_a_perturbed_file_is_released_by_a_limit_alone(folder: Path) -> None:
    common = ["--original", folder / "people.csv", *ROLES, "--family", "perturbation", "-o", folder / "perturbed"]
    refused = crypsis("release", folder / "masked4.csv", *common)
    assert refused.returncode == 2
    assert "risk limit" in refused.stderr
    answer = crypsis(
        "release",
        folder / "masked4.csv",
        *common,
        *waive("income", undecided="district education marital occupation"),
        "--limit",
        "record-linkage=90",
    )
    assert answer.returncode == 0, answer.stderr
    assert crypsis("verify", folder / "perturbed").returncode == 0


def test_verify_says_where_the_reports_are(released: Path) -> None:
    answer = crypsis("verify", released / "release4")
    assert answer.returncode == 0
    assert str(released / "release4" / "internal" / "report.html") in answer.stdout
    assert str(released / "release4" / "public" / "report.html") in answer.stdout
    content = json.loads(crypsis("verify", released / "release4" / "public", "--json").stdout)
    assert set(content["reports"]) == {"external", "external_json", "codebook"}
    assert content["sound"] is True


def test_two_releases_are_compared_and_a_pair_that_reveals_more_exits_1(released: Path) -> None:
    same = crypsis("audit", released / "release4", "--with", released / "release4")
    assert same.returncode == 0
    assert "same data" in same.stdout
    pair = (released / "release4", "--with", released / "release6")
    answer = crypsis("audit", *pair)
    assert answer.returncode == 1
    for words in ("k-anonymity", "cell-loss", "Together", "unique", "Not known from the files"):
        assert words in answer.stdout
    content = json.loads(crypsis("audit", *pair, "--json").stdout)
    assert content["reveals_more"] is True
    assert crypsis("audit", released / "release4", "--with", released).returncode == 2
    waived = crypsis("audit", *pair, "--waive", "singling-out:income=known to nobody outside")
    assert waived.returncode == 2
    assert "--with" in waived.stderr


def test_a_refusal_lists_every_key_and_proposes_waivers_that_a_person_must_reason(folder: Path, tmp_path: Path) -> None:
    write_table(example(150, seed=5), tmp_path / "people.csv")
    settings = ["-s", "k=4", *ROLES, "--keep-order", "-o", tmp_path / "masked.csv"]
    assert crypsis("mask", tmp_path / "people.csv", "microaggregation", *settings).returncode == 0
    given = [tmp_path / "masked.csv", "--original", tmp_path / "people.csv", *ROLES, "--family", "aggregation"]
    given += ["-r", "k-anonymity:k=4", "-o", tmp_path / "out"]
    refused = crypsis("release", *given)
    assert refused.returncode == 1
    assert "--propose FILE" in refused.stderr
    proposed = tmp_path / "waivers.toml"
    for each in ("singling-out:income", "singling-out:diagnosis"):
        assert (f"--waive '{each}=…'" in refused.stderr) == (f"{each.partition(':')[2]} singles out" in refused.stderr)
    refused = crypsis("release", *given, "--propose", proposed)
    assert refused.returncode == 1
    tables = tomllib.loads(proposed.read_text(encoding="utf-8"))["waive"]
    assert tables
    assert all(each["because"] == "" for each in tables), "nothing is waived by itself"
    following = shlex.split(refused.stderr.rsplit("then: ", 1)[1])
    assert following == ["crypsis", "release", *map(str, given), "--waivers", str(proposed)], "nothing given is lost"
    unread = crypsis("release", *given, "--waivers", proposed)
    assert unread.returncode == 2
    assert "because" in unread.stderr
    assert crypsis("release", *given, "--propose", proposed).returncode == 2, "no file is written over"
    reasoned = proposed.read_text(encoding="utf-8").replace('because = ""', 'because = "invented people only"')
    proposed.write_text(reasoned, encoding="utf-8")
    passed = crypsis(*following[1:])
    assert passed.returncode == 0, passed.stderr
    assert crypsis("release", *given, "--waivers", tmp_path / "none.toml").returncode == 2
    proposed.write_text(reasoned + "[run]\nseed = 1\n", encoding="utf-8")
    assert "run cannot stand in a file of waivers" in crypsis("release", *given, "--waivers", proposed).stderr
