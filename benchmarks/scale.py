"""Beyond one table in memory: blocks by size, a Parquet file under a memory cap, and what two processes bring.

    python benchmarks/scale.py sizes  --largest 1000000      blocks: CPU, memory, growth, loss against mdav
    python benchmarks/scale.py parquet --rows 50000000       generate, count, front, release, verify under a cap
    python benchmarks/scale.py workers                       one process, two threads, two processes, by family
    python benchmarks/scale.py linkage --rows 1000000        record linkage of a large masked table, by a sample

Times are CPU seconds of the process (wall time beside them where others take part). The cap is RLIMIT_DATA: all
private memory of the process, reserved or used; `--cap 0` leaves it to a control group. Peak memory is VmHWM.
`--folder` says where files are made.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

P, K = 10, 5
GB = 1 << 30
THRIFTY = {
    "_RJEM_MALLOC_CONF": "retain:false,dirty_decay_ms:200,muzzy_decay_ms:0,narenas:2",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "MALLOC_ARENA_MAX": "2",
}
"""Allocators that give address space back: RLIMIT_DATA counts what is reserved, used or not."""
SIZES = (100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)


def peak() -> float:
    """Most resident memory this process ever held, in GB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 2**20


def clocked(work: Callable[[], Any]) -> tuple[Any, float, float]:
    """Result, CPU seconds, wall seconds."""
    cpu, wall = time.process_time(), time.perf_counter()
    found = work()
    return found, time.process_time() - cpu, time.perf_counter() - wall


# -- blocks by size --


def run_sizes(largest: int) -> list[dict[str, Any]]:
    """One process per size, so that peaks do not hide each other; the last size is the largest asked for."""
    rows: list[dict[str, Any]] = []
    for n in [*(n for n in SIZES if n < largest), largest]:
        made = subprocess.run([sys.executable, __file__, "size", "--rows", str(n)], capture_output=True, check=True)
        row = json.loads(made.stdout)
        if rows:
            row["growth"] = math.log(row["cpu"] / rows[-1]["cpu"]) / math.log(n / rows[-1]["rows"])
        rows.append(row)
        print(json.dumps(row), flush=True)
    return rows


def run_size(n: int) -> dict[str, Any]:
    from crypsis.kernels.annealing import sse
    from crypsis.kernels.partitions import EUCLIDEAN, GENERIC
    from crypsis.masking.partitioning import Blocks

    Blocks(size=500).partition(np.random.default_rng(1).standard_normal((2_000, P)), K, np.random.default_rng(0))
    points = np.random.default_rng(0).standard_normal((n, P))
    total = float(((points - points.mean(axis=0)) ** 2).sum())
    labels, cpu, _ = clocked(lambda: Blocks().partition(points, K, np.random.default_rng(0)))
    row = {"rows": n, "cpu": cpu, "peak_gb": peak(), "loss": 100 * sse(points, labels) / total}
    row["least"] = int(np.bincount(labels).min())
    if n <= 100_000:
        from crypsis.kernels.partitions import mdav_by_tree

        mdav_by_tree(points[:1_000], K, GENERIC, EUCLIDEAN)  # compiled before the clock starts
        plain, cpu, _ = clocked(lambda: mdav_by_tree(points, K, GENERIC, EUCLIDEAN))
        row |= {"mdav_cpu": cpu, "mdav_loss": 100 * sse(points, plain) / total}
        row["worse_percent"] = 100 * (row["loss"] / row["mdav_loss"] - 1)
    return row


# -- a file under a cap --


def generate(path: Path, rows: int, step: int = 1_000_000) -> None:
    """People with five quasi-identifiers, an illness, and three columns that only make the file large."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng, writer = np.random.default_rng(7), None
    places = np.array([f"{n:05d}" for n in range(0, 100_000, 250)])
    share = 1 / np.arange(1, len(places) + 1)
    for begin in range(0, rows, step):
        n = min(step, rows - begin)
        batch = pa.table(
            {
                "id": np.arange(begin, begin + n),
                "age": np.clip(rng.gamma(6, 7.5, n), 0, 99).astype(np.int64),
                "place": pa.array(places[rng.choice(len(places), n, p=share / share.sum())]),
                "sex": pa.array(np.array(["f", "m"])[rng.integers(0, 2, n)]),
                "schooling": rng.binomial(15, 0.6, n).astype(np.int64),
                "illness": pa.array(np.array(list("abcdefgh"))[np.minimum(rng.geometric(0.45, n) - 1, 7)]),
                "wage": rng.normal(30_000, 8_000, n),
                "rent": rng.normal(900, 200, n),
                "hours": rng.normal(38, 6, n),
            }
        )
        writer = writer or pq.ParquetWriter(path, batch.schema)
        writer.write_table(batch, row_group_size=250_000)
    if writer is not None:
        writer.close()


def parquet(folder: Path, rows: int, cap: float) -> dict[str, Any]:
    """Generate in one process; count, judge, release and verify in another that lives under the cap."""
    source = folder / f"people-{rows}.parquet"
    command = [sys.executable, __file__]
    if not source.exists():
        subprocess.run([*command, "generate", "--rows", str(rows), "--folder", str(folder)], check=True)
    made = subprocess.run(
        [*command, "capped", "--rows", str(rows), "--folder", str(folder), "--cap", str(cap)],
        capture_output=True,
        env=os.environ | THRIFTY,
    )
    if made.returncode:
        sys.exit(made.stderr.decode()[-2000:])
    return dict(json.loads(made.stdout))


def capped(folder: Path, rows: int, cap: float) -> dict[str, Any]:
    if cap:
        resource.setrlimit(resource.RLIMIT_DATA, (int(cap * GB), int(cap * GB)))
    from crypsis.privacy import KAnonymity, LDiversity
    from crypsis.release.lazy_release import publish_counted
    from crypsis.searches.pbg_ea import minimal_node_scores
    from crypsis.searches.pbg_ea.evaluation import evaluate_lattice, optimal_lattice_node
    from crypsis.table.hierarchy import Hierarchy
    from crypsis.table.lazy import count_lazily

    source, out = folder / f"people-{rows}.parquet", folder / "released"
    hierarchies = {
        "age": "intervals:5,10,20,40",
        "place": "prefixes:4,3,2,1",
        "sex": Hierarchy.from_rows([("f", "*"), ("m", "*")]),
        "schooling": "intervals:2,4,8",
    }
    held, count_cpu, count_wall = clocked(
        lambda: count_lazily(
            source,
            quasi_identifiers=list(hierarchies),
            confidential=["illness"],
            identifiers=["id"],
            hierarchies=hierarchies,
        ).decide_roles(dict.fromkeys(("wage", "rent", "hours"), "confidential"))
    )
    nodes, nodes_cpu, _ = clocked(lambda: evaluate_lattice(held.counts, 0.01))
    front = minimal_node_scores(np.stack([nodes["k"], nodes["l"], -nodes["glm"].to_numpy()], axis=1).astype(np.float64))
    best = optimal_lattice_node(held.counts, K, 0.01, l=3)
    waivers = {f"singling-out:{name}": "invented amounts" for name in ("wage", "rent", "hours")}
    models = [KAnonymity(k=K), LDiversity(l=3)]
    shutil.rmtree(out, ignore_errors=True)
    _, release_cpu, release_wall = clocked(
        lambda: publish_counted(held, best.levels, out, models=models, suppression=0.01, waivers=waivers)
    )
    written = sum(path.stat().st_size for path in (out / "public").glob("*.parquet"))
    shutil.rmtree(out)
    return {
        "rows": rows, "cap_gb": cap, "file_gb": source.stat().st_size / GB, "in_memory_gb": rows * 9 * 8 / GB,
        "tuples": len(held.tuples), "count_cpu": count_cpu, "count_wall": count_wall,
        "nodes": len(nodes), "nodes_cpu": nodes_cpu, "front": int(front.sum()),
        "best": best.message, "k": best.k, "l": best.l, "glm": best.glm, "suppressed": best.suppressed,
        "release_and_verify_cpu": release_cpu, "release_and_verify_wall": release_wall,
        "written_gb": written / GB, "peak_gb": peak(),
    }  # fmt: skip


# -- linkage --


def linkage(n: int) -> dict[str, Any]:
    """Ten thousand people looked for among all published records; everybody, where there are not too many."""
    from crypsis.masking.microaggregation import Microaggregation
    from crypsis.masking.partitioning import Blocks
    from crypsis.measures.record_linkage import RecordLinkage
    from crypsis.table.table import Table

    names = [f"x{j}" for j in range(P)]
    values = np.random.default_rng(0).standard_normal((n, P))
    table = Table.from_columns({a: values[:, j] for j, a in enumerate(names)}, roles=dict.fromkeys(names, "quasi"))
    masked = Microaggregation(k=K).share_values(
        table, tuple(names), Blocks(mending=0).partition(values, K, np.random.default_rng(0))
    )
    few = table.take(np.arange(1_000))
    RecordLinkage(sample=100).against(few).read(few)
    found, cpu, _ = clocked(lambda: RecordLinkage(sample=10_000).against(table).explain(masked))
    row = {"rows": n, "sample": 10_000, "cpu": cpu, "rate": found.value, "interval": found.interval, "peak_gb": peak()}
    if n <= 100_000:
        whole, cpu, _ = clocked(lambda: RecordLinkage().against(table).read(masked))
        row |= {"everybody_cpu": cpu, "everybody_rate": whole}
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["sizes", "size", "parquet", "generate", "capped", "workers", "linkage"])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--largest", type=int, default=1_000_000)
    parser.add_argument("--cap", type=float, default=2.0, help="GB; 0: the caller caps, by a control group say")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--only", nargs="*", default=[], help="works whose name has one of these words")
    parser.add_argument("--longer", type=float, default=1.0, help="how many times the usual work")
    asked = parser.parse_args()
    if asked.what == "generate":
        generate(asked.folder / f"people-{asked.rows}.parquet", asked.rows)
    elif asked.what == "sizes":
        run_sizes(asked.largest)
    elif asked.what == "workers":
        from workers import workers

        workers(asked.only, asked.longer)
    else:
        here = {"size": lambda: run_size(asked.rows), "parquet": lambda: parquet(asked.folder, asked.rows, asked.cap)}
        here["linkage"] = lambda: linkage(asked.rows)
        here["capped"] = lambda: capped(asked.folder, asked.rows, asked.cap)
        print(json.dumps(here[asked.what]()))


if __name__ == "__main__":
    main()
