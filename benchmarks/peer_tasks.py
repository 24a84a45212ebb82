"""One task done once by Crypsis or by a peer, in the environment of whoever runs this; see peers.py.

    python benchmarks/peer_tasks.py TOOL TASK FOLDER [TIMES]

The inputs lie in FOLDER; the answer is one line of JSON: CPU seconds of the best of TIMES runs, warm, and the result.
Labels are written to FOLDER so that both sides are judged by the same code.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

K = 5
LIMIT = 0.01
FEW = 3000
"""Records of Adult for local recoding: the peer needs minutes for all of them."""
SEEDS = 20
"""Seeds of one round of NSGA-II: what a front misses differs by two orders of magnitude from seed to seed."""
Answer = dict[str, Any]


def best(times: int, work: Callable[[], Any], warm: Callable[[], Any] | None = None) -> tuple[float, Any]:
    if warm is not None:
        warm()
    spent, result = float("inf"), None
    for _ in range(times):
        started = time.process_time()
        result = work()
        spent = min(spent, time.process_time() - started)
    return spent, result


def labels(folder: Path, tool: str, found: Any) -> Answer:
    np.save(folder / f"labels-{tool}.npy", np.asarray(found, dtype=np.int32))
    return {}


def frame(folder: Path, name: str) -> Any:
    import pandas

    return pandas.read_csv(folder / f"{name}.csv", dtype=str)


# -- univariate optimum --


def univariate(tool: str, folder: Path, times: int) -> Answer:
    values = np.load(folder / "univariate.npy")
    if tool == "crypsis":
        from crypsis.masking import partitioners

        method, rng = partitioners.build("univariate"), np.random.default_rng(0)
        spent, found = best(
            times,
            lambda: method.partition(values[:, None], K, rng),
            lambda: method.partition(values[:999, None], K, rng),
        )
    else:
        from microagg1d import univariate_microaggregation

        way = tool.partition(" ")[2] or "auto"
        spent, found = best(
            times,
            lambda: univariate_microaggregation(values, K, method=way),
            lambda: univariate_microaggregation(values[:999], K, method=way),
        )
    return {"seconds": spent, **labels(folder, tool, found)}


# -- MDAV --


def mdav(tool: str, folder: Path, times: int, name: str = "mdav", k: int = K) -> Answer:
    points = np.load(folder / f"{name}.npy")
    if tool.startswith("crypsis"):
        from crypsis.masking import partitioners

        way = tool.partition(" ")[2] or "mdav"
        import crypsis.searches  # noqa: F401 (registers memetic)

        method = partitioners.build(way)
        spent, found = best(
            times,
            lambda: method.partition(points, k, np.random.default_rng(1)),
            lambda: method.partition(points[:99], k, np.random.default_rng(1)),
        )
        return {"seconds": spent, **labels(folder, tool, found)}
    import pandas
    from anonypyx.microaggregation import MDAVGeneric

    columns = [f"a{place}" for place in range(points.shape[1])]
    data = pandas.DataFrame(points, columns=columns)
    spent, groups = best(times, lambda: MDAVGeneric(data, columns).partition(k))
    found = np.empty(len(points), np.int32)
    for place, group in enumerate(groups):
        found[np.asarray(group)] = place
    return {"seconds": spent, **labels(folder, tool, found)}


# -- generalise Adult to k-anonymity --


def generalise(tool: str, folder: Path, times: int) -> Answer:
    if tool == "crypsis":
        from lattices import adult

        from crypsis.searches.pbg_ea import optimal_lattice_node

        table = adult()
        spent, node = best(
            times, lambda: optimal_lattice_node(table, K, LIMIT), lambda: optimal_lattice_node(table, K, LIMIT)
        )
        return {"seconds": spent, "levels": [int(level) for level in node.levels], "suppressed": int(node.suppressed)}
    from anjana.anonymity import k_anonymity
    from anjana.anonymity.utils import utils

    data = frame(folder, "adult")
    trees = json.loads((folder / "hierarchies.json").read_text())
    hierarchies = {name: {level: np.array(row) for level, row in enumerate(rows)} for name, rows in trees.items()}
    quasi = list(trees)
    spent, found = best(times, lambda: k_anonymity(data, [], quasi, K, 100 * LIMIT, hierarchies))
    return {
        "seconds": spent,
        "levels": [int(level) for level in utils.get_transformation(found, quasi, hierarchies)],
        "suppressed": len(data) - len(found),
    }


# -- which class each record falls into after local recoding --


def recode(tool: str, folder: Path, times: int) -> Answer:
    if tool == "crypsis":
        from lattices import adult

        from crypsis.masking.local_recoding import LocalRecoding

        table = adult().take(np.arange(FEW))
        spent, masked = best(times, lambda: LocalRecoding(k=K, loss="glm").mask(table, np.random.default_rng(1)))
        classes = np.unique(masked.codes(table.quasi_identifiers), axis=0, return_inverse=True)[1]
        return {"seconds": spent, **labels(folder, tool, classes)}
    from anonypyx import models
    from anonypyx.mondrian import Mondrian

    data = frame(folder, "adult").head(FEW)
    quasi = list(json.loads((folder / "hierarchies.json").read_text()))
    data["age"] = data["age"].astype(int)
    for name in quasi:
        if name != "age":
            data[name] = data[name].astype("category")
    spent, groups = best(times, lambda: Mondrian(data, quasi).partition([models.kAnonymity(K)]))
    found = np.empty(len(data), np.int32)
    for place, group in enumerate(groups):
        found[np.asarray(group)] = place
    return {"seconds": spent, **labels(folder, tool, found)}


# -- which k, l and t a table has --


def models_of(tool: str, folder: Path, times: int, which: str, name: str) -> Answer:
    data = frame(folder, name)
    sensitive = "occupation"
    quasi = [column for column in data.columns if column != sensitive]
    if tool == "crypsis":
        import crypsis
        from crypsis.privacy import KAnonymity, LDiversity, TCloseness

        model = {
            "k": KAnonymity(k=2), "l": LDiversity(l=2), "entropy l": LDiversity(l=2, kind="entropy"),
            "t": TCloseness(t=0.5, distance="equal"),
        }[which]  # fmt: skip

        def work() -> float:
            table = crypsis.wrap(
                data, quasi_identifiers=quasi, confidential=[sensitive], kinds=dict.fromkeys(data.columns, "nominal")
            )
            return model.judge(table).attained

        spent, value = best(times, work, work)
        return {"seconds": spent, "value": float(value)}
    from pycanon import anonymity

    call = {
        "k": lambda: anonymity.k_anonymity(data, quasi),
        "l": lambda: anonymity.l_diversity(data, quasi, [sensitive]),
        "entropy l": lambda: anonymity.entropy_l_diversity(data, quasi, [sensitive]),
        "t": lambda: anonymity.t_closeness(data, quasi, [sensitive]),
    }[which]
    spent, value = best(times, call)
    return {"seconds": spent, "value": float(value)}


# -- NSGA-II over the nodes of a lattice, scores looked up --


def sort(tool: str, folder: Path, times: int) -> Answer:
    scores = np.load(folder / "sort.npy")
    if tool == "crypsis":
        from crypsis.kernels.dominance import fronts

        spent, rank = best(times, lambda: fronts(scores), lambda: fronts(scores[:9]))
        return {"seconds": spent, "sizes": np.bincount(np.asarray(rank) - int(np.min(rank))).tolist()}
    from pymoo.util.nds.non_dominated_sorting import NonDominatedSorting

    spent, found = best(times, lambda: NonDominatedSorting().do(scores), lambda: NonDominatedSorting().do(scores[:9]))
    return {"seconds": spent, "sizes": [len(front) for front in found]}


def nsga2(tool: str, folder: Path, times: int) -> Answer:
    content = np.load(folder / "nodes.npz")
    scores, heights, strides = content["scores"], content["heights"], content["strides"]
    population, generations = 100, 20
    run = _ours if tool == "crypsis" else _pymoo
    run(scores, heights, strides, population, 2, 0)
    spent, volumes, fronts = 0.0, [], []
    for seed in range(times * SEEDS):
        started = time.process_time()
        found = run(scores, heights, strides, population, generations, seed)
        spent += time.process_time() - started
        volumes.append(_volume(found))
        fronts.append(np.asarray(found).tolist())
    return {
        "seconds": spent / len(volumes),
        "value": float(np.mean(volumes)),
        "truth": _volume(scores),
        "fronts": fronts,
    }


def _volume(scores: Any) -> float:
    """Hypervolume to be reached, as both sides count it: scores lie in [0, 1] and are minimised."""
    import moocore

    return float(moocore.hypervolume(np.unique(scores, axis=0), ref=[1.0] * scores.shape[1]))


def _ours(scores: Any, heights: Any, strides: Any, population: int, generations: int, seed: int) -> Any:
    from dataclasses import replace

    from lattices import adult

    from crypsis.evolution import Budget, evolve
    from crypsis.searches.pbg_ea import PbgEaSearch
    from crypsis.searches.pbg_ea.operators import draw_first_pbg_nodes
    from crypsis.table.lattice import Lattice

    if not POSED:
        table = adult()
        search = PbgEaSearch(indices=("k", "glm"), method="nsga2", population=population)
        POSED.extend([search.pose(table, None, np.random.default_rng(0)), Lattice.of(table)])
    start = draw_first_pbg_nodes(POSED[1], np.random.default_rng(seed), population)
    looked_up = replace(POSED[0], start=start, evaluate=lambda genome: tuple(scores[int(genome @ strides)].tolist()))
    *_, state = evolve(looked_up, np.random.default_rng(1000 + seed), Budget(generations=generations))
    return state.frontier.scores


def judge_nsga2(tool: str, folder: Path, times: int) -> Answer:
    """The hypervolume both sides missed, by pymoo's own indicator."""
    from pymoo.indicators.hv import HV

    scores = np.load(folder / "nodes.npz")["scores"]
    volume = HV(ref_point=np.ones(scores.shape[1]))
    whole = float(volume(np.unique(scores, axis=0)))
    fronts = json.loads((folder / "judged.json").read_text())
    return {"seconds": 0.0, "value": whole - float(np.mean([volume(np.array(front)) for front in fronts]))}


POSED: list[Any] = []
"""The problem and its lattice, posed once: reading Adult is no part of the search."""


def _pymoo(scores: Any, heights: Any, strides: Any, population: int, generations: int, seed: int) -> Any:
    from pymoo.algorithms.moo.nsga2 import NSGA2
    from pymoo.core.problem import Problem
    from pymoo.operators.crossover.pntx import SinglePointCrossover
    from pymoo.operators.mutation.pm import PM
    from pymoo.operators.repair.rounding import RoundingRepair
    from pymoo.operators.sampling.rnd import IntegerRandomSampling
    from pymoo.optimize import minimize

    class Nodes(Problem):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(n_var=len(heights), n_obj=scores.shape[1], xl=0, xu=heights, vtype=int)

        def _evaluate(self, x: Any, out: Any, *_: Any, **__: Any) -> None:
            out["F"] = scores[x.astype(int) @ strides]

    algorithm = NSGA2(
        pop_size=population, sampling=IntegerRandomSampling(), crossover=SinglePointCrossover(prob=0.8),
        mutation=PM(prob=1.0, prob_var=1 / len(heights), repair=RoundingRepair()), eliminate_duplicates=True,
    )  # fmt: skip
    return minimize(Nodes(), algorithm, ("n_gen", generations), seed=seed).F


TASKS: dict[str, Callable[[str, Path, int], Answer]] = {
    "univariate": univariate,
    "mdav": mdav,
    "census": lambda tool, folder, times: mdav(tool, folder, times, "census", 3),
    "generalise": generalise,
    "recode": recode,
    "sort": sort,
    "nsga2": nsga2,
    "judged nsga2": judge_nsga2,
    "k of 1 M": lambda tool, folder, times: models_of(tool, folder, times, "k", "million"),
    "k": lambda tool, folder, times: models_of(tool, folder, times, "k", "coarse"),
    "judged k": lambda tool, folder, times: models_of(tool, folder, times, "k", "judged"),
    "l": lambda tool, folder, times: models_of(tool, folder, times, "l", "coarse"),
    "entropy l": lambda tool, folder, times: models_of(tool, folder, times, "entropy l", "coarse"),
    "t": lambda tool, folder, times: models_of(tool, folder, times, "t", "coarse"),
}


def main() -> None:
    tool, task, folder, *times = sys.argv[1:]
    print("\n" + json.dumps(TASKS[task](tool, Path(folder), int(times[0]) if times else 3)))


if __name__ == "__main__":
    main()
