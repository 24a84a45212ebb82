"""Both reports stand alone, offline, on paper; the external one helps no attacker."""

from __future__ import annotations

import json
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import hypothesis
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from browsing import chromium
from crypsis.charts import bars_svg, draw_front_svg, draw_interval_svg, heat_map_svg
from crypsis.charts.svg import nice_ticks
from crypsis.masking import Microaggregation
from crypsis.measures import measures
from crypsis.measures.utility import column_estimates
from crypsis.privacy import KAnonymity
from crypsis.release import MeasuredLimit, ReleaseDescription, publish
from crypsis.report import external_html, internal_html
from crypsis.report.content import _answers, describe_columns_for_reports
from crypsis.report.histograms import histograms_of_distributions
from crypsis.rulebook import read_rulebook
from crypsis.table.example import example
from crypsis.table.table import Table
from crypsis.text.cards import _estimates_facts, interval_text_on_card
from crypsis.text.reports import front_text, number_text, report_summary_text, sentence_text
from waiving import waiving

POINTS = [
    {"name": "untouched", "family": "original", "kind": "baseline", "loss": 0.0, "risk": 100.0},
    {"name": "MDAV", "family": "memetic", "kind": "baseline", "loss": 20.0, "risk": 18.0},
    {"name": "7", "family": "memetic", "kind": "chosen", "loss": 15.0, "risk": 11.0},
    {"name": "8", "family": "pbg-ea", "kind": "solution", "loss": 30.0, "risk": 3.0},
]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release with everything a report can speak of."""
    original = example(300, seed=6)
    masked = Microaggregation(k=5).mask(original, np.random.default_rng(0))
    masked = masked.without(np.arange(300) < 4)
    return publish(
        masked,
        tmp_path_factory.mktemp("reported") / "release",
        models=[KAnonymity(k=2)],
        original=original,
        description=ReleaseDescription(
            "A <b>bold</b> title",
            "Grouped & averaged.",
            "aggregation",
            {"k": 5, "seed": 918_273_645},
            front=POINTS,
            seed=918_273_645,
        ),
        limits=[
            MeasuredLimit(measures.build("record-linkage"), 60.0),
            MeasuredLimit(measures.build("table-use", columns=("sex",)), 30.0, "People by sex"),
            MeasuredLimit(
                measures.build("correlation-use", columns=("age", "income")), 0.0, "Age and income", binding=False
            ),
        ],
        scenarios={"neighbour": ["age", "sex", "district"], "all": original.quasi_identifiers},
        rulebook=read_rulebook("public-use"),
        waivers=waiving("income", k="released to a closed group, minute 4", l="no value is worth hiding, minute 5"),
    )


class Page(HTMLParser):
    """What a browser would load, and whether every tag is closed."""

    VOID = frozenset({"meta", "br", "img", "link", "input", "hr"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.loads: list[str] = []
        self.tags: list[str] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.loads += [str(value) for name, value in attrs if name in ("src", "href", "xlink:href", "action")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def text(bundle: Path, name: str) -> str:
    return (bundle / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["public/report.html", "internal/report.html"])
def test_a_report_is_one_file_that_loads_nothing(bundle: Path, name: str) -> None:
    page = Page(text(bundle, name))
    assert page.open == []
    assert page.loads == []
    assert not {"script", "link", "iframe", "img"} & set(page.tags)
    assert "default-src 'none'" in text(bundle, name)
    assert "@media print" in text(bundle, name)
    assert "url(" not in text(bundle, name)
    assert "@import" not in text(bundle, name)


@pytest.mark.parametrize("name", ["public/report.html", "internal/report.html"])
def test_names_and_titles_are_escaped(bundle: Path, name: str) -> None:
    assert "<b>bold</b> title" not in text(bundle, name)
    assert "&lt;b&gt;bold" in text(bundle, name)


def test_every_chart_has_a_table_and_a_sentence(bundle: Path) -> None:
    page = text(bundle, "internal/report.html")
    figures = re.findall(r"<figure.*?</figure>", page, re.DOTALL)
    assert len(figures) >= 6
    for figure in figures:
        assert "<svg" in figure
        assert re.search(r"<figcaption>[^<]+\.</figcaption>", figure)
        assert re.search(r"<details>.*<table>.*</table></details>", figure, re.DOTALL)


def test_the_internal_report_says_what_a_signatory_needs(bundle: Path) -> None:
    words = " ".join(" ".join(Page(text(bundle, "internal/report.html")).words).split())
    for expected in (
        "Internal.",
        "2 waived",
        "What must hold",
        "neighbour",
        "Risk before and after",
        "Records hardest to protect",
        "The front and the chosen point",
        "the chosen one loses 15 % at a risk of 11 %",
        "People by sex",
        "not kept (reported only)",
        "released to a closed group, minute 4",
        "kept secret; salted fingerprint",
        "Sign-off",
        "Date and signature",
    ):
        assert expected in words, expected
    assert "918273645" not in text(bundle, "internal/report.html") + text(bundle, "internal/report.json")


def test_the_external_report_has_no_risk_setting_or_reason(bundle: Path) -> None:
    outside = text(bundle, "public/report.html") + text(bundle, "public/report.json")
    inside = json.loads(text(bundle, "internal/report.json"))
    for reading in [*inside["risks"], *(each["after"] for each in inside["scenarios"])]:
        assert reading["measure"] not in outside
        assert repr(reading["value"]) not in outside or reading["value"] == 0.0, "a zero is not a figure of its own"
    for secret in ("minute 4", "918273645", "neighbour", "salted", "linkage", "hardest", "attained"):
        assert secret not in outside, secret
    for shown in ("People by sex", "what was lost", "What holds", "suppressed to protect"):
        assert shown in outside


def first_page(bundle: Path, name: str) -> str:
    found = re.search(r'<section class="first[^"]*">(.*?)</section>', text(bundle, name), re.DOTALL)
    assert found, "the first page is a section of its own"
    return found[1]


def test_the_first_page_tells_analysts_what_was_done_and_how_to_use_the_file(bundle: Path) -> None:
    page = first_page(bundle, "public/report.html")
    words = " ".join(" ".join(Page(page).words).split())
    for expected in (
        "What was done",
        "each number is that of a group of similar records",
        "How to use it",
        "No weight:",
        "Empty cells were never collected, or blanked to protect people:",
        "Left out: 4 records (1.3 %)",
        "What not to conclude",
        "do not link the records with other files of people",
        "Age and income: moved by",
    ):
        assert expected in words, expected
    facts = json.loads(text(bundle, "public/report.json"))
    mean = next(each for each in facts["estimates"][0]["figures"] if each["figure"] == "mean")
    assert f"mean {number_text(mean['before'])}" in words
    low, high = (mean["before"] + sign * 1.96 * mean["error"] for sign in (-1, 1))
    assert f"({low:.4g}–{high:.4g})" in words, "an estimate has its interval"
    assert page.count("<svg") == sum(
        column["loss"] is not None or column["missing"] >= 0 for column in facts["columns"]
    )


def test_the_first_page_of_the_internal_report_is_the_one_to_sign(bundle: Path) -> None:
    page = first_page(bundle, "internal/report.html")
    words = " ".join(" ".join(Page(page).words).split())
    for expected in (
        "1 What is released, and for whom",
        "296 of 300 records , 4 suppressed",
        "For whom, under which terms:",
        "296 of 296 yes",
        "takes the nearest record",
        "assigns people to records one-to-one, learned on a similar file",
        "of 2 the one that finds most)",
        "released to a closed group, minute 4",
        "5 What was not looked at",
        "individual-risk: the table has no sampling weights",
        "Date and signature",
    ):
        assert expected in words, expected


@pytest.mark.parametrize("name", ["public/report.html", "internal/report.html"])
def test_measures_and_their_definitions_are_in_the_appendix(bundle: Path, name: str) -> None:
    before, appendix = text(bundle, name).split('<section class="appendix">')
    assert "<dt>" not in before
    for reading in json.loads(text(bundle, name.replace("html", "json")))["losses"]:
        assert f"<dt>{reading['measure']}</dt>" in appendix
    assert "<details><summary>All measures" in appendix, "closed on a screen, printed after a page break"


def test_reports_are_drawn_without_a_chart_library(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    for part, render in (("public", external_html), ("internal", internal_html)):
        facts = json.loads(text(bundle, f"{part}/report.json"))
        assert render(facts) == text(bundle, f"{part}/report.html")


def many_columns(facts: dict[str, object], count: int) -> dict[str, object]:
    """The same facts with every column several times, under other and longer names."""
    changed = dict(facts)
    for key in ("columns", "estimates"):
        if key in facts:
            own = facts[key]
            assert isinstance(own, list)
            changed[key] = [
                {**own[at % len(own)], "name": f"column-{at}-of-{count}"} for at in range(count)
            ]  # fmt: skip
    return changed


def test_the_first_page_fits_on_a_sheet_of_paper(bundle: Path, tmp_path: Path) -> None:
    """A4 with the margins of the style sheet, for 9 columns as they are, for 16 and for 100."""
    program = chromium()
    from playwright.sync_api import sync_playwright

    wide, high = int((210 - 2 * 14) / 25.4 * 96), int((297 - 2 * 13) / 25.4 * 96)
    outside, inside = (json.loads(text(bundle, f"{part}/report.json")) for part in ("public", "internal"))
    pages = {"internal": internal_html(inside)}
    pages |= {f"public {n}": external_html(many_columns(outside, n)) for n in (9, 16, 100)}

    def measure() -> None:
        with sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
            sheet = browser.new_page(viewport={"width": wide, "height": high})
            sheet.emulate_media(media="print")
            for name, page in pages.items():
                (tmp_path / "page.html").write_text(page, encoding="utf-8")
                sheet.goto((tmp_path / "page.html").as_uri())
                first = sheet.evaluate("document.querySelector('.first').getBoundingClientRect().bottom")
                assert first <= high, f"the first page of {name} is {first:.0f} of {high} pixels long"
                assert sheet.evaluate("document.documentElement.scrollWidth") <= wide, name
            browser.close()

    with ThreadPoolExecutor(1) as apart:  # another test of the process may hold a browser in this thread
        apart.submit(measure).result()


def test_an_officer_signs_on_one_sheet_that_names_the_release_however_long_its_names_are(bundle: Path) -> None:
    """What does not fit goes on to a second sheet: the sign-off stays whole, every sheet says what it belongs to."""
    inside = json.loads(text(bundle, "internal/report.json"))
    odd = 'Wages </style><b> of "5" \\ towns'
    page = internal_html({**inside, "title": odd})
    assert "@bottom-left { content: \"Wages  /style  b  of '5'   towns — internal report\"" in page
    assert page.count("</style>") == 1
    signed = page[page.index('<div class="sign">') :]
    assert "7 Sign-off of Wages &lt;/style&gt;" in signed
    assert f"written {inside['written']}" in signed.partition("</h2>")[0]
    assert ".sign { margin-top: 3rem; break-inside: avoid; }" in page


def test_the_external_figures_are_rounded(bundle: Path) -> None:
    for reading in json.loads(text(bundle, "public/report.json"))["losses"]:
        assert reading["value"] == float(f"{reading['value']:.4g}")


def test_dates_are_dates_in_the_reports_and_moved_by_one_record_by_a_step_of_their_rounding(bundle: Path) -> None:
    """Means are days, spreads are in days, and no day is added up; one of 60 records moves the mean by 6 days."""
    day = np.arange(60) * 6.0 + 17_800
    table = Table.from_columns({"district": day, "income": 86_400 * day}, roles={"district": "quasi"})
    kinds = {"district": "date", "income": "datetime"}
    table = table.with_columns({}, attributes={name: table.attribute(name).but(dates=kinds[name]) for name in kinds})
    card = {"estimates": _estimates_facts(column_estimates(table, table, table.names))}
    assert [each["kind"] for each in map(asdict, describe_columns_for_reports(table, table))] == list(kinds.values())
    public = _answers(card)
    for column in public["estimates"]:
        unit = 86_400.0 if column["dates"] == "datetime" else 1.0
        assert {each["figure"]: each["before"] / unit for each in column["figures"]}["mean"] == 17_980
        assert "total" not in {each["figure"] for each in column["figures"]}
    facts = json.loads(text(bundle, "public/report.json"))
    page = external_html({**facts, **public, "weighted": None})
    assert page.count("2019-03-25 <span class") == 2, "both on the first page"
    assert page.count("→ 2019-03-25") == 2
    assert not re.search("17980|1553", page)
    facts = json.loads(text(bundle, "internal/report.json"))
    page = internal_html({**facts, "card": {**facts["card"], **card}})
    assert page.count("→ 2019-03-22") == 2
    assert page.count("→ 104.8 days") == 2
    assert not re.search("17977|1553", page)


def test_every_figure_carries_definition_direction_unit_scope_and_missing(bundle: Path) -> None:
    inside = json.loads(text(bundle, "internal/report.json"))
    page = text(bundle, "internal/report.html")
    for reading in [*inside["risks"], *inside["losses"]]:
        assert reading["definition"]
        assert reading["unit"]
        assert reading["better"] in ("low", "high")
        assert reading["scope"]
        assert f"<dt>{reading['measure']}</dt>" in page


def test_a_release_without_an_original_says_what_is_not_known(tmp_path: Path) -> None:
    original = example(60, seed=6)
    masked = Microaggregation(k=5).mask(original, np.random.default_rng(0))
    folder = publish(masked, tmp_path / "out", models=[KAnonymity(k=5)], waivers=waiving("income"))
    assert "No original was given" in text(folder, "internal/report.html")
    assert "was not measured" in text(folder, "public/report.html")
    assert "as received" in text(folder, "public/report.html")


def test_words() -> None:
    assert [number_text(v) for v in (15, 0.48291, 799.18, None, 1e-14, 123456.7)] == [
        "15",
        "0.4829",
        "799.2",
        "–",
        "0",
        "123457",
    ]
    assert sentence_text("half the sum") == "Half the sum."
    assert sentence_text("") == ""
    assert interval_text_on_card((1, 2.5)) == "1–2.5"
    assert interval_text_on_card(None) == "–"
    assert "2 solutions of 2 families" in front_text(POINTS)
    assert "at least as good in both as 1 of 2 baselines" in front_text(POINTS)
    assert "none is marked" in front_text(POINTS[:2])
    broken = {"holds": False, "waived": ""}
    kept = {"holds": True, "waived": ""}
    facts = {"demands": [], "verdicts": [{"holds": True}], "rules": [broken, kept], "findings": []}
    assert report_summary_text(facts) == {
        "message": "1 of 1 guarantees hold; 1 of 2 rules are kept.",
        "good": False,
        "waived": 0,
    }
    revealed = {**facts, "rules": [kept], "findings": [{"waived": "agreed", "finding": {"refuses": True}}]}
    assert report_summary_text(revealed) == {
        "message": "1 of 1 guarantees hold; 1 of 1 rules are kept; 1 finding waived.",
        "good": True,
        "waived": 1,
    }
    stated = {**facts, "rules": [kept], "findings": [{"waived": "in no register", "finding": {"refuses": False}}]}
    assert report_summary_text(stated)["waived"] == 0, "an assumption that somebody states waives nothing"


def test_pictures_of_reports_are_whole_and_escaped() -> None:
    drawn = [
        bars_svg("Ages & <b>", ["<a>", "b" * 90], [1, 2], [2, 0], "records"),
        draw_front_svg(POINTS, "loss", "risk"),
        heat_map_svg([{"first": "<x>", "second": "y", "before": 0.5, "after": 0.1}]),
    ]
    for picture in drawn:
        assert ElementTree.fromstring(picture)[0].tag.endswith("rect")
    texts = [each.text for each in ElementTree.fromstring(drawn[0]).iter() if each.tag.endswith("text")]
    assert {"Ages & <b>", "<a>", "b" * 17 + "…", "records", "0.5"} <= set(texts)


def test_bars_are_as_tall_as_their_values() -> None:
    boxes = re.findall(r'height="([\d.]+)" fill="(#8a8f98|#0b6e4f)"', bars_svg("t", ["a"], [3], [6], "n"))
    tall = {colour: float(height) for height, colour in boxes}
    assert tall["#0b6e4f"] == pytest.approx(2 * tall["#8a8f98"])


def test_an_estimate_is_drawn_in_its_interval_and_outside_of_it() -> None:
    def mark(after: float) -> tuple[float, str]:
        found = re.search(r'cx="([\d.]+)".*?stroke="(#\w+)"', draw_interval_svg(10.0, after, 2.0))
        assert found
        return float(found[1]), found[2]

    middle, inside = mark(10.0)
    assert mark(13.9)[1] == inside
    assert mark(14.0)[1] != inside, "two standard errors are outside"
    assert mark(6.0)[0] < middle < mark(14.0)[0]
    assert mark(100.0)[0] == mark(1000.0)[0], "what lies beyond the scale is at its end"


@given(st.floats(1e-9, 1e9))
@hypothesis.example(1.000000001)
def test_ticks_reach_the_largest_value_in_few_round_steps(most: float) -> None:
    ticks = nice_ticks(most)
    assert ticks[0] == 0
    assert ticks[-1] >= most * (1 - 1e-6)
    assert len(ticks) in range(2, 7)
    assert ticks[-2] <= most * (1 + 1e-6)


def test_whole_numbers_have_whole_bins() -> None:
    years = np.repeat(np.arange(1998.0, 2003.0), 40)
    table = Table.from_columns({"year": years}, {"year": "quasi"})
    assert histograms_of_distributions(table, table)[0].labels == (
        "under 1999",
        "1999–2000",
        "2000–2001",
        "2001–2002",
        "2002 or more",
    )
