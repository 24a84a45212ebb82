"""Counting where the data lie: every engine gives the counts, the nodes and the release of the table in memory."""

from __future__ import annotations

import json
import sys

import polars as pl
import pytest

from crypsis.errors import EngineError, ReleaseRefused, TableError
from crypsis.masking.generalisation import Generalisation
from crypsis.privacy import KAnonymity, LDiversity
from crypsis.release import lazy_release, verify
from crypsis.release.lazy_release import publish_counted
from crypsis.searches.pbg_ea.evaluation import evaluate_lattice, optimal_lattice_node
from crypsis.table.frames import to_frame, wrap
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.lazy import count_distinct_lazily, count_lazily, lazy_frame, scan, tally
from lazy_engines import QUASI, opened, people
from waiving import waiving

REGIONS = Hierarchy.from_rows(
    [("north", "N", "*"), ("east", "E or W", "*"), ("south", "S", "*"), ("west", "E or W", "*")]
)
HIERARCHIES = {"age": "intervals:5,10,20", "region": REGIONS, "sex": Hierarchy.from_rows([("f", "*"), ("m", "*")])}
ROLES = {"quasi_identifiers": QUASI, "confidential": ["illness"], "identifiers": ["name"], "hierarchies": HIERARCHIES}


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parts")
    frame = people(2_000)
    for number in range(3):
        frame[number * 700 : (number + 1) * 700].write_parquet(folder / f"{number}.parquet")
    return folder


@pytest.fixture(scope="module")
def table():
    return wrap(people(2_000), **ROLES)


@pytest.fixture(scope="module", params=["polars", "duckdb", "dask", "spark"])
def source(request, parts):
    with opened(request.param, parts) as frame:
        yield count_lazily(frame.to_native(), **ROLES).decide_roles({"wage": "other"})


def test_every_engine_counts_alike_and_its_nodes_are_those_of_the_table(source, table):
    here = count_distinct_lazily(table, [*QUASI, "illness"])
    assert source.counts.total == 2_000
    assert (source.counts.codes == here.codes).all()
    assert (source.counts.records == here.records).all()
    there = evaluate_lattice(source.counts, 0.02)
    assert there.equals(evaluate_lattice(table, 0.02))


@pytest.mark.parametrize("rule", ["failing-class", "by-size"])
def test_every_engine_writes_the_release_of_the_table(source, table, tmp_path, rule):
    demand = {} if rule == "by-size" else {"k": 5, "l": 2}
    best = optimal_lattice_node(source.counts, 5, 0.05, rule, l=demand.get("l"))
    reasons = waiving("wage")
    models = [KAnonymity(k=best.k), *([LDiversity(l=best.l)] if demand else [])]
    terms = {"suppression": 0.05, "rule": rule, "waivers": reasons}
    folder = publish_counted(source, best.levels, tmp_path / "out", models=models, **terms)
    masked = Generalisation(
        levels=dict(zip(QUASI, best.levels, strict=True)), suppression=0.05, rule=rule, **demand
    ).mask(table, None)
    assert int((~masked.kept).sum()) == best.suppressed
    found = verify(folder)
    assert found.sound, found.problems
    assert [verdict.attained for verdict in found.verdicts] == [best.k, *([best.l] if demand else [])]
    written = scan(folder / "public" / "data-*.parquet").to_native().collect()
    assert written.columns == ["age", "region", "sex", "illness", "wage"], "identifiers stay out"
    expected = to_frame(masked).drop("name").sort("wage", *QUASI, "illness")
    same = written.select(pl.col(c).cast(expected.schema[c]) for c in expected.columns)
    assert same.sort("wage", *QUASI, "illness").equals(expected)
    assert json.loads((folder / "public" / "schema.json").read_text())["rows"] == len(written)
    assert sorted(p.name for p in folder.iterdir()) == ["internal", "public"]


def test_written_files_that_break_the_promise_are_refused_and_nothing_stays(parts, tmp_path, monkeypatch):
    source = count_lazily(parts, **ROLES)
    real = lazy_release._sink
    monkeypatch.setattr(lazy_release, "_sink", lambda frame, mapped, data: real(frame.head(100), mapped, data))
    with pytest.raises(ReleaseRefused, match="count them again"):
        publish_counted(source, (2, 1, 0), tmp_path / "out", suppression=0.2, models=[KAnonymity(k=3)])
    assert list(tmp_path.iterdir()) == []


def test_a_demand_beyond_the_limit_is_refused_with_the_limit_to_set(parts, tmp_path):
    source = count_lazily(parts, **ROLES)
    with pytest.raises(TableError, match="the limit allows 0; raise a level"):
        publish_counted(source, (0, 0, 0), tmp_path / "out", suppression=0.0, models=[KAnonymity(k=5)])
    with pytest.raises(TableError, match="has no level 9"):
        publish_counted(source, (9, 0, 0), tmp_path / "out", suppression=0.01, models=[KAnonymity(k=2)])


def test_csv_and_categories_and_floats_count_like_parquet(parts, tmp_path):
    frame = people(2_000)
    frame.write_csv(tmp_path / "people.csv")
    base = count_lazily(parts, **ROLES)
    for data in (
        tmp_path / "people.csv",
        frame.lazy().with_columns(pl.col("region", "sex").cast(pl.Categorical), pl.col("age").cast(pl.Float64)),
        frame.to_pandas(),
    ):
        other = count_lazily(data, **ROLES).decide_roles({"wage": "other"})
        assert (other.counts.codes == base.counts.codes).all()
        assert (other.counts.records == base.counts.records).all()
    demand = {"models": [KAnonymity(k=2)], "suppression": 0.5, "waivers": waiving("wage")}
    manifest = json.loads(
        (publish_counted(other, (1, 0, 0), tmp_path / "out", **demand) / "public/manifest.json").read_text()
    )
    schema = json.loads((tmp_path / "out/public/schema.json").read_text())
    assert schema["rows"] + manifest["suppressed"] == 2_000


def test_many_wide_columns_need_more_than_one_key(tmp_path):
    rows = 3
    data = {f"q{n}": [f"{n}{v}" for v in range(200)] * rows for n in range(10)}
    plain = {n: Hierarchy.from_rows([(v, "*") for v in sorted(set(values))]) for n, values in data.items()}
    odd = {n: [*values, values[-1] if n == "q9" else values[0]] for n, values in data.items()}
    source = count_lazily(pl.LazyFrame(odd), quasi_identifiers=list(odd), hierarchies=plain)
    folder = publish_counted(source, (0,) * 10, tmp_path / "out", suppression=0.01, models=[KAnonymity(k=rows)])
    manifest = json.loads((folder / "public" / "manifest.json").read_text())
    assert (verify(folder).verdicts[0].attained, manifest["suppressed"]) == (3, 1)
    assert len(scan(folder / "public" / "data-*.parquet").to_native().collect()) == 600


@pytest.mark.parametrize("spec", ["merge:3,2", "merge:1", "prefixes:1"])
def test_rare_values_are_merged_by_their_records_as_in_memory(parts, spec):
    """Counted or read, whatever `init` writes gives the same hierarchy."""
    here = wrap(people(2_000), quasi_identifiers=["region", "sex"], hierarchies={"region": spec}).attribute("region")
    there = count_lazily(parts, quasi_identifiers=["region", "sex"], hierarchies={"region": spec})
    found = there.counts.attributes[there.counts.place("region")]
    assert found.hierarchy.labels == here.hierarchy.labels
    assert [level.tolist() for level in found.hierarchy.groups] == [level.tolist() for level in here.hierarchy.groups]


def test_refusals_say_what_to_do(parts, tmp_path, monkeypatch):
    with pytest.raises(TableError, match="does not exist"):
        scan(tmp_path / "nowhere.parquet")
    with pytest.raises(EngineError, match="did you mean 'duckdb'"):
        scan(parts, "dukdb")
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(EngineError, match=r"pip install \"crypsis\[duckdb\]\""):
        scan(parts, "duckdb")
    with pytest.raises(TableError, match="no lazy frame"):
        lazy_frame(17)
    with pytest.raises(TableError, match="did you mean 'age'"):
        count_lazily(parts, quasi_identifiers=["agee"])
    with pytest.raises(TableError, match="named twice"):
        count_lazily(parts, quasi_identifiers=["age"], confidential=["age"])
    with pytest.raises(TableError, match="name the quasi-identifiers"):
        count_lazily(parts, quasi_identifiers=[])
    with pytest.raises(TableError, match="merges need categories"):
        count_lazily(parts, quasi_identifiers=["age"], hierarchies={"age": "merge:2"})
    with pytest.raises(TableError, match="have no records"):
        count_lazily(people(5).lazy().filter(pl.col("age") > 1000), quasi_identifiers=["sex"])
    (tmp_path / "broken.parquet").write_bytes(b"nothing")
    with pytest.raises(TableError, match="cannot be read"):
        count_lazily(tmp_path / "broken.parquet", quasi_identifiers=["sex"])


def test_a_counted_table_does_not_show_its_values(parts):
    source = count_lazily(parts, **ROLES)
    assert repr(source) == f"LazyTable(2000 records, {len(source.tuples)} distinct: age, region, sex, illness)"
    assert tally(source.frame, ["sex"])["records of the tuple"].sum() == 2_000
