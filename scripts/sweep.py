"""Release odd tables by every family, judge the written bytes by code of its own, and plant what an audit must find.

    python scripts/sweep.py [--tables 500] [--first 0] [--families 10] [--plants 100] [--seed 1]

The families are three masking methods and every registered search. Each table is released by some of them in turn, as
CSV or Parquet, under demands that the family can meet: k always, distinct l and equal-distance t in half of the cases
each, seldom for methods, which do not aim at them; for groupings k over the columns of two scenarios; for maskings
that perturb a limit on record linkage. Searches run as a plan runs them, for a few generations. The file is read back
by polars alone: k, l, t and the share that is linked must be what was demanded, over the columns the manifest names,
and the manifest must promise it. Then columns that single people out, columns that determine a masked one, look-alike
categories, averages of one value and signed zeros are planted, and the audit must find them; on tables without a plant
it should find nothing. Exit 1 if a promise is broken or fewer than 99 % of the plants of a kind are found. Table n is
the same whatever the number of tables, so a sweep can be made in parts. Reports are written without charts, which
nobody looks at here.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import crypsis
from crypsis.audits import FindingKind
from crypsis.engines import Serial
from crypsis.errors import CrypsisError, ReleaseRefused
from crypsis.privacy.model import PrivacyModel
from crypsis.release import bundle
from crypsis.release.ledger import VARIABLE
from crypsis.searches.search import searches
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
SMALL: dict[str, dict[str, Any]] = {
    "grouping": {"population": 8, "crossovers": 2, "climbs": 1, "climb_breadth": 2, "missing": "mean"},
    "masking": {"largest_k": 6, "depths": 1, "swappings": 1, "prams": 1, "batch": 4},
    "lattice": {"suppression": 0.2},
}
"""Settings that make a search small; others are searched as they come."""
APART, PERTURBING = ("grouping",), ("masking", "mixed-masking")
"""Searches that mask columns apart, and searches that make values false: k over all columns is not theirs."""
KINDS = {"grouping": (0, 1, 2), "masking": (3,)}
"""Kinds of cells that a search can treat; others treat all."""
METHODS = ("aggregation", "local recoding", "generalisation")
SELDOM = 0.15
"""How often l or t is demanded of a masking method, which does not aim at them and is mostly refused."""
NEAR = 1e-6
"""Difference of two squared distances that counts as none."""


# -- tables --


def odd_table(rng: np.random.Generator, only: Sequence[int] = ()) -> crypsis.Table:
    """Few records, mixed kinds, missing cells, labels that are easily misread."""
    rows = int(rng.integers(12, 160))
    columns: dict[str, list[Any]] = {}
    roles: dict[str, str] = {}
    kinds = only or [(0, 1, 2, 3), (0, 1, 2), (3,)][int(rng.integers(3))]
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


@dataclass(frozen=True)
class Demand:
    """What a file must keep: models over columns, or a limit on the share of people that is linked."""

    models: tuple[tuple[PrivacyModel, tuple[str, ...]], ...]
    linked: float | None = None


def broken(folder: Path, demand: Demand | None = None, original: crypsis.Table | None = None) -> list[str]:
    """Promises of a release that its bytes do not keep, and demands that it does not promise."""
    frame, schema, promises = published(folder)
    found, promised = [], set()
    for promise in promises:
        settings, columns = promise["settings"], promise["verdict"]["columns"]
        promised.add((promise["model"], tuple(sorted(columns))))
        if promise["model"] == "k-anonymity":
            smallest = int(frame.group_by(columns).len()["len"].min())  # type: ignore[arg-type]
            found += [f"k = {smallest}"] * (smallest < settings["k"])
        elif promise["model"] == "l-diversity":
            values = plain(frame).group_by(columns).agg(pl.col("illness").drop_nulls().n_unique())["illness"]
            found += [f"l = {values.min()}"] * (int(values.min()) < settings["l"])  # type: ignore[arg-type]
        elif promise["model"] == "t-closeness":
            farthest = distance(plain(frame), columns)
            found += [f"t = {farthest}"] * (farthest > settings["t"] + 1e-9)
    wanted = {(name_of(model), tuple(sorted(columns))) for model, columns in (demand.models if demand else ())}
    found += [f"{model} over {', '.join(columns)} is not promised" for model, columns in wanted - promised]
    if demand and demand.linked is not None and original is not None:
        quasi = [column["name"] for column in schema["columns"] if column["role"] == "quasi"]
        share = linked(crypsis.to_frame(original), frame, quasi)
        found += [f"{share} % are linked"] * (share > demand.linked + NEAR)
    return found


def linked(old: pl.DataFrame, new: pl.DataFrame, quasi: Sequence[str]) -> float:
    """Per cent of the people whose record is the nearest one, or 1/t of t equally near ones; rows correspond.

    A number adds the square of its difference in deviations, a missing one is the mean, one unit aside; a category
    adds 1 unless it is the same.
    """
    away = np.zeros((len(old), len(new)))
    for name in quasi:
        if old[name].dtype.is_numeric():
            left = old[name].cast(pl.Float64).fill_nan(None)
            right = new[name].cast(pl.Float64, strict=False).fill_nan(None)
            mean, scale = left.mean(), left.std(ddof=0) or 1.0
            sides = [((side - mean) / scale).fill_null(0.0).to_numpy() for side in (left, right)]
            lost = [side.is_null().to_numpy() for side in (left, right)]
            away += (sides[0][:, None] - sides[1][None, :]) ** 2 + (lost[0][:, None] != lost[1][None, :])
        else:
            texts = [side[name].cast(pl.String).fill_null("\0").to_numpy().astype(object) for side in (old, new)]
            away += texts[0][:, None] != texts[1][None, :]
    near = away <= away.min(axis=1)[:, None] + NEAR
    return float(100 * np.mean(np.diag(near) / near.sum(axis=1)))


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


def method(family: str, table: crypsis.Table, k: int, rng: np.random.Generator) -> crypsis.Table:
    """The table masked by a method."""
    if family == "aggregation":
        return crypsis.Microaggregation(k=k).mask(table, rng)
    if family == "local recoding":
        return crypsis.LocalRecoding(k=k).mask(table, rng)
    highest = {name: table.attribute(name).hierarchy.height for name in table.quasi_identifiers}  # type: ignore[union-attr]
    share = rng.choice([0.5, 1.0])
    return crypsis.Generalisation(levels={name: int(share * height) for name, height in highest.items()}).mask(
        table, rng
    )


def demanded(family: str, table: crypsis.Table, k: int, rng: np.random.Generator) -> Demand:
    """What a family can promise."""
    quasi = tuple(table.quasi_identifiers)
    if family in PERTURBING:
        return Demand((), float(rng.choice([20.0, 40.0])))
    if family in APART:
        return Demand(tuple((crypsis.KAnonymity(k=k), quasi[half::2]) for half in range(2)))
    models: list[PrivacyModel] = [crypsis.KAnonymity(k=k)]
    often = SELDOM if family in METHODS else 0.5
    models += [crypsis.LDiversity(l=2)] if rng.random() < often else []
    closest = float(rng.choice([0.3, 0.5, 0.7]))
    models += [crypsis.TCloseness(t=closest, distance="equal")] if rng.random() < often else []
    return Demand(tuple((model, quasi) for model in models))


def released(family: str, table: crypsis.Table, k: int, demand: Demand, out: Path, rng: np.random.Generator) -> str:
    """Release a table by a family; returns what became of it, empty where a file was written."""
    waivers = dict.fromkeys((f"{kind}:{name}" for kind in FindingKind for name in table.names), REASON)
    format = str(rng.choice(["csv", "parquet"]))
    try:
        if family in METHODS:
            masked = method(family, table, k, rng)
            models = [model for model, _ in demand.models]
            crypsis.publish(masked, out, models=models, original=table, format=format, waivers=waivers)
            return ""
        settings = {**({"k": k} if "k" in searches[family].model_fields else {}), **SMALL.get(family, {})}
        search = searches.build(family, **settings)
        if search.obstacle(table):
            return "cannot treat it"
        apart = family in APART
        with crypsis.evolve(
            table,
            search,
            [] if apart else [model for model, _ in demand.models],
            "2 generations",
            seed=int(rng.integers(1 << 30)),
            engine=Serial(),
            scenario=[scenario(place, *each) for place, each in enumerate(demand.models)] if apart else [],
            limit=[] if demand.linked is None else [{"measure": "record-linkage", "at_most": demand.linked}],
            release={"format": format, "order": "kept", "suppression": "20%"},
        ) as run:
            found = [each for each in run.front.everything if each.feasible and not each.baseline]
            if not found:
                return "nothing may be released"
            run.release(found[int(rng.integers(len(found)))], out, waivers=waivers)
    except ReleaseRefused:
        return "refused"
    except CrypsisError as error:
        return f"{type(error).__name__}"
    return ""


def scenario(place: int, model: PrivacyModel, columns: tuple[str, ...]) -> dict[str, Any]:
    require = {"model": name_of(model), **model.model_dump(mode="json", exclude_unset=True)}
    return {"name": f"intruder {place + 1}", "knows": list(columns), "because": REASON, "require": [require]}


def sweep(tables: Sequence[int], families: int, seed: int, home: Path) -> Counter[str]:
    counts: Counter[str] = Counter()
    every = [*METHODS, *searches]
    for number in tables:
        for turn in range(min(families, len(every))):
            family = every[(number * families + turn) % len(every)]
            rng = np.random.default_rng([seed, number, turn])
            table = with_hierarchies(odd_table(rng, KINDS.get(family, ())))
            k = int(rng.choice([2, 3, 5]))
            demand = demanded(family, table, k, rng)
            out = home / f"{number}-{turn}"
            ended = released(family, table, k, demand, out, rng)
            if ended:
                counts[f"{family}: {ended}"] += 1
                continue
            wrong, format = broken(out, demand, table), published(out)[1]["format"]
            if wrong:
                sys.stdout.write(f"BROKEN table {number}, turn {turn}, {family}, {format}: {wrong}\n")
            counts[f"{family}, {format}: {'BROKEN' if wrong else 'as promised'}"] += 1
            counts.update(f"released with {name_of(model)}" for model, _ in demand.models)
            counts["released with a limit on linkage"] += demand.linked is not None
            shutil.rmtree(out)
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
    given.add_argument("--first", type=int, default=0, help="number of the first table")
    given.add_argument("--families", type=int, default=10, help="families by which each table is released, in turn")
    given.add_argument("--plants", type=int, default=100)
    given.add_argument("--seed", type=int, default=1)
    options = given.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ[VARIABLE] = str(Path(folder) / "releases.json")
        bundle.internal_html = partial(bundle.internal_html, draw=lambda spec: "")
        tables = range(options.first, options.first + options.tables)
        counts = sweep(tables, options.families, options.seed, Path(folder))
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
