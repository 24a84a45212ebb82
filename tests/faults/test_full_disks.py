"""A file that finds no room in the middle of being written, as the system itself refuses it, for every file in turn."""

from __future__ import annotations

import resource
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from browsing import whole_studio
from crypsis.errors import Interrupted, TableError
from crypsis.masking import Microaggregation
from crypsis.privacy import KAnonymity
from crypsis.release import ReleaseDescription, publish, verify
from crypsis.run import Run
from crypsis.studio import access
from crypsis.studio.access import AccessControl, Credentials
from crypsis.studio.session import Session
from crypsis.studio.studio import Studio
from crypsis.table.example import example
from faults.test_disks import PLAN
from run.runs import begun, bits, finished, folder_with
from waiving import waiving

PEOPLE = "name,age,sex,income\n" + "".join(f"P{n},{20 + n % 9},{'fm'[n % 2]},{n}\n" for n in range(60))
ORIGIN = {"origin": "http://127.0.0.1:8000"}


@contextmanager
def room(size: int) -> Iterator[None]:
    """No file grows beyond so many bytes; the write that would is cut short, and the next one refused."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_whichever_file_of_a_release_finds_no_room_nothing_is_there(tmp_path: Path) -> None:
    table = example(60)
    masked = Microaggregation(k=3, columns=("age", "hours")).mask(table, np.random.default_rng(0))

    def release(out: Path) -> None:
        asked = [KAnonymity(k=3, quasi_identifiers=("age", "hours"))]
        description, reasons = ReleaseDescription("Test", "Grouped.", "aggregation"), waiving("occupation", "income")
        publish(masked, out, models=asked, description=description, waivers=reasons)

    release(tmp_path / "whole")
    files = {path.stat().st_size: path.name for path in (tmp_path / "whole").rglob("*") if path.is_file()}
    assert {"data.csv", "report.html", "report.json", "manifest.json"} <= set(files.values())
    for size in files:
        with (
            room(size - 1),
            pytest.raises(TableError, match=r"cannot be written \(file too large\); nothing was written"),
        ):
            release(tmp_path / "half")
        assert [path.name for path in tmp_path.iterdir()] == ["whole"]
    assert verify(tmp_path / "whole").sound


def test_wherever_a_checkpoint_finds_no_room_the_run_goes_on_to_the_same_bits(tmp_path: Path) -> None:
    plan = folder_with(tmp_path / "job", PLAN, rows=80)
    run = finished(begun(plan, tmp_path / "whole"))
    whole: list[tuple[Any, ...]] = bits(run)
    run.close()
    stopped = 0
    for number, more in enumerate((1, 5_000, 20_000, 60_000)):
        run = begun(plan, tmp_path / f"full-{number}")
        with room((tmp_path / f"full-{number}" / "run.db").stat().st_size + more):
            try:
                finished(run)
            except Interrupted as told:
                stopped += 1
                assert "cannot write its last step" in str(told)
            run.close()
        with sqlite3.connect(tmp_path / f"full-{number}" / "run.db") as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        again = finished(Run.resume(tmp_path / f"full-{number}"))
        assert bits(again) == whole
        again.close()
    assert stopped >= 2


@pytest.fixture
def studio(tmp_path: Path) -> Studio:
    source = tmp_path / "people.csv"
    source.write_text(PEOPLE, encoding="utf-8")
    session = Session(source, tmp_path / "people-plan.toml")
    session.reading.wait()
    return Studio(tmp_path, session)


@pytest.fixture
def client(studio: Studio) -> Iterator[TestClient]:
    entry = Credentials(8000)
    with TestClient(
        AccessControl(whole_studio(studio), entry), base_url=ORIGIN["origin"], follow_redirects=False
    ) as made:
        made.get(f"/?token={entry.token}")
        yield made


@pytest.mark.parametrize("size", [0, 1, 500, 100_000])
def test_an_upload_that_finds_no_room_leaves_nothing(size: int, client: TestClient, tmp_path: Path) -> None:
    more = PEOPLE.encode() * 400
    assert len(more) > 100_000
    with room(size):
        answer = client.post(access.UPLOAD, headers={**ORIGIN, "x-file-name": "more.csv"}, content=more)
    assert answer.status_code == 422
    assert answer.json()["problems"] == ["more.csv did not arrive completely; check the free space and try again"]
    assert list((tmp_path / "uploads").iterdir()) == []
    assert client.post(access.UPLOAD, headers={**ORIGIN, "x-file-name": "p.csv"}, content=PEOPLE.encode()).is_success


def test_a_choice_that_finds_no_room_leaves_the_one_before(client: TestClient, studio: Studio) -> None:
    assert client.post("/limits", headers=ORIGIN, data={"loss": "40", "risk": "20"}).is_success
    plan = studio.session.plan_path.read_bytes()
    with room(10):
        answer = client.post("/limits", headers=ORIGIN, data={"loss": "70", "risk": "70"})
        column = client.post("/data/column", headers=ORIGIN, data={"column": "sex", "role": "quasi", "kind": "nominal"})
    for refused in (answer, column):
        assert refused.status_code == 422
        assert "cannot be written (file too large)" in refused.json()["problems"][0]
    assert studio.session.choices.limits == {"loss": 40.0, "risk": 20.0}
    assert studio.session.plan_path.read_bytes() == plan
    assert [path.name for path in studio.session.home.glob(".*.part")] == []
