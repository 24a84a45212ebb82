"""How often 95 % intervals of risks hold the figure of the whole file, and how wide they are.

    python benchmarks/intervals.py [--rows 3000] [--people 300] [--draws 200] [--json]

A file of invented skewed numbers is masked once; every draw looks at some of its records, as a measure with a sample
does, and the interval should hold the figure of all records in 95 of 100 draws.
"""

from __future__ import annotations

import argparse
import json

import numpy as np
from numpy.typing import NDArray

from crypsis.masking import Microaggregation, Noise
from crypsis.masking.method import MaskingMethod
from crypsis.measures import IntervalDisclosure, RecordLinkage
from crypsis.measures.interval_disclosure import BoundInterval
from crypsis.measures.intervals import score_confidence_interval, wilson_interval
from crypsis.table.table import Table

FILES: dict[str, MaskingMethod] = {
    "microaggregated, k = 3": Microaggregation(k=3),
    "microaggregated, k = 10": Microaggregation(k=10),
    "noise, a tenth of a deviation": Noise(amount=0.1),
    "noise, half a deviation": Noise(amount=0.5),
}


def numbers(rows: int) -> Table:
    """Four skewed columns."""
    rng = np.random.default_rng(4)
    names = [f"x{n}" for n in range(4)]
    cells = {name: rng.lognormal(size=rows).tolist() for name in names}
    return Table.from_columns(cells, roles=dict.fromkeys(names, "quasi"))


def scores(table: Table, masked: Table) -> dict[str, tuple[NDArray[np.float64], float]]:
    """What each record earns an intruder, by measure, and the most it can."""
    disclosure = IntervalDisclosure().against(table)
    assert isinstance(disclosure, BoundInterval)
    linkage = RecordLinkage().against(table)
    return {
        "record linkage": (linkage.credits(masked), linkage.largest_credit(masked)),
        "interval disclosure": (disclosure.scores(masked), 1.0),
    }


def covered(earned: NDArray[np.float64], largest: float, people: int, draws: int) -> dict[str, float]:
    """Coverage and mean width over draws without replacement, of this rule and of Wilson's as if scores were hits."""
    rng, truth = np.random.default_rng(17), 100.0 * float(earned.mean())
    some = [rng.choice(earned, people, replace=False) for _ in range(draws)]
    ends = np.array([score_confidence_interval(part, len(earned), largest=largest) for part in some])
    plain = np.array([wilson_interval(float(part.sum()), people) for part in some])
    return {
        "rate": truth,
        "coverage": 100.0 * float(((ends[:, 0] <= truth) & (truth <= ends[:, 1])).mean()),
        "width": float((ends[:, 1] - ends[:, 0]).mean()),
        "coverage as hits": 100.0 * float(((plain[:, 0] <= truth) & (truth <= plain[:, 1])).mean()),
        "width as hits": float((plain[:, 1] - plain[:, 0]).mean()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--people", type=int, default=300)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    table, found = numbers(given.rows), {}
    for title, method in FILES.items():
        masked = method.mask(table, np.random.default_rng(1))
        for measure, (earned, largest) in scores(table, masked).items():
            found[f"{measure}, {title}"] = covered(earned, largest, given.people, given.draws)
    if given.json:
        print(json.dumps(found, indent=2))
        return
    print(f"{given.draws} draws of {given.people} among {given.rows} records")
    print(f"{'':54}{'rate, %':>9}{'coverage, %':>13}{'width':>7}{'as hits: coverage':>19}{'width':>7}")
    for title, each in found.items():
        print(
            f"{title:54}{each['rate']:9.2f}{each['coverage']:13.1f}{each['width']:7.2f}"
            f"{each['coverage as hits']:19.1f}{each['width as hits']:7.2f}"
        )


if __name__ == "__main__":
    main()
