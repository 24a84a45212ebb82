"""The Data page: coded categories, rows that show what is saved, questions with undo, and how the file is read."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from starlette.testclient import TestClient

from crypsis.studio.server import build_file
from crypsis.studio.session import Session, read_choices
from crypsis.studio.studio import Studio

PEOPLE = "age,sex,roof,x1,x2,wage\n" + "".join(
    f"{20 + n % 9},{1 + n % 2},{1 + n % 4 * (n % 3)},{n % 2},{n // 2 % 2},{1000 + 7 * n}\n" for n in range(120)
)


@pytest.fixture
def session(tmp_path: Path) -> Session:
    source = tmp_path / "job" / "people.csv"
    source.parent.mkdir()
    source.write_text(PEOPLE)
    session = Session(source, source.with_name("people-plan.toml"))
    session.reading.wait()
    return session


@pytest.fixture
def client(session: Session, tmp_path: Path) -> Iterator[TestClient]:
    (tmp_path / "hidden").mkdir()
    with TestClient(build_file(Studio(tmp_path / "hidden", session))) as made:
        yield made


def shown(client: TestClient, column: str) -> dict[str, str]:
    """A row of the grid, as the page sends it."""
    text = client.get("/data/grid").text
    row = next(part for part in text.split("<tr ") if part.startswith(f'data-column="{column}"'))
    chosen = re.findall(r"<option selected>(\w+)", row)
    hierarchy = re.search(r'name="hierarchy" value="([^"]*)"', row)
    state = re.search(r'data-shown="([^"]*)"', row)
    assert hierarchy is not None
    assert state is not None
    return {
        "column": column,
        "role": chosen[0],
        "kind": chosen[1],
        "hierarchy": html.unescape(hierarchy[1]),
        "shown": html.unescape(state[1]),
    }


def test_categories_that_are_coded_as_numbers_can_be_edited(session: Session, client: TestClient) -> None:
    """The declared kind decides: groups of codes are merges, not intervals."""
    for column in ("sex", "roof", "x1"):
        row = shown(client, column) | {"role": "quasi", "kind": "nominal", "hierarchy": "merge:2"}
        answer = client.post("/data/column", data=row)
        assert (column, answer.status_code, answer.json()["problems"]) == (column, 200, [])
        preview = client.post("/data/preview", data=shown(client, column))
        assert preview.status_code == 200
        assert "numeric" not in preview.text
    assert session.table.attribute("roof").hierarchy is not None
    row = shown(client, "roof") | {"kind": "numeric"}
    answer = client.post("/data/column", data=row)
    assert "did not fit that kind" in answer.json()["message"]
    assert str(session.plan.columns["roof"].hierarchy).startswith("intervals:")
    assert client.post("/data/column", data=shown(client, "roof") | {"hierarchy": "merge:2"}).status_code == 422


def test_a_column_that_becomes_a_quasi_identifier_gets_groups(session: Session, client: TestClient) -> None:
    """A lattice needs them, and the text in the empty box is only a suggestion."""
    row = shown(client, "wage") | {"role": "confidential", "hierarchy": ""}
    assert client.post("/data/column", data=row).is_success
    assert session.plan.columns["wage"].hierarchy is None
    answer = client.post("/data/column", data=shown(client, "wage") | {"role": "quasi"})
    assert "intervals:" in answer.json()["message"]
    assert str(session.plan.columns["wage"].hierarchy).startswith("intervals:")


def test_a_search_that_cannot_begin_is_refused_and_the_page_says_why(session: Session, client: TestClient) -> None:
    """Nothing "is starting" that never will, and the run before stays the one that is shown."""
    for column in ("sex", "age"):
        assert client.post("/data/column", data=shown(client, column) | {"role": "quasi", "hierarchy": ""}).is_success
    document = session.document
    document["search"] = [{"name": "pbg-ea"}]
    assert session.save(document) == []
    answer = client.post("/search/start")
    assert answer.status_code == 422
    assert answer.json()["message"].startswith("No search was started.")
    assert session.choices.run == ""


def test_rules_follow_a_column_that_is_left_out_and_come_back(session: Session, client: TestClient) -> None:
    document = session.document
    document["rule"] = [{"holds": "sex <= 2"}, {"holds": "age >= 0"}]
    assert session.save(document) == []
    assert client.post("/data/column", data=shown(client, "sex") | {"role": "identifier"}).is_success
    assert [each.holds for each in session.plan.rule] == ["age >= 0"]
    assert client.post("/data/undo", data={"place": "0"}).is_success
    assert len(session.plan.rule) == 2


def test_a_row_that_shows_something_old_overwrites_nothing(session: Session, client: TestClient) -> None:
    old = shown(client, "wage")
    assert client.post("/data/column", data=old | {"role": "identifier"}).status_code == 200
    answer = client.post("/data/column", data=old | {"kind": "nominal"})
    assert answer.status_code == 422
    assert "changed elsewhere" in answer.json()["message"]
    assert session.plan.columns["wage"].role == "identifier"


def test_a_change_brings_rows_counts_and_questions(session: Session, client: TestClient) -> None:
    answer = client.post("/data/settle", data={}).json()
    assert set(answer["parts"]) == {"rows", "reveals", "questions"}
    assert "undecided</option>" in answer["parts"]["rows"]
    assert "<option selected>undecided" not in answer["parts"]["rows"]
    assert 'id="question"' not in answer["parts"]["questions"]
    assert not [n for n, c in session.plan.columns.items() if c.role == "undecided"]


def test_what_the_file_reveals_follows_the_roles(client: TestClient) -> None:
    for column in ("age", "roof", "x1", "x2", "wage"):
        changed = client.post("/data/column", data=shown(client, column) | {"role": "other", "hierarchy": ""})
        assert changed.status_code == 200, changed.text
    refused = client.post("/data/column", data=shown(client, "sex") | {"role": "other", "hierarchy": ""})
    assert "nothing is protected" in refused.text
    assert re.search(r"alone with their values</dt><dd class=\"level-good\">0 ", client.get("/data/reveals").text)
    client.post("/data/column", data=shown(client, "wage") | {"role": "quasi"})
    text = client.get("/data/reveals").text
    assert re.search(r"alone with their values</dt><dd class=\"level-stop\">120 ", text)
    assert "without it 120 fewer would be alone" in text
    client.post("/data/column", data=shown(client, "wage") | {"role": "identifier"})
    assert "wage" not in client.get("/data/reveals").text, "an identifier is not released"


def test_people_who_stand_out_are_shown_on_demand_and_by_the_intruders_of_the_plan(
    session: Session, client: TestClient
) -> None:
    page = client.get("/data").text
    assert 'data-open="/data/people"' in page
    client.post("/data/column", data=shown(client, "wage") | {"role": "quasi"})
    people = client.get("/data/people").text
    assert people.count("<li><b>Row ") == 5
    assert "nobody else" in people
    quasi = [name for name, column in session.plan.columns.items() if column.role == "quasi"]
    assert all(f"{name} " in people.split("</li>")[0] for name in quasi)
    document = session.document
    document["scenario"] = [{"name": "neighbour", "knows": quasi[:1], "require": document["require"]}]
    document["require"] = []
    assert session.save({k: v for k, v in document.items() if v}) == []
    alone = re.search(
        r"<b>neighbour</b>, who knows \w+ and no more, finds <b>(\d+)</b>", client.get("/data/reveals").text
    )
    assert alone is not None
    codes = session.reading.raw.codes(quasi[:1])[:, 0]
    assert int(alone[1]) == int((np.unique(codes, return_counts=True)[1] == 1).sum())


def test_questions_are_answered_skipped_asked_for_each_and_undone(session: Session, client: TestClient) -> None:
    for column in ("x1", "x2"):
        client.post("/data/column", data=shown(client, column) | {"role": "undecided", "hierarchy": ""})
    for column in ("age", "sex", "roof", "wage"):
        client.post("/data/column", data=shown(client, column) | {"role": "quasi"})
    text = client.get("/data/questions").text
    assert "these 2 yes/no columns" in text
    assert text.count('name="column"') == 2
    each = client.get("/data/questions?each=yes").text
    assert "2 questions left" in each
    assert client.get("/data/questions?each=yes&skip=1").text != each
    assert client.get("/data/questions?each=yes&skip=2").text == each, "what was skipped comes again"
    answer = client.post("/data/answer", data={"column": ["x1", "x2"], "role": "confidential"})
    assert answer.status_code == 200, answer.text
    assert session.plan.columns["x1"].because == "answered on the Data page: nobody outside knows it"
    assert 'id="question"' not in answer.json()["parts"]["questions"]
    assert client.post("/data/answer", data={"column": ["x1"], "role": "other"}).status_code == 422
    undone = client.post("/data/undo", data={"place": "0"})
    assert undone.status_code == 200
    assert session.plan.columns["x2"].role == "undecided"
    assert 'id="question"' in undone.json()["parts"]["questions"]
    client.post("/data/answer", data={"column": ["x1", "x2"], "role": "other"})
    client.post("/data/column", data=shown(client, "x1") | {"role": "quasi"})
    assert "changed since" in client.post("/data/undo", data={"place": "1"}).text


def test_rare_values_are_in_no_question(session: Session, tmp_path: Path) -> None:
    source = tmp_path / "rare.csv"
    source.write_text(
        "age,thing\n" + "".join(f"{20 + n % 9},{'unheard' if n == 3 else 'ab'[n % 2]}\n" for n in range(90))
    )
    rare = Session(source, tmp_path / "rare-plan.toml")
    rare.reading.wait()
    client = TestClient(build_file(Studio(tmp_path / "hidden", rare)))
    client.post("/data/column", data=shown(client, "thing") | {"role": "undecided", "hierarchy": ""})
    text = client.get("/data/questions").text
    assert "What is thing?" in text
    assert "unheard" not in text


def test_a_file_is_read_otherwise(session: Session, client: TestClient) -> None:
    source = session.source
    source.write_bytes(b"age;town\n" + "".join(f"{20 + n % 9};Köln{n % 3}\n" for n in range(90)).encode("cp1252"))
    assert session.read_again({"encoding": "cp1252"}) == ""
    assert set(session.plan.columns) == {"age", "town"}, "other columns are suggested anew"
    page = client.get("/data").text
    assert "--encoding" not in page
    answer = client.post("/data/reading", data={"encoding": "utf8"})
    assert answer.status_code == 422
    assert "--" not in answer.text
    assert "How the file is read" in answer.text
    assert session.plan.data.encoding == "cp1252", "a refusal changes nothing"
    answer = client.post("/data/reading", data={"encoding": "latin-1", "missing": "99, -1"})
    assert answer.status_code == 200, answer.text
    assert session.plan.data.encoding == "latin-1"
    assert session.plan.data.missing == ("99", "-1")


def test_values_are_grouped_by_hand_and_kept_beside_the_plan(session: Session, client: TestClient) -> None:
    client.post("/data/column", data=shown(client, "roof") | {"role": "quasi", "kind": "nominal"})
    values = list(session.table.attribute("roof").categories)
    text = client.post("/data/groups/show", data={"column": "roof"}).text
    assert all(f'value="{value}"' in text for value in values), "members are always visible"
    groups = ["good", "good", *values[2:]]
    answer = client.post("/data/groups", data={"column": "roof", "value": values, "group": groups})
    assert answer.status_code == 200, answer.text
    path = session.home / "hierarchies" / "roof.csv"
    assert session.plan.columns["roof"].hierarchy == "hierarchies/roof.csv"
    first = path.read_text()
    assert session.table.attribute("roof").hierarchy is not None
    assert 'value="good"' in client.post("/data/groups/show", data={"column": "roof"}).text
    exported = client.get("/data/groups.csv?column=roof")
    assert "attachment" in exported.headers["content-disposition"]
    other = exported.text.replace("good", "sound")
    assert client.post("/data/groups/import", data={"column": "roof", "text": other}).status_code == 200
    assert session.plan.columns["roof"].hierarchy == "hierarchies/roof-2.csv"
    assert path.read_text() == first, "a search may have read it"
    for bad in (values, ["", *values[1:]], [values[1], *values[1:-1], values[0]]):
        refused = client.post("/data/groups", data={"column": "roof", "value": values, "group": bad})
        assert refused.status_code == 422, bad
    assert client.post("/data/groups/import", data={"column": "roof", "text": "1,a,*\n"}).status_code == 422
    assert client.post("/data/groups/show", data={"column": "age"}).status_code == 422


def test_groups_of_groups_are_a_second_level(session: Session, client: TestClient) -> None:
    client.post("/data/column", data=shown(client, "roof") | {"role": "quasi", "kind": "nominal"})
    values = list(session.table.attribute("roof").categories)
    groups, larger = ["good", "good", *values[2:]], ["solid", "solid", "solid", *[""] * (len(values) - 3)]
    sent = {"column": "roof", "value": values, "group": groups, "larger": larger}
    assert client.post("/data/groups", data=sent).status_code == 200
    lines = (session.home / "hierarchies" / "roof.csv").read_text().splitlines()
    assert lines[1].endswith("good,solid,*")
    hierarchy = session.table.attribute("roof").hierarchy
    assert hierarchy is not None
    assert hierarchy.height == 3
    text = client.post("/data/groups/show", data={"column": "roof"}).text
    assert text.count('data-larger="solid"') == 2, "one group, and one value by itself"
    torn = client.post("/data/groups", data=sent | {"larger": ["solid", "other", *larger[2:]]})
    assert (torn.status_code, "two larger groups" in torn.text) == (422, True)
    single = client.post("/data/groups", data=sent | {"group": values})
    assert single.status_code == 200, "larger groups of single values are groups"
    hierarchy = session.table.attribute("roof").hierarchy
    assert hierarchy is not None
    assert hierarchy.height == 2


def test_labels_of_codes_are_shown_kept_and_undone_after_a_restart(session: Session, client: TestClient) -> None:
    client.post("/data/column", data=shown(client, "sex") | {"role": "quasi", "kind": "nominal"})
    sent = {"column": "sex", "value": ["1", "2"], "label": ["woman", "man"]}
    answer = client.post("/data/labels", data=sent)
    assert answer.status_code == 200, answer.text
    assert session.plan.columns["sex"].labels == {"1": "woman", "2": "man"}
    attribute = session.table.attribute("sex")
    assert (attribute.categories, dict(attribute.codes)) == (("woman", "man"), {"woman": 1.0, "man": 2.0})
    assert "<b>woman</b>" in client.post("/data/groups/show", data={"column": "sex"}).text
    client.post("/data/column", data=shown(client, "sex") | {"role": "confidential"})
    assert session.plan.columns["sex"].labels, "another role keeps them"
    for bad in ({"label": ["same", "same"]}, {"column": "age"}):
        assert client.post("/data/labels", data=sent | bad).status_code == 422
    again = Session(session.source, session.plan_path)
    again.reading.wait()
    later = TestClient(build_file(Studio(session.home / "hidden", again)))
    for _ in range(2):
        assert later.post("/data/undo", data={"place": "0"}).status_code == 200
    assert not again.plan.columns["sex"].labels


def test_what_a_column_means_is_written_to_the_plan_and_kept(session: Session, client: TestClient) -> None:
    sent = shown(client, "age") | {"label": "age on the day of the interview"}
    assert client.post("/data/column", data=sent).status_code == 200
    assert session.table.attribute("age").label == "age on the day of the interview"
    client.post("/data/column", data=shown(client, "age") | {"role": "confidential"})
    assert session.plan.columns["age"].label, "another role keeps it"
    assert len(read_choices(session.plan_path).decided) == 1, "two changes of one row are one line to undo"
    assert client.post("/data/undo", data={"place": "0"}).status_code == 200
    assert not session.plan.columns["age"].label


def test_a_workbook_of_two_sheets_opens_and_asks_which(tmp_path: Path) -> None:
    xlsxwriter = pytest.importorskip("xlsxwriter")
    source = tmp_path / "job" / "people.xlsx"
    source.parent.mkdir()
    book = xlsxwriter.Workbook(str(source))
    book.add_worksheet("read me").write(0, 0, "a note")
    sheet = book.add_worksheet("people")
    for row, line in enumerate([("age", "sex"), *((20 + n % 9, "fm"[n % 2]) for n in range(60))]):
        sheet.write_row(row, 0, line)
    book.close()
    session = Session(source, source.with_name("people-plan.toml"))
    session.reading.wait()
    assert session.reading.can_be_read_otherwise
    assert "--" not in session.reading.problem
    client = TestClient(build_file(Studio(tmp_path / "hidden", session)))
    page = client.get("/data").text
    assert "read-sheet" in page
    assert "2 sheets" in page
    assert client.post("/data/reading", data={"sheet": "nothing"}).status_code == 422
    assert client.post("/data/reading", data={"sheet": "people"}).status_code == 200
    assert set(session.plan.columns) == {"age", "sex"}
    assert session.plan.data.sheet == "people"
    assert 'data-column="age"' in client.get("/data").text
