"""How the kernels grow: CPU seconds at 10³, 10⁴, 10⁵ and 10⁶ rows and 5, 15 and 30 quasi-identifiers, and the exponent.

    python benchmarks/growth_kernels.py [--largest 100000] [--most 60] [--json growth.json]

A case that took longer than --most seconds is not asked for ten times as many rows. Kernels are compiled before. The
exponent is that of the last tenfold step: 1 is linear. With --json the figures and a Vega-Lite chart of the curves.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from crypsis.kernels import partitions
from crypsis.kernels.annealing import sse
from crypsis.kernels.halving import halve_until
from crypsis.kernels.linkage import BUCKET, CodeGroups, Forest, Known, grow_linkage_forest, link_all
from crypsis.searches.pbg_ea.evaluation import prepare_lattice_evaluation
from crypsis.table.attribute import Attribute, Kind, Role
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.lattice import Lattice
from crypsis.table.table import Table

ROWS, COLUMNS = (10**3, 10**4, 10**5, 10**6), (5, 15, 30)
Work = Callable[[], Any]


def cloud(rows: int, columns: int) -> Any:
    return np.random.default_rng(rows + columns).standard_normal((rows, columns))


def categories(rows: int, columns: int) -> Table:
    """Skewed columns of twelve values with hierarchies of three levels."""
    rng = np.random.default_rng(rows + columns)
    tree = Hierarchy.from_rows([[f"{leaf}", f"{leaf // 2}", f"{leaf // 6}", "*"] for leaf in range(12)])
    made = tuple(Attribute(f"q{c}", Kind.NOMINAL, Role.QUASI_IDENTIFIER, tree.labels[0], tree) for c in range(columns))
    return Table(made, tuple(np.minimum(rng.geometric(0.3, rows) - 1, 11).astype(np.int32) for _ in range(columns)))


def mdav(rows: int, columns: int) -> Work:
    points, group = cloud(rows, columns), partitions.mdav_by_tree if columns <= 15 else partitions.mdav
    return lambda: group(points, 5, partitions.GENERIC, partitions.EUCLIDEAN)


def blocks(rows: int, columns: int) -> Work:
    points = cloud(rows, columns)
    return lambda: halve_until(points, np.arange(rows), 1000, 5)


def squares(rows: int, columns: int) -> Work:
    points, labels = cloud(rows, columns), (np.arange(rows) // 5).astype(np.int32)
    return lambda: sse(points, labels)


def linkage(rows: int, columns: int) -> Work:
    """Groups of five published by their means: the distance to the own mean, and all ties at it."""
    points = cloud(rows, columns)
    published = np.repeat(points.reshape(-1, 5, columns).mean(axis=1), 5, axis=0)
    none, own = np.empty((rows, 0), dtype=np.int32), np.sqrt(((points - published) ** 2).sum(axis=1))
    known = Known(points, none, np.arange(rows), np.full((columns, 2), -1, dtype=np.int32))
    groups = CodeGroups(none[:1], none[:1], np.array([0, 1]))
    distinct, weight = published[::5].copy(), np.full(rows // 5, 5)

    def work() -> Any:
        order, *boxes = grow_linkage_forest(distinct, np.array([0, len(distinct)]), BUCKET)
        return link_all(known, own, groups, Forest(distinct[order], weight, 5 * order, *boxes))

    return work


def one_node(rows: int, columns: int) -> Work:
    table = categories(rows, columns)
    lattice = Lattice.of(table)
    context = prepare_lattice_evaluation(table, lattice, None, None, False)
    levels = tuple(place % (height + 1) for place, height in enumerate(lattice.heights))
    return lambda: context.judge_node(levels, 2, rows // 100, 5)


KERNELS = {case.__name__: case for case in (mdav, blocks, squares, linkage, one_node)}


def seconds(work: Work) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def chart(found: list[dict[str, Any]]) -> dict[str, Any]:
    """The curves as a Vega-Lite specification, both axes logarithmic."""
    axes = {"x": ("rows", "records"), "y": ("seconds", "CPU seconds")}
    encoding: dict[str, Any] = {
        name: {"field": field, "type": "quantitative", "title": title, "scale": {"type": "log"}}
        for name, (field, title) in axes.items()
    }
    encoding |= {"color": {"field": "kernel"}, "strokeDash": {"field": "columns", "type": "ordinal"}}
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "data": {"values": found},
        "mark": {"type": "line", "point": True},
        "encoding": encoding,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--largest", type=int, default=ROWS[-1])
    parser.add_argument("--most", type=float, default=60.0)
    parser.add_argument("--only", nargs="*", choices=sorted(KERNELS), default=[])
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    found: list[dict[str, Any]] = []
    print(f"{'kernel':10}{'columns':>9}" + "".join(f"{rows:>12,}" for rows in ROWS) + f"{'exponent':>10}")
    for name in given.only or KERNELS:
        for columns in COLUMNS:
            KERNELS[name](1000, columns)()
            spent: list[float] = []
            for rows in ROWS:
                if rows > given.largest or (spent and spent[-1] > given.most):
                    break
                spent.append(seconds(KERNELS[name](rows, columns)))
                found.append({"kernel": name, "columns": columns, "rows": rows, "seconds": spent[-1]})
            text = "".join(f"{value:>12.4f}" for value in spent) + f"{'-':>12}" * (len(ROWS) - len(spent))
            steep = math.log10(spent[-1] / spent[-2]) if len(spent) > 1 and min(spent[-2:]) > 0 else math.nan
            print(f"{name:10}{columns:>9}{text}{steep:>10.2f}", flush=True)
    if given.json:
        given.json.write_text(json.dumps({"figures": found, "chart": chart(found)}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
