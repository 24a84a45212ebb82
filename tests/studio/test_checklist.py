"""The server releases nothing while an item of the checklist fails, and every item can fail."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from crypsis.measures.objective import Complaint
from crypsis.plan.sections import Column
from crypsis.release import verify
from crypsis.studio.pages.release import release_page_checklist
from crypsis.studio.server import build_file
from crypsis.studio.session import Session
from crypsis.studio.studio import Bundle, Studio
from crypsis.table.attribute import Role
from run.runs import PLAN, begun, finished, folder_with

WAIVED = '[[waive]]\nfinding = "singling-out"\ncolumn = "income"\nbecause = "known to nobody outside"\n'
SEARCHED = '[[search]]\nname = "memetic"\nk = 3\n[run]\nbudget = "1 generations"\nseed = 11\n'
QUICK = PLAN.split("[[search]]")[0] + WAIVED + SEARCHED


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a file, its plan and a run that has ended."""
    plan = folder_with(tmp_path_factory.mktemp("searched") / "job", QUICK)
    finished(begun(plan, plan.with_name("plan-run"))).close()
    return plan.parent


@pytest.fixture
def session(searched: Path, tmp_path: Path) -> Iterator[Session]:
    shutil.copytree(searched, tmp_path / "job")
    lock = tmp_path / "job" / "plan-run" / "lock.toml"
    lock.write_text(lock.read_text().replace(str(searched), str(tmp_path / "job")))
    session = Session(tmp_path / "job" / "people.csv", tmp_path / "job" / "plan.toml", tmp_path / "job" / "plan-run")
    session.reading.wait()
    session.choose(session.front.default().number)
    yield session
    session.run.close()


@pytest.fixture
def client(session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    monkeypatch.setattr(Bundle, "prepare", lambda self: None)
    with TestClient(build_file(Studio(tmp_path, session))) as made:
        yield made


def failing(session: Session) -> list[str]:
    solution = session.solution(session.chosen) if session.chosen is not None else None
    return [item.what for item in release_page_checklist(session, solution) if not item.holds]


def export(client: TestClient) -> tuple[int, str]:
    answer = client.post("/release/export", data={"title": "People", "folder": "out"})
    return answer.status_code, answer.text


def test_a_complete_checklist_releases(session: Session, client: TestClient) -> None:
    assert failing(session) == []
    code, message = export(client)
    assert code == 200, message
    assert verify(session.home / "out").sound


def test_a_plan_changed_after_the_run_releases_nothing(session: Session, client: TestClient) -> None:
    path = session.plan_path
    path.write_text(path.read_text().replace("k = 3\n[[waive]]", "k = 5\n[[waive]]"))
    assert failing(session) == ["Plan and search agree"]
    code, message = export(client)
    assert code == 422
    assert "Plan and search agree" in message
    assert not (session.home / "out").exists()


def test_a_column_called_an_identifier_since_is_not_released(session: Session, client: TestClient) -> None:
    path = session.plan_path
    stated = 'income = { role = "confidential", because = "known to nobody outside" }'
    path.write_text(path.read_text().replace(stated, 'income = { role = "identifier" }'))
    assert "Identifiers are not released" in failing(session)
    code, message = export(client)
    assert code == 422
    assert "income would be published" in message
    assert not (session.home / "out").exists()


def test_a_column_that_singles_people_out_is_released_for_a_reason_only(session: Session, client: TestClient) -> None:
    path = session.plan_path
    path.write_text(path.read_text().replace(WAIVED, ""))
    assert failing(session) == [], "a waiver decides nothing about the search"
    assert "income singles out" in client.get("/release/rules").text
    code, told = export(client)
    assert code == 422
    assert "income singles out" in told
    assert client.post("/release/waive", data={"waive.singling-out:income": "so"}).status_code == 422
    assert client.post("/release/waive", data={"waive.singling-out:income": "agreed on"}).status_code == 200
    assert "--waive 'singling-out:income=agreed on'" in client.get("/release").text.replace("&#39;", "'")
    assert export(client)[0] == 200
    assert "“agreed on”" in (session.home / "out" / "internal" / "report.html").read_text()


def test_no_solution_no_release(session: Session, client: TestClient) -> None:
    session.change(chosen={})
    assert failing(session) == ["A solution is chosen"]
    assert export(client)[0] == 422


def test_every_other_item_can_fail(session: Session) -> None:
    solution = session.solution(session.chosen or 0)
    verdict = {**solution.evaluation.verdicts[0], "holds": False, "attained": None}
    broken = replace(
        solution.evaluation, verdicts=(verdict,), complaints=(Complaint("model", "k-anonymity"), Complaint("no-model"))
    )
    items = release_page_checklist(session, replace(solution, evaluation=broken))
    assert [item.holds for item in items] == [True, False, False, True, True, True]
    columns = {**session.run.plan.columns, "sex": Column(role=Role.UNDECIDED)}
    session.run.plan = session.run.plan.model_copy(update={"columns": columns})
    assert failing(session) == ["Somebody decided about every column"]
    unguarded = replace(solution, evaluation=replace(solution.evaluation, verdicts=()))
    items = {item.what: item.holds for item in release_page_checklist(session, unguarded)}
    assert items["A privacy model or a risk limit is demanded"] is False


def test_a_file_that_cannot_be_looked_at_is_no_reason_to_trust_it(session: Session) -> None:
    solution = session.solution(session.chosen or 0)
    session.source.write_text(session.source.read_text().replace("female", "woman"))
    session.run.close()
    again = Session(session.source, session.plan_path, session.run_folder)
    again.reading.wait()
    (item,) = (each for each in release_page_checklist(again, solution) if each.what.startswith("Identifiers"))
    assert not item.holds
    assert item.found.startswith("the file cannot be read")
    again.run.close()
