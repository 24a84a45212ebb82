"""GOMM and D-GOMM on Census and Water: the figures of the search and of its speed.

    python benchmarks/groupings.py [search] [best] [pairs] [speed] [methods] [larger] [dynamic] [operators]

`pairs` judges every division of Census into at most two groups; `methods` puts other partitioners beside MDAV; `larger`
takes random tables of 1 000, 3 000 and 10 000 records.
`speed` runs once without any cache: a minute or more for each table with the usual 100 generations, so that
`--generations 20` is enough for a first look.

The paper's tables, cell by cell, are printed by `python experiments/gomm-2014/reproduce.py`.
Reference data: the folder named by CRYPSIS_DATA, else ../shared/data beside the repository. CPU seconds throughout.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import os
import sys
import time
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "experiments"))

from pictures import MUTATIONS, average_runs, operator_picture, time_picture

from crypsis.evolution import Budget, Problem, State, evolve
from crypsis.searches.gomm import Evaluator, GommSearch, genome_of_listed_groups, groups_of
from crypsis.table.table import Table

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("CRYPSIS_DATA") or ROOT.parent / "shared" / "data")
TARGETS = {("Water", 25): 35.53, ("Water", 50): 36.46, ("Water", 100): 40.68, ("Census", 50): 15.138,
           ("Census", 100): 15.3138, ("Census", 5): 15.65, ("Census", 10): 14.133, ("Census", 25): 14.888}  # fmt: skip
NUMBERS = itertools.count()
BEST = {("Census", 50): 15.138, ("Census", 100): 15.3138,
        ("Water", 25): 34.99, ("Water", 50): 35.90, ("Water", 100): 36.99}  # fmt: skip


def load() -> dict[str, NDArray[np.float64]]:
    """Census: the first 12 attributes; Water: 38 attributes, complete records."""
    with (DATA / "census.csv").open() as file:
        census = np.array([[float(cell) for cell in row[:12]] for row in list(csv.reader(file))[1:]])
    with (DATA / "water_treatment.csv").open() as file:
        water = np.array([[float(c) for c in row[1:]] for row in list(csv.reader(file))[1:] if all(row[1:])])
    return {"Census": census, "Water": water}


def as_table(values: NDArray[np.float64]) -> Table:
    names = [f"a{j + 1}" for j in range(values.shape[1])]
    return Table.from_columns({n: values[:, j].tolist() for j, n in enumerate(names)}, dict.fromkeys(names, "quasi"))


def run(
    table: Table, seed: int, generations: int = 0, target: float = -np.inf, **settings: Any
) -> tuple[Problem, State, float, float]:
    """Problem, last state, CPU seconds, and the score after half of the generations; it ends early at the target."""
    search = GommSearch(**settings)
    rng = np.random.default_rng(seed)
    started, middle = time.process_time(), np.inf
    problem = search.pose(table, None, rng)
    budget = Budget(generations=generations or search.generations, target=target)
    for state in evolve(problem, rng, budget):
        if state.generation == budget.generations // 2:
            middle = state.best_fitness
    return problem, state, time.process_time() - started, middle


def search(data: dict[str, NDArray[np.float64]], seeds: int, recipe: str) -> None:
    goals = TARGETS if recipe == "paper" else BEST
    print(f"\n## Recipe {recipe}, {seeds} seeds (paper's convention)")
    print(
        "set,k,goal,best,median,worst,seeds at goal,groups,found at evaluation,evaluations,group evaluations,asked,cpu"
    )
    for (name, k), goal in goals.items():
        if name not in data:
            continue
        table, results = as_table(data[name]), []
        for seed in range(seeds):
            # The optimum of Census is known, so that nothing is left to look for once it is reached.
            target = goal + 1e-4 if name == "Census" and recipe == "best" else -np.inf
            problem, state, cpu, _ = run(table, seed, target=target, k=k, recipe=recipe, convention="paper")
            results.append((state.best_fitness, state, problem.evaluate.counts, cpu))  # type: ignore[attr-defined]
        fitnesses = sorted(result[0] for result in results)
        _, state, counts, _ = min(results, key=lambda result: result[0])
        print(
            name, k, goal, f"{fitnesses[0]:.4f}", f"{np.median(fitnesses):.4f}", f"{fitnesses[-1]:.4f}",
            sum(fitness <= goal + 1e-4 for fitness in fitnesses), len(groups_of(state.best)), state.best_found,
            state.evaluations, counts.group_evaluations, counts.groups_asked,
            f"{np.mean([result[3] for result in results]):.1f}", sep=",", flush=True,
        )  # fmt: skip
        print("   ", [[a + 1 for a in group] for group in groups_of(state.best)])


def pairs(values: NDArray[np.float64], sizes: list[int]) -> None:
    """The best of all divisions of the attributes into at most two groups, by the paper's convention."""
    p = values.shape[1]
    print(f"\n## Census, all {2 ** (p - 1)} divisions into at most two groups: the best five")
    for k in sizes:
        evaluate, found = Evaluator(values, GommSearch(k=k, recipe="paper").scoring_convention()), []
        for chosen in range(2 ** (p - 1)):
            sides = [tuple(a for a in range(p) if (chosen >> a & 1) == side) for side in (0, 1)]
            groups = [side for side in sides if side]
            found.append((sum(evaluate(genome_of_listed_groups(groups, p, k))) / 2, groups))
        for score, groups in sorted(found)[:5]:
            print(f"k = {k}: {score:.4f}", [[a + 1 for a in group] for group in groups], flush=True)


class Forgetful(Evaluator):
    """The evaluator with every memory off: no groups kept, no distances kept, all pairs of records compared."""

    def __call__(self, genome: NDArray[Any]) -> tuple[float, ...]:
        found = self.fitness_in_full(genome)
        return found.IL, self.risk(found)


def always_new(genome: NDArray[Any]) -> bytes:
    """A key that no other genome has, so that clones are paid for too."""
    return next(NUMBERS).to_bytes(8, "big")


def speed(data: dict[str, NDArray[np.float64]], generations: int) -> None:
    print("\n## A whole paper-recipe run, k = 25, CPU seconds including compilation or its cache", flush=True)
    for name, values in data.items():
        _, state, cpu, _ = run(as_table(values), 0, k=25, recipe="paper")
        print(f"{name}: {cpu:.1f} s, {state.evaluations} evaluations, score {state.best_fitness:.4f}", flush=True)
    print(f"\n## The same run, {generations} generations, with all caches and with none (same result)", flush=True)
    for name, values in data.items():
        table = as_table(values)
        _, quick, cached, _ = run(table, 0, generations=generations, k=25, recipe="paper")
        settings = GommSearch(k=25, recipe="paper")
        rng = np.random.default_rng(0)
        posed = settings.pose(table, None, rng)
        plain = Forgetful(values, settings.scoring_convention())
        plain(posed.start[0])  # compiled before the clock starts, as the other already is
        bare = Problem(always_new, posed.strategy, posed.start, plain, posed.objectives, remember=0)
        started = time.process_time()
        state = deque(evolve(bare, rng, Budget(generations=generations)), maxlen=1).pop()
        slow = time.process_time() - started
        same = np.allclose(state.scores, quick.scores, atol=1e-9)
        print(f"{name}: {cached:.2f} s with, {slow:.2f} s without: {slow / cached:.1f} times; {same=}", flush=True)


def methods(data: dict[str, NDArray[np.float64]], generations: int) -> None:
    """Other partitioners in place of MDAV, compiled before the clock starts."""
    print(f"\n## The first {generations} generations by other partitioners, k = 25, CPU seconds", flush=True)
    for name, values in data.items():
        for partitioner in ("mdav", "v-mdav", "cbfs", "univariate"):
            settings = {"k": 25, "recipe": "paper", "partitioner": partitioner}
            run(as_table(values[:100]), 0, generations=1, **settings)
            _, state, cpu, _ = run(as_table(values), 0, generations=generations, **settings)
            print(f"{name}, {partitioner}: {cpu:.2f} s, {state.evaluations} evaluations, {state.best_fitness:.2f}")


def larger() -> None:
    """What an evaluation costs as the table grows: 8 related columns, a first population of 20 and a generation."""
    print("\n## Larger tables, 8 columns, k = 5, CPU seconds per evaluation", flush=True)
    before = (0, 0.0)
    for n in (200, 1_000, 3_000, 10_000):  # the first is compiled on and not told
        rng = np.random.default_rng(0)
        table = as_table(rng.standard_normal((n, 8)) @ rng.standard_normal((8, 8)))
        _, state, cpu, _ = run(table, 0, generations=1, k=5, recipe="paper", population=20)
        each = cpu / state.evaluations
        if n > 1_000:
            print(
                f"{n} records: {each:.4f} s, growth n^{np.log(each / before[1]) / np.log(n / before[0]):.2f}",
                flush=True,
            )
        elif n == 1_000:
            print(f"{n} records: {each:.4f} s", flush=True)
        before = (n, each)


def dynamic(data: dict[str, NDArray[np.float64]], seeds: int, sizes: list[int], folder: Path) -> None:
    print(f"\n## GOMM and D-GOMM on Water, {seeds} seeds")
    print(
        "k,same best,not worse,fewer evaluations,less time,evaluations,D-GOMM,seconds,D-GOMM,speed-up,mean difference"
    )
    table, bars = as_table(data["Water"]), []
    for k in sizes:
        pairs = [
            [run(table, seed, k=k, recipe=recipe)[1:3] for recipe in ("paper", "dynamic")] for seed in range(seeds)
        ]
        plain, quick = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        gap = np.array([d[0].best_fitness - g[0].best_fitness for g, d in pairs])
        evaluations = [np.mean([state.evaluations for state, _ in runs]) for runs in (plain, quick)]
        seconds = [float(np.mean([cpu for _, cpu in runs])) for runs in (plain, quick)]
        print(
            k, int((abs(gap) <= 1e-9).sum()), int((gap <= 1e-9).sum()),
            sum(d[0].evaluations < g[0].evaluations for g, d in pairs), sum(d[1] < g[1] for g, d in pairs),
            *(f"{e:.0f}" for e in evaluations), *(f"{s:.2f}" for s in seconds), f"{seconds[0] / seconds[1]:.2f}",
            f"{gap.mean():+.4f}", sep=",", flush=True,
        )  # fmt: skip
        bars += [{"k": k, "algorithm": a, "seconds": s} for a, s in zip(("GOMM", "D-GOMM"), seconds, strict=True)]
    draw(time_picture(bars, "Time of GOMM and D-GOMM by k (Water, 100 generations)"), folder / "gomm-time")


def operators(data: dict[str, NDArray[np.float64]], seeds: int, folder: Path) -> None:
    table = as_table(data["Water"])
    rows = average_runs([run(table, seed, k=25, recipe="paper")[1].settle_tally() for seed in range(seeds)])
    draw(operator_picture(rows, MUTATIONS, f"Mutations, Water k = 25, mean of {seeds} runs"), folder / "gomm-mutations")
    draw(
        operator_picture(rows, ("crossover",), f"Crossover, Water k = 25, mean of {seeds} runs"),
        folder / "gomm-crossover",
    )
    ours = average_runs(
        [run(table, s, k=25, recipe="paper", start="heuristic")[1].settle_tally() for s in range(seeds)]
    )
    draw(operator_picture(ours, MUTATIONS, "Mutations, heuristic start"), folder / "gomm-mutations-customary-start")


def draw(spec: dict[str, Any], path: Path) -> None:
    import vl_convert

    path.parent.mkdir(parents=True, exist_ok=True)
    path.with_suffix(".vl.json").write_text(json.dumps(spec))
    path.with_suffix(".png").write_bytes(vl_convert.vegalite_to_png(json.dumps(spec), scale=1.3))
    print(f"drawn: {path.with_suffix('.png')}")


def main() -> None:
    parts = ("search", "best", "pairs", "speed", "methods", "larger", "dynamic", "operators")
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("parts", nargs="*", choices=parts, default=["speed"])
    asked.add_argument("--seeds", type=int, default=3)
    asked.add_argument("--sets", nargs="+", choices=("Census", "Water"), default=["Census", "Water"])
    asked.add_argument("--generations", type=int, default=100, help="of the parts speed and methods")
    asked.add_argument("--k", type=int, nargs="+", default=[5, 10, 25, 50, 100], help="of the parts pairs and dynamic")
    asked.add_argument("--folder", type=Path, default=Path("out"))
    given = asked.parse_args()
    data = {name: values for name, values in load().items() if name in given.sets}
    if "search" in given.parts:
        search(data, given.seeds, "paper")
    if "best" in given.parts:
        search(data, given.seeds, "best")
    if "pairs" in given.parts:
        pairs(data["Census"], given.k)
    if "speed" in given.parts:
        speed(data, given.generations)
    if "methods" in given.parts:
        methods(data, given.generations)
    if "larger" in given.parts:
        larger()
    if "dynamic" in given.parts:
        dynamic(data, given.seeds, given.k, given.folder)
    if "operators" in given.parts:
        operators(data, given.seeds, given.folder)


if __name__ == "__main__":
    main()
