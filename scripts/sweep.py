"""Release odd tables by every family and judge the written bytes by code of its own.

    python scripts/sweep.py [--tables 500] [--first 0] [--seed 1] [--out FILE]

The families are three masking methods and every registered search. Each table is released by all of them, as CSV and
as Parquet, under demands that the family can meet: k always, distinct l and equal-distance t in half of the cases
each, seldom for methods, which do not aim at them; for groupings k over the columns of two scenarios; for maskings
that perturb a limit on record linkage. Searches run as a plan runs them, for a few generations. The file is read back
by polars alone: k, l, t and the share that is linked must be what was demanded, over the columns the manifest names,
and the manifest must promise it. Exit 1 if a promise is broken or a family fails otherwise than by a refusal. Table
n is the same whatever the number of tables; with --out, what became of each table is kept in a file, and a sweep that
was stopped goes on where it was. What an audit must find is planted by scripts/plants.py.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
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
from crypsis.release.ledger import VARIABLE
from crypsis.run.releasing import ReleaseTerms, release_solution
from crypsis.searches.search import searches
from crypsis.table.profile import builder_profile_suggests

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
    "gomm": {"population": 8, "crossovers": 2, "local_searches": 1, "local_search_size": 2, "missing": "mean"},
    "categorical-masking": {"largest_k": 6, "depths": 1, "swappings": 1, "prams": 1, "batch": 4},
    "pbg-ea": {"suppression": 0.2},
    "mixed-grouping": {"population": 8, "crossovers": 2},
    "local-recoding": {"k_values": 2, "nodes": 256, "offspring": 2},
}
"""Settings that make a search small; others are searched as they come."""
APART, PERTURBING = ("gomm", "mixed-grouping"), ("categorical-masking", "mixed-masking")
"""Searches that mask columns apart, and searches that make values false: k over all columns is not theirs."""
KINDS = {"gomm": (0, 1, 2), "categorical-masking": (3,)}
"""Kinds of cells that a search can treat; others treat all."""
FORMATS = ("csv", "parquet")
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
        built = crypsis.build_hierarchy(builder_profile_suggests(table, name), attribute, table.column(name))
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


def released(
    family: str, table: crypsis.Table, k: int, demand: Demand, home: Path, rng: np.random.Generator
) -> dict[str, str]:
    """Release a table by a family; format → what became of it, empty where the folder of that name was written."""
    waivers = dict.fromkeys((f"{kind}:{name}" for kind in FindingKind for name in table.names), REASON)
    if family in METHODS:
        masked, models = method(family, table, k, rng), [model for model, _ in demand.models]
        return {
            format: outcome(
                partial(crypsis.publish, masked, home / format, models=models, original=table, waivers=waivers),
                format=format,
            )
            for format in FORMATS
        }
    settings = {**({"k": k} if "k" in searches[family].model_fields else {}), **SMALL.get(family, {})}
    search = searches.build(family, **settings)
    if search.obstacle(table):
        return dict.fromkeys(FORMATS, "cannot treat it")
    apart = family in APART
    try:
        with crypsis.evolve(
            table,
            search,
            [] if apart else [model for model, _ in demand.models],
            "2 generations",
            seed=int(rng.integers(1 << 30)),
            engine=Serial(),
            scenario=[scenario(place, *each) for place, each in enumerate(demand.models)] if apart else [],
            limit=[] if demand.linked is None else [{"measure": "record-linkage", "at_most": demand.linked}],
            release={"order": "kept", "suppression": "20%"},
        ) as run:
            found = [each for each in run.front.everything if each.feasible and not each.baseline]
            if not found:
                return dict.fromkeys(FORMATS, "nothing may be released")
            pick = found[int(rng.integers(len(found)))]
            publish = partial(_from_run, run, pick, home, waivers)
            return {format: outcome(publish, format=format) for format in FORMATS}
    except CrypsisError as error:
        return dict.fromkeys(FORMATS, f"FAILED: {error}")


def _from_run(run: crypsis.Run, pick: Any, home: Path, waivers: dict[str, str], format: str) -> None:
    """What `Run.release` does, in a format of choice."""
    release = run.plan.release.model_copy(update={"format": format})
    release_solution(
        run.plan.model_copy(update={"release": release}),
        run.original,
        run.decode(pick),
        pick,
        home / format,
        front=run.front,
        seed=run.lock.seed,
        terms=ReleaseTerms("Sweep", None, waivers, None),
    )


def outcome(publish: Callable[..., Any], **settings: Any) -> str:
    """What became of a release."""
    try:
        publish(**settings)
    except ReleaseRefused:
        return "refused"
    except CrypsisError as error:
        return f"FAILED: {error}"
    return ""


def scenario(place: int, model: PrivacyModel, columns: tuple[str, ...]) -> dict[str, Any]:
    require = {"model": name_of(model), **model.model_dump(mode="json", exclude_unset=True)}
    return {"name": f"intruder {place + 1}", "knows": list(columns), "because": REASON, "require": [require]}


def sweep(number: int, seed: int, home: Path) -> Counter[str]:
    """What became of one table, by family and format."""
    counts: Counter[str] = Counter()
    os.environ[VARIABLE] = str(home / f"{number}.json")
    for turn, family in enumerate([*METHODS, *searches]):
        rng = np.random.default_rng([seed, number, turn])
        table = with_hierarchies(odd_table(rng, KINDS.get(family, ())))
        k = int(rng.choice([2, 3, 5]))
        demand = demanded(family, table, k, rng)
        for format, ended in released(family, table, k, demand, home, rng).items():
            if ended:
                counts[f"{family}, {format}: {ended}"] += 1
                continue
            wrong = broken(home / format, demand, table)
            if wrong:
                sys.stdout.write(f"BROKEN table {number}, {family}, {format}: {wrong}\n")
            counts[f"{family}, {format}: {'BROKEN' if wrong else 'as promised'}"] += 1
            counts.update(f"released with {name_of(model)}" for model, _ in demand.models)
            counts["released with a limit on linkage"] += demand.linked is not None
            shutil.rmtree(home / format)
    return counts


def main() -> int:
    given = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    given.add_argument("--tables", type=int, default=500)
    given.add_argument("--first", type=int, default=0, help="number of the first table")
    given.add_argument("--seed", type=int, default=1)
    given.add_argument("--out", type=Path, help="file of what became of each table, to go on with")
    options = given.parse_args()
    kept = options.out.read_text(encoding="utf-8").splitlines() if options.out and options.out.exists() else []
    done = {(line["seed"], line["table"]): line["counts"] for line in map(json.loads, kept)}
    total: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(options.first, options.first + options.tables):
            counts = done.get((options.seed, number))
            if counts is None:
                counts = sweep(number, options.seed, Path(folder))
                if options.out:
                    line = json.dumps({"seed": options.seed, "table": number, "counts": counts})
                    with options.out.open("a", encoding="utf-8") as out:
                        out.write(line + "\n")
            total.update(counts)
    for what, count in sorted(total.items()):
        sys.stdout.write(f"{what:50} {count:6}\n")
    files, wrong, failed = (
        sum(count for what, count in total.items() if any(word in what for word in words))
        for words in (("as promised", "BROKEN"), ("BROKEN",), ("FAILED",))
    )
    sys.stdout.write(f"{options.tables} tables, {files} releases, {wrong} broken, {failed} failed\n")
    return int(wrong + failed > 0)


if __name__ == "__main__":
    sys.exit(main())
