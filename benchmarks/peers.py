"""Crypsis beside its peers: the same data, the same task, one run; ratios of time and quality, losses as wins.

    python benchmarks/peers.py [--json FILE] [--picture FILE] [--environment FOLDER] [--only TASK …] [--rounds N]

Peers from the package index are installed into an environment of their own on the first run. sdcMicro is used where
Rscript has it, ARX where java and its jar are there (ARX_JAR names it, else libarx*.jar in the environment's folder);
of one that is absent the command says why, and how to get it. Every task is done by both sides in turn, in children of
this process, one core each, as often as the rounds say: a ratio compares two neighbours in time, and the median is
printed with the lowest and highest. Seconds are CPU, warm. Adult and Census are looked for in CRYPSIS_DATA, else in
../shared/data. A run fails only on a wrong result: values that should agree and do not. Five minutes on a quiet
machine; python docs/comparison.py then writes the page.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from lattices import QUASI, adult, hierarchy
from lattices import folder as data_folder

from crypsis.extras import import_extra
from crypsis.kernels.annealing import sse
from crypsis.masking.generalisation import Generalisation
from crypsis.measures.generalisation_loss import GeneralLoss
from crypsis.searches.pbg_ea import evaluate_lattice, optimal_lattice_node
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.lattice import Lattice
from crypsis.table.table import Table
from crypsis.version import __version__

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
    rounds: int = 3
    agree: bool = False
    """Whether the two results must be the same number."""
    k: int = K


MDAV = "MDAV of 5 000 invented records × 10, k = 5"
CENSUS = "MDAV of Census, 1 080 records × 13, k = 3"
LATTICE = "Adult 5-anonymous, full domain, ≤ 1 % suppressed"
TASKS = (
    Task("univariate", "optimal groups of 5 of 1 000 000 numbers", "microagg1d", "crypsis", "SSE"),
    Task("univariate", "the same, by its exact method", "microagg1d wilber", "crypsis", "SSE", agree=True),
    Task("census", CENSUS, "anonypyx", "crypsis", "SSE", k=3),
    Task("census", CENSUS, "sdcMicro", "crypsis", "SSE", k=3, agree=True),
    Task("mdav", MDAV, "anonypyx", "crypsis", "SSE", 2),
    Task("mdav", MDAV, "sdcMicro", "crypsis", "SSE"),
    Task("mdav", "the same records, as little loss as possible", "anonypyx", "crypsis memetic", "SSE", 2),
    Task("generalise", LATTICE, "ARX", "crypsis", "mean cell loss", agree=True),
    Task("generalise", LATTICE, "anjana", "crypsis", "mean cell loss", 2),
    Task("recode", "3 000 records of Adult 5-anonymous, local", "anonypyx", "crypsis", "values per cell and class", 2),
    Task("k of 1 M", "k of 1 000 000 records, 8 keys", "pycanon", "crypsis", "k", 2, agree=True),
    Task("k", "k of Adult generalised, 8 keys", "pycanon", "crypsis", "k", agree=True),
    Task("k", "k of Adult generalised, 8 keys", "sdcMicro", "crypsis", "k", agree=True),
    Task("l", "distinct l of the same", "pycanon", "crypsis", "l", agree=True),
    Task("entropy l", "entropy l of the same", "pycanon", "crypsis", "l"),
    Task("t", "t of the same, equal distances", "pycanon", "crypsis", "t", agree=True),
    Task("sort", "sort 3 000 points of 3 objectives into fronts", "pymoo", "crypsis", "fronts", agree=True),
    Task("nsga2", "NSGA-II over 17 920 nodes, 100 × 20, scores looked up", "pymoo", "crypsis", "hypervolume missed"),
)


@dataclass(frozen=True)
class Row:
    """A task as both sides did it."""

    task: str
    peer: str
    ours: str
    measure: str
    seconds: float
    """CPU seconds of Crypsis, the median of the rounds."""
    peer_seconds: float
    time_ratio: float
    """Peer by Crypsis, the median of the rounds; above 1 Crypsis needed less."""
    time_ratios: list[float]
    quality: float
    peer_quality: float
    quality_ratio: float
    """Ours by theirs, low is better; 1 where the results agree."""
    higher: bool
    """Whether more is better, as for the k, l or t that is found: then no side wins by it."""
    own_measure: str
    """The peer's own measure, where it has one for the task."""
    own_quality: float | None
    own_peer_quality: float | None


@dataclass(frozen=True)
class Absent:
    """A peer that could not be run, why, and how it is got on Debian."""

    peer: str
    why: str
    how: str


HOW = {
    "sdcMicro": "apt-get install r-base-dev r-cran-rcpp r-cran-data.table r-cran-car r-cran-mass r-cran-shiny, "
    "then Rscript -e 'install.packages(\"sdcMicro\")', since neither Debian nor PyPI nor npm has it",
    "ARX": "apt-get install openjdk-17-jdk-headless, then libarx-3.9.2.jar from https://arx.deidentifier.org and "
    "ARX_JAR=/path/to/libarx-3.9.2.jar, since neither Debian nor PyPI nor npm has it",
}


class DriverFailed(Exception):
    """A peer in another language is there and did not do its task: the peer, and the last line it said."""


@dataclass(frozen=True)
class Peers:
    """Where each peer is, and its version."""

    python: Path
    versions: dict[str, str]
    absent: list[Absent]
    jar: str = ""

    @classmethod
    def find(cls, folder: Path) -> Peers:
        """Look for all of them; those of the package index are installed where they are not."""
        python = environment(folder)
        code = "import json; from importlib.metadata import version; print(json.dumps({n: version(n) for n in %r}))"
        names = [peer.partition("==")[0] for peer in PEERS]
        told = subprocess.run([str(python), "-c", code % names], capture_output=True, text=True, check=True).stdout
        versions, absent = json.loads(told), list[Absent]()
        why = find_sdcmicro(versions)
        if why:
            absent.append(Absent("sdcMicro", why, HOW["sdcMicro"]))
        jar = os.environ.get("ARX_JAR") or str(next(iter(sorted(folder.glob("libarx*.jar"))), ""))
        lacking = (
            "there is no java" if not shutil.which("java") else "" if Path(jar).is_file() else "its jar is not here"
        )
        if lacking:
            absent.append(Absent("ARX", lacking, HOW["ARX"]))
        else:
            number = re.search(r"\d+(\.\d+)+", Path(jar).name)
            versions["ARX"] = number[0] if number else Path(jar).name
        return cls(python, versions, absent, jar)

    def has(self, peer: str) -> bool:
        return peer.split()[0] not in {each.peer for each in self.absent}


def find_sdcmicro(versions: dict[str, str]) -> str:
    """Note the version of sdcMicro, or say why it cannot be run."""
    if not shutil.which("Rscript"):
        return "there is no Rscript"
    code = "cat(as.character(packageVersion('sdcMicro')))"
    told = subprocess.run(["Rscript", "-e", code], capture_output=True, text=True, check=False)
    if told.returncode:
        return "R is here and has no package sdcMicro"
    versions["sdcMicro"] = told.stdout.strip()
    return ""


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
    census = np.loadtxt(data_folder() / "census.csv", delimiter=",", skiprows=1)
    np.save(folder / "census.npy", (census - census.mean(axis=0)) / census.std(axis=0))
    for name in ("mdav", "census"):
        values = np.load(folder / f"{name}.npy")
        head = ",".join(f"a{place}" for place in range(values.shape[1]))
        np.savetxt(folder / f"{name}.csv", values, delimiter=",", header=head, comments="", fmt="%.17g")
    table = adult()
    trees = {name: hierarchy(name) for name in QUASI}
    rows = {
        name: [[tree.labels[level][group] for group in tree.groups[level]] for level in range(len(tree.groups))]
        for name, tree in trees.items()
    }
    (folder / "hierarchies.json").write_text(json.dumps(rows))
    write_csv(table, folder / "adult.csv", (*QUASI, "occupation"))
    write_arx(folder, rows)
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


def write_arx(folder: Path, hierarchies: dict[str, list[list[str]]]) -> None:
    """Adult and its hierarchies as ARX reads them: semicolons, a row from value to root for each value."""
    text = (folder / "adult.csv").read_text(encoding="utf-8")
    (folder / "adult-arx.csv").write_text(text.replace(",", ";"), encoding="utf-8")
    for name, levels in hierarchies.items():
        lines = [";".join(row) for row in zip(*levels, strict=True)]
        (folder / f"hierarchy-{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def command_of(task: Task, tool: str, peers: Peers, folder: Path) -> list[str]:
    """The command by which one side does a task once, warm."""
    if tool == "sdcMicro":
        return ["Rscript", str(HERE / "peer_sdcmicro.R"), task.name, str(folder), str(task.k), "1"]
    if tool == "ARX":
        return ["java", "-cp", peers.jar, str(HERE / "peer_arx.java"), str(folder), str(task.k), "0.01", "1"]
    python = sys.executable if tool.startswith("crypsis") else str(peers.python)
    return [python, str(HERE / "peer_tasks.py"), tool, task.name, str(folder), "1"]


def ask(task: Task, tool: str, peers: Peers, folder: Path) -> dict[str, Any]:
    command = command_of(task, tool, peers, folder)
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **ONE_CORE})
    if done.returncode and tool in HOW:
        raise DriverFailed(tool, (done.stderr.strip().splitlines() or ["no message"])[-1])
    if done.returncode:
        raise RuntimeError(f"{tool} could not do {task.name!r}:\n{done.stderr[-2000:]}")
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    if tool == "sdcMicro" and "value" not in answer:
        masked = np.loadtxt(folder / "masked-sdcMicro.csv", delimiter=",")
        groups = np.unique(masked, axis=0, return_inverse=True)[1].ravel()
        np.save(folder / "labels-sdcMicro.npy", groups.astype(np.int32))
    return answer


def quality(task: str, tool: str, answer: dict[str, Any], folder: Path, table: Table, k: int) -> float:
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
    if np.bincount(labels).min() < k:
        raise RuntimeError(f"{tool}: a group has {np.bincount(labels).min()} records, fewer than {k}")
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


def compare(task: Task, peers: Peers, folder: Path, table: Table, rounds: int) -> Row:
    """Both sides in turn, so that a busy moment of the machine meets both."""
    pairs, answers = list[tuple[float, float]](), dict[str, dict[str, Any]]()
    for place in range(rounds or task.rounds):
        order = (task.ours, task.peer) if place % 2 == 0 else (task.peer, task.ours)
        answers = {tool: ask(task, tool, peers, folder) for tool in order}
        pairs.append((answers[task.ours]["seconds"], answers[task.peer]["seconds"]))
    own, other = (quality(task.name, tool, answers[tool], folder, table, task.k) for tool in (task.ours, task.peer))
    if task.agree and not np.isclose(own, other, rtol=1e-9):
        raise RuntimeError(f"{task.what}: {task.measure} is {own:.9g} by Crypsis and {other:.9g} by {task.peer}")
    judged = own_judgement(task, answers, peers, folder, table)
    ratios = [theirs / ours for ours, theirs in pairs]
    return Row(
        task.what,
        task.peer,
        task.ours,
        task.measure,
        statistics.median(ours for ours, _ in pairs),
        statistics.median(theirs for _, theirs in pairs),
        statistics.median(ratios),
        ratios,
        own,
        other,
        1.0 if own == other else own / other,
        task.measure in ("k", "l", "t", "fronts"),
        *judged,
    )


def own_judgement(
    task: Task, answers: dict[str, dict[str, Any]], peers: Peers, folder: Path, table: Table
) -> tuple[str, float | None, float | None]:
    """Both results by a measure that a peer brings itself; nothing where none does."""
    if task.name not in ("nsga2", "generalise"):
        return "", None, None
    trees, found = {name: hierarchy(name) for name in QUASI}, []
    for side in (task.ours, task.peer):
        if task.name == "nsga2":
            (folder / "judged.json").write_text(json.dumps(answers[side]["fronts"]), encoding="utf-8")
            found.append(judge("pymoo", "judged nsga2", peers, folder))
        else:
            lines = generalised(table, trees, tuple(answers[side]["levels"]))
            (folder / "judged.csv").write_text("\n".join([HEAD, *lines]) + "\n", encoding="utf-8")
            found.append(judge("pycanon", "judged k", peers, folder))
    said = "hypervolume missed, by pymoo's own" if task.name == "nsga2" else "k of the result, by pycanon"
    return said, found[0], found[1]


def judge(tool: str, task: str, peers: Peers, folder: Path) -> float:
    command = [str(peers.python), str(HERE / "peer_tasks.py"), tool, task, str(folder), "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(json.loads(done.stdout.splitlines()[-1])["value"])


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
    vl_convert = import_extra("vl_convert", "pictures", "the picture")
    path.write_bytes(vl_convert.vegalite_to_png(json.dumps(spec), scale=2))


def keep(rows: list[Row], peers: Peers, path: Path, seconds: float) -> None:
    """Write what one run measured: rows of several runs are never mixed."""
    content = {
        "date": date.today().isoformat(),
        "machine": {
            "processor": processor(),
            "cores": os.cpu_count(),
            "load": round(os.getloadavg()[0], 1),
            "python": platform.python_version(),
        },
        "minutes": round(seconds / 60, 1),
        "versions": {"crypsis": __version__, **peers.versions},
        "absent": [asdict(each) for each in peers.absent],
        "rows": [asdict(row) for row in rows],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def processor() -> str:
    """The model of the processor, where the system says it."""
    told = Path("/proc/cpuinfo")
    found = re.search(r"model name\s*: (.*)", told.read_text(encoding="utf-8")) if told.is_file() else None
    return found[1].strip() if found else platform.machine()


def line(row: Row) -> str:
    """A row as the terminal shows it."""
    few, many = min(row.time_ratios), max(row.time_ratios)
    own = "" if row.own_quality is None else f"; {row.own_measure} {row.own_quality:.4g} : {row.own_peer_quality:.4g}"
    return (
        f"{row.task:54} {row.peer:18} {row.peer_seconds:8.3f} s  {row.ours:16} {row.seconds:8.4f} s  "
        f"{row.time_ratio:7.2f}× ({few:.3g} to {many:.3g})  "
        f"{row.measure} {row.quality:.6g} : {row.peer_quality:.6g}{own}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--environment", type=Path, default=Path(".peers"), help="folder of the peers' environment")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--picture", type=Path, help="draw the times to this PNG file")
    parser.add_argument("--only", nargs="+", choices=sorted({task.name for task in TASKS}))
    parser.add_argument("--rounds", type=int, default=0, help="rounds of every task; default: two or three")
    asked = parser.parse_args()
    started, rows = time.monotonic(), list[Row]()
    peers = Peers.find(asked.environment.absolute())
    for each in peers.absent:
        print(f"{each.peer} is left out: {each.why}. To get it: {each.how}.")
    with tempfile.TemporaryDirectory() as name:
        table = prepare(Path(name))
        for task in TASKS:
            if peers.has(task.peer) and (not asked.only or task.name in asked.only):
                try:
                    rows.append(compare(task, peers, Path(name), table, asked.rounds))
                except DriverFailed as failure:
                    peer, said = failure.args
                    peers.absent.append(Absent(peer, f"it failed at {task.name!r} ({said})", HOW[peer]))
                    print(f"{peer} is left out: it failed at {task.name!r} ({said})", flush=True)
                    continue
                print(line(rows[-1]), flush=True)
    slower = [f"{row.task} ({row.peer})" for row in rows if row.time_ratio < 1]
    worse = [f"{row.task} ({row.peer})" for row in rows if row.quality_ratio > 1 and not row.higher]
    print(f"{len(rows)} tasks; Crypsis is slower in {len(slower)}: {'; '.join(slower) or 'none'}")
    print(f"Crypsis loses more in {len(worse)}: {'; '.join(worse) or 'none'}")
    if asked.json:
        keep(rows, peers, asked.json, time.monotonic() - started)
    if asked.picture:
        picture(rows, asked.picture)


if __name__ == "__main__":
    main()
