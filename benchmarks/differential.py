"""Crypsis against other people's libraries on random cases: how many cases, and the largest difference of each.

python benchmarks/differential.py [--cases 2000] [--first 0] [--only LIBRARY …] [--environments FOLDER]

scipy, statsmodels and moocore are asked here. pycanon pins old versions of its libraries and splink brings DuckDB, so
each runs in an environment of its own, made on the first run below FOLDER (default: a temporary one); cases go there as
JSON lines. A difference above the tolerance is printed with its case, and fails the command.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from agreeing import COMPARISONS, Comparison, chance, difference
from numpy.typing import NDArray
from peers import environment

from crypsis.kernels.ledger import CLIP, mixture, pattern_weights
from crypsis.privacy import models
from crypsis.table.table import Table

Ints = NDArray[np.int64]
PYCANON = """
import json, sys
import pandas as pd
from pycanon import anonymity as a
for line in sys.stdin:
    columns = json.loads(line)
    frame = pd.DataFrame(columns)
    known, secret = [name for name in columns if name[0] == "q"], ["s"]
    named, number = frame.astype({"s": str}), frame
    print(json.dumps({
        "k": a.k_anonymity(frame, known),
        "distinct l": a.l_diversity(named, known, secret),
        "entropy l, whole": a.entropy_l_diversity(named, known, secret),
        "t, equal distances": a.t_closeness(named, known, secret),
        "t, ordered distances": a.t_closeness(number, known, secret),
        "basic β-likeness": a.basic_beta_likeness(named, known, secret),
        "α of (α, k)-anonymity": a.alpha_k_anonymity(named, known, secret)[0],
    }))
"""
SPLINK = """
import json, logging, sys
import pandas as pd
import splink.comparison_library as library
from splink import DuckDBAPI, Linker, SettingsCreator
logging.disable(logging.CRITICAL)

def linker(sides, m, u, share):
    names = [f"q{j}" for j in range(len(m))]
    frames = [pd.DataFrame(side, columns=names).assign(unique_id=range(len(side))) for side in sides]
    compared = [
        library.ExactMatch(name).configure(m_probabilities=[a, 1 - a], u_probabilities=[b, 1 - b])
        for name, a, b in zip(names, m, u)
    ]
    return Linker(frames, SettingsCreator(
        link_type="link_only", comparisons=compared, blocking_rules_to_generate_predictions=["1=1"],
        probability_two_random_records_match=share, em_convergence=1e-6, max_iterations=100,
    ), db_api=DuckDBAPI())

for line in sys.stdin:
    case = json.loads(line)
    size, rows, given = case["size"], case["rows"], case["fitted"]
    estimated = None
    if case["sides"]:
        session = linker(case["sides"], [0.9] * size, [0.1] * size, 1 / rows).training\\
            .estimate_parameters_using_expectation_maximisation(
                "1=1", fix_u_probabilities=False, estimate_without_term_frequencies=True
            )
        last = session._core_model_settings_history[-1]
        levels = [comparison._comparison_levels_excluding_null[0] for comparison in last.comparisons]
        estimated = [level.m_probability for level in levels] + [level.u_probability for level in levels]
        estimated.append(last.probability_two_random_records_match)
    all_patterns = [[1 - (pattern >> j & 1) for j in range(size)] for pattern in range(2**size)]
    pairs = linker([[[0] * size], all_patterns], given[:size], given[size:-1], given[-1]).inference.predict()
    found = pairs.as_pandas_dataframe().sort_values("unique_id_r")
    print(json.dumps({
        "estimated": estimated, "weights": found["match_weight"].tolist(),
        "probabilities": found["match_probability"].tolist(),
    }))
"""
EVERY = 8
"""One case in so many is estimated by splink's EM too: a round costs it some 25 ms, and fifty are usual."""
PINNED = {"pycanon": ("pycanon==1.3.5",), "splink": ("splink==4.0.16",)}


def random_people(seed: int) -> dict[str, list[Any]]:
    """A few keys and a secret of at least two values, because pycanon divides by their number less one."""
    rng = np.random.default_rng([2006, seed])
    n, keys = int(rng.integers(2, 50)), int(rng.integers(1, 4))
    secret = rng.integers(0, int(rng.integers(2, 6)), n)
    secret[:2] = [0, 1]
    known = {f"q{j}": [f"v{v}" for v in rng.integers(0, int(rng.integers(1, 5)), n)] for j in range(keys)}
    return {**known, "s": secret.tolist()}


def judged(columns: dict[str, list[Any]]) -> dict[str, float]:
    roles = {name: "confidential" if name == "s" else "quasi" for name in columns}
    number = Table.from_columns(columns, roles)
    named = Table.from_columns({**columns, "s": [str(v) for v in columns["s"]]}, roles)

    def attained(name: str, table: Table, **settings: Any) -> float:
        return models.build(name, **settings).judge(table).attained

    return {
        "k": attained("k-anonymity", named),
        "distinct l": attained("l-diversity", named),
        "entropy l, whole": attained("l-diversity", named, kind="entropy"),
        "t, equal distances": attained("t-closeness", named, distance="equal"),
        "t, ordered distances": attained("t-closeness", number, distance="ordered"),
        "basic β-likeness": attained("beta-likeness", named, kind="basic"),
        "α of (α, k)-anonymity": attained("alpha-k-anonymity", named, k=2),  # a class of one counts as 1 in both
    }


def random_pairs(seed: int) -> dict[str, Any]:
    """What Crypsis estimates from the patterns of all pairs of an original and a masked file of few values."""
    rng = np.random.default_rng([1969, seed])
    rows, size = int(rng.integers(20, 40)), int(rng.integers(4, 6))
    original = rng.integers(0, rng.integers(8, 20, size), (rows, size))
    swapped = np.stack([rng.permutation(column) for column in original.T], axis=1)
    masked = np.where(rng.random((rows, size)) < rng.uniform(0.1, 0.4), swapped, original)
    counted = patterns(original, masked)
    return {
        "size": size,
        "rows": rows,
        "fitted": mixture(counted, size, rows).tolist(),
        "weights": pattern_weights(mixture(counted, size, rows)).tolist(),
        "sides": [original.tolist(), masked.tolist()] if seed % EVERY == 0 else [],
    }


def patterns(original: Ints, masked: Ints) -> Ints:
    """int64[2^p]: pairs by the attributes in which they agree."""
    size = original.shape[1]
    same = (original[:, None, :] == masked[None, :, :]) << np.arange(size)
    return np.bincount(same.sum(axis=2).ravel(), minlength=1 << size)


class Tally:
    """Cases and largest difference of one comparison."""

    def __init__(self, library: str, what: str, tolerance: float) -> None:
        self.library, self.what, self.tolerance = library, what, tolerance
        self.cases, self.left_out, self.largest = 0, 0, 0.0
        self.failed: list[str] = []

    def add(self, case: int, ours: Any, theirs: Any) -> None:
        gap = difference(ours, theirs)
        self.cases, self.largest = self.cases + 1, max(self.largest, gap)
        if gap > self.tolerance:
            self.failed.append(f"    case {case}: crypsis {ours!r}, {self.library} {theirs!r}")

    def line(self) -> str:
        more = f"  ({self.left_out} left out)" if self.left_out else ""
        return f"{self.library:12} {self.what:52} {self.cases:6}  {self.largest:.1e}{more}"


def here(comparison: Comparison, cases: range) -> Tally:
    tally = Tally(comparison.library, comparison.what, comparison.tolerance)
    for case in cases:
        tally.add(case, *comparison.case(chance(case)))
    return tally


def asked(library: str, program: str, lines: list[dict[str, Any]], environments: Path) -> Iterator[dict[str, Any]]:
    """What another library answers in its own environment."""
    python = environment(environments / library, PINNED[library])
    text = "\n".join(map(json.dumps, lines))
    answers = subprocess.run([str(python), "-c", program], input=text, capture_output=True, text=True, check=False)
    if answers.returncode:
        raise RuntimeError(f"{library} could not answer:\n{answers.stderr[-2000:]}")
    return map(json.loads, answers.stdout.splitlines())


def by_pycanon(cases: range, environments: Path) -> list[Tally]:
    tables = [random_people(case) for case in cases]
    tallies: dict[str, Tally] = {}
    for case, table, theirs in zip(cases, tables, asked("pycanon", PYCANON, tables, environments), strict=True):
        for name, value in judged(table).items():
            if name == "entropy l, whole":  # pycanon cuts off a number that rounding may have left just below a whole
                value = theirs[name] if theirs[name] in _cut(value) else value
            tallies.setdefault(name, Tally("pycanon", name, 1e-9)).add(case, value, theirs[name])
    return list(tallies.values())


def _cut(value: float) -> tuple[int, int]:
    return math.floor(value - 1e-9), math.floor(value + 1e-9)


def by_splink(cases: range, environments: Path) -> list[Tally]:
    """The same EM from the same start, and weights and probabilities of all patterns for the same m, u and λ.

    Crypsis keeps m, u and λ between 1e-6 and 1 − 1e-6 and calls the class that agrees more the matches; splink does
    neither. Cases in which either happens have no common definition and are left out of the comparison of the EM.
    """
    pairs = [random_pairs(case) for case in cases]
    estimates, weights, probabilities = (
        Tally("splink", what, tolerance)
        for what, tolerance in (
            ("m, u and λ by EM", 1e-9),
            ("match weights for given m, u, λ", 1e-9),
            ("match probabilities for given m, u, λ", 1e-9),
        )
    )
    for case, pair, theirs in zip(cases, pairs, asked("splink", SPLINK, pairs, environments), strict=True):
        fitted, size = np.array(pair["fitted"]), pair["size"]
        if theirs["estimated"] is not None:
            found = [value if isinstance(value, float) else math.nan for value in theirs["estimated"]]
            swapped = sum(found[:size]) < sum(found[size:-1])
            if swapped or fitted.min() <= CLIP or fitted.max() >= 1 - CLIP:
                estimates.left_out += 1
            else:
                estimates.add(case, fitted.tolist(), found)
        own = np.array(pair["weights"]) + math.log2(fitted[-1] / (1 - fitted[-1]))
        weights.add(case, own.tolist(), theirs["weights"])
        probabilities.add(case, (1 / (1 + np.exp2(-own))).tolist(), theirs["probabilities"])
    return [estimates, weights, probabilities]


ELSEWHERE: dict[str, Callable[[range, Path], list[Tally]]] = {"pycanon": by_pycanon, "splink": by_splink}
LIBRARIES = (*dict.fromkeys(comparison.library for comparison in COMPARISONS), *ELSEWHERE)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0, help="number of the first case, to go on in parts")
    parser.add_argument("--only", nargs="+", choices=LIBRARIES, default=LIBRARIES)
    parser.add_argument("--environments", type=Path, help="folder for the libraries' environments")
    chosen = parser.parse_args()
    cases = range(chosen.first, chosen.first + chosen.cases)
    failed = False
    with tempfile.TemporaryDirectory() as scratch:
        print(f"{'library':12} {'what':52} {'cases':>6}  largest difference", flush=True)
        for library in chosen.only:
            if library in ELSEWHERE:
                tallies = ELSEWHERE[library](cases, chosen.environments or Path(scratch))
            else:
                tallies = [here(comparison, cases) for comparison in COMPARISONS if comparison.library == library]
            for tally in tallies:
                print(tally.line(), *tally.failed[:5], sep="\n", flush=True)
                failed |= bool(tally.failed)
    own = {name: version(name) for name in ("scipy", "statsmodels", "moocore")}
    print(", ".join(f"{name} {number}" for name, number in own.items()), *(p[0] for p in PINNED.values()), sep=", ")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
