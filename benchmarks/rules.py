"""Edit rules on whole tables: what `init` proposes, what a masking breaks, what the repair mends, and its cost.

usage: python benchmarks/rules.py [--k 5] [--tables example adult testdata]

Every table is microaggregated with k; categories keep their distribution (`marginal`) or publish the mode (`typical`).
Adult and testdata are looked for in the folder CRYPSIS_DATA. Beside the proposed rules stand some that people know.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path

import numpy as np

from crypsis.audits.default_roles import assign_default_roles
from crypsis.masking import Microaggregation
from crypsis.masking.repairing import repair
from crypsis.measures import CellLoss
from crypsis.plan import Plan, draft
from crypsis.table.equivalence_classes import equivalence_class_sizes
from crypsis.table.example import example
from crypsis.table.files import read_table, write_table
from crypsis.table.precision import at_source_precision
from crypsis.table.profile import profile
from crypsis.table.rules import judge_rule_violations, proposed_rules, read_rule
from crypsis.table.table import Table

KNOWN = {
    "example": ("if age < 20 then marital = 'single'", "if marital = 'widowed' then age >= 40"),
    "adult": (
        "if relationship = 'Husband' then sex = 'Male'",
        "if relationship = 'Wife' then sex = 'Female'",
        "if relationship = 'Husband' then `marital-status` in {'Married-civ-spouse', 'Married-AF-spouse'}",
    ),
    "testdata": ("if relat = '3' then age <= 60", "if relat = '2' then hhcivil = '2'"),
}
"""Relations between columns of each table; the original may have exceptions, which do not count."""


def described(name: str, folder: Path) -> Table:
    """A table with roles, kinds and hierarchies as `crypsis init --cautious` gives them."""
    data = Path(os.environ.get("CRYPSIS_DATA", "../shared/data")) / f"{name}.csv"
    if name == "example":
        data = folder / "example.csv"
        write_table(example(1000), data)
    table = read_table(data)
    text = draft(data, folder / "plan.toml", table, assign_default_roles(profile(table), table), 5)
    (folder / "plan.toml").write_text(text, encoding="utf-8")
    return Plan.read(folder / "plan.toml").table(folder)


def report(table: Table, k: int, known: tuple[str, ...]) -> None:
    """Violations before and after the repair, by each way of publishing a group."""
    shown = [name for name in table.names if table.attribute(name).role.value not in ("identifier", "household")]
    found = proposed_rules(table, shown, table.quasi_identifiers)
    texts = [*dict.fromkeys([*(each.rule for each in found), *known])]
    rules = [read_rule(text) for text in texts]
    print(f"  {len(found)} rules proposed, {len(texts) - len(found)} known ones beside them")
    loss = CellLoss().against(table)
    for way in ("typical", "marginal"):
        method = Microaggregation(k=k, categories=way, partitioner="blocks")
        masked = at_source_precision(method.mask(table, np.random.default_rng(0)), table)
        began = time.perf_counter()
        mended = repair(masked, table, rules)
        took = time.perf_counter() - began
        sizes = [int(np.nanmin(equivalence_class_sizes(each, table.quasi_identifiers))) for each in (masked, mended)]
        lost = [f"{loss.read(each):.2f} %" for each in (masked, mended)]
        print(f"  {way}: k {sizes[0]} → {sizes[1]}, loss {lost[0]} → {lost[1]}, {took:.2f} s")
        for text, rule in zip(texts, rules, strict=True):
            before, after = (judge_rule_violations(rule, table, each).created for each in (masked, mended))
            print(f"    {before:6d} → {after:<4d} {text}")


def main() -> None:
    """Print every table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--tables", nargs="*", default=list(KNOWN))
    given = parser.parse_args()
    for name in given.tables:
        with tempfile.TemporaryDirectory() as place:
            table = described(name, Path(place))
            print(f"{name}: {len(table)} records, k = {given.k}")
            report(table, given.k, KNOWN[name])


if __name__ == "__main__":
    main()
