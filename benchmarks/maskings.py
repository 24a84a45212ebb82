"""Categorical masking: what a step costs, and the paper's three experiments (Marés and Torra 2012).

    python benchmarks/maskings.py --cost [--json]
    python benchmarks/maskings.py --plan 20000
    python benchmarks/maskings.py --experiment [--recipe swift|paper] [--seeds 10] [--generations N] [--json]
    python benchmarks/maskings.py --held-out
    python benchmarks/maskings.py --front front.png

Seconds are CPU time of this process. German, Flare and Adult are looked for in the folder CRYPSIS_DATA, else in
../shared/data beside the repository. Populations have the paper's sizes; their parameters are ours (not printed).
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import moocore
import numpy as np
from numpy.typing import NDArray

from crypsis.engines import Serial
from crypsis.kernels import mutations
from crypsis.measures.objective import Objective
from crypsis.searches.categorical_masking import (
    PAPER,
    SWIFT,
    CategoricalMaskingSearch,
    MaskingResult,
    evolve_maskings,
    hold_out,
)
from crypsis.searches.categorical_masking.categorical_masking_search import cross
from crypsis.searches.categorical_masking.first_population import MaskedFiles, PaperFamilies, build_population
from crypsis.searches.categorical_masking.scoring import Constraints, Ledgers, Parent, Proposal, own_measures
from crypsis.table.attribute import Attribute, Kind, Role
from crypsis.table.example import example
from crypsis.table.table import Table

Floats = NDArray[np.float64]
Row = dict[str, Any]

SETS: dict[str, tuple[str, tuple[str, ...], PaperFamilies]] = {
    "German": ("german_credit", ("EXISTACC", "SAVINGS", "PRESEMPLOY"), PaperFamilies(largest_k=13, depths=4)),
    "Flare": ("solar_flare", ("CLASS", "LARGSPOT", "SPOTDIST"), PaperFamilies(largest_k=13, depths=4)),
    "Adult": ("adult_1000", ("education", "marital-status", "occupation"), PaperFamilies(largest_k=9, depths=6)),
}
PRINTED: dict[tuple[str, str], tuple[tuple[float, float], ...]] = {
    ("mean", "German"): ((36.59, 31.74), (29.37, 28.91), (26.68, 26.54)),
    ("mean", "Flare"): ((42.53, 33.56), (29.57, 28.13), (float("nan"), float("nan"))),
    ("mean", "Adult"): ((41.95, 36.60), (33.05, 31.78), (29.68, 29.61)),
    ("max", "German"): ((65.87, 44.85), (40.76, 33.42), (29.18, 28.05)),
    ("max", "Flare"): ((76.17, 50.22), (44.83, 36.36), (31.77, 31.63)),
    ("max", "Adult"): ((72.19, 64.38), (47.05, 38.57), (30.70, 30.28)),
}
"""Largest, mean and smallest score, before and after."""


def folder() -> Path:
    named = os.environ.get("CRYPSIS_DATA")
    return Path(named) if named else Path(__file__).resolve().parents[2] / "shared" / "data"


def load(name: str) -> Table:
    """The three protected attributes of a set, ordered as documented."""
    stem, columns, _ = SETS[name]
    domains: dict[str, list[str]] = {column: [] for column in columns}
    with (folder() / "categorical_domains.csv").open() as file:
        for row in csv.DictReader(file):
            if row["dataset"] == stem and row["attribute"] in domains:
                domains[row["attribute"]].append(row["code"])
    with (folder() / f"{stem}.csv").open() as file:
        records = list(csv.DictReader(file))
    attributes, codes = [], []
    for column in columns:
        place = {label: code for code, label in enumerate(domains[column])}
        attributes.append(Attribute(column, Kind.ORDINAL, Role.QUASI_IDENTIFIER, tuple(domains[column])))
        codes.append(np.array([place[record[column]] for record in records], dtype=np.int32))
    return Table(tuple(attributes), tuple(codes))


def posed(name: str, seed: int) -> tuple[Table, MaskedFiles]:
    table = load(name)
    _, columns, families = SETS[name]
    return table, build_population(table, families.methods(table, columns), np.random.default_rng([seed, 1]))


# -- cost --


def grown(n: int, seed: int = 0) -> tuple[Table, Table, Table]:
    """n records like Adult's, drawn with repetition and lightly blurred, and two masked files of them."""
    rng, adult = np.random.default_rng(seed), load("Adult")
    names = adult.names
    rows = adult.take(rng.integers(adult.rows, size=n)) if n != adult.rows else adult
    sizes = np.array([len(a.categories) for a in adult.attributes])

    def blurred(codes: NDArray[np.int32], share: float) -> NDArray[np.int32]:
        other = rng.integers(0, sizes, codes.shape)
        return np.where(rng.random(codes.shape) < share, other, codes).astype(np.int32)

    original = rows.with_columns(dict(zip(names, blurred(rows.codes(names), 0.05).T, strict=True)))
    one, two = (
        original.with_columns(dict(zip(names, blurred(original.codes(names), share).T, strict=True)))
        for share in (0.2, 0.3)
    )
    return original, one, two


def seconds(action: Callable[[], object], times: int) -> float:
    """CPU seconds per call, after one call to warm up."""
    action()
    start = time.process_time()
    for _ in range(times):
        action()
    return (time.process_time() - start) / times


def cost() -> list[Row]:
    return [cost_of(n) for n in (1_000, 10_000, 100_000)]


def cost_of(n: int) -> Row:
    """What readings, changes and crossovers of n records cost."""
    original, *files = grown(n)
    encoding, pairings = CategoricalMaskingSearch().encoding(original).join_files(files)
    measured = own_measures(encoding)
    chosen = {str(place): measure for place, measure in enumerate(measured) if measure is not None}
    objective = Objective(original, chosen)
    full = seconds(lambda: objective.score(files[0]), max(3, 20_000 // n))
    bound = seconds(lambda: Objective(original, chosen).score(files[0]), 3)
    ledgers = Ledgers(pairings[0], measured, Constraints.of(encoding), 4, neutral=True)
    codes, mate = (pairing.codes for pairing in pairings)
    rng, sizes = np.random.default_rng(1), encoding.context.sizes

    def changed(many: int) -> None:
        columns = rng.integers(len(sizes), size=many)
        changes = np.stack([rng.integers(n, size=many), columns, rng.integers(np.array(sizes)[columns])], axis=1)
        slot = ledgers.find_slot(codes, b"0")
        mutations.attempts(ledgers.stack.frame, ledgers.stack.tallies, ledgers.trial, slot, changes, True)

    single, burst = seconds(lambda: changed(1), 300), seconds(lambda: changed(500), 3)
    unbeaten = Parent(codes, b"0", np.zeros(2), np.ones(4))  # no child survives: the parents stay as they are

    def crossover() -> None:
        start = int(rng.integers(codes.size))
        child = cross(codes, mate, slice(start, int(rng.integers(start, codes.size)) + 1))
        ledgers.run([Proposal(unbeaten, codes=child)], Serial())

    crossing = seconds(crossover, max(10, 50_000 // n))
    return {
        "records": n,
        "distinct originals": len(encoding.context.tuples),
        "full, seven bound_measures (ms)": 1e3 * full,
        "full with binding (ms)": 1e3 * bound,
        "mutation step (µs)": 1e6 * single,
        "mutation in a burst (µs)": 1e6 * burst / 500,
        "child of a crossover (ms)": 1e3 * crossing,
        "full / mutation": full / single,
        "full / mutation in a burst": full / (burst / 500),
    }


def plan(n: int, generations: int = 5) -> list[Row]:
    """The search a plan names, on n invented people: what posing, the first files, a generation and a decode cost."""
    table, search = example(n), CategoricalMaskingSearch()
    lines: list[Row] = []

    def timed(what: str, action: Callable[[], Any]) -> Any:
        start = time.process_time()
        found = action()
        lines.append({"step": what, "ms": 1e3 * (time.process_time() - start)})
        return found

    warm = search.pose(example(60), None, np.random.default_rng(0))
    warm.strategy.advance(warm, warm.strategy.begin(warm, np.random.default_rng(0), Serial()), Serial())
    encoding = timed("encoding", lambda: search.encoding(table))
    problem = timed("posing", lambda: search.problem(encoding, None, np.random.default_rng(0)))
    strategy = problem.strategy
    state = timed("first quantum", lambda: strategy.begin(problem, np.random.default_rng(1), Serial()))
    while not state.whole:
        state = timed(f"file {len(state.genomes) + 1}", lambda s=state: strategy.advance(problem, s, Serial()))
    for _ in range(generations):
        what = f"generation {state.generation + 1}"
        state = timed(what, lambda s=state: strategy.advance(problem, s, Serial()))
    timed("decode", lambda: encoding.decode(state.best))
    timed("resume: the next generation, nothing counted yet", lambda: again(search, table, state))
    timed("checkpoint", state.to_bytes)
    return lines


def again(search: CategoricalMaskingSearch, table: Table, state: Any) -> Any:
    problem = search.problem(search.encoding(table), None, np.random.default_rng(0))
    return problem.strategy.advance(problem, state, Serial())


# -- experiments --


def without_best(population: MaskedFiles, scores: Floats, share: float) -> list[Table]:
    stay = np.argsort(scores, kind="stable")[round(share * len(scores)) :]
    return [population.files[place] for place in np.sort(stay)]


def line(result: MaskingResult) -> Row:
    before, after = result.scores_before, result.scores
    told: Row = {}
    for name, function in (("max", np.max), ("mean", np.mean), ("min", np.min)):
        told[name] = (float(function(before)), float(function(after)))
    told["gap"] = float(np.abs(result.pairs[:, 0] - result.pairs[:, 1]).mean())
    told["never grew"] = bool((np.diff(result.history[:, 1:], axis=0) <= 1e-9).all())
    return told


def experiment(recipe: CategoricalMaskingSearch, seeds: int) -> Row:
    """Experiments 1 (mean), 2 (max) on all sets, and 3 (best 5 and 10 % removed, max)."""
    runs: dict[str, list[Row]] = {}
    for name in SETS:
        for seed in range(seeds):
            table, population = posed(name, seed)
            rng = np.random.default_rng([seed, 2])
            for score in ("mean", "max"):
                settings = recipe.model_copy(update={"score": score})
                result = evolve_maskings(table, population.files, settings, rng)
                runs.setdefault(f"{score} {name}", []).append(line(result))
            scores = result.scores_before
            for share in (0.05, 0.10):
                settings = recipe.model_copy(update={"score": "max"})
                rest = evolve_maskings(table, without_best(population, scores, share), settings, rng)
                runs.setdefault(f"without {share:.0%} {name}", []).append(line(rest))
    return summary(runs)


def summary(runs: dict[str, list[Row]]) -> Row:
    told: Row = {"table": [], "checks": []}
    for key, rows in runs.items():
        kind, name = key.rsplit(" ", 1)
        for place, which in enumerate(("max", "mean", "min")):
            pairs = np.array([row[which] for row in rows])
            gains = 100 * (1 - pairs[:, 1] / pairs[:, 0])
            printed = PRINTED.get((kind, name))
            told["table"].append(
                {
                    "experiment": kind,
                    "set": name,
                    "score": which,
                    "before": pairs[:, 0].mean(),
                    "after": pairs[:, 1].mean(),
                    "gain %": gains.mean(),
                    "least gain %": gains.min(),
                    "printed": printed[place] if printed else None,
                    "printed gain %": 100 * (1 - printed[place][1] / printed[place][0]) if printed else None,
                }
            )
    for name in SETS:
        smaller = [two["gap"] < one["gap"] for one, two in zip(runs[f"mean {name}"], runs[f"max {name}"], strict=True)]
        told["checks"].append(
            (name, "max ends with smaller mean |IL − DR| than mean", f"{sum(smaller)} of {len(smaller)}")
        )
        for share in ("5%", "10%"):
            gaps = [
                rest["min"][1] - full["min"][1]
                for full, rest in zip(runs[f"max {name}"], runs[f"without {share} {name}"], strict=True)
            ]
            told["checks"].append((name, f"best {share} removed: largest distance from the full minimum", max(gaps)))
    never = all(row["never grew"] for rows in runs.values() for row in rows)
    told["checks"].append(("all", "max, mean and min never grew", never))
    return told


def held_out(recipe: CategoricalMaskingSearch) -> list[Row]:
    """The best file before and after the search: its own risk, and the attacks the search did not use."""
    lines = []
    for name in SETS:
        table, population = posed(name, 0)
        result = evolve_maskings(table, population.files, recipe, np.random.default_rng(3))
        first, last = int(np.argmin(result.scores_before)), result.best
        before = hold_out(table, population.files[first], np.random.default_rng(4))
        after = hold_out(table, result.table(last), np.random.default_rng(4))
        seen = (float(result.pairs_before[first, 1]), float(result.pairs[last, 1]))
        lines.append({"set": name, "attack": "risk the search saw", "before": seen[0], "after": seen[1]})
        for attack, told in after.items():
            figures = {"before": before[attack].value, "after": told.value, "guess": told.baseline}
            lines.append({"set": name, "attack": attack, **figures})
    return lines


def front(path: Path, recipe: CategoricalMaskingSearch) -> list[Row]:
    """One run that moves the whole front, drawn before and after."""
    import vl_convert

    points, lines = [], []
    for name in SETS:
        table, population = posed(name, 0)
        result = evolve_maskings(
            table, population.files, recipe.model_copy(update={"score": "front"}), np.random.default_rng(5)
        )
        for when, pairs in (("before", result.pairs_before), ("after", result.pairs)):
            points += [{"set": name, "when": when, "loss": float(a), "risk": float(b)} for a, b in pairs]
        volumes = [float(moocore.hypervolume(p, ref=[100.0, 100.0])) / 1e4 for p in (result.pairs_before, result.pairs)]
        lines.append({"set": name, "hypervolume before": volumes[0], "after": volumes[1], "front": len(result.front())})
    chart = {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "data": {"values": points},
        "mark": {"type": "point", "filled": True, "size": 25},
        "encoding": {
            "x": {"field": "loss", "type": "quantitative", "title": "information loss"},
            "y": {"field": "risk", "type": "quantitative", "title": "disclosure risk"},
            "color": {"field": "when", "type": "nominal", "sort": ["before", "after"], "title": None},
            "column": {"field": "set", "title": None},
        },
        "width": 300,
        "height": 300,
    }
    path.write_bytes(vl_convert.vegalite_to_png(chart, scale=1.5))
    return lines


def shown(rows: list[Row]) -> str:
    """Rows as aligned text."""
    keys = list(dict.fromkeys(key for row in rows for key in row))

    def cell(value: Any) -> str:
        if isinstance(value, tuple):
            return " → ".join(cell(part) for part in value)
        return f"{value:.2f}" if isinstance(value, float) else "" if value is None else str(value)

    texts = [keys, *([cell(row.get(key)) for key in keys] for row in rows)]
    widths = [max(len(text[place]) for text in texts) for place in range(len(keys))]
    return "\n".join("  ".join(part.ljust(width) for part, width in zip(text, widths, strict=True)) for text in texts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cost", action="store_true")
    parser.add_argument("--plan", type=int)
    parser.add_argument("--experiment", action="store_true")
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--front", type=Path)
    parser.add_argument("--recipe", choices=("swift", "paper"), default="swift")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--generations", type=int)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    recipe = SWIFT if asked.recipe == "swift" else PAPER
    if asked.generations:
        recipe = recipe.model_copy(update={"generations": asked.generations})
    told: Row = {}
    if asked.cost:
        told["cost"] = cost()
    if asked.plan:
        told["plan"] = plan(asked.plan)
    if asked.experiment:
        told.update(experiment(recipe, asked.seeds))
    if asked.held_out:
        told["held out"] = held_out(recipe)
    if asked.front:
        told["front"] = front(asked.front, recipe)
    if not told:
        parser.print_help()
        sys.exit(2)
    if asked.json:
        print(json.dumps(told, indent=1, default=float))
        return
    for part, rows in told.items():
        print(f"\n{part}")
        print(shown(rows) if part != "checks" else "\n".join(" · ".join(map(str, row)) for row in rows))


if __name__ == "__main__":
    main()
