"""The server releases nothing while an item of the checklist fails, and every item can fail."""

from __future__ import annotations

import io
import re
import shutil
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from crypsis.measures.objective import Complaint
from crypsis.plan.sections import Column
from crypsis.privacy import LDiversity
from crypsis.release import verify
from crypsis.release.ledger import ledger_of_plan
from crypsis.rulebook import read_rulebook
from crypsis.rulebook.rules import ColumnsRule
from crypsis.run import Front
from crypsis.searches import searches
from crypsis.studio.pages.explore import COLOURS, _methods, _summary
from crypsis.studio.pages.release import ReleaseDecisions, _list_releases_elsewhere, release_page_checklist
from crypsis.studio.server import STATIC, build_file
from crypsis.studio.session import MadeRelease, Session
from crypsis.studio.solution_audit import group_findings
from crypsis.studio.studio import Studio
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
def client(session: Session, tmp_path: Path) -> Iterator[TestClient]:
    (tmp_path / "hidden").mkdir()
    with TestClient(build_file(Studio(tmp_path / "hidden", session))) as made:
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
    for page in ("data", "goal", "explore", "release"):
        assert 'class="level-look">The plan was changed since this search: start again.' in client.get(f"/{page}").text
    code, message = export(client)
    assert code == 422
    assert "Plan and search agree" in message
    assert not (session.home / "out").exists()


def test_what_may_not_be_released_is_not_chosen_and_every_demand_is_listed(
    session: Session, client: TestClient
) -> None:
    barred = next(each for each in session.front.everything if not each.feasible)
    refused = client.post(f"/choose/{barred.number}", data={})
    assert refused.status_code == 422
    assert "may not be released" in refused.text
    assert session.chosen != barred.number
    content = client.get("/explore.json").json()
    assert content["line"].startswith("The line joins what no other one beats")
    assert not content["third"]
    panel = client.get(f"/solution/{session.chosen}").text
    listed = len(session.run.plan.limit) + len(session.run.plan.models())
    assert panel.count(" attained, ") == listed, "as many as the header counts"


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
    assert "[[" not in told
    assert "--waive" not in told
    assert client.post("/release/accept", data={"column": "income", "reason": "so"}).status_code == 422
    assert client.post("/release/accept", data={"column": "income", "reason": "agreed on"}).status_code == 200
    assert "--waive 'singling-out:income=agreed on'" in client.get("/release").text.replace("&#39;", "'")
    assert export(client)[0] == 200
    assert "“agreed on”" in (session.home / "out" / "internal" / "report.html").read_text()


def test_a_solution_is_audited_once_for_page_rulebook_and_reload(session: Session, client: TestClient) -> None:
    session.change(rulebook="licensed")
    assert session.audits.made <= 1, "the choice began the first one"
    first = client.get("/release/rules").text
    made = session.audits.made
    assert "level-good" in first
    assert client.get("/release/rules").text == first
    client.post("/release/accept", data={"column": "income", "reason": "known to nobody outside"})
    client.get("/release/rules")
    assert session.audits.made == made, "a reason is applied to the audit that is there"
    other = next(s.number for s in session.front.everything if s.number != session.chosen and s.feasible)
    session.choose(other)
    client.get("/release/rules")
    assert session.audits.made == made + 1


def test_findings_stand_by_column_without_words_of_the_plan(session: Session, client: TestClient) -> None:
    path = session.plan_path
    path.write_text(path.read_text().replace(WAIVED, ""))
    text = client.get("/release/rules").text
    assert text.count('data-finding="income"') == 1
    assert text.count('id="reason-income"') == 1
    for words in ("[[", "singling-out:", "because =", "--waive"):
        assert words not in text
    assert 'class="card finding blocks" data-finding="income"' in text
    assert "banner stop" in text
    client.post("/release/accept", data={"column": "income", "reason": "agreed on"})
    text = client.get("/release/rules").text
    assert 'class="card finding accepted" data-finding="income"' in text
    assert "banner good" in text
    empty = client.post("/release/accept", data={"column": "income", "reason": ""})
    assert (empty.status_code, "write the reason" in empty.text) == (422, True), "without a reason nothing is accepted"
    client.post("/release/accept", data={"column": "income", "reason": "", "do": "take-back"})
    assert 'class="card finding blocks" data-finding="income"' in client.get("/release/rules").text


@pytest.mark.parametrize(
    ("do", "role"), [("leave-out", "identifier"), ("protect", "quasi"), ("confidential", "confidential")]
)
def test_a_button_does_what_its_words_say_and_asks_for_a_new_search(
    session: Session, client: TestClient, do: str, role: str
) -> None:
    path = session.plan_path
    path.write_text(
        path.read_text().replace(WAIVED, "").replace('role = "confidential", because', 'role = "other", because')
    )
    answer = client.post("/release/decide", data={"column": "income", "do": do, "reason": "a study found it out"})
    assert answer.status_code == 200, answer.text
    assert session.plan.columns["income"].role == role
    assert "new search" in answer.json()["message"]
    if role != "confidential":
        assert "Start a new search" in client.get("/release").text
        assert export(client)[0] == 422
    assert client.post("/release/decide", data={"column": "income", "do": "shred"}).status_code == 422


def test_a_release_is_never_written_into_the_hidden_folder(
    session: Session, client: TestClient, tmp_path: Path
) -> None:
    answer = client.post("/release/export", data={"title": "People", "folder": str(tmp_path / "hidden" / "out")})
    assert answer.status_code == 422
    assert "hidden" in answer.text
    assert not (tmp_path / "hidden" / "out").exists()


def test_releases_of_copies_go_where_the_user_finds_them(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside = Studio(tmp_path / "elsewhere", session)
    assert beside.release_folder() == session.source.parent / "plan-release"
    copied = Studio(tmp_path, session)  # as an upload: the plan lies in the studio's folder
    monkeypatch.setenv("CRYPSIS_RELEASES", str(tmp_path.parent / "shown"))
    assert copied.release_folder() == tmp_path.parent / "shown" / "plan-release"
    monkeypatch.delenv("CRYPSIS_RELEASES")
    monkeypatch.setenv("HOME", str(tmp_path.parent / "me"))
    assert copied.release_folder() == tmp_path.parent / "me" / "crypsis-releases" / "plan-release"


def test_the_page_of_a_release_gives_everything_back(session: Session, client: TestClient, tmp_path: Path) -> None:
    code, message = export(client)
    assert code == 200, message
    page = client.get("/release/1").text
    assert "Download the release (ZIP)" in page
    assert str(session.home / "out") in page
    for parts, names in (("public", {"public"}), ("with-internal", {"public", "internal"})):
        archive = client.get(f"/release/1/zip/{parts}")
        assert archive.status_code == 200
        assert "attachment" in archive.headers["content-disposition"]
        with zipfile.ZipFile(io.BytesIO(archive.content)) as packed:
            packed.extractall(tmp_path / parts)
        assert {each.name for each in (tmp_path / parts / "out").iterdir()} == names
        assert verify(tmp_path / parts / "out").sound
    assert list((tmp_path / "hidden" / "downloads").iterdir()) == []
    assert client.get("/release/1/data").content == (session.home / "out" / "public" / "data.csv").read_bytes()
    for view in ("report", "codebook", "internal-report"):
        assert client.get(f"/release/1/view/{view}").status_code == 200
        kept = client.get(f"/release/1/view/{view}?keep")
        assert "attachment" in kept.headers["content-disposition"]
    assert client.get("/release/1/view/plan").status_code == 422
    verified = client.get("/release/1/verified").text
    assert "is sound" in verified
    assert "It is assumed that nobody outside knows income" in verified, "as `crypsis verify` says it"
    assert "--sign" not in verified
    (session.home / "out" / "public" / "data.csv").write_text("age\n1\n")
    assert "NOT sound" in client.get("/release/1/verified").text
    assert client.get("/release/2").status_code == 422


def test_another_format_needs_no_new_search(session: Session, client: TestClient) -> None:
    fields = {"title": "People", "folder": "columns", "format": "parquet"}
    assert client.post("/release/export", data=fields).status_code == 200
    assert (session.home / "columns" / "public" / "data.parquet").exists()
    assert not session.outdated
    assert client.post("/release/export", data={**fields, "folder": "x", "format": "doc"}).status_code == 422


def test_a_release_is_signed_later_and_verifies_with_the_key(session: Session, client: TestClient) -> None:
    export(client)
    before = (session.home / "out" / "public" / "data.csv").read_bytes()
    assert client.post("/release/1/sign", data={"key": "office.key", "do": "sign"}).status_code == 422
    answer = client.post("/release/1/sign", data={"key": "office.key", "do": "make"})
    assert answer.status_code == 200, answer.text
    found = verify(session.home / "out", key=session.home / "office.key.pub")
    assert (found.sound, found.signature) == (True, "trusted")
    assert (session.home / "out" / "public" / "data.csv").read_bytes() == before
    assert "signed already" in client.post("/release/1/sign", data={"key": "office.key", "do": "sign"}).text


def test_what_somebody_received_is_remembered_after_its_withdrawal(session: Session, client: TestClient) -> None:
    export(client)
    assert client.post("/release/1/withdraw", data={}).status_code == 422
    assert (session.home / "out").exists()
    assert client.post("/release/1/withdraw", data={"received": "yes"}).status_code == 200
    assert not (session.home / "out").exists()
    assert "Withdrawn on" in client.get("/release/1").text
    assert client.get("/release/1/zip/public").status_code == 422
    assert client.post("/release/export", data={"title": "People", "folder": "out"}).status_code == 200
    assert "/release/2" in client.get("/release").text
    together = client.get("/release/2/together").text
    assert "withdrawn" in together
    client.post("/release/2/withdraw", data={"received": "no"})
    ledger = ledger_of_plan(session.run.plan)
    assert [each.received for each in ledger.entries()] == [True, False], "no entry is lost"
    assert len(ledger.earlier(session.run.original)) == 1, "a file that never left is no danger to later ones"


def test_a_pause_is_asked_for_and_not_waited_for(
    session: Session, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search of a large table takes seconds to write its state; the page answers before."""
    asked = list[tuple[object, ...]]()
    monkeypatch.setattr("crypsis.studio.jobs.stop", lambda *given: asked.append(given))
    assert client.post("/search/pause", data={}).status_code == 200
    assert asked == [(session.run_folder, 0.0)]


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
    assert [item.holds for item in items if item.what != "people found at most 20 %"] == [
        True,
        False,
        False,
        True,
        True,
        True,
    ]
    columns = {**session.run.plan.columns, "sex": Column(role=Role.UNDECIDED)}
    session.run.plan = session.run.plan.model_copy(update={"columns": columns})
    assert failing(session) == ["Somebody decided about every column"]
    unguarded = replace(solution, evaluation=replace(solution.evaluation, verdicts=()))
    items = {item.what: item.holds for item in release_page_checklist(session, unguarded)}
    assert items["A privacy model or a risk limit is demanded"] is False


def test_one_reason_is_given_for_several_columns(session: Session, client: TestClient) -> None:
    path = session.plan_path
    text = path.read_text().replace(WAIVED, "").replace(', because = "known to nobody outside" }', " }")
    path.write_text(text.replace('role = "other"', 'role = "confidential"'))
    text = client.get("/release/rules").text
    blocking = re.findall(r'class="card finding blocks" data-finding="(\w+)"', text)
    assert len(blocking) > 1
    assert 'id="accept-several"' in text
    stops = client.get("/explore.json").json()["summary"]
    assert stops["level"] == "look", "never green while the audit stops the release"
    assert f"{len(blocking)} findings of its audit stop the release" in stops["words"]
    asked = {"column": blocking, "reason": "known to nobody outside"}
    assert client.post("/release/accept", data=asked).status_code == 200
    accepted = client.get("/release/rules").text.split('<ul class="findings">')[1].split("<h3>Rules")[0]
    assert 'class="card finding blocks"' not in accepted
    assert "level-good" not in accepted, "what was accepted is not green"
    assert accepted.count("level-look") == len(blocking)
    assert client.get("/explore.json").json()["summary"]["level"] == "good"


def test_a_reason_of_the_plan_is_a_reason_and_one_value_in_a_class_leads_to_a_demand(
    session: Session, client: TestClient
) -> None:
    """Three states: what stops, what was accepted with a reason (here or in the plan), and notes."""
    cards = group_findings(session.audits.of(session.chosen or 0).findings({}), session.plan)
    stated = [card for card in cards if card.stated and not card.keys and card.state == "accepted"]
    assert stated
    text = client.get("/release/rules").text
    card = text.split(f'data-finding="{stated[0].column}"')[1].split("</li>\n")[0]
    assert "accepted with a reason" in card
    assert "The plan gives the reason: known to nobody outside." in card
    alike = [card.column for card in cards if card.homogeneous]
    assert alike
    assert f"Demand two values of {alike[0]} in every class" in text
    answer = client.post("/release/decide", data={"column": alike[0], "do": "diversity"})
    assert answer.status_code == 200, answer.text
    (demand,) = (model for model in session.plan.models() if isinstance(model, LDiversity))
    assert (demand.l, demand.confidential) == (2, (alike[0],))
    assert "Start a new search" in client.get("/release").text


def test_a_forbidden_column_is_left_out_by_its_button(session: Session, client: TestClient) -> None:
    session.change(rulebook="public-use")
    assert "Leave diagnosis out" not in client.get("/release/rules").text
    book = read_rulebook("public-use")
    rules = [
        rule.model_copy(update={"never": ("diagnosis",)}) if isinstance(rule, ColumnsRule) else rule
        for rule in book.rule
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ReleaseDecisions, "book", lambda self: book.model_copy(update={"rule": tuple(rules)}))
        text = client.get("/release/rules").text
    assert text.count("Leave diagnosis out") == 1
    assert client.post("/release/decide", data={"column": "diagnosis", "do": "leave-out"}).status_code == 200
    assert session.plan.columns["diagnosis"].role == "identifier"


def test_an_earlier_release_from_another_copy_is_named(session: Session, client: TestClient) -> None:
    assert export(client)[0] == 200
    session.change(releases=())  # as if it had been made from another upload of the file
    made = session.audits.of(session.chosen or 0)
    made.findings({})
    assert _list_releases_elsewhere(session, made.earlier) == ["out"]
    session.change(releases=(MadeRelease(str(session.home / "out"), 1),))
    assert _list_releases_elsewhere(session, made.earlier) == []


def test_an_undecided_column_is_decided_and_never_accepted(session: Session, client: TestClient) -> None:
    path = session.plan_path
    stated = 'income = { role = "confidential", because = "known to nobody outside" }'
    path.write_text(path.read_text().replace(WAIVED, "").replace(stated, 'income = { role = "undecided" }'))
    text = client.get("/release/rules").text
    assert 'id="reason-income"' not in text
    assert "Decide what income is" in text
    refused = client.post("/release/accept", data={"column": "income", "reason": "known to nobody outside"})
    assert refused.status_code == 422
    assert "answer the question about it on the Data page" in refused.text


def test_banner_panel_and_header_speak_of_one_solution(session: Session, client: TestClient) -> None:
    """Keep best under a limit chooses within it, and nothing then offers another one; bad news are never green."""
    line = sorted(session.front.solutions, key=lambda s: s.figure("loss") or 0.0)
    assert len(line) > 1
    most = line[0].figure("risk") - 1e-6  # what loses least is beyond it
    client.post("/limits", data={"loss": "100", "risk": str(most)})
    kept = client.post("/search/keep", data={})
    assert kept.status_code == 200, kept.text
    assert session.chosen != line[0].number
    assert (session.solution(session.chosen).figure("risk") or 0.0) <= most
    content = client.get("/explore.json").json()
    assert content["summary"]["words"].startswith(f"Solution {session.chosen} is chosen")
    assert f'id="head-chosen">{session.chosen}<' in content["header"]
    assert f"solution {session.chosen} keeps" in content["header"]
    barred = Front(tuple(s for s in session.front.everything if not s.feasible))
    assert len(barred.everything) > 0
    assert _summary(barred, None, searching=False)["level"] == "stop"
    assert _summary(barred, None, searching=True)["level"] == "open"


def test_every_method_has_a_colour_of_its_own_in_every_run(session: Session) -> None:
    found = _methods(session.front)
    assert found[: len(list(searches))] == list(searches), "the run does not change it"
    assert len(found) <= COLOURS
    css = (STATIC / "studio.css").read_text()
    for scheme in css.split("--m0:")[1:]:
        named = re.findall(r"--m\d+: (#\w+)", f"--m0:{scheme.split('}')[0]}")
        assert len(set(named)) == COLOURS


def test_a_new_file_opens_on_data_and_no_page_speaks_of_toml(session: Session, tmp_path: Path) -> None:
    shutil.copy(session.source, tmp_path / "people.csv")
    fresh = Session(tmp_path / "people.csv", tmp_path / "people-plan.toml")
    fresh.reading.wait()
    studio = Studio(tmp_path / "own", fresh)
    assert studio.first_page() == "/data"
    with TestClient(build_file(studio)) as client:
        for page in ("data", "goal", "explore", "release"):
            text = client.get(f"/{page}").text.split('<footer class="foot">')[0]
            assert "[[" not in text
            assert "because =" not in text
        assert "What the search will do" in client.get("/explore").text
        assert "masked by itself, whatever is searched" in client.get("/data").text


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
