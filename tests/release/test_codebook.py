"""Whoever has `public/` alone can say what every published label stands for, and learns no rare value from it."""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import crypsis
from crypsis.masking import GlobalRecoding, LocalRecoding, Microaggregation
from crypsis.privacy import KAnonymity
from crypsis.release import publish, verify
from crypsis.release.lazy_release import publish_counted
from crypsis.release.manifest import sha256, write_sealed
from crypsis.report import codebook_html
from crypsis.run.protect import protect
from crypsis.table.frames import wrap
from crypsis.table.lazy import count_lazily
from crypsis.table.table import Table
from waiving import waiving

COMMON = ["nurse", "clerk", "sales", "cook", "other", "driver"]
RARE = ["falconer", "glazier", "cooper", "puppeteer", "luthier"]
HIERARCHIES = {
    "job": "merge:6,4,2",
    "age": "intervals:5,10,20,40",
    "pay": "intervals:0.5,1,2,4",
    "born": "dates:month,quarter,year,decade",
    "postcode": "prefixes:3,2,1",
}


def frame(rows: int = 240) -> pl.DataFrame:
    """People with a genuine category "other", rare jobs, dates, missing cells and a confidential column."""
    rng = np.random.default_rng(3)
    jobs = rng.choice(COMMON, rows).astype(object)
    jobs[: len(RARE)] = RARE
    jobs[-8:] = None
    days = np.datetime64("1950-01-01") + rng.integers(0, 18000, rows)
    return pl.DataFrame({
        "job": pl.Series(jobs.tolist(), dtype=pl.String),
        "age": rng.integers(18, 80, rows),
        "pay": np.round(rng.gamma(3.0, 1.1, rows), 2),
        "born": pl.Series(days.astype("datetime64[D]")).cast(pl.Date),
        "postcode": rng.choice(["12345", "12399", "12888", "33111", "33222"], rows),
        "health": rng.choice(["well", "flu", "asthma"], rows),
    })  # fmt: skip


def people() -> Table:
    roles = dict.fromkeys(HIERARCHIES, "quasi") | {"health": "confidential"}
    return wrap(frame(), roles=roles, hierarchies=HIERARCHIES)


def released(search: str, folder: Path) -> Path:
    """A solution of a search as a release."""
    roles = {"quasi_identifiers": list(HIERARCHIES), "confidential": ["health"]}
    with protect(frame(), **roles, hierarchies=HIERARCHIES, k=3, search=search, budget="60 evaluations", seed=5) as run:
        own = [each for each in run.front if each.search == 0]  # −1: baselines
        assert own, f"{search} has a solution on the front"
        run.release(own[0].number, folder)
    return folder


@pytest.fixture(scope="module", params=["pbg-ea", "composite", "local-recoding"])
def public(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The public part alone: a lattice solution, a composite one and a locally recoded one."""
    folder = released(request.param, tmp_path_factory.mktemp("bundles") / "release")
    alone = tmp_path_factory.mktemp("received") / "public"
    shutil.copytree(folder / "public", alone)
    shutil.rmtree(folder)
    return alone


def read_book(public: Path) -> dict[str, Any]:
    book: dict[str, Any] = json.loads((public / "codebook.json").read_text(encoding="utf-8"))
    return book


def read_cells(public: Path) -> list[dict[str, str]]:
    with (public / "data.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def is_decoded(entry: dict[str, Any]) -> bool:
    """Whether a label has members, bounds, a date it lies in, a count of rare values, or is any value."""
    said = entry["members"] or entry["rare"] or "low" in entry
    return bool(said) or entry["stands_for"].startswith(("every date in ", "any value of the column"))


def test_every_published_label_is_decoded_from_the_public_part_alone(public: Path) -> None:
    book, cells = read_book(public), read_cells(public)
    assert [column["name"] for column in book["columns"]] == list(cells[0])
    for column in book["columns"]:
        values = [row[column["name"]] for row in cells]
        assert column["missing"] == values.count("")
        assert column["values"] == len(set(values) - {""})
        assert all(column[what] for what in ("done", "form", "meaning"))
        if column["labels"] is None:
            assert column["kind"] == "numeric"
            continue
        entries = {entry["label"]: entry for entry in column["labels"]}
        assert set(values) - {""} == set(entries)
        assert all(map(is_decoded, entries.values())), column["name"]


def test_what_a_label_stands_for_is_true_and_no_rare_value_is_named(public: Path) -> None:
    source = frame()
    held = Counter(source["job"].drop_nulls().to_list())
    [job] = [column for column in read_book(public)["columns"] if column["name"] == "job"]
    published = {entry["label"] for entry in job["labels"]}
    for entry in job["labels"]:
        assert set(entry["members"]) <= set(held)
        assert all(held[name] >= 3 or name in published for name in entry["members"])
    text = (public / "codebook.json").read_text() + (public / "codebook.html").read_text()
    assert not [name for name in RARE if name not in published and re.search(rf"\b{name}\b", text)]


def test_the_public_part_with_its_codebook_is_sound(public: Path) -> None:
    found = verify(public)
    assert found.sound, found.problems


def test_members_are_named_and_rare_ones_counted(tmp_path: Path) -> None:
    """Six common jobs and five of one person each; the two groups are the commonest job and all others."""
    table = people()
    masked = crypsis.Generalisation(levels={"job": 3, "age": 4, "pay": 5, "born": 5, "postcode": 2}).mask(
        table, np.random.default_rng(0)
    )
    publish(masked, tmp_path / "out", models=[KAnonymity(k=2)], original=table, waivers=waiving("health"))
    columns = {column["name"]: column for column in read_book(tmp_path / "out" / "public")["columns"]}
    [group] = [entry for entry in columns["job"]["labels"] if entry["rare"]]
    assert group["rare"] == len(RARE)
    assert group["label"] not in COMMON
    assert group["stands_for"].endswith("or one of 5 values that fewer than 3 original records hold each")
    labels = {entry["label"]: entry for entry in columns["age"]["labels"]}
    assert (labels["40–79"]["low"], labels["40–79"]["high"]) == ("40", "79")
    assert labels["40–79"]["members"] == []
    assert columns["pay"]["labels"] == [
        {"label": "*", "stands_for": "any value of the column", "members": [], "rare": 0}
    ]
    codes = {entry["label"]: entry["members"] for entry in columns["postcode"]["labels"]}
    assert codes == {"12***": ["12345", "12399", "12888"], "33***": ["33111", "33222"]}


def test_a_masked_file_without_its_original_names_no_member(tmp_path: Path) -> None:
    masked = crypsis.Generalisation(levels={"job": 3, "age": 5, "pay": 5, "born": 5, "postcode": 4}).mask(
        people(), np.random.default_rng(0)
    )
    publish(masked, tmp_path / "out", models=[KAnonymity(k=2)])
    columns = {column["name"]: column for column in read_book(tmp_path / "out" / "public")["columns"]}
    assert {tuple(e["members"]) for e in columns["job"]["labels"] if e["stands_for"] != "this value"} == {()}
    assert verify(tmp_path / "out").sound


def test_counted_releases_have_the_same_codebook(tmp_path: Path) -> None:
    """What the hierarchy says, with counts of records and not of tuples."""
    levels = {"job": 2, "postcode": 2}
    roles, hierarchies = {"job": "quasi", "postcode": "quasi"}, {n: HIERARCHIES[n] for n in levels}
    some = frame().select("job", "postcode", "health")
    table = wrap(some, roles={**roles, "health": "confidential"}, hierarchies=hierarchies)
    masked = crypsis.Generalisation(levels=levels).mask(table, np.random.default_rng(0))
    publish(masked, tmp_path / "read", models=[KAnonymity(k=2)], original=table, waivers=waiving("health"))
    source = count_lazily(some.lazy(), quasi_identifiers=list(levels), confidential=["health"], hierarchies=hierarchies)
    publish_counted(source, [2, 2], tmp_path / "counted", models=[KAnonymity(k=2)], suppression=0.0)
    assert verify(tmp_path / "counted").sound
    books = [read_book(tmp_path / name / "public")["columns"] for name in ("read", "counted")]
    by_label = [
        {(c["name"], e["label"]): (e["stands_for"], e["members"], e["rare"]) for c in book for e in c["labels"]}
        for book in books
    ]
    assert by_label[0] == by_label[1]


@pytest.mark.parametrize(
    "change",
    [
        lambda book: book["columns"][0]["labels"].pop(),
        lambda book: book["columns"][0].update(missing=99),
        lambda book: book["columns"][0].update(done="unchanged, truly"),
        lambda book: book.update(rules=[]),
        lambda book: book.update(people=["Ann"]),
        lambda book: book["columns"][0]["labels"][0].update(person="Ann"),
        lambda book: book.pop("columns"),
    ],
)
def test_a_codebook_that_does_not_describe_the_data_is_found(
    change: Callable[[dict[str, Any]], object], tmp_path: Path
) -> None:
    """Even if page, digests and seal are made again."""
    table = people()
    masked = LocalRecoding(k=3).mask(table, np.random.default_rng(0))
    public = publish(masked, tmp_path / "out", models=[KAnonymity(k=3)], original=table, waivers=waiving("health"))
    public = shutil.copytree(public / "public", tmp_path / "public")
    book = read_book(public)
    change(book)
    (public / "codebook.json").write_text(json.dumps(book), encoding="utf-8")
    if "columns" in book:
        (public / "codebook.html").write_text(codebook_html(book), encoding="utf-8")
    manifest = json.loads((public / "manifest.json").read_text(encoding="utf-8"))
    manifest["files"] |= {name: sha256(public / name) for name in ("codebook.json", "codebook.html")}
    write_sealed(public / "manifest.json", {key: value for key, value in manifest.items() if key != "seal"})
    assert any("public/codebook.json" in problem for problem in verify(public).problems)


def test_a_rare_value_inside_a_common_one_does_not_stop_a_release(tmp_path: Path) -> None:
    """One person is a "nurse"; thirty are a "head nurse & midwife", which the codebook names."""
    jobs = ["head nurse & midwife"] * 30 + ["cook"] * 4 + ["clerk"] * 4 + ["nurse"]
    table = Table.from_columns({"job": jobs}, roles={"job": "quasi"})
    masked = GlobalRecoding(depth=3).mask(table, np.random.default_rng(0))
    publish(masked, tmp_path / "out", models=[KAnonymity(k=3)], original=table)
    [column] = read_book(tmp_path / "out" / "public")["columns"]
    [entry] = column["labels"]
    assert (entry["members"], entry["rare"]) == (["clerk", "cook", "head nurse & midwife"], 1)


def test_the_label_of_a_column_and_a_weight_are_said(tmp_path: Path) -> None:
    table = Table.from_columns({"age": [20, 21, 22, 40, 41, 42], "w": [2.0] * 6}, roles={"age": "quasi", "w": "weight"})
    table = table.with_columns({}, attributes={"age": table.attribute("age").but(label="Age at <last> birthday")})
    masked = Microaggregation(k=3).mask(table, np.random.default_rng(0))
    publish(masked, tmp_path / "out", models=[KAnonymity(k=3)], original=table)
    book = read_book(tmp_path / "out" / "public")
    assert book["columns"][0]["label"] == "Age at <last> birthday"
    assert "Age at &lt;last&gt; birthday" in (tmp_path / "out" / "public" / "codebook.html").read_text()
    assert book["weights"].startswith("Weigh every estimate by w")
    assert book["columns"][0]["labels"] is None
