"""The page that compares Crypsis with its peers, from what one run measured: python docs/comparison.py

    python benchmarks/peers.py --json benchmarks/results/peers.json --picture docs/images/peers.png
    python docs/comparison.py

The first command measures, the second writes docs/comparison.md. A test asks that page and figures belong together.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PEERS = ROOT / "benchmarks" / "results" / "peers.json"
PAGE = ROOT / "docs" / "comparison.md"
Row = dict[str, Any]

KINDS = (
    ("", "Crypsis", "ARX 3.9", "sdcMicro 5.8", "µ-Argus", "anjana / pycanon / anonypyx"),
    (
        "kind of tool",
        "library, command line, browser",
        "library, desktop program",
        "R package, web form",
        "desktop program",
        "libraries",
    ),
    (
        "full-domain generalisation",
        "yes, all nodes at once",
        "yes, one optimum at a time",
        "recoding by hand",
        "recoding by hand",
        "one node, by a rule",
    ),
    ("local recoding", "yes", "yes", "local suppression", "local suppression", "Mondrian"),
    (
        "microaggregation",
        "MDAV, V-MDAV, CBFS, optimal univariate, memetic, genetic, blocks",
        "simple",
        "MDAV and others",
        "MDAV",
        "MDAV",
    ),
    ("swapping, PRAM, noise", "yes", "no", "yes", "yes", "no"),
    ("searches for settings", "yes, one front over methods", "for generalisation", "no", "no", "no"),
    (
        "risk by linkage with ties 1/t and baseline",
        "yes",
        "population models",
        "Hungarian linkage",
        "record linkage",
        "no",
    ),
    (
        "risk of a sample",
        "weights, households, population uniqueness",
        "population uniqueness",
        "weights, households",
        "yes",
        "no",
    ),
    ("verifies the written release", "yes", "certificate", "report", "report", "checks (pycanon)"),
)
REMARKS = {
    "microagg1d": "its default method ends a little above the optimum on a million numbers; its method `wilber` "
    "is exact, and "
    "both results agree.",
    "anonypyx": "its MDAV starts at the first record instead of the farthest where no column is a category (a "
    "distance over "
    "no columns is not a number), hence its larger SSE; it is written in Python for clarity, ours is compiled.",
    "anjana": "it generalises the column with most values until k is met; Crypsis judges all 17 920 nodes and "
    "takes the one "
    "of least loss.",
    "pycanon": "both sides read the same pandas frame; the time of Crypsis includes making its own table of it. "
    "pycanon "
    "rounds entropy l down to a whole number.",
    "pymoo": "NSGA-II on both sides with the same population, generations, crossover and scores; mutation is "
    "polynomial and "
    "rounded in pymoo, one step up or down in Crypsis.",
    "sdcMicro": 'one call of `microaggregation(method = "mdav")` or `freqCalc` on a data frame in memory.',
    "ARX": "one search of the whole lattice in a warm virtual machine; CPU seconds include its compiler and collector.",
}


def page(content: dict[str, Any]) -> str:
    """The page of one run."""
    rows, machine = content["rows"], content["machine"]
    tools = ", ".join(f"{name} {number}" for name, number in content["versions"].items())
    faster = [row for row in rows if row["time_ratio"] >= 1]
    judged = [row for row in rows if not row["higher"]]
    worse = [row for row in judged if row["quality_ratio"] > 1]
    better = [row for row in judged if row["quality_ratio"] < 1]
    lines = [
        "# How Crypsis compares",
        "",
        "Made by `python docs/comparison.py` from `benchmarks/results/peers.json`, which one run of "
        "`python benchmarks/peers.py` wrote. The table of kinds is from the public documentation of the tools; "
        "every figure below "
        "it was measured in that run.",
        "",
        _table_row(KINDS[0]),
        "|---" * len(KINDS[0]) + "|",
        *(_table_row(cells) for cells in KINDS[1:]),
        "",
        "What the others have and Crypsis has not: ARX's differential privacy and cost-benefit analysis; "
        "µ-Argus' tabular links; and "
        "decades of use.",
        "",
        "## Measured side by side",
        "",
        f"{content['date']}, {content['minutes']:g} min on {machine['cores']} cores "
        f"({machine['processor']}), load "
        f"{machine['load']}, Python {machine['python']}: {tools}.",
        "",
        "The same data and task for both sides, which take turns in processes of their own on one core. Seconds "
        "are CPU, warm. *Times faster* is the "
        "seconds of the peer by those of Crypsis, the median of the rounds with the lowest and highest: below 1 "
        "the peer is faster.",
        "",
        f"Of {len(rows)} tasks Crypsis needs less time in {len(faster)}, more in {len(rows) - len(faster)}. Of "
        f"the {len(judged)} in which results may "
        f"differ in quality it loses less in {len(better)}, the same in {len(judged) - len(better) - len(worse)}, "
        f"more in {len(worse)}"
        f"{': ' + '; '.join(_named(row) for row in worse) if worse else ''}.",
        "",
        "| task | peer | its seconds | Crypsis, seconds | times faster |",
        "|---|---|---|---|---|",
        *(_time(row) for row in rows),
        "",
        "Quality is judged by one measure of ours for both sides, low is better (of k, l, t and fronts: both "
        "must find the same). Where a peer "
        "brings a measure of its own, both sides are judged by it too.",
        "",
        "| task | judged by | peer | Crypsis | Crypsis by peer |",
        "|---|---|---|---|---|",
        *(cell for row in rows for cell in _quality(row)),
        "",
        "![CPU time of the peers by that of Crypsis](images/peers.png)",
        "",
        "## Remarks",
        "",
        *(f"- {name}: {text}" for name, text in REMARKS.items() if name in content["versions"]),
    ]
    if content["absent"]:
        lines += ["", "## Not run", ""]
        lines += [
            f"- {each['peer']}: {each['why']}. To have it in the next run: {each['how']}." for each in content["absent"]
        ]
        lines += [
            "- µ-Argus: it runs on Windows only.",
            "",
            "What Crypsis computes is compared with figures that sdcMicro 5.8.1 and ARX 3.9.2 printed, number by "
            "number, on the page "
            "[conformance](conformance.md), which a test asks for.",
        ]
    return "\n".join(lines) + "\n"


def _table_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _named(row: Row) -> str:
    return f"{row['task']} ({row['peer']})"


def _time(row: Row) -> str:
    few, many = min(row["time_ratios"]), max(row["time_ratios"])
    seconds = f"{row['peer_seconds']:.3g} | {row['seconds']:.3g} | {row['time_ratio']:.3g} ({few:.3g} to {many:.3g})"
    return f"| {row['task']} | {row['peer']} | {seconds} |"


def _quality(row: Row) -> list[str]:
    who = f" ({row['ours']})" if row["ours"] != "crypsis" else ""
    ratio = "equal" if row["quality_ratio"] == 1 else f"{row['quality_ratio']:.4g}"
    values = f"{row['peer_quality']:.6g} | {row['quality']:.6g} | {ratio}"
    lines = [f"| {row['task']}{who}, {row['peer']} | {row['measure']} | {values} |"]
    if row["own_quality"] is not None:
        own, other = row["own_quality"], row["own_peer_quality"]
        lines.append(f"| the same | {row['own_measure']} | {other:.6g} | {own:.6g} | |")
    return lines


def main() -> None:
    PAGE.write_text(page(json.loads(PEERS.read_text(encoding="utf-8"))), encoding="utf-8")


if __name__ == "__main__":
    main()
