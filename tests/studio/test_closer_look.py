"""A closer look at one solution: bars of class sizes, records before and after, two columns crossed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from starlette.testclient import TestClient

from browsing import small_example
from crypsis.plan import Plan
from crypsis.run import Run
from crypsis.studio.attacked_person import NEAREST
from crypsis.studio.pages.records import MOST_ROWS, ROWS, class_size_bars
from crypsis.studio.server import build_file
from crypsis.studio.session import Session
from crypsis.studio.studio import Studio


def test_bars_count_people_by_the_size_of_their_class() -> None:
    bars = class_size_bars(np.array([1, 1, 2, 2, 7]), np.array([5, 5, 5, 5, 5]))
    assert [(bar.words, bar.before, bar.after) for bar in bars if bar.before or bar.after] == [
        ("1", 2, 0),
        ("2", 2, 0),
        ("5 to 9", 1, 5),
    ]
    assert bars[-1].words == "100 and more"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[TestClient, int]]:
    home = tmp_path_factory.mktemp("look")
    plan = small_example(home, budget="1 generations")
    run = Run.start(Plan.read(plan), plan.with_name("people-plan-run"), home=plan.parent, text=plan.read_text())
    for _ in run.proceed():
        pass
    number = run.front.default().number
    run.close()
    session = Session(plan.with_name("people.csv"), plan, plan.with_name("people-plan-run"))
    session.reading.wait()
    with TestClient(build_file(Studio(home, session))) as made:
        yield made, number


def test_records_are_shown_in_pages_and_never_more_than_allowed(client: tuple[TestClient, int]) -> None:
    browser, number = client
    first = browser.get(f"/look/{number}/records").text
    assert first.count("<tr>") + first.count('<tr class="dim">') == ROWS + 1
    assert "people of 400" not in first
    assert f"{MOST_ROWS} are shown" in first
    assert "→" in first
    assert "person" not in first.split("<tbody>")[0].split("<thead>")[1]  # identifiers are not shown
    beyond = browser.get(f"/look/{number}/records?page=99").text
    assert beyond.split("<tbody>")[1].count("<tr") == 0


def test_a_class_and_a_bar_lead_to_their_records(client: tuple[TestClient, int]) -> None:
    browser, number = client
    page = browser.get(f"/look/{number}/classes").text
    address = page.split('data-fetch="')
    of_class = next(each.split('"')[0] for each in address if "records?class=" in each)
    of_sizes = next(each.split('"')[0] for each in address if "records?sizes=5-9" in each)
    members = browser.get(of_class).text
    assert "nobody can tell them apart" in members
    assert members.split("<tbody>")[1].count("<tr") >= 5
    assert "whose class has 5 to 9 records" in browser.get(of_sizes).text


def test_two_columns_are_crossed_before_and_after(client: tuple[TestClient, int]) -> None:
    browser, number = client
    page = browser.get(f"/look/{number}/cross?a=sex&b=age").text
    cells = [cell.split("</td>")[0].split(" → ") for cell in page.split('<td class="n">')[1:]]
    assert sum(int(before.replace("\u202f", "")) for before, _ in cells) == 400
    assert "The association of sex and age (Cramér" in page
    refused = browser.get(f"/look/{number}/cross?a=nothing&b=age")
    assert (refused.status_code, "no published column 'nothing'" in refused.text) == (422, True)


def test_a_column_is_drawn_over_the_same_values(client: tuple[TestClient, int]) -> None:
    browser, number = client
    page = browser.get(f"/look/{number}/column?name=age&with=2").text  # 2 is plain microaggregation
    header, rows = page.split("<tbody>")[0], page.split("<tbody>")[1].split("<tr>")[1:]
    assert [f"solution {each}" in header for each in (number, 2)] == [True, True]
    counts = [
        [int(cell.split("<")[0].replace("\u202f", "")) for cell in row.split('<td class="n">')[1:]] for row in rows
    ]
    assert all(len(each) == row.count("<rect") == 3 for each, row in zip(counts, rows, strict=True))
    assert sum(each[0] for each in counts) == 400
    longest = max(max(each) for each in counts)
    assert f'width="{round(100 * counts[0][0] / longest, 2)}" height="12"' in rows[0]
    for wrong, words in (("column?name=person", "no masked column"), (f"column?with={number}", "another one")):
        refused = browser.get(f"/look/{number}/{wrong}")
        assert (refused.status_code, words in refused.text) == (422, True)


def test_two_solutions_are_compared(client: tuple[TestClient, int]) -> None:
    browser, number = client
    page = browser.get(f"/look/{number}/beside?with=1").text  # 1 is the untouched file
    lost = page.split("information lost, %")[1].split("</tr>")[0]
    assert lost.count("<td") == 2
    assert lost.endswith('<td class="n best">0.0</td>')
    assert ">no<" in page
    assert f"/look/{number}/column?name=age&amp;with=1" in page
    assert "Solution" in browser.get(f"/look/{number}/beside").text  # somebody is proposed


def test_one_attacked_person_is_explained_with_few_raw_records(client: tuple[TestClient, int]) -> None:
    browser, number = client
    untouched = browser.get("/look/1/person").text
    assert "Found:" in untouched
    table = untouched.split("known to the intruder")[1].split("</table>")[0]
    assert table.count("this person") == 1
    assert table.split("<tr")[1].startswith(' class="own"')
    page = browser.get(f"/look/{number}/person").text
    assert "A guess:" in page
    assert "Number 1 of 400" in page
    assert page.split("known to the intruder")[1].split("</table>")[0].count("<tr") <= NEAREST + 1
    left_out = browser.get("/look/3/records?sizes=0-0").text.split('<th scope="row" class="n">')[1].split()[0]
    assert "left out of the file" in browser.get(f"/look/3/person?row={left_out}").text
    refused = browser.get(f"/look/{number}/person?row=401")
    assert (refused.status_code, refused.text) == (422, "there is no row 401; the file has rows 1 to 400")


def test_the_comparison_of_whole_files_explains_its_figures(client: tuple[TestClient, int]) -> None:
    browser, number = client
    text = browser.get(f"/solution/{number}/general").text
    assert text.count("model") >= 2
    assert text.split("<details>")[0].count("<p>") == 1, "one sentence for everybody"
    assert '<span class="define" role="tooltip">Mean squared error' in text.split("<details>")[1]


def test_only_the_nearest_records_are_called_nearest(client: tuple[TestClient, int]) -> None:
    """The person's own record stands below them, and is called nearest only where it is."""
    browser, number = client
    for rank in range(40):
        table = browser.get(f"/look/{number}/person?rank={rank}").text.split("known to the intruder")[1]
        rows = table.split("</table>")[0].split("<tr")[1:]
        distances = [row.split('<td class="n">')[1].split("<")[0] for row in rows]
        assert {far for far, row in zip(distances, rows, strict=True) if ">nearest<" in row} <= {
            min(distances, key=float)
        }
        if distances[-1] != distances[0]:
            return
    raise AssertionError("nobody's own record lies farther away than the nearest")


def test_the_old_address_of_comparisons_leads_here(client: tuple[TestClient, int]) -> None:
    browser, _ = client
    answer = browser.get("/compare", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/explore")


def test_a_solution_that_leaves_records_out_is_looked_at_row_by_row(client: tuple[TestClient, int]) -> None:
    browser, _ = client  # 3 is plain recoding, a baseline that suppresses records and generalises columns
    for part in ("records", "classes", "cross?a=age&b=sex"):
        assert browser.get(f"/look/3/{part}").status_code == 200
    left_out = browser.get("/look/3/records?sizes=0-0").text
    assert left_out.count("(left out)") == left_out.split("<tbody>")[1].count("<tr") > 0
