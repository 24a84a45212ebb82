"""Everything in a store carries a digest: what was changed, removed, added or moved is refused or without effect."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from crypsis.cli.app import app
from crypsis.errors import CrypsisError, SearchError
from crypsis.run import Run
from crypsis.run.store import Row, Store, digest_store_row
from run.runs import begun, bits, finished, folder_with

FLIPS = 300


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder_with(tmp_path_factory.mktemp("job"), rows=60)


@pytest.fixture(scope="module")
def whole(plan: Path) -> Path:
    folder = plan.parent / "whole"
    finished(begun(plan, folder, budget="2 generations")).close()
    return folder


@pytest.fixture
def copy(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "copy"))


def edited(folder: Path, *statements: str) -> None:
    with sqlite3.connect(folder / "run.db") as connection:
        for statement in statements:
            assert connection.execute(statement).rowcount > 0
    connection.close()


def everything(folder: Path, decoded: bool = True) -> list[Any]:
    """All that anybody can ask a finished run, and what a resumed one would go on from.

    `decoded`: also the tables, which follow from the genomes among the bits.
    """
    with Run.open(folder) as run:
        searches = range(len(run.plan.search))
        tables = {each.number: run.decode(each).fingerprint() for each in run.front if decoded}
        notes = [run.store.read_note(key) for key in ("budget", "elapsed", "finished", "format", "run")]
        return [
            bits(run), tables, [solution.to_dict() for solution in run.front], run.solutions, notes,
            run.store.history(), [run.store.state(index) for index in searches],
            [run.store.solution_keys(index) for index in searches],
        ]  # fmt: skip


@pytest.mark.parametrize(
    ("statement", "refusal"),
    [
        (
            "UPDATE solution SET content = replace(content, '\"risk\": ', '\"risk\": 0') WHERE id = 2",
            "a row of solution",
        ),
        ("UPDATE solution SET provisional = 1 WHERE id = 2", "a row of solution"),
        ("UPDATE solution SET id = 999 WHERE id = 2", "a row of solution"),
        ("UPDATE solution SET search = 1 WHERE search = 0", "a row of solution"),
        ("UPDATE solution SET genome = (SELECT genome FROM solution WHERE id = 1) WHERE id = 2", "the genome of row 2"),
        ("DELETE FROM solution WHERE id = 2", "rows of solution were removed"),
        ("DELETE FROM solution", "rows of solution were removed"),
        ("UPDATE checkpoint SET state = zeroblob(10) WHERE search = 0", "the state of row 0"),
        ("DELETE FROM checkpoint WHERE search = 0", "rows of checkpoint were removed"),
        ("UPDATE history SET evaluations = evaluations + 1 WHERE search = 0", "a row of history"),
        ("UPDATE meta SET value = 'false' WHERE key = 'finished'", "a row of meta"),
        ("DELETE FROM meta WHERE key = 'budget'", "rows of meta were removed"),
        ("DELETE FROM seal WHERE part = 'solution'", "the seal of solution is lost"),
        ("UPDATE seal SET count = count + 1 WHERE part = 'history'", "rows of history were removed"),
    ],
)
def test_what_was_changed_by_hand_is_refused(statement: str, refusal: str, copy: Path) -> None:
    edited(copy, statement)
    with pytest.raises(SearchError, match=rf"{refusal}.* after the run wrote it, so nothing in it can be trusted; put"):
        everything(copy)


def test_a_figure_changed_by_hand_ends_a_release_with_one_sentence(copy: Path, tmp_path: Path) -> None:
    edited(copy, "UPDATE solution SET content = replace(content, '\"risk\": ', '\"risk\": 0') WHERE search >= 0")
    for arguments in (["front", str(copy)], ["release", str(copy), "--out", str(tmp_path / "out")]):
        answer = CliRunner().invoke(app, arguments)
        assert isinstance(answer.exception, SearchError)  # which `main` turns into exit code 2
    assert not (tmp_path / "out").exists()


def test_a_row_of_another_run_is_refused(copy: Path, plan: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    finished(begun(plan, other, budget="2 generations", seed=12)).close()
    connection = sqlite3.connect(copy / "run.db")
    connection.execute("ATTACH ? AS other", (str(other / "run.db"),))
    with connection:
        for part in ("solution", "seal"):
            connection.execute(f"DELETE FROM main.{part}")
            connection.execute(f"INSERT INTO main.{part} SELECT * FROM other.{part}")
    connection.close()
    with pytest.raises(SearchError, match="a row of solution was changed"):
        everything(copy)
    shutil.copy(other / "run.db", copy / "run.db")
    with pytest.raises(SearchError, match=r"lock\.toml and run\.db are not of one run"):
        Run.open(copy)


def test_single_bits_are_refused_or_without_effect(whole: Path, copy: Path) -> None:
    """One bit of the store flipped at random, three hundred times; every tenth time the tables are decoded too."""
    expected, draw, refused = [everything(whole, decoded) for decoded in (False, True)], random.Random(5), 0
    store = copy / "run.db"
    content = store.read_bytes()
    for number in range(FLIPS):
        place = draw.randrange(8 * len(content))
        flipped = bytearray(content)
        flipped[place // 8] ^= 1 << (place % 8)
        store.write_bytes(flipped)
        try:
            decoded = number % 10 == 0
            assert everything(copy, decoded) == expected[decoded], f"bit {place} has an effect"
        except CrypsisError:
            refused += 1
        for left in copy.glob("run.db-*"):
            left.unlink()
    assert refused > FLIPS // 4


def test_a_damaged_store_is_not_written_to(copy: Path) -> None:
    """A flipped bit in an index hides no row from a reader and would mislead a writer."""
    with sqlite3.connect(copy / "run.db") as connection:
        (page,) = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'sqlite_autoindex_solution_1'"
        ).fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    connection.close()
    content = bytearray((copy / "run.db").read_bytes())
    content[page * size - 3] ^= 4
    (copy / "run.db").write_bytes(content)
    assert Run.open(copy).front
    with pytest.raises(SearchError, match="not a run store or damaged"):
        finished(Run.resume(copy, budget="3 generations"))


Value = st.one_of(st.text(), st.binary(), st.integers(), st.floats(allow_nan=False))


@given(st.lists(Value, min_size=1, max_size=4), st.lists(Value, min_size=1, max_size=4))
def test_digests_tell_rows_apart(first: list[Any], second: list[Any]) -> None:
    def typed(values: list[Any]) -> list[Any]:
        return [(type(value), value) for value in values]

    same = digest_store_row("run", "meta", first) == digest_store_row("run", "meta", second)
    assert same == (typed(first) == typed(second))
    assert digest_store_row("run", "meta", first) != digest_store_row("run", "history", first)
    assert digest_store_row("run", "meta", first) != digest_store_row("other", "meta", first)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "run.db", create=True, run="some run") as store:
        yield store


@settings(deadline=None)
@given(notes=st.lists(st.tuples(st.sampled_from("abc"), st.integers() | st.floats(allow_nan=False)), max_size=8))
def test_what_is_written_over_reads_back(
    notes: list[tuple[str, float]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    expected: dict[str, Any] = {}
    with Store(tmp_path_factory.mktemp("notes") / "run.db", create=True) as store:
        for key, value in notes:
            with store.transaction():
                store.note(key, value)
            expected[key] = value
        assert {key: store.read_note(key) for key in expected} == expected


def test_a_transaction_that_fails_leaves_the_seals_as_they_were(store: Store) -> None:
    def put(*ids: int, provisional: bool = False) -> None:
        for id in ids:
            store.add(Row(id, 0, b"%d" % id, np.arange(3), {"id": id}), provisional=provisional)

    with store.transaction():
        put(1)
        put(2, provisional=True)
    with pytest.raises(sqlite3.IntegrityError), store.transaction():
        put(3, 1)
    with store.transaction():
        put(2)
        put(4, provisional=True)
    with store.transaction():
        store.forget_provisional()
    assert [id for id, _, _ in store.contents()] == [1, 2]
