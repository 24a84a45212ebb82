"""Weak and strong settings under every attack, each on half of a table with the other half as control.

    python benchmarks/attacks.py [--rows 2000] [--json]

Invented people and invented skewed numbers, so that anybody can run it. Per cent of the tries that succeed, on people
inside and outside; a star marks a finding.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator

import numpy as np

from crypsis.attacks import Findings, Intruder, attack
from crypsis.masking import Microaggregation, Noise, RankSwapping
from crypsis.masking.generalisation import Generalisation
from crypsis.masking.method import MaskingMethod
from crypsis.table.attribute import Role
from crypsis.table.example import example
from crypsis.table.table import Table


def people(rows: int) -> Table:
    """The built-in example; occupation is a secret that is hard to guess."""
    roles = dict.fromkeys(["occupation", "education"], Role.CONFIDENTIAL) | {"diagnosis": Role.OTHER}
    return example(rows, seed=1).with_roles(roles)


def numbers(rows: int) -> Table:
    """Eight skewed columns and a secret that nothing tells."""
    rng = np.random.default_rng(4)
    names = [f"x{n}" for n in range(8)]
    cells = {name: rng.lognormal(size=rows).tolist() for name in names}
    roles = dict.fromkeys(names, "quasi") | {"secret": "confidential"}
    return Table.from_columns({**cells, "secret": rng.normal(size=rows).tolist()}, roles=roles)


def halves(table: Table) -> tuple[Table, Table]:
    order = np.random.default_rng(0).permutation(len(table))
    half = len(table) // 2
    return table.take(np.sort(order[:half])), table.take(np.sort(order[half:]))


def settings_for(name: str, inside: Table) -> Iterator[tuple[str, MaskingMethod | None, Intruder]]:
    """What is tried: a title, the method, and what the intruder knows of it."""
    plain = Intruder(knows=tuple(inside.quasi_identifiers))
    if name == "people":
        yield "as it is", None, plain
        yield "generalised one level, k = 2", Generalisation(level=1, k=2, suppression=1.0), plain
        yield "generalised two levels, k by 20 % suppressed", Generalisation(level=2, suppression=0.2), plain
        yield "microaggregated together, k = 3", Microaggregation(k=3, missing="aggregate"), plain
        yield "microaggregated together, k = 10", Microaggregation(k=10, missing="aggregate"), plain
        return
    apart = tuple((column,) for column in inside.quasi_identifiers)
    for k in (3, 10):
        yield f"microaggregated column by column, k = {k}", Microaggregation(k=k, groups=apart), plain
        yield f"microaggregated together, k = {k}", Microaggregation(k=k), plain
    for percent in (1.0, 12.0, 30.0, 60.0):
        yield (
            f"rank swapping {percent:g} %, known",
            RankSwapping(percent=percent),
            plain.model_copy(update={"window": percent}),
        )
    yield "rank swapping 12 %, not known", RankSwapping(percent=12.0), plain
    yield "noise of half a deviation", Noise(amount=0.5), plain


def two_files(inside: Table, outside: Table) -> Findings:
    """Two files of the same people, each microaggregated in its own column."""
    rng, names = np.random.default_rng(8), ("age", "hours")
    made = [
        Microaggregation(k=10, columns=(name,), missing="aggregate").mask(inside, rng).drop([other])
        for name, other in (names, names[::-1])
    ]
    return attack(made[0], inside, control=outside, second=made[1], intruder=Intruder(knows=names))


def kept(release: Table, inside: Table) -> tuple[Table, Table]:
    rows = np.flatnonzero(release.kept)
    return release.take(rows), inside.take(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    results = []
    for name, table in (("people", people(asked.rows)), ("numbers", numbers(asked.rows))):
        inside, outside = halves(table)
        for title, method, intruder in settings_for(name, inside):
            began = time.process_time()
            release = inside if method is None else method.mask(inside, np.random.default_rng(7))
            found = attack(*kept(release, inside), control=outside, intruder=intruder)
            results.append((name, title, time.process_time() - began, found))
        if name == "people":
            results.append((name, "two files, each k = 10 in one column", 0.0, two_files(inside, outside)))
    if asked.json:
        print(json.dumps([_plain(*each) for each in results], indent=2))
        return
    for name, title, seconds, found in results:
        print(f"{name}: {title} ({seconds:.1f} s)")
        for outcome in found.outcomes:
            outside_rate = "–" if outcome.control is None else f"{outcome.control.value:.1f}"
            print(
                f"    {'*' if outcome.caught else ' '} {outcome.attack:32} {outcome.rate.value:5.1f} "
                f"({outcome.rate.interval[0]:.1f} – {outcome.rate.interval[1]:.1f}) outside {outside_rate:>5} "
                f"without {outcome.baseline.value:5.1f}"
            )
        print(f"    caught by {len(found.caught)} of {len(found.outcomes)}")


def _plain(name: str, title: str, seconds: float, found: Findings) -> dict[str, object]:
    rates = {
        outcome.attack: {
            "rate": outcome.rate.value,
            "interval": outcome.rate.interval,
            "control": None if outcome.control is None else outcome.control.value,
            "baseline": outcome.baseline.value,
            "caught": outcome.caught,
        }
        for outcome in found.outcomes
    }
    return {"table": name, "setting": title, "seconds": seconds, "attacks": rates}


if __name__ == "__main__":
    main()
