"""`crypsis init` on a terminal: one key answers, alike columns are asked about together, rare values stay out."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from cli.test_commands import crypsis

ROWS = 200


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(4)
    path = tmp_path_factory.mktemp("asked") / "people.csv"
    pl.DataFrame(
        {
            "sex": rng.choice(["f", "m"], ROWS),
            "age": rng.integers(20, 60, ROWS),
            "education": rng.integers(1, 5, ROWS),
            "v1x": rng.integers(0, 2, ROWS),
            "w2x": rng.integers(0, 2, ROWS),
            "kilo": ["usual", "common"] * (ROWS // 2 - 1) + ["unheard", "of"],
        }
    ).write_csv(path)
    return path


def init_on_a_terminal(file: Path, keys: Sequence[str], *options: str) -> tuple[int, str, dict[str, dict[str, str]]]:
    """Exit code, what the terminal showed, and the columns of the plan, for keys that are typed one a line."""
    ours, theirs = pty.openpty()
    plan = file.with_name(f"plan{len(list(file.parent.iterdir()))}.toml")
    command = [sys.executable, "-m", "crypsis", "init", str(file), "-o", str(plan), *options]
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, close_fds=True)
    os.close(theirs)
    os.write(ours, "".join(f"{key}\n" for key in keys).encode())
    shown = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # the other side is closed
            break
        if not part:
            break
        shown += part
    os.close(ours)
    columns = tomllib.loads(plan.read_text())["columns"] if process.wait() == 0 else {}
    return process.returncode, shown.decode(), columns


def init_without_questions(file: Path, *options: str) -> tuple[int, str, dict[str, dict[str, str]]]:
    """The same of an `init` that asks nothing, which needs no terminal and no process of its own."""
    plan = file.with_name(f"plan{len(list(file.parent.iterdir()))}.toml")
    answer = crypsis("init", file, "-o", plan, "--cautious", *options)
    columns = tomllib.loads(plan.read_text())["columns"] if answer.returncode == 0 else {}
    return answer.returncode, answer.stdout + answer.stderr, columns


def test_one_key_answers_about_all_alike_columns(file: Path) -> None:
    code, shown, columns = init_on_a_terminal(file, "cq    ")
    assert code == 0, shown
    assert "v1x, w2x: these 2 yes/no columns" in shown
    assert "common values: 0, 1" in shown or "common values: 1, 0" in shown
    assert "records are unique" in shown
    assert [columns[name]["role"] for name in ("v1x", "w2x", "kilo")] in (
        ["confidential", "confidential", "quasi"],
        ["quasi", "quasi", "confidential"],
    )
    told = [columns[name].get("because", "") for name in ("v1x", "w2x", "kilo")]
    assert "said when the plan was drafted: nobody outside knows it" in told


def test_a_rare_value_is_not_shown(file: Path) -> None:
    shown = init_on_a_terminal(file, "??    ")[1]
    assert "usual" in shown
    assert "unheard" not in shown


def test_each_asks_column_by_column_and_nonsense_is_refused(file: Path) -> None:
    code, shown, columns = init_on_a_terminal(file, "eeqcq     ")
    assert code == 0, shown
    assert {columns[name]["role"] for name in ("v1x", "w2x")} == {"quasi", "confidential"} or "is no answer" in shown
    assert "'z' is no answer" in init_on_a_terminal(file, "zqq    ")[1]


@pytest.mark.parametrize("kind", ["numeric", "nominal", "ordinal"])
def test_a_declared_kind_is_kept(file: Path, kind: str) -> None:
    _, shown, columns = init_without_questions(file, "--kind", f"education={kind}")
    assert columns["education"]["kind"] == kind, shown
    assert columns["education"]["role"] == "quasi"


@pytest.mark.parametrize(
    ("option", "why"),
    [
        ("--kind=sex=numeric", "sex"),
        ("--kind=sex=wide", "unknown kind 'wide'"),
        ("--kind=nobody=numeric", "nobody"),
        ("--role=sex=weird", "unknown role 'weird'"),
        ("--role=nobody=weight", "nobody"),
    ],
)
def test_a_declared_word_is_obeyed_or_refused(file: Path, option: str, why: str) -> None:
    code, shown, _ = init_without_questions(file, option)
    assert code == 2, shown
    assert why in shown


def test_a_declared_role_is_kept(file: Path) -> None:
    columns = init_without_questions(file, "--role", "v1x=stratum", "--role", "kilo=other")[2]
    assert (columns["v1x"]["role"], columns["kilo"]["role"]) == ("stratum", "other")


def test_a_key_is_no_reason(tmp_path: Path) -> None:
    """An income by which people would be found: one letter does not explain why nobody knows it, and q masks it."""
    rng = np.random.default_rng(6)
    path = tmp_path / "people.csv"
    columns = {"sex": rng.choice(["f", "m"], ROWS), "age": rng.integers(20, 60, ROWS), "income": rng.permutation(ROWS)}
    pl.DataFrame(columns).write_csv(path)
    code, shown, masked = init_on_a_terminal(path, "zq  ")
    assert code == 0, shown
    assert "'z' is no reason" in shown
    assert masked["income"]["role"] == "quasi"
    ours = init_on_a_terminal(path, ["paid in private", "", ""])[2]
    assert (ours["income"]["role"], ours["income"]["because"]) == ("confidential", "paid in private")


def test_a_column_that_follows_from_codes_is_drafted_like_any_other(tmp_path: Path) -> None:
    """Adult: education is a cut of education-num, which the plan reads as codes, with which nothing is reckoned."""
    rng, file = np.random.default_rng(4), tmp_path / "schooling.csv"
    number, names = rng.integers(1, 17, ROWS), np.array([f"school {letter}" for letter in "ahovcjqxelszgnub"])
    content = {"age": rng.integers(20, 60, ROWS), "education": names[number - 1], "education-num": number}
    pl.DataFrame(content).write_csv(file)
    code, shown, columns = init_without_questions(file)
    assert code == 0, shown
    assert (columns["education-num"]["kind"], columns["education"]["role"]) == ("nominal", "quasi"), shown
