"""The Goal page: five questions over the same plan as the form, and a check that says what still stops a release."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from crypsis.plan.checking import check_before_run
from crypsis.studio.pages.goal import goal_questions, say_on_pages
from crypsis.studio.server import build_file
from crypsis.studio.session import Session
from crypsis.studio.studio import Studio
from crypsis.table.example import example
from crypsis.table.files import write_table


@pytest.fixture
def session(tmp_path: Path) -> Session:
    write_table(example(400), tmp_path / "people.csv")
    session = Session(tmp_path / "people.csv", tmp_path / "people-plan.toml")
    session.reading.wait()
    return session


@pytest.fixture
def client(session: Session, tmp_path: Path) -> Iterator[TestClient]:
    (tmp_path / "hidden").mkdir()
    with TestClient(build_file(Studio(tmp_path / "hidden", session))) as made:
        yield made


def ask(client: TestClient, **fields: object) -> dict[str, object]:
    answer = client.post("/goal/answer", data=fields)  # type: ignore[arg-type]
    assert answer.status_code == 200, answer.text
    found: dict[str, object] = answer.json()
    return found


def test_every_answer_is_a_line_of_the_plan(session: Session, client: TestClient) -> None:
    ask(client, do="k", k="7")
    assert next(iter(session.plan.models())).least_class_size == 7
    ask(client, do="risk", at_most="11")
    assert [each.at_most for each in session.plan.limit if each.measure == "risk"] == [11]
    ask(client, do="l", l="3", confidential=["diagnosis"])
    (item,) = (each for each in session.document["require"] if each["model"] == "l-diversity")
    assert item == {"model": "l-diversity", "l": 3, "confidential": ["diagnosis"]}
    ask(client, do="use", analysis="income ~ age + education")
    assert session.document["use"][-1]["name"] == "income ~ age + education"
    assert session.plan.use[-1].build().obstacle(session.table) == ""
    ask(client, do="budget", budget="5m")
    assert session.plan.run.budget == "5m"
    text = client.get("/goal").text
    for words in ("share", "Everybody shares age", 'value="7"', "income ~ age + education", "five minutes"):
        assert words in text
    ask(client, do="drop-use:0")
    assert "use" not in session.document
    ask(client, do="l")
    ask(client, do="risk", at_most="")
    assert [each["model"] for each in session.document["require"]] == ["k-anonymity"]
    assert not [each for each in session.plan.limit if each.measure == "risk"]


def test_what_cannot_be_is_refused_and_changes_nothing(session: Session, client: TestClient) -> None:
    before = session.plan_path.read_text()
    for fields in (
        {"do": "k", "k": "1"},
        {"do": "k", "k": "many"},
        {"do": "use", "analysis": "wages ~ age"},
        {"do": "use", "analysis": ""},
        {"do": "budget", "budget": "soon"},
        {"do": "sing"},
    ):
        assert client.post("/goal/answer", data=fields).status_code == 422, fields
    assert session.plan_path.read_text() == before


def test_a_rulebook_is_chosen_and_followed(session: Session, client: TestClient) -> None:
    ask(client, do="rulebook", rulebook="public-use")
    assert session.choices.rulebook == "public-use"
    text = client.get("/goal").text
    assert "Demand what this rulebook demands" in text
    assert "l-diversity, record-linkage at most 20 %" in text, "what pressing it adds"
    ask(client, do="follow")
    assert "Demand what this rulebook demands" not in client.get("/goal").text
    client.post("/goal", data={"do": "save"})
    assert session.choices.rulebook == "public-use", "the form beside it leaves the rulebook alone"


def test_who_may_look_is_a_choice_written_to_the_plan(session: Session, client: TestClient) -> None:
    ask(client, do="k", k="4")
    assert 'value="all" checked' in client.get("/goal").text
    ask(client, do="intruder", intruder="apart")
    known = [name for each in session.plan.scenario for name in each.knows]
    assert sorted(known) == sorted(session.table.quasi_identifiers)
    assert len(session.plan.scenario) > 1
    assert {item.build().least_class_size for each in session.plan.scenario for item in each.require} == {4}
    assert not any(each.model == "k-anonymity" for each in session.plan.require)
    assert session.plan.search[0].name == "mixed-grouping"
    assert check_before_run(session.plan_path).problems == ()
    assert 'value="apart" checked' in client.get("/goal").text
    ask(client, do="k", k="6")
    assert {model.least_class_size for model in session.plan.models()} == {6}
    first = session.plan.scenario[0].name
    ask(client, do="because", scenario=first, because="registers hold no other column")
    sent = {"do": "save", "scenario.count": "1", "scenario-0.name": first, "scenario-0.knows": known[:1]}
    assert client.post("/goal", data=sent).status_code == 200
    assert session.plan.scenario[0].because, "the form beside it keeps the reason"
    assert "Those that the plan names" in client.get("/goal").text
    ask(client, do="intruder", intruder="all")
    assert not session.plan.scenario
    assert client.post("/goal/answer", data={"do": "intruder", "intruder": "nobody"}).status_code == 422


def test_the_check_never_calls_a_plan_sound_that_no_release_can_follow(session: Session, client: TestClient) -> None:
    document = session.document
    document["columns"]["marital"]["role"] = "undecided"
    document["columns"]["income"] = {"role": "confidential", "kind": "numeric"}
    assert session.save(document) == []
    found = check_before_run(session.plan_path)
    assert len(found.stops) >= 2
    assert not set(found.stops) & set(found.notes)
    text = client.post("/goal/check", data={}).text
    assert "is sound" not in text
    assert "A search can start. Decided before a release" in text
    assert "banner good" not in text
    assert "[[" not in text
    assert "because =" not in text


def test_reasons_and_roles_are_given_where_the_check_asks_for_them(session: Session, client: TestClient) -> None:
    """What stops a release is decided beside the sentence that says so, with what whoever knows it would find."""
    document = session.document
    for name in ("income", "diagnosis"):
        document["columns"][name] = {"role": "confidential", "kind": session.plan.columns[name].kind}
    assert session.save(document) == []
    text = client.post("/goal/check", data={}).text
    assert {name for name in ("income", "diagnosis") if f'value="{name}" checked' in text} == {"income", "diagnosis"}
    assert "whoever knows income" in text
    assert client.post("/goal/unknown", data={"column": "income", "reason": "so"}).status_code == 422
    assert client.post("/goal/unknown", data={"reason": "known to nobody"}).status_code == 422
    given = client.post("/goal/unknown", data={"column": "income", "reason": "paid in private"})
    assert given.status_code == 200, given.text
    assert session.plan.columns["income"].because == "paid in private"
    again = given.json()["parts"]["estimate"]
    assert 'value="income"' not in again
    assert "the plan says why nobody outside knows income: paid in private" in again
    assert client.post("/goal/unknown", data={"column": "diagnosis", "do": "protect"}).status_code == 200
    assert session.plan.columns["diagnosis"].role == "quasi"


def test_columns_with_one_reason_are_one_note_and_costly_diversity_is_foretold(
    session: Session, client: TestClient
) -> None:
    document = session.document
    for name in ("income", "diagnosis"):
        document["columns"][name] = {
            "role": "confidential",
            "kind": session.plan.columns[name].kind,
            "because": "secret",
        }
    values = session.table.labels("diagnosis")
    common = max(values, key=lambda value: int((session.table.column("diagnosis") == values.index(value)).sum()))
    kept = [n for n, code in enumerate(session.table.column("diagnosis")) if values[code] != common]
    session.source.write_text(_rewritten(session.source.read_text(), "diagnosis", common, kept[5:]))
    document["require"].append({"model": "l-diversity", "l": 2, "confidential": ["diagnosis"]})
    assert session.save(document) == []
    found = check_before_run(session.plan_path)
    assert sum("says why nobody outside knows" in note for note in found.notes) == 1
    (note,) = (note for note in found.notes if "costs much" in note)
    assert "at most 5 classes are left, of 80 records on average" in note
    document["require"][-1]["l"] = 2
    document["columns"]["diagnosis"]["role"] = "other"
    document["require"].pop()
    assert session.save(document) == []
    assert not [each for each in check_before_run(session.plan_path).notes if "costs much" in each]


def _rewritten(text: str, column: str, value: str, rows: list[int]) -> str:
    """A file with another value in some rows of a column."""
    head, *lines = text.splitlines()
    place = head.split(",").index(column)
    cells = [line.split(",") for line in lines]
    for row in rows:
        cells[row][place] = value
    return "\n".join([head, *(",".join(each) for each in cells)]) + "\n"


def test_examples_of_analyses_leave_out_what_has_one_value(tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text(
        "wave,age,sex,pay\n" + "".join(f"w1,{20 + n % 9},{'fm'[n % 2]},{n}\n" for n in range(90))
    )
    session = Session(tmp_path / "one.csv", tmp_path / "one-plan.toml")
    session.reading.wait()
    examples = " ".join(text for _, text in goal_questions(session)["examples"])
    assert "wave" not in examples
    assert "by sex" in examples


def test_every_confidential_column_is_protected_by_one_press(session: Session, client: TestClient) -> None:
    document = session.document
    for name in ("marital", "education"):
        document["columns"][name] = {"role": "confidential"}
    assert session.save(document) == []
    ask(client, do="l")
    text = client.get("/goal").text
    assert "a role of confidential alone demands nothing" in text
    assert "All of them" in text
    every = re.search(r'<form[^>]* id="ask-all".*?</form>', text, re.S)
    assert every
    fields = re.findall(r'name="(\w+)" value="([^"]*)"', every[0])
    data = {name: [value for key, value in fields if key == name] for name, _ in fields}
    assert client.post("/goal/answer", data=data).status_code == 200
    hidden = next(each["confidential"] for each in session.document["require"] if each["model"] == "l-diversity")
    assert {"marital", "education"} <= set(hidden)
    assert "All of them" not in client.get("/goal").text


def test_a_rulebook_that_can_demand_no_more_offers_no_button(session: Session, client: TestClient) -> None:
    """What is left is a column that may not be published, which is decided on Data."""
    session.source.write_text(session.source.read_text().replace("marital", "my_surname", 1))
    assert session.read_again({}) == ""
    document = session.document
    document["columns"]["my_surname"]["role"] = "other"
    assert session.save(document) == []
    ask(client, do="rulebook", rulebook="public-use")
    text = client.get("/goal").text
    assert "Demand what this rulebook demands" in text
    assert "change the role on Data" not in text
    ask(client, do="follow")
    text = client.get("/goal").text
    assert "Demand what this rulebook demands" not in text
    assert "change the role on Data" in text


def test_a_rulebook_says_on_its_card_what_it_demands(client: TestClient) -> None:
    text = client.get("/goal").text
    assert "k-anonymity at least 5; l-diversity at least 2; record-linkage at most 20 %; 6 more rules" in text
    assert "every published category has at least 11 records" in text
    assert '<option value="10s">ten seconds</option>' in text


def test_the_check_answers_within_two_seconds(session: Session, client: TestClient) -> None:
    session.table  # noqa: B018 - read already, as on a page that is open
    client.post("/goal/check", data={})
    began = time.process_time()
    assert client.post("/goal/check", data={}).status_code == 200
    assert time.process_time() - began < 2.0


def test_notes_speak_of_pages() -> None:
    note = "x shows y: give it the role quasi or identifier, or a reason in a [[waive]] table"
    assert say_on_pages(note).endswith("or accept it with a reason on the Release page")
