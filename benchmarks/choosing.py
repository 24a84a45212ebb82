"""The old pick beside the new default: k, loss, risk, vanished values, distances, contradictions, a regression.

usage: python benchmarks/choosing.py [--budget 20s] [--tables example adult testdata]

The old pick is the knee over all solutions that keep k, both axes scaled by the ends of the front; the new one is the
least loss within the limits that `crypsis init` writes. Adult and testdata are looked for in the folder CRYPSIS_DATA.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from crypsis.audits.default_roles import assign_default_roles
from crypsis.measures.estimate_use import RegressionUse
from crypsis.measures.utility import Distributions, utility_card
from crypsis.plan import Plan, draft
from crypsis.run import Front, Run, Solution
from crypsis.run.choosing import figure_for_choosing, solutions_worth_choosing
from crypsis.table.example import example
from crypsis.table.files import read_table, write_table
from crypsis.table.profile import profile
from crypsis.table.table import Table
from crypsis.text.cards import column_rows

Texts = NDArray[np.str_]

REGRESSIONS = {
    "example": ("income", ("age", "hours", "sex")),
    "adult": ("hours-per-week", ("age", "sex", "marital-status")),
    "testdata": ("income", ("age", "expend", "sex")),
}
"""Target and regressors of one regression on each table."""
IMPOSSIBLE = {"adult": ((("sex", "Female"), ("relationship", "Husband")), (("sex", "Male"), ("relationship", "Wife")))}
"""Pairs of values that contradict each other."""


def old_knee(front: Front) -> Solution:
    """The member of the front with the least sum of both axes, each scaled by its ends."""
    able = [s for s in front.everything if all(c.subject == "risk" for c in s.evaluation.complaints)]
    members = solutions_worth_choosing(able, ("loss", "risk"), feasible=False)
    scores = np.array([[figure_for_choosing(solution, axis) for axis in ("loss", "risk")] for solution in members])
    low, high = scores.min(axis=0), scores.max(axis=0)
    return members[int(np.argmin(((scores - low) / np.where(high > low, high - low, 1.0)).sum(axis=1)))]


def source(name: str, folder: Path) -> Path:
    """The file of a table."""
    if name != "example":
        return Path(os.environ.get("CRYPSIS_DATA", "../shared/data")) / f"{name}.csv"
    write_table(example(1000), folder / "example.csv")
    return folder / "example.csv"


def shown(table: Table, name: str) -> Texts:
    """A column as people read it, empty where a cell is; suppressed records are empty too."""
    if table.holds_numbers(name):
        texts = np.array([f"{value:g}" for value in table.column(name)])
    else:
        texts = np.array([*table.labels(name), ""])[table.column(name)]
    return np.where(table.kept & ~table.missing(name), texts, "")


def listed(original: Table) -> list[str]:
    """Quasi-identifiers whose values can be listed: categories, and whole numbers of few values."""
    distributions = Distributions(original)
    return [n for n in original.quasi_identifiers if not original.holds_numbers(n) or distributions.is_listed(n)]


def combinations_invented(original: Table, masked: Table) -> tuple[int, dict[str, int]]:
    """Released records with a pair of values that no original record has, and the pairs of columns with most.

    A group of values is no value: only pairs of collected values are looked at.
    """
    before, after = ({name: shown(table, name) for name in listed(original)} for table in (original, masked))
    true = {name: np.isin(after[name], before[name]) & (after[name] != "") for name in before}
    odd, found = np.zeros(len(original), dtype=np.bool_), {}
    for first, second in combinations(before, 2):
        known = set(zip(before[first].tolist(), before[second].tolist(), strict=True))
        pairs = zip(after[first].tolist(), after[second].tolist(), strict=True)
        new = np.array([pair not in known for pair in pairs]) & true[first] & true[second]
        odd |= new
        found[f"{first}, {second}"] = int(new.sum())
    worst = sorted((pair for pair in found if found[pair]), key=lambda pair: -found[pair])
    return int(odd.sum()), {pair: found[pair] for pair in worst[:3]}


def contradictions(name: str, table: Table) -> dict[str, int]:
    """Records that cannot be, as people know them."""
    return {
        f"{one} {other}": int(((shown(table, first) == one) & (shown(table, second) == other)).sum())
        for (first, one), (second, other) in IMPOSSIBLE.get(name, ())
    }


def show(title: str, name: str, run: Run, solution: Solution) -> None:
    """One pick in a paragraph."""
    regression = REGRESSIONS[name]
    masked = run.decode(solution)
    card = utility_card(run.original, masked, run.plan.useful, general=())
    ruined = ", ".join(dict.fromkeys(r.column for r in card.ruins)) or "none"
    told = ", ".join(f"{each} {figure_for_choosing(solution, each):.4g}" for each in ("k", "loss", "risk"))
    print(f"  {title}: solution {solution.number} ({solution.title}), {told}; ruined: {ruined}")
    gone = {row["name"]: row["vanished"] for row in column_rows(card.columns) if row["vanished"] != "–"}
    print(f"    vanished values: {gone or 'none'}")
    some, worst = combinations_invented(run.original, masked)
    print(f"    records with an invented pair of values: {some}; most in {worst or 'no pair of columns'}")
    before, after = (contradictions(name, table) for table in (run.original, masked))
    if before:
        print(f"    contradictions before: {before}; after: {after}")
    print(f"    total variation, %: { ({c.name: round(c.distance, 1) for c in card.columns}) }")
    print(
        f"    Kolmogorov, %: { ({c.name: round(c.kolmogorov, 1) for c in card.columns if c.kolmogorov is not None}) }"
    )
    target, names = regression
    use = RegressionUse(target=target, columns=names)
    prepared = use.prepare(run.original)
    for what, table in (("original", run.original), ("released", masked)):
        fit = use._fit(run.original, prepared.regressors, table)
        spans = [f"{b:.4g} ± {h:.2g}" for b, h in zip(fit.estimate, fit.half_width, strict=True)]
        print(f"    {target} by {', '.join(names)}, {what}: {'; '.join(spans)}")


def main() -> None:
    """Print both picks for every table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--budget", default="20s")
    parser.add_argument("--tables", nargs="*", default=list(REGRESSIONS))
    given = parser.parse_args()
    for name in given.tables:
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            data = source(name, folder)
            table = read_table(data)
            text = draft(data, folder / "plan.toml", table, assign_default_roles(profile(table), table), 5)
            (folder / "plan.toml").write_text(text, encoding="utf-8")
            plan = Plan.read(folder / "plan.toml")
            with Run.start(plan, folder / "run", home=folder, text=text, seed=1, budget=given.budget) as run:
                for _ in run.proceed():
                    pass
                if not run.front.offers:
                    print(f"{name}: nothing may be released within {given.budget}; give a larger --budget")
                    continue
                print(f"{name}: {len(run.original)} records, {len(run.front.everything)} solutions measured")
                show("old pick, knee", name, run, old_knee(run.front))
                show("new default", name, run, run.choose())


if __name__ == "__main__":
    main()
