"""Release odd tables by every family, judge the written bytes by code of its own, and plant what an audit must find.

    python scripts/sweep.py [--tables 500] [--plants 100] [--seed 1]

Every table is protected by aggregation, local recoding and generalisation, and by every registered search that can
treat it (composite, grouping, lattice, local recoding, masking, partition) under the same demands: k always, distinct
l and equal-distance t in half of the cases each. Four of the results are released as CSV or Parquet and read back by
polars alone: k, l and t must be what the manifest promises, and the manifest must promise what was demanded. Then
columns that single people out, columns that determine a masked one, look-alike categories, averages of one value and
signed zeros are planted, and the audit must find them; on tables without a plant it should find nothing. Exit 1 if a
promise is broken or fewer than 99 % of the plants of a kind are found.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import crypsis
from crypsis.audits import FindingKind
from crypsis.engines import Serial
from crypsis.errors import CrypsisError, ReleaseRefused, SearchError
from crypsis.measures import measures
from crypsis.measures.objective import Objective
from crypsis.privacy.model import PrivacyModel
from crypsis.searches.search import Search, searches
from crypsis.table.profile import suggested_builder

WORDS = [
    "a",
    "b",
    "A ",
    "é",
    "e\u0301",
    "x,y",
    'say "no"',
    "0",
    "-",
    "none",
    " lead",
    "日本",
    "other",
    "NaN",
    "1.0",
    "Ω",
]
REASON = "invented people"
QUANTA = 3
"""How far a search is followed."""
WAIT = 60
"""Quanta until a first solution, at most: some searches work on one candidate for several."""
RELEASES = 4
"""Maskings of a table that are released, drawn at random."""
SMALL: dict[str, dict[str, Any]] = {
    "grouping": {"population": 8, "crossovers": 2, "climbs": 1, "climb_breadth": 2, "missing": "mean"},
    "masking": {"largest_k": 6, "depths": 1, "swappings": 1, "prams": 1, "batch": 4},
    "lattice": {"suppression": 0.2},
}
"""Settings that make a search small; others are searched as they come."""


# -- tables --


def odd_table(rng: np.random.Generator) -> crypsis.Table:
    """Few records, mixed kinds, missing cells, labels that are easily misread."""
    rows = int(rng.integers(12, 70))
    columns: dict[str, list[Any]] = {}
    roles: dict[str, str] = {}
    kinds = [(0, 1, 2, 3), (0, 1, 2), (3,)][int(rng.integers(3))]
    for place in range(int(rng.integers(2, 5))):
        name = str(rng.choice(["age", "town", "x y", "constructor", "Größe", "a,b"])) + str(place)
        columns[name], roles[name] = _cells(rng, rows, int(rng.choice(kinds))), "quasi"
    columns["illness"], roles["illness"] = [str(word) for word in rng.choice(WORDS[:6], rows)], "confidential"
    columns["id"], roles["id"] = [f"p{n}" for n in rng.permutation(rows)], "identifier"
    return crypsis.Table.from_columns(columns, roles)


def _cells(rng: np.random.Generator, rows: int, kind: int) -> list[Any]:
    if kind == 0:
        values: list[Any] = [float(v) for v in rng.integers(-3, 9, rows)]
    elif kind == 1:
        values = [float(v) for v in rng.normal(0, 10.0 ** int(rng.integers(-3, 7)), rows)]
    elif kind == 2:
        values = [0.0 if v < 3 else -0.0 if v < 6 else float(v) for v in rng.integers(0, 9, rows)]
    else:
        values = [str(word) for word in rng.choice(WORDS[: int(rng.integers(2, len(WORDS)))], rows)]
    missing = rng.random(rows) < rng.choice([0.0, 0.0, 0.15])
    missing[0] = False
    return [None if gone else value for gone, value in zip(missing, values, strict=True)]


def with_hierarchies(table: crypsis.Table) -> crypsis.Table:
    changed = {}
    for name in table.quasi_identifiers:
        attribute = table.attribute(name)
        built = crypsis.build_hierarchy(suggested_builder(table, name), attribute, table.column(name))
        changed[name] = attribute.but(hierarchy=built)
    return table.with_columns({}, attributes=changed)


# -- what a stranger counts --


def published(folder: Path) -> tuple[pl.DataFrame, dict[str, Any], list[dict[str, Any]]]:
    """The data as text, the schema, and what the manifest promises."""
    schema = json.loads((folder / "public" / "schema.json").read_text(encoding="utf-8"))
    path = folder / "public" / schema["file"]
    frame = pl.read_csv(path, infer_schema=False) if schema["format"] == "csv" else pl.read_parquet(path)
    return frame, schema, json.loads((folder / "public" / "manifest.json").read_text(encoding="utf-8"))["requirements"]


def broken(folder: Path, demanded: Sequence[PrivacyModel] = ()) -> list[str]:
    """Promises of a release that its bytes do not keep, and demands that it does not promise."""
    frame, schema, promises = published(folder)
    quasi = [column["name"] for column in schema["columns"] if column["role"] == "quasi"]
    found = []
    for promise in promises:
        settings = promise["settings"]
        if promise["model"] == "k-anonymity":
            smallest = int(frame.group_by(quasi).len()["len"].min())  # type: ignore[arg-type]
            found += [f"k = {smallest}"] * (smallest < settings["k"])
        elif promise["model"] == "l-diversity":
            values = plain(frame).group_by(quasi).agg(pl.col("illness").drop_nulls().n_unique())["illness"]
            found += [f"l = {values.min()}"] * (int(values.min()) < settings["l"])  # type: ignore[arg-type]
        elif promise["model"] == "t-closeness":
            farthest = distance(plain(frame), quasi)
            found += [f"t = {farthest}"] * (farthest > settings["t"] + 1e-9)
    promised = {promise["model"] for promise in promises}
    return found + [f"{model} is not promised" for model in {name_of(each) for each in demanded} - promised]


def name_of(model: PrivacyModel) -> str:
    return crypsis.models.name_of(model)


def plain(frame: pl.DataFrame) -> pl.DataFrame:
    """Illnesses that look alike under one name."""
    spelt = pl.col("illness").cast(pl.String).str.normalize("NFKC").str.strip_chars().str.to_lowercase()
    return frame.with_columns(spelt)


def distance(frame: pl.DataFrame, quasi: list[str]) -> float:
    """Largest distance of a class from the table: half the sum of the differences of the shares of all illnesses."""
    whole = dict(frame.group_by("illness").len().iter_rows())
    farthest = 0.0
    for _, some in frame.group_by(quasi):
        here = dict(some.group_by("illness").len().iter_rows())
        apart = sum(abs(here.get(value, 0) / len(some) - count / len(frame)) for value, count in whole.items())
        farthest = max(farthest, apart / 2)
    return farthest


# -- releases --


def maskings(table: crypsis.Table, k: int, rng: np.random.Generator) -> Iterator[tuple[str, crypsis.Table]]:
    yield "aggregation", crypsis.Microaggregation(k=k).mask(table, rng)
    detailed = with_hierarchies(table)
    yield "local recoding", crypsis.LocalRecoding(k=k).mask(detailed, rng)
    highest = tuple(detailed.attribute(name).hierarchy.height for name in detailed.quasi_identifiers)  # type: ignore[union-attr]
    for levels in (tuple(h // 2 for h in highest), highest):
        masked = crypsis.Generalisation(levels=dict(zip(detailed.quasi_identifiers, levels, strict=True))).mask(
            detailed, rng
        )
        yield "generalisation", masked


def searched(
    table: crypsis.Table, demands: Sequence[PrivacyModel], k: int, rng: np.random.Generator
) -> Iterator[tuple[str, crypsis.Table]]:
    """Solutions of every search that can treat the table."""
    for name in searches:
        settings = {**({"k": k} if "k" in searches[name].model_fields else {}), **SMALL.get(name, {})}
        search = searches.build(name, **settings)
        if not search.obstacle(table):
            yield from ((f"search {name}", masked) for masked in solutions(search, table, demands, rng))


def solutions(
    search: Search, table: crypsis.Table, demands: Sequence[PrivacyModel], rng: np.random.Generator
) -> Iterator[crypsis.Table]:
    """What a search finds in a few quanta, guided by loss, risk and the demands."""
    figures = {name: measures.build(name) for name in ("cell-loss", "record-linkage")}
    try:
        problem = search.pose(table, Objective(table, figures, models=demands), rng)
        state = problem.strategy.begin(problem, rng, Serial())
        for place in range(WAIT):
            if place >= QUANTA and state.frontier.genomes:
                break
            state = problem.strategy.advance(problem, state, Serial())
    except SearchError:
        return
    encoding = search.encoding(table)
    for genome in [*state.frontier.genomes, *state.genomes][:1]:
        yield encoding.decode(problem.expressed(genome))


def sweep(tables: int, seed: int, home: Path) -> Counter[str]:
    counts: Counter[str] = Counter()
    for number in range(tables):
        rng = np.random.default_rng([seed, number])
        table, k = odd_table(rng), int(rng.choice([2, 3, 5]))
        models: list[PrivacyModel] = [crypsis.KAnonymity(k=k)]
        models += [crypsis.LDiversity(l=2)] if rng.random() < 0.5 else []
        closest = float(rng.choice([0.3, 0.5, 0.7]))
        models += [crypsis.TCloseness(t=closest, distance="equal")] if rng.random() < 0.5 else []
        try:
            made = [*maskings(table, k, rng), *searched(with_hierarchies(table), models, k, rng)]
        except CrypsisError as error:
            counts[f"not masked: {type(error).__name__}"] += 1
            continue
        for family, masked in (made[place] for place in rng.permutation(len(made))[:RELEASES]):
            format = str(rng.choice(["csv", "parquet"]))
            original = table if family == "aggregation" else with_hierarchies(table)
            out = home / f"{number}-{counts.total()}"
            keys = [f"{kind}:{name}" for kind in FindingKind for name in table.names]
            try:
                crypsis.publish(
                    masked, out, models=models, original=original, format=format, waivers=dict.fromkeys(keys, REASON)
                )
            except ReleaseRefused:
                counts[f"{family}: refused"] += 1
                continue
            except CrypsisError as error:
                counts[f"{family}: {type(error).__name__}"] += 1
                continue
            wrong = broken(out, models)
            if wrong:
                sys.stdout.write(f"BROKEN table {number}, {family}, {format}: {wrong}\n")
            counts[f"{family}, {format}: {'BROKEN' if wrong else 'as promised'}"] += 1
            counts.update(f"released with {name_of(model)}" for model in models)
    return counts


# -- plants --


def clean(rng: np.random.Generator) -> tuple[crypsis.Table, crypsis.Table]:
    """An original and its release, in which nothing is to be found: k = 5 over all columns but a coarse illness."""
    rows = int(rng.integers(120, 400))
    columns: dict[str, list[Any]] = {
        "age": [float(v) for v in rng.integers(18, 90, rows)],
        "town": [f"t{v}" for v in rng.integers(0, 8, rows)],
        "pay": [float(v) for v in rng.normal(2000, 400, rows).round(-2)],
        "illness": [f"i{v}" for v in rng.integers(0, 4, rows)],
    }
    roles = dict.fromkeys(("age", "town", "pay"), "quasi") | {"illness": "confidential"}
    original = crypsis.Table.from_columns(columns, roles)
    return original, crypsis.Microaggregation(k=5).mask(original, rng)


def planted(kind: str, rng: np.random.Generator) -> tuple[crypsis.Table, crypsis.Table]:
    original, masked = clean(rng)
    rows = len(original)
    if kind == "unique column":
        unique = rng.permutation(rows).astype(float)
        return _beside(original, "extra", unique), _beside(masked, "extra", unique)
    if kind == "determining column":
        key = original.column("town").astype(float) * 7 + 3
        return _beside(original, "extra", key), _beside(masked, "extra", key)
    if kind == "look-alikes":
        codes = original.column("illness").copy()
        attribute = original.attribute("illness")
        labels = (*attribute.categories, attribute.categories[0].upper() + " ")
        codes[np.flatnonzero(codes == 0)[::2]] = len(labels) - 1
        spelt = attribute.but(categories=labels)
        changed = {"illness": codes}, {}, {"illness": spelt}
        return original.with_columns(*changed), masked.with_columns(*changed)
    if kind == "average of one value":
        pay, shown = original.column("pay").copy(), masked.column("pay").copy()
        group = np.flatnonzero(shown == shown[int(rng.integers(rows))])
        pay[group[1:]] = np.nan
        shown[group] = pay[group[0]]
        return original.with_columns({"pay": pay}), masked.with_columns({"pay": shown})
    raise ValueError(kind)


def _beside(table: crypsis.Table, name: str, column: np.ndarray[Any, Any]) -> crypsis.Table:
    attribute = crypsis.Attribute(name, crypsis.Kind.NUMERIC, crypsis.Role.OTHER)
    return replace(
        table,
        attributes=(*table.attributes, attribute),
        columns=(*table.columns, column),
        levels=(*table.levels, 0),
        origin=None,
    )


PLANTS = {
    "unique column": FindingKind.SINGLING_OUT,
    "determining column": FindingKind.DEPENDENCE,
    "look-alikes": FindingKind.LOOK_ALIKE,
    "average of one value": FindingKind.SMALL_AVERAGE,
}


def signed_zeros(plants: int, seed: int, home: Path) -> int:
    """How often a file with −0 beside 0 has one spelling in its bytes and the k it promises."""
    kept = 0
    for number in range(plants):
        rng = np.random.default_rng([seed, 99, number])
        signs = np.where(rng.random(40) < 0.5, 0.0, -0.0).tolist()
        table = crypsis.Table.from_columns({"x": signs, "y": [1.0, 2.0] * 20}, {"x": "quasi", "y": "quasi"})
        out = home / f"zero-{number}"
        format = str(rng.choice(["csv", "parquet"]))
        crypsis.publish(table, out, models=[crypsis.KAnonymity(k=5)], original=table, format=format)
        data = next((out / "public").glob("data.*"))
        texts = (
            pl.read_csv(data, infer_schema=False)["x"]
            if format == "csv"
            else pl.read_parquet(data)["x"].cast(pl.String)
        )
        kept += not broken(out) and texts.n_unique() == 1
    return kept


def main() -> int:
    given = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    given.add_argument("--tables", type=int, default=500)
    given.add_argument("--plants", type=int, default=100)
    given.add_argument("--seed", type=int, default=1)
    options = given.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        counts = sweep(options.tables, options.seed, Path(folder))
        for what, count in sorted(counts.items()):
            sys.stdout.write(f"{what:45} {count:6}\n")
        failed = any("BROKEN" in what for what in counts)
        for place, (kind, wanted) in enumerate(PLANTS.items()):
            found = alarms = 0
            for number in range(options.plants):
                original, masked = planted(kind, np.random.default_rng([options.seed, place, number]))
                found += wanted in {each.kind for each in crypsis.audit(masked, original).findings}
                original, masked = clean(np.random.default_rng([options.seed, place, number]))
                alarms += wanted in {each.kind for each in crypsis.audit(masked, original).findings}
            sys.stdout.write(f"planted {kind:25} found {found} of {options.plants}, false alarms {alarms}\n")
            failed |= found < 0.99 * options.plants
        kept = signed_zeros(options.plants, options.seed, Path(folder))
        sys.stdout.write(f"planted {'signed zeros':25} one spelling, k as promised {kept} of {options.plants}\n")
    return int(failed or kept < options.plants)


if __name__ == "__main__":
    sys.exit(main())
