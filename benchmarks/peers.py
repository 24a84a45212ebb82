"""Crypsis beside its peers from the package index: the same data, the same task, one run; time and quality.

    python benchmarks/peers.py [--environment FOLDER] [--json FILE] [--picture FILE] [--only TASK …]

The peers are installed into an environment of their own, made on the first run. Every task is done by each side in a
child of this process, one after the other on one core; seconds are CPU, the best of the runs, warm. Adult is looked for
in CRYPSIS_DATA, else in ../shared/data. A run fails only on a wrong result: values that should agree and do not.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import venv
from dataclasses import asdict, dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import vl_convert
from lattices import QUASI, adult, hierarchy

from crypsis.kernels.annealing import sse
from crypsis.masking.generalisation import Generalisation
from crypsis.measures.generalisation_loss import GeneralLoss
from crypsis.searches.pbg_ea import evaluate_lattice, optimal_lattice_node
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.lattice import Lattice
from crypsis.table.table import Table

HERE = Path(__file__).resolve().parent
PEERS = ("microagg1d==0.4.0", "anonypyx==0.2.11", "anjana==1.2.3", "pycanon==1.3.5", "pymoo==0.6.2")
K = 5
HEAD = ",".join((*QUASI, "occupation"))
ONE_CORE = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS"), "1")


@dataclass(frozen=True)
class Task:
    """What is asked of both sides."""

    name: str
    what: str
    peer: str
    ours: str
    measure: str
    times: int = 3
    own_times: int = 3
    agree: bool = False
    """Whether the two results must be the same number."""


TASKS = (
    Task("univariate", "optimal groups of 5 of 1 000 000 numbers", "microagg1d", "crypsis", "SSE"),
    Task("univariate", "the same, by its exact method", "microagg1d wilber", "crypsis", "SSE", agree=True),
    Task("mdav", "MDAV, 5 000 records × 10, k = 5", "anonypyx", "crypsis", "SSE", times=1),
    Task("mdav", "the same records, as little loss as possible", "anonypyx", "crypsis memetic", "SSE", 1, 1),
    Task("generalise", "Adult 5-anonymous, full domain, ≤ 1 % suppressed", "anjana", "crypsis", "mean cell loss", 1),
    Task(
        "recode",
        "3 000 records of Adult 5-anonymous, local recoding",
        "anonypyx",
        "crypsis",
        "values per cell and class",
        1,
        1,
    ),
    Task("k of 1 M", "k of 1 000 000 records, 8 keys", "pycanon", "crypsis", "k", 1, agree=True),
    Task("k", "k of Adult generalised, 8 keys", "pycanon", "crypsis", "k", agree=True),
    Task("l", "distinct l of the same", "pycanon", "crypsis", "l", 1, agree=True),
    Task("entropy l", "entropy l of the same", "pycanon", "crypsis", "l", 1),
    Task("t", "t of the same, equal distances", "pycanon", "crypsis", "t", 1, agree=True),
    Task("sort", "sort 3 000 points of 3 objectives into fronts", "pymoo", "crypsis", "fronts", agree=True),
    Task("nsga2", "NSGA-II over 17 920 nodes, 100 × 20, scores looked up", "pymoo", "crypsis", "hypervolume missed"),
)


@dataclass(frozen=True)
class Row:
    task: str
    peer: str
    ours: str
    measure: str
    seconds: float
    peer_seconds: float
    time_ratio: float
    quality: float
    peer_quality: float
    quality_ratio: float
    """Ours by theirs, low is better; 1 where the results agree."""


def environment(folder: Path, packages: tuple[str, ...] = PEERS) -> Path:
    """The Python of the peers' environment, made if it is not there."""
    python = folder / "bin" / "python"
    if not python.is_file():
        venv.create(folder, with_pip=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", *packages], check=True)
    return python


def prepare(folder: Path) -> Table:
    """Write what the tasks read."""
    rng = np.random.default_rng(3)
    np.save(folder / "univariate.npy", rng.standard_normal(1_000_000))
    points = rng.standard_normal((5_000, 10))
    np.save(folder / "mdav.npy", (points - points.mean(axis=0)) / points.std(axis=0, ddof=1))
    np.save(folder / "sort.npy", rng.random((3_000, 3)))
    table = adult()
    trees = {name: hierarchy(name) for name in QUASI}
    rows = {
        name: [[tree.labels[level][group] for group in tree.groups[level]] for level in range(len(tree.groups))]
        for name, tree in trees.items()
    }
    (folder / "hierarchies.json").write_text(json.dumps(rows))
    write_csv(table, folder / "adult.csv", (*QUASI, "occupation"))
    coarse = generalised(table, trees, optimal_lattice_node(table, K, 0.01).levels)
    (folder / "coarse.csv").write_text("\n".join([HEAD, *coarse]) + "\n", encoding="utf-8")
    drawn = [coarse[row] for row in rng.integers(0, len(coarse), 1_000_000)]
    (folder / "million.csv").write_text("\n".join([HEAD, *drawn]) + "\n", encoding="utf-8")
    nodes = evaluate_lattice(table, 0.01, "by-size", value_spread=False)
    lattice = Lattice.of(table)
    scores = np.stack([-nodes["k"].to_numpy().astype(float), nodes["glm"].to_numpy().astype(float)], axis=1)
    scores = (scores - scores.min(axis=0)) / (scores.max(axis=0) - scores.min(axis=0))
    np.savez(folder / "nodes.npz", scores=scores, heights=lattice.heights, strides=lattice.places)
    return table


def generalised(table: Table, trees: dict[str, Hierarchy], levels: tuple[int, ...]) -> list[str]:
    """The records of Adult at a node, those in classes below k left out, as lines of text."""
    chosen = dict(zip(QUASI, levels, strict=True))
    kept = (
        Generalisation(columns=QUASI, levels=chosen, k=K, suppression=0.01).mask(table, np.random.default_rng(0)).kept
    )
    words = []
    for name, level in chosen.items():
        groups = trees[name].groups[level][table.leaf_codes(name)]
        words.append(np.array([f"{name} {group}" for group in range(int(groups.max()) + 1)])[groups])
    words.append(np.array(table.attribute("occupation").categories)[table.column("occupation")])
    return [",".join(row) for row, stays in zip(zip(*words, strict=True), kept, strict=True) if stays]


def write_csv(table: Table, path: Path, names: tuple[str, ...]) -> None:
    columns = []
    for name in names:
        attribute, column = table.attribute(name), table.column(name)
        words = [f"{value:g}" for value in column] if name == "age" else np.array(attribute.categories)[column]
        columns.append(words)
    lines = [",".join(names), *(",".join(row) for row in zip(*columns, strict=True))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def ask(python: Path, tool: str, task: str, folder: Path, times: int) -> dict[str, Any]:
    command = [str(python), str(HERE / "peer_tasks.py"), tool, task, str(folder), str(times)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **ONE_CORE})
    if done.returncode:
        raise RuntimeError(f"{tool} could not do {task!r}:\n{done.stderr[-2000:]}")
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def quality(task: str, tool: str, answer: dict[str, Any], folder: Path, table: Table) -> float:
    """One number by which both sides are judged, low is better where they may differ."""
    if "value" in answer:
        return float(answer["truth"] - answer["value"] if "truth" in answer else answer["value"])
    if task == "sort":
        return float(len(answer["sizes"]))
    if task == "generalise":
        masked = Generalisation(
            columns=QUASI, levels=dict(zip(QUASI, answer["levels"], strict=True)), k=K, suppression=0.01
        ).mask(table, np.random.default_rng(0))
        lost = int((~masked.kept).sum())
        if lost != answer["suppressed"]:
            raise RuntimeError(f"{tool}: {answer['suppressed']} records suppressed, {lost} by its own levels")
        return GeneralLoss().against(table).read(masked) / 100
    labels = np.load(folder / f"labels-{tool}.npy")
    if np.bincount(labels).min() < K:
        raise RuntimeError(f"{tool}: a group has {np.bincount(labels).min()} records, fewer than {K}")
    if task == "recode":
        return spread(table.take(np.arange(len(labels))), labels)
    points = np.load(folder / f"{task}.npy")
    return sse(points.reshape(len(points), -1), labels)


def spread(table: Table, labels: np.ndarray[Any, Any]) -> float:
    """Mean over cells of (values of the column in the cell's class − 1) / (values in the column − 1): 0 to 1."""
    sizes, total = np.bincount(labels), 0.0
    for name in QUASI:
        codes = np.unique(table.column(name), return_inverse=True)[1]
        pairs = np.unique(np.stack([labels, codes], axis=1), axis=0)
        values = np.bincount(pairs[:, 0], minlength=len(sizes))
        total += float((sizes * (values - 1)).sum() / (len(labels) * codes.max()))
    return total / len(QUASI)


def compare(task: Task, python: Path, folder: Path, table: Table) -> Row:
    ours = ask(Path(sys.executable), task.ours, task.name, folder, task.own_times)
    theirs = ask(python, task.peer, task.name, folder, task.times)
    own, other = (quality(task.name, tool, a, folder, table) for tool, a in ((task.ours, ours), (task.peer, theirs)))
    if task.agree and not np.isclose(own, other, rtol=1e-9):
        raise RuntimeError(f"{task.what}: {task.measure} is {own:.9g} by Crypsis and {other:.9g} by {task.peer}")
    ratio = 1.0 if own == other else own / other
    times = ours["seconds"], theirs["seconds"]
    return Row(task.what, task.peer, task.ours, task.measure, *times, times[1] / times[0], own, other, ratio)


def picture(rows: list[Row], path: Path) -> None:
    values = [{"task": f"{row.task} ({row.peer})", "ratio": row.time_ratio} for row in rows]
    spec = {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "title": "CPU time of the peer by that of Crypsis: right of 1 Crypsis is faster",
        "width": 420,
        "data": {"values": values},
        "mark": {"type": "bar", "color": "#0b6e4f"},
        "encoding": {
            "y": {"field": "task", "type": "nominal", "title": None, "sort": None, "axis": {"labelLimit": 480}},
            "x": {"field": "ratio", "type": "quantitative", "scale": {"type": "log"}, "title": "times faster"},
            "x2": {"datum": 1},
        },
        "config": {"font": "system-ui, sans-serif"},
    }
    path.write_bytes(vl_convert.vegalite_to_png(json.dumps(spec), scale=2))


def read(path: Path) -> list[Row]:
    return [Row(**row) for row in json.loads(path.read_text(encoding="utf-8"))["rows"]] if path.is_file() else []


def keep(rows: list[Row], path: Path) -> None:
    """Put rows in the place of older ones of the same task and peer."""
    measured = {(row.task, row.peer, row.ours): row for row in (*read(path), *rows)}
    order = [(task.what, task.peer, task.ours) for task in TASKS]
    content = {
        "date": date.today().isoformat(),
        "versions": {"crypsis": version("crypsis"), **dict(peer.split("==") for peer in PEERS)},
        "rows": [asdict(measured[key]) for key in order if key in measured],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--environment", type=Path, default=Path(".peers"), help="folder of the peers' environment")
    parser.add_argument("--json", type=Path, help="write the figures to this file; rows of other tasks in it stay")
    parser.add_argument("--picture", type=Path, help="draw the times to this PNG file")
    parser.add_argument("--only", nargs="+", choices=sorted({task.name for task in TASKS}))
    asked = parser.parse_args()
    python, rows = environment(asked.environment.absolute()), []
    with tempfile.TemporaryDirectory() as name:
        table = prepare(Path(name))
        for task in TASKS:
            if not asked.only or task.name in asked.only:
                rows.append(compare(task, python, Path(name), table))
                row = rows[-1]
                print(
                    f"{row.task:58} {row.peer:18} {row.peer_seconds:9.3f} s  {row.ours:16} {row.seconds:9.4f} s  "
                    f"{row.time_ratio:8.1f}×  {row.measure} {row.quality:.6g} : {row.peer_quality:.6g}",
                    flush=True,
                )
    if asked.json:
        keep(rows, asked.json)
    if asked.picture:
        picture(read(asked.json) if asked.json else rows, asked.picture)


if __name__ == "__main__":
    main()
