"""The command line as a person meets it: what it prints, what it leaves behind, how it exits."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import pytest

from crypsis.cli import main
from crypsis.searches import searches
from crypsis.table.example import example
from crypsis.table.files import write_table
from reference import conformance, reference


class Answer(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def crypsis(*arguments: object) -> Answer:
    """The command line in this process: the same `main`, with its output and exit code caught."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), patch.object(sys, "argv", ["crypsis", *map(str, arguments)]):
        try:
            main()
            code = 0
        except SystemExit as ending:
            code = ending.code if isinstance(ending.code, int) else 0
    return Answer(code, out.getvalue(), err.getvalue())


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "people.csv"
    write_table(example(200, seed=3), path)
    return path


def test_blocks_are_masked_alike_in_one_process_and_in_two(people: Path, tmp_path: Path) -> None:
    wanted = ["-q", "age,hours", "-s", "k=3", "-s", "missing=aggregate", "--seed", 1, "-s", "partitioner=blocks"]
    wanted += ["-s", 'partitioner_settings={"size": 50}']
    for name, more in (("one.csv", ()), ("two.csv", ("--engine", "processes", "--workers", 2))):
        answer = crypsis("mask", people, "microaggregation", *wanted, *more, "-o", tmp_path / name)
        assert answer.returncode == 0, answer.stderr
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()
    answer = crypsis("mask", people, "microaggregation", "-q", "age", "--engine", "processes", "-o", tmp_path / "3.csv")
    assert answer.returncode == 2
    assert "partitioner=blocks" in answer.stderr


def test_help_lists_the_commands() -> None:
    answer = crypsis("--help")
    assert answer.returncode == 0
    for command in ("demo", "init", "profile", "mask", "assess", "release", "verify", "doctor"):
        assert command in answer.stdout


def test_help_lists_every_search_with_its_paper() -> None:
    brief, full = crypsis("--help").stdout, crypsis("run", "--help").stdout
    for name in searches:
        [line] = [line for line in brief.splitlines() if line.startswith(f"  {name} ")]
        assert len(line) <= 80
        assert f"\n  {name} " in full
    assert "pbg-ea                   Dewri et al. (2009): how coarse must each column be\n" in brief
    assert "categorical-masking      Marés and Torra (2012): which category " in brief
    assert "[Marés and Torra (2012): evolutionary masking of categorical files]" in " ".join(full.split())


def test_the_installed_command_starts_and_exits_as_promised(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from crypsis.cli import main; main()"]
    assert subprocess.run([*command, "--version"], capture_output=True, check=False).returncode == 0
    bad = subprocess.run([*command, "profile", str(tmp_path / "no.csv")], capture_output=True, text=True, check=False)
    assert bad.returncode == 2
    assert bad.stderr.splitlines()[-1].startswith("crypsis: ")


def test_demo_ends_with_a_verified_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path(os.environ["CRYPSIS_LEDGER"]).write_text("a ledger that nobody can read", encoding="utf-8")
    answer = crypsis("demo", "--rows", 150, "--seconds", 5)
    assert answer.returncode == 0, answer.stderr
    assert (tmp_path / "crypsis-demo" / "release" / "public" / "data.csv").is_file()
    assert "faithful" in answer.stdout
    assert "composite" in answer.stdout or "memetic" in answer.stdout, "a search found something"
    assert crypsis("verify", tmp_path / "crypsis-demo" / "release").returncode == 0
    again = crypsis("demo", "--rows", 150, "--seconds", 1)
    assert again.returncode == 0
    assert (tmp_path / "crypsis-demo-2").is_dir()


def test_profile_suggests_roles_with_reasons(people: Path) -> None:
    answer = crypsis("profile", people, "--json")
    assert answer.returncode == 0, answer.stderr
    columns = {column["name"]: column for column in json.loads(answer.stdout)["columns"]}
    assert columns["age"]["role"] == "quasi"
    assert columns["diagnosis"]["role"] == "confidential"
    assert all(column["reason"] for column in columns.values())
    assert "unique" in crypsis("profile", people).stdout


def test_from_file_to_verified_release(people: Path, tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    answer = crypsis("init", people, "--confidential", "income,diagnosis", "-o", plan)
    assert answer.returncode == 0, answer.stderr
    masked = tmp_path / "masked.csv"
    answer = crypsis(
        "mask",
        people,
        "microaggregation",
        "-s",
        "k=5",
        "-p",
        plan,
        "--keep-order",
        "-o",
        masked,
    )
    assert answer.returncode == 0, answer.stderr
    answer = crypsis("assess", people, masked, "-p", plan, "--json")
    assert answer.returncode == 0, answer.stderr
    assert {"sse-ratio", "record-linkage"} <= {r["measure"] for r in json.loads(answer.stdout)["readings"]}
    answer = crypsis("release", masked, "-p", plan, "--original", people, "-o", tmp_path / "release")
    assert answer.returncode == 0, answer.stderr
    assert crypsis("verify", tmp_path / "release").returncode == 0


def test_a_refused_release_exits_1_and_leaves_nothing(people: Path, tmp_path: Path) -> None:
    answer = crypsis("release", people, "-q", "age,sex", "-r", "k-anonymity:k=5", "-o", tmp_path / "release")
    assert answer.returncode == 1
    assert "k-anonymity requires at least 5" in answer.stderr
    assert list(tmp_path.iterdir()) == []


def test_mdav_through_the_command_line_is_the_published_figure(tmp_path: Path) -> None:
    """SCIENCE table: Census, 13 columns, k = 3: SSE 799.1829535394, IL 5.6921862788 %."""
    answer = crypsis(
        "mask", reference("census.csv"), "microaggregation", "-s", "k=3", "-q", "*", "-o", tmp_path / "m.csv", "--json"
    )
    assert answer.returncode == 0, answer.stderr
    figures = {r["measure"]: r["value"] for r in json.loads(answer.stdout)["readings"]}
    assert figures["sse"] == pytest.approx(799.1829535394, rel=1e-9)
    assert figures["sse-ratio"] == pytest.approx(5.6921862788, rel=1e-9)


def test_doctor_finds_a_healthy_installation() -> None:
    answer = crypsis("doctor", "--json", "--compile")
    assert answer.returncode == 0, answer.stdout
    checks = {check["check"]: check for check in json.loads(answer.stdout)}
    assert all(check["ok"] for check in checks.values())
    compiled = checks["compiled for"]["found"].split(", ")
    assert sorted(compiled) == ["baselines", "composite", "lattice of many nodes", "memetic", "pbg-ea", "release"]


def bad_files(folder: Path) -> dict[str, Path]:
    contents = {
        "empty": b"",
        "header": b"age,sex\n",
        "ragged": b"age,sex\n1,f\n2\n",
        "twice": b"age,age\n1,2\n",
        "encoding": b"age,name\n1,caf\xc3\xa9\n2,x\xe9\n",
        "infinite": b"age,sex\n1,f\ninf,m\n3,f\n4,m\n5,f\n6,m\n",
        "nul": b"age,sex\n1,f\x00\n",
        "constant": b"age,sex\n7,f\n7,m\n7,f\n7,m\n7,f\n",
        "gone": None,
    }
    for name, content in contents.items():
        if content is not None:
            (folder / f"{name}.csv").write_bytes(content)
    return {name: folder / f"{name}.csv" for name in contents}


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ("gone", "gone.csv"),
        ("empty", "empty"),
        ("header", "header"),
        ("ragged", "line 3"),
        ("twice", "'age'"),
        ("encoding", "line 3"),
        ("infinite", "'age'"),
        ("nul", "NUL"),
    ],
)
def test_a_bad_file_gets_one_sentence_and_exit_2(case: str, words: str, tmp_path: Path) -> None:
    path = bad_files(tmp_path)[case]
    before = set(tmp_path.iterdir())
    answer = crypsis("mask", path, "microaggregation", "-s", "k=2", "-q", "age", "-o", tmp_path / "out.csv")
    assert answer.returncode == 2
    assert answer.stderr.startswith("crypsis: ") or "crypsis: " in answer.stderr
    assert words in answer.stderr
    assert "Traceback" not in answer.stderr
    assert set(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("microaggregation", "-s", "k=1", "-q", "age"), "k"),
        (("microaggregation", "-s", "k=900", "-q", "age"), "900"),
        (("microaggregation", "-s", "k=three", "-q", "age"), "k"),
        (("microagregation", "-s", "k=3", "-q", "age"), "did you mean 'microaggregation'"),
        (("microaggregation", "-s", "kk=3", "-q", "age"), "did you mean 'k'"),
        (("microaggregation", "-s", "k=3", "-q", "agee"), "did you mean 'age'"),
        (("microaggregation", "-s", "k=3"), "--quasi"),
        (("microaggregation", "-s", "k", "-q", "age"), "NAME=VALUE"),
        (("microaggregation", "-s", "k=3", "-q", "age", "--kind", "age=number"), "numeric"),
        (("microaggregation", "-s", "k=3", "-q", "sex", "--kind", "sex=numeric"), "'sex'"),
        (("generalisation", "-q", "age", "--hierarchy", "age=intervals:5,7"), "intervals"),
    ],
)
def test_bad_requests_get_a_sentence_and_exit_2(
    arguments: tuple[str, ...], words: str, people: Path, tmp_path: Path
) -> None:
    answer = crypsis("mask", people, *arguments, "-o", tmp_path / "out.csv")
    assert answer.returncode == 2, answer.stdout
    assert words in answer.stderr
    assert "Traceback" not in answer.stderr
    assert list(tmp_path.iterdir()) == []


def test_an_output_that_exists_is_left_alone(people: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    out.write_text("mine")
    answer = crypsis("mask", people, "microaggregation", "-s", "k=3", "-q", "age", "-o", out)
    assert answer.returncode == 2
    assert out.read_text() == "mine"


def test_mask_reads_the_file_as_the_plan_says_hierarchies_and_all(people: Path, tmp_path: Path) -> None:
    plan = tmp_path / "with-hierarchies.toml"
    plan.write_text(
        '[data]\nsource = "elsewhere.csv"\n[columns]\nperson = { role = "identifier" }\n'
        'age = { role = "quasi", kind = "numeric", hierarchy = "intervals:10,20" }\n'
        'sex = { role = "quasi", hierarchy = "merge:1" }\n'
    )
    out = tmp_path / "coarse-by-plan.csv"
    settings = ("--set", "level=1", "--set", "suppression=1")
    answer = crypsis("mask", people, "generalisation", *settings, "--plan", plan, "-o", out)
    assert answer.returncode == 0, answer.stderr
    assert "50–59" in out.read_text()


def test_a_process_ends_with_its_command_and_keeps_code_output_and_last_duties() -> None:
    code = (
        "import atexit, sys; atexit.register(print, 'last'); sys.argv = ['crypsis', *sys.argv[1:]]\n"
        "from crypsis.cli import program; program(); print('never')"
    )
    said = [
        subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True)
        for words in (["--version"], ["check", "nowhere.toml"], ["nonsense"])
    ]
    assert [each.returncode for each in said] == [0, 2, 2]
    assert [each.stdout.splitlines()[-1] for each in said] == ["last"] * 3
    assert said[0].stdout.startswith("crypsis ")
    assert "there is no such file" in said[1].stderr


def test_assess_prints_every_reading_of_missing_cells_where_they_differ(tmp_path: Path) -> None:
    """sdcMicro's k = 3 file: nobody is alone by its own convention, and 53 are to who knows the true values."""
    keys = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]
    with reference("testdata.csv").open() as file:
        rows = [{key: row[key] for key in (*keys, "sampling_weight")} for row in csv.DictReader(file)]
    blanked = [dict(row) for row in rows]
    with conformance("testdata_suppressed_k3_cells.csv").open() as file:
        for cell in csv.DictReader(file):
            blanked[int(cell["row"]) - 1][cell["column"]] = ""
    for name, content in (("a.csv", rows), ("b.csv", blanked)):
        with (tmp_path / name).open("w", newline="", encoding="utf-8") as out:
            writer = csv.DictWriter(out, list(rows[0]))
            writer.writeheader()
            writer.writerows(content)
    roles = "".join(f'{key} = {{ role = "quasi", kind = "nominal" }}\n' for key in keys)
    plan = f'[data]\nsource = "a.csv"\n[columns]\n{roles}sampling_weight = {{ role = "weight" }}\n'
    plan += '[privacy]\nmissing = "target"\n[[require]]\nmodel = "k-anonymity"\nk = 3\n'
    (tmp_path / "plan.toml").write_text(plan, encoding="utf-8")
    answer = crypsis("assess", tmp_path / "a.csv", tmp_path / "b.csv", "-p", tmp_path / "plan.toml")
    assert answer.returncode == 1
    assert "1 attained, 121 of 4580 records offend" in answer.stdout
    assert "own 1 (76 alone), conservative 1 (60 alone), target 1 (53 alone), wildcard 3 (0 alone)" in answer.stdout
    assert "individual-risk" in answer.stdout
    assert "the rule of Dankar et al. takes Pitman" in answer.stdout, "no estimate stands alone"
