"""What kernels cost to compile and to run, and what a first command costs from an empty cache.

    python benchmarks/compiling.py                          every case, about four minutes
    python benchmarks/compiling.py --only mdav roll_up      some of them
    python benchmarks/compiling.py --against OTHER/src      beside another source tree, run by run in turn
    python benchmarks/compiling.py --commands               mask and demo, cold and with the cache they left
    python benchmarks/compiling.py --wheel FILE             the same with a wheel, unpacked elsewhere (scripts/wheel)
    python benchmarks/compiling.py --json compiling.json    the same as JSON; new figures replace old ones
    python benchmarks/compiling.py --table compiling.json   such a file as the table of docs/decisions/0018

Every case runs in a process of its own with an empty cache folder. Seconds are CPU of that process and its children.
Compiling: the first call less the second. Running: the best of the later calls. Kernels
that a command compiled are those its cache holds at its end.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Case = Callable[[], Callable[[], Any]]
SOURCE = Path(__file__).resolve().parents[1] / "src"
CALLS, ENOUGH = 7, 1.5
"""Calls at most, and CPU seconds after which three of them are enough."""


def points(n: int, p: int) -> Any:
    return np.random.default_rng(1).standard_normal((n, p))


def mdav() -> Callable[[], Any]:
    from crypsis.kernels import partitions

    values = points(4000, 6)
    return lambda: partitions.mdav(values, 5, partitions.GENERIC, partitions.EUCLIDEAN)


def mdav_by_tree() -> Callable[[], Any]:
    from crypsis.kernels import partitions

    values = points(20000, 4)
    return lambda: partitions.mdav_by_tree(values, 5, partitions.GENERIC, partitions.EUCLIDEAN)


def v_mdav() -> Callable[[], Any]:
    from crypsis.kernels import partitions

    values = points(2000, 6)
    return lambda: partitions.v_mdav(values, 5, 0.5)


def cbfs() -> Callable[[], Any]:
    from crypsis.kernels import partitions

    values = points(3000, 6)
    return lambda: partitions.cbfs(values, 5)


def path_optimum() -> Callable[[], Any]:
    from crypsis.kernels import optimal_partitions

    values = points(20000, 6)
    return lambda: optimal_partitions.path_optimum(values, 5)


def univariate_optimum() -> Callable[[], Any]:
    from crypsis.kernels import optimal_partitions

    values = np.sort(points(200_000, 1)[:, 0])
    return lambda: optimal_partitions.univariate_optimum(values, 5)


def halve_until() -> Callable[[], Any]:
    from crypsis.kernels import halving

    values = points(200_000, 6)
    return lambda: halving.halve_until(values, np.arange(len(values)), 1000, 5)


def tour() -> Callable[[], Any]:
    from scipy.spatial import cKDTree

    from crypsis.kernels import tsp

    values = points(1500, 4)
    near = np.ascontiguousarray(cKDTree(values).query(values, 9)[1][:, 1:].astype(np.int32))
    return lambda: tsp.build_tour(values, near, 0)


def memetic() -> Callable[[], Any]:
    """Neighbours, annealing, regions and exact repairs, for a fixed amount of work."""
    import crypsis

    values = points(1000, 4)
    return lambda: crypsis.partition(values, 5, method="memetic", seed=1, steps=4)


def linkage() -> Callable[[], Any]:
    import crypsis

    table = crypsis.example(4000)
    masked = crypsis.Microaggregation(k=5).mask(table, np.random.default_rng(1))
    bound = crypsis.RecordLinkage().against(table)
    return lambda: bound.read(masked)


def lattice_context() -> Any:
    import crypsis
    from crypsis.searches.pbg_ea.evaluation import prepare_lattice_evaluation
    from crypsis.table.lattice import Lattice

    table = crypsis.example(4000)
    return prepare_lattice_evaluation(table, Lattice.of(table), None, None, False)


def roll_up() -> Callable[[], Any]:
    context = lattice_context()
    return lambda: context.judge_nodes(2, 40, 5, 0, 5)


def read_one() -> Callable[[], Any]:
    context = lattice_context()
    nodes = [context.lattice.levels(number) for number in range(0, context.lattice.size, context.lattice.size // 20)]
    return lambda: [context.judge_node(levels, 2, 40, 5) for levels in nodes]


def local_recoding() -> Callable[[], Any]:
    import crypsis

    table = crypsis.example(2000)
    return lambda: crypsis.LocalRecoding(k=5).mask(table, np.random.default_rng(1))


def fronts() -> Callable[[], Any]:
    from crypsis.kernels import dominance

    values = points(3000, 2)
    return lambda: dominance.fronts(values)


def strengths() -> Callable[[], Any]:
    from crypsis.kernels import dominance

    values = points(800, 2)
    return lambda: dominance.strengths(values)


def undominated() -> Callable[[], Any]:
    from crypsis.kernels import dominance

    values = points(100_000, 3)
    order = np.lexsort(values.T[::-1])
    return lambda: dominance.find_undominated(values, order)


def sse() -> Callable[[], Any]:
    from crypsis.kernels import annealing

    values, labels = points(100_000, 6), np.repeat(np.arange(20_000, dtype=np.int32), 5)
    return lambda: annealing.sse(values, labels)


def genetic() -> Callable[[], Any]:
    import crypsis

    values = points(100, 3)
    return lambda: crypsis.partition(values, 5, method="genetic", seed=1, settings={"epochs": 40})


def composite() -> Callable[[], Any]:
    """First groups, neighbours and a walk over the groups."""
    import crypsis
    from crypsis.engines import Serial
    from crypsis.searches import searches

    table, search = crypsis.example(400), searches.build("composite", k=5)

    def work() -> None:
        problem = search.problem(search.encoding(table), None, np.random.default_rng(0))
        state = problem.strategy.begin(problem, np.random.default_rng(0), Serial())
        for _ in range(30):
            state = problem.strategy.advance(problem, state, Serial())

    return work


def grouping() -> Callable[[], Any]:
    """The search of attribute groups on numbers, for two generations."""
    import crypsis

    names = [f"x{place}" for place in range(6)]
    columns = dict(zip(names, points(300, 6).T, strict=True))
    table = crypsis.Table.from_columns(columns, roles=dict.fromkeys(names, "quasi"))
    return lambda: crypsis.evolve(table, "gomm", budget="2 generations", seed=1).close()


def categories() -> Callable[[], Any]:
    """Every measure of categories and the probabilistic intruder: agreement, contingency, ledger."""
    import crypsis

    table = crypsis.example(400)
    masked = crypsis.Pram().mask(table, np.random.default_rng(1))
    kinds = ("ContingencyLoss", "DistanceLoss", "EntropyLoss", "CategoryLinkage", "ProbabilisticLinkage")
    bound = [getattr(crypsis, kind)().against(table) for kind in kinds]
    return lambda: [each.read(masked) for each in bound]


def masking() -> Callable[[], Any]:
    """The search over masked files of categories: mutations, trials and ledger."""
    import crypsis

    table = crypsis.example(200)
    return lambda: crypsis.evolve(table, "categorical-masking", budget="2 generations", seed=1).close()


def mixed_masking() -> Callable[[], Any]:
    import crypsis

    table = crypsis.example(200)
    return lambda: crypsis.evolve(table, "mixed-masking", budget="2 generations", seed=1).close()


def randomising() -> Callable[[], Any]:
    import crypsis

    table = crypsis.example(20_000)
    return lambda: [method.mask(table, np.random.default_rng(1)) for method in (crypsis.Pram(), crypsis.RankSwapping())]


def subsets() -> Callable[[], Any]:
    """The proven optimum of a few records."""
    from crypsis.searches.partitions.lower_bound import optimal_partition

    values = points(14, 2)
    return lambda: optimal_partition(values, 3)


def diversity() -> Callable[[], Any]:
    """Searches under l-diversity: contents of classes, in the lattice and in groups of records."""
    import crypsis

    table, demanded = crypsis.example(300), crypsis.LDiversity(l=2)
    names = ("pbg-ea", "local-recoding", "memetic")
    return lambda: [crypsis.evolve(table, name, demanded, budget="2 generations", seed=1).close() for name in names]


CASES: dict[str, Case] = {
    case.__name__: case
    for case in (
        mdav, mdav_by_tree, v_mdav, cbfs, path_optimum, univariate_optimum, halve_until, tour, memetic, linkage,
        roll_up, read_one, local_recoding, fronts, strengths, undominated, sse, genetic, composite, grouping,
        categories, masking, mixed_masking, randomising, subsets, diversity,
    )
}  # fmt: skip


def used() -> float:
    """CPU seconds of this process and of its children that have ended."""
    return sum(
        spent.ru_utime + spent.ru_stime
        for spent in (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    )


def one(name: str) -> dict[str, float]:
    """Compile and run a case in this process."""
    call = CASES[name]()
    seconds: list[float] = []
    while len(seconds) < CALLS and (len(seconds) < 4 or sum(seconds[1:]) < ENOUGH):
        before = time.process_time()
        call()
        seconds.append(time.process_time() - before)
    return {"compiling": max(seconds[0] - seconds[1], 0.0), "running": min(seconds[1:])}


def apart(name: str, source: Path) -> dict[str, float] | None:
    """The same in a process of its own with an empty cache; None where the source has no such case."""
    with tempfile.TemporaryDirectory() as folder:
        made = subprocess.run(
            [sys.executable, __file__, "--here", name],
            env={**os.environ, "PYTHONPATH": str(source), "NUMBA_CACHE_DIR": folder},
            capture_output=True,
            text=True,
        )
    if made.returncode:
        print(f"{name}: {made.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return None
    return dict(json.loads(made.stdout))


def commands(source: Path) -> list[dict[str, Any]]:
    """CPU and wall seconds of mask and demo: from an empty cache, then with what was compiled."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        table, environment = place / "people.csv", {**os.environ, "PYTHONPATH": str(source)}
        python = [sys.executable, "-c", "import sys; from crypsis.cli import main; sys.argv[0] = 'crypsis'; main()"]
        written = "import crypsis, sys; crypsis.write_table(crypsis.example(1000), sys.argv[1])"
        subprocess.run([sys.executable, "-c", written, str(table)], check=True, env=environment)
        for name in ("mask", "demo"):
            for state in ("cold", "warm"):
                mask = ["mask", str(table), "microaggregation", "--set", "k=5", "--quasi", "age,hours", "--seed", "1"]
                out = place / f"{name}-{state}"
                told = [*mask, "-o", f"{out}.csv"] if name == "mask" else ["demo", "--folder", str(out)]
                before, began = used(), time.perf_counter()
                kept = {**environment, "NUMBA_CACHE_DIR": str(place / f"cache-{name}")}
                subprocess.run([*python, *told], check=True, env=kept, capture_output=True)
                compiled = len(list((place / f"cache-{name}").rglob("*.nbc")))
                rows.append({"command": name, "cache": state, "cpu": used() - before, "compiled": compiled})
                rows[-1]["wall"] = time.perf_counter() - began
    return rows


def as_table(found: dict[str, Any]) -> str:
    """Seconds to compile, milliseconds to run and their ratio, as Markdown."""
    lines = ["| Case | Compiling before, s | after, s | Running before, ms | after, ms | after ÷ before |"]
    lines.append("|---|--:|--:|--:|--:|--:|")
    for name, rows in found.items():
        before, after = rows["before"], rows["after"]
        ratio = f"{after['running'] / before['running']:.2f}" if before else "–"
        first, ran = (f"{before['compiling']:.1f}", f"{1000 * before['running']:.2f}") if before else ("–", "–")
        lines.append(
            f"| {name} | {first} | {after['compiling']:.1f} | {ran} | {1000 * after['running']:.2f} | {ratio} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", choices=sorted(CASES), default=[])
    parser.add_argument("--against", type=Path)
    parser.add_argument("--commands", action="store_true")
    parser.add_argument("--wheel", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--table", type=Path)
    parser.add_argument("--here", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.here:
        print(json.dumps(one(given.here)))
        return
    if given.table:
        print(as_table(json.loads(given.table.read_text(encoding="utf-8"))))
        return
    trees = {"after": SOURCE} if given.against is None else {"before": given.against, "after": SOURCE}
    kept = given.json is not None and given.json.exists()
    found: dict[str, Any] = json.loads(given.json.read_text(encoding="utf-8")) if kept else {}
    unpacked = tempfile.TemporaryDirectory()
    if given.wheel:
        zipfile.ZipFile(given.wheel).extractall(unpacked.name)
        trees = {"wheel": Path(unpacked.name)}
    if given.commands or given.wheel:
        for label, source in trees.items():
            found[label] = commands(source)
            for row in found[label]:
                print(
                    f"{label:7} {row['command']:5} {row['cache']:5} {row['cpu']:6.1f} s CPU {row['wall']:6.1f} s wall, "
                    f"{row['compiled']} kernels compiled"
                )
    else:
        print(
            f"{'kernel':20}"
            + "".join(f"{label + ' compiling s':>20}{'running ms':>12}" for label in trees)
            + "   ratio"
        )
        for name in given.only or CASES:
            rows = {label: apart(name, source) for label, source in trees.items()}
            found[name] = rows
            text = f"{name:20}"
            for row in rows.values():
                text += f"{row['compiling']:20.2f}{1000 * row['running']:12.2f}" if row else f"{'-':>20}{'-':>12}"
            times = [row["running"] for row in rows.values() if row]
            print(text + (f"{times[-1] / times[0]:8.2f}" if len(times) == 2 else ""), flush=True)
            save(found, given.json)
    save(found, given.json)


def save(found: dict[str, Any], path: Path | None) -> None:
    if path is not None:
        path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
