"""What `crypsis mask` writes: no identifier, no order of the source, and for its owner only."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import polars as pl
import pytest

from cli.test_commands import crypsis
from crypsis.table.example import example
from crypsis.table.files import read_table, write_table
from crypsis.table.frames import to_frame

ROLES = ("-q", "age,hours", "--identifier", "person", "--confidential", "income,diagnosis")
OTHERS = "district education marital occupation sex"
SETTINGS = ("microaggregation", "-s", "k=5", *ROLES)


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "people.csv"
    write_table(example(200, seed=3), path)
    return path


def masked(people: Path, out: Path, *more: object) -> pl.DataFrame:
    answer = crypsis("mask", people, *SETTINGS, *more, "-o", out)
    assert answer.returncode == 0, answer.stderr
    found: pl.DataFrame = to_frame(read_table(out))
    return found


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "parquet", "xlsx", "sav", "dta", "xpt"])
@pytest.mark.parametrize("more", [(), ("--keep-order",)])
def test_identifiers_are_left_out_and_rows_shuffled_unless_told_otherwise(
    people: Path, tmp_path: Path, suffix: str, more: tuple[str, ...]
) -> None:
    before, after = pl.read_csv(people), masked(people, tmp_path / f"out.{suffix}", *more)
    assert after.columns == [name for name in before.columns if name != "person"]
    assert after["income"].sort().equals(before["income"].sort())
    assert (after["income"].to_list() == before["income"].to_list()) is bool(more)


def test_the_order_is_the_operating_systems_unless_a_seed_is_given(people: Path, tmp_path: Path) -> None:
    first, second = (masked(people, tmp_path / name) for name in ("1.csv", "2.csv"))
    assert first["income"].to_list() != second["income"].to_list()
    third, fourth = (masked(people, tmp_path / name, "--seed", 4) for name in ("3.csv", "4.csv"))
    assert third.equals(fourth)


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_the_file_is_its_owners_under_any_umask(people: Path, tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        masked(people, tmp_path / "out.csv")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "out.csv").stat().st_mode) == 0o600


def test_it_says_what_it_left_out(people: Path, tmp_path: Path) -> None:
    answer = crypsis("mask", people, *SETTINGS, "-o", tmp_path / "1.csv")
    assert "row order: shuffled; identifiers left out: person" in answer.stdout
    told = json.loads(crypsis("mask", people, *SETTINGS, "--keep-order", "--json", "-o", tmp_path / "2.csv").stdout)
    assert (told["order"], told["left_out"], told["rows"]) == ("kept", ["person"], 200)


def test_suppressed_records_are_not_written(people: Path, tmp_path: Path) -> None:
    coarse = ("generalisation", "-s", "level=1", "-s", "suppression=1", "-q", "age", "--hierarchy", "age=intervals:2,4")
    answer = crypsis("mask", people, *coarse, "-s", "k=5", "--json", "-o", tmp_path / "out.csv")
    assert answer.returncode == 0, answer.stderr
    assert json.loads(answer.stdout)["rows"] == len(read_table(tmp_path / "out.csv")) < 200


def test_a_shuffled_file_is_put_in_order_by_columns_that_identify_its_rows(people: Path, tmp_path: Path) -> None:
    """Compared with strangers, every record would look safe; here unmasked columns find each row again."""
    masked(people, tmp_path / "shuffled.csv")
    masked(people, tmp_path / "kept.csv", "--keep-order")
    answers = [crypsis("assess", people, tmp_path / name, *ROLES, "--json") for name in ("shuffled.csv", "kept.csv")]
    assert [answer.returncode for answer in answers] == [0, 0], answers[0].stderr
    told = [json.loads(answer.stdout) for answer in answers]
    assert told[0]["disclosure_risk"] == pytest.approx(told[1]["disclosure_risk"])
    assert told[0]["corresponding"]


def test_one_column_swapped_on_its_own_is_still_compared(tmp_path: Path) -> None:
    """The rows correspond: another tool has swapped the only column that was not masked."""
    pl.DataFrame({"age": [1, 2, 3, 4], "pay": [10, 20, 30, 40]}).write_csv(tmp_path / "a.csv")
    pl.DataFrame({"age": [1, 2, 3, 4], "pay": [20, 10, 40, 30]}).write_csv(tmp_path / "b.csv")
    answer = crypsis("assess", tmp_path / "a.csv", tmp_path / "b.csv", "-q", "age", "--confidential", "pay")
    assert answer.returncode == 0, answer.stderr


def test_an_attack_takes_no_order_for_granted(people: Path, tmp_path: Path) -> None:
    """Of a file that publishes nothing confidential only its rows can tell who is who."""
    frame = pl.read_csv(people).select("age", "hours").drop_nulls()
    frame.write_csv(tmp_path / "in.csv")
    original = ("--original", tmp_path / "in.csv", "-q", "age,hours")
    assert "not tried: nearest record" in crypsis("attack", tmp_path / "in.csv", *original).stdout
    answer = crypsis("attack", tmp_path / "in.csv", *original, "--rows-correspond")
    assert answer.returncode == 1
    assert "nearest record: right for" in answer.stdout
