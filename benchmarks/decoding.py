"""Milliseconds to decode a stored solution of every family once the table is read, and where they go.

    python benchmarks/decoding.py [--rows 20000] [--repeats 7] [--only NAME …] [--split] [--json]

The table is the built-in example. Every registered search gives one solution of its first population under cheap
settings, every baseline one of its own; each is stored as a run stores it (npy bytes) and read back. CPU milliseconds,
the least of the repeats, each with an encoding of its own:

    encoding  the encoding built from table and settings
    load      the genome read from its bytes
    decode    the masked table, the first time
    again     the masked table, when the encoding has decoded before
    describe  its words and figures

`first` is encoding + load + decode and the goal is 50. --split prints the functions in which decoding spends its time.
"""

from __future__ import annotations

import argparse
import cProfile
import io
import json
import pstats
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import crypsis
from crypsis.encodings import ColumnEncoding, Encoding
from crypsis.encodings.encoding import Genome, RememberingEncoding
from crypsis.masking import Generalisation, Microaggregation, methods
from crypsis.searches.search import searches
from crypsis.table.table import Table

GOAL = 50.0
CHEAP: dict[str, dict[str, Any]] = {
    "gomm": {"missing": "mean", "population": 2},
    "pbg-ea": {"method": "pbg", "population": 2},
    "local-recoding": {"k_values": 1, "nodes": 64},
    "categorical-masking": {"largest_k": 2, "depths": 0, "swappings": 0, "prams": 1},
    "memetic": {"k_values": 1, "blocks": "always"},
}
"""Settings under which a first population is had soon; none are needed."""
BASELINES = {
    "plain MDAV": Microaggregation(
        k=5, missing="aggregate", partitioner="blocks", partitioner_settings={"size": 500, "mending": 0}
    ),
    "plain recoding": Generalisation(level=9, suppression=1.0, k=5),
    "perturbed": methods.build("pram", theta=0.5),
}
"""Maskings without an encoding of their own, as a run stores its baselines."""


def solutions(table: Table, only: list[str]) -> dict[str, tuple[Callable[[], Encoding], bytes]]:
    """Name → how its encoding is built, and a stored solution."""
    found: dict[str, tuple[Callable[[], Encoding], bytes]] = {}
    for name in searches:
        if not only or name in only:
            search = searches.build(name, **CHEAP.get(name, {}))
            problem = search.pose(table, None, np.random.default_rng(0))
            genome = problem.express_candidate(problem.first()[-1])
            found[name] = (lambda search=search: search.encoding(table), stored(genome))
    for name, method in BASELINES.items():
        if not only or name in only:
            masked = method.mask(table, np.random.default_rng(0))
            found[name] = (lambda: ColumnEncoding(table), stored(ColumnEncoding(table).encode(masked)))
    return found


def stored(genome: Genome) -> bytes:
    """As the run's store keeps it."""
    buffer = io.BytesIO()
    np.save(buffer, genome, allow_pickle=False)
    return buffer.getvalue()


def timed(build: Callable[[], Encoding], data: bytes) -> dict[str, float]:
    """CPU milliseconds of each stage."""
    ends = [time.process_time()]

    def lap() -> None:
        ends.append(time.process_time())

    encoding = build()
    lap()
    genome = np.load(io.BytesIO(data), allow_pickle=False)
    lap()
    encoding.decode(genome)
    lap()
    masked = encoding.apply(genome) if isinstance(encoding, RememberingEncoding) else encoding.decode(genome)
    lap()
    encoding.describe(genome, masked)
    lap()
    names = ("encoding", "load", "decode", "again", "describe")
    return {name: 1000 * (end - start) for name, start, end in zip(names, ends, ends[1:], strict=False)}


def split(build: Callable[[], Encoding], data: bytes, most: int = 4) -> list[str]:
    """The functions of one decoding by their own time: milliseconds and where they stand."""
    encoding, genome, profile = (
        build(),
        np.load(io.BytesIO(data), allow_pickle=False),
        cProfile.Profile(time.process_time),
    )
    profile.runcall(encoding.decode, genome)
    spent: dict[Any, Any] = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    longest = sorted(spent.items(), key=lambda item: -item[1][2])[:most]
    return [f"{1000 * own:5.1f} {Path(file).name} {name}" for (file, _, name), (_, _, own, _, _) in longest]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--split", action="store_true")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    found = solutions(crypsis.example(asked.rows), asked.only)
    results = {}
    for name, (build, data) in found.items():
        timed(build, data)  # compiled before the clock starts
        laps = [timed(build, data) for _ in range(asked.repeats)]
        best = {stage: min(lap[stage] for lap in laps) for stage in laps[0]}
        results[name] = {"first": sum(best[stage] for stage in ("encoding", "load", "decode")), **best}
    if asked.json:
        print(json.dumps({"rows": asked.rows, "goal": GOAL, "milliseconds": results}, indent=1))
        return
    print(
        f"{asked.rows} rows, CPU milliseconds\n{'family':<15}", *(f"{stage:>9}" for stage in results[next(iter(found))])
    )
    for name, row in results.items():
        print(f"{name:<15}", *(f"{value:9.1f}" for value in row.values()), "" if row["first"] <= GOAL else "  above")
        if asked.split:
            print(*(f"    {line}" for line in split(*found[name])), sep="\n")


if __name__ == "__main__":
    main()
