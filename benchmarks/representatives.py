"""What stands for a group, at equal groups: distance of each column's distribution, loss, linkage, broken relations.

    python benchmarks/representatives.py [--k 5] [--rows 3000] [--table example|adult|testdata …] [--rules] [--json]

Groups are MDAV's over all quasi-identifiers, the same for every representative. TV is the total variation between the
published and the collected distribution of a column of categories (a blank and a node of a hierarchy are values of
their own); the goal is that `marginal` has at most a quarter of the TV of `typical`. With --rules the relations that
`init` would propose are asked: violations before and after repair, and what repair costs in loss and CPU time, with
typical values, with kept distributions, and with every column masked in groups of its own (apart).
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "experiments"))

from data import reference_file

import crypsis
from crypsis.masking.microaggregation import Microaggregation
from crypsis.masking.repairing import repair
from crypsis.table.equivalence_classes import equivalence_class_sizes
from crypsis.table.links import links
from crypsis.table.precision import at_source_precision
from crypsis.table.rules import judge_rule_violations, proposed_rules, read_rule
from crypsis.table.table import Table

QUASI = {
    "adult": (
        "age", "workclass", "education", "education-num", "marital-status", "occupation", "relationship", "race", "sex",
        "native-country",
    ),
    "testdata": ("urbrur", "roof", "walls", "water", "electcon", "relat", "sex", "age", "hhcivil"),
}  # fmt: skip
NOMINAL = {
    "adult": ("education-num",),
    "testdata": ("urbrur", "roof", "walls", "water", "electcon", "relat", "sex", "hhcivil"),
}
CATEGORIES = ("typical", "common-ancestor", "unanimous", "cheapest", "marginal")


def read(name: str, rows: int) -> Table:
    """A table with its quasi-identifiers, a simple hierarchy for each column of categories, and its links."""
    if name == "example":
        return crypsis.example(rows, seed=1)
    table = crypsis.read_table(
        reference_file(f"{name}.csv"),
        roles=dict.fromkeys(QUASI[name], "quasi"),
        kinds=dict.fromkeys(NOMINAL[name], "nominal"),
        hierarchies={n: "merge:4,2" for n in QUASI[name] if n != "age"},
    )
    table = table.take(np.arange(min(rows, len(table))))
    found = links(table, table.quasi_identifiers)
    return table.with_columns(
        {}, attributes={each.name: table.attribute(each.name).but(linked=each.lead) for each in found}
    )


def distances(original: Table, masked: Table) -> dict[str, float]:
    """Total variation of every column of categories."""
    found = {}
    for name in original.quasi_identifiers:
        if original.attribute(name).numeric:
            continue
        before = np.array([*original.labels(name), ""], dtype=object)[original.column(name)]
        after = np.array([*masked.labels(name), ""], dtype=object)[masked.column(name)]
        values = sorted({*before, *after})
        shares = [np.array([np.mean(side == value) for value in values]) for side in (before, after)]
        found[name] = 0.5 * float(np.abs(shares[0] - shares[1]).sum())
    return found


def row(original: Table, masked: Table) -> dict[str, Any]:
    """The figures of one masking."""
    tv = distances(original, masked)
    return {
        "tv": tv,
        "mean tv": float(np.mean(list(tv.values()))) if tv else 0.0,
        "worst tv": max(tv.values(), default=0.0),
        "loss": crypsis.CellLoss().against(original).read(masked),
        "linkage": crypsis.RecordLinkage().against(original).read(masked),
        "k": int(np.nanmin(equivalence_class_sizes(masked, masked.quasi_identifiers))),
        "vanished": sum(
            len(set(np.unique(original.column(n))) - set(np.unique(masked.column(n))))
            for n in tv
            if masked.level(n) == 0
        ),
    }


def representatives(table: Table, k: int) -> dict[str, dict[str, Any]]:
    """Figures by representative, over the same groups."""
    groups = Microaggregation(k=k, scaling="range").partitions(table, np.random.default_rng(0))
    found = {}
    for numbers, categories in [("mean", each) for each in CATEGORIES] + [("spread", "marginal")]:
        method = Microaggregation(k=k, scaling="range", numbers=numbers, categories=categories)
        began = time.process_time()
        masked = at_source_precision(method.aggregate(table, groups), table)
        name = categories if numbers == "mean" else f"{numbers} + {categories}"
        found[name] = row(table, masked) | {"cpu": time.process_time() - began}
    return found


def rules(table: Table, k: int) -> list[dict[str, Any]]:
    """Violations of proposed rules before and after repair, by the way of masking."""
    plain = table.with_columns({}, attributes={n: table.attribute(n).but(linked="") for n in table.quasi_identifiers})
    names = [each.rule for each in proposed_rules(table, table.names, table.quasi_identifiers)]
    read_rules = [read_rule(text) for text in names]
    found = []
    apart = tuple((name,) for name in table.quasi_identifiers)
    for title, categories in (("typical", "typical"), ("marginal", "marginal"), ("apart", "typical")):
        groups = apart if title == "apart" else ()
        method = Microaggregation(k=k, scaling="range", groups=groups, categories=categories)
        masked = at_source_precision(method.mask(plain, np.random.default_rng(0)), plain)
        began = time.process_time()
        mended = repair(masked, plain, read_rules)
        spent = time.process_time() - began
        for rule in read_rules:
            found.append(
                {
                    "masked": title,
                    "rule": rule.text,
                    "before repair": judge_rule_violations(rule, plain, masked).created,
                    "after repair": judge_rule_violations(rule, plain, mended).created,
                    "loss before": row(plain, masked)["loss"],
                    "loss after": row(plain, mended)["loss"],
                    "cpu of all": spent,
                }
            )
    return found


def main() -> None:
    """Print the figures of every table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--k", type=int, default=5)
    options.add_argument("--rows", type=int, default=3000)
    options.add_argument("--table", nargs="*", default=["example", "adult", "testdata"])
    options.add_argument("--rules", action="store_true")
    options.add_argument("--json", action="store_true")
    given = options.parse_args()
    everything: dict[str, Any] = {}
    for name in given.table:
        table = read(name, given.rows)
        everything[name] = rules(table, given.k) if given.rules else representatives(table, given.k)
        if given.json:
            continue
        print(f"{name}: {len(table)} records, {len(table.quasi_identifiers)} quasi-identifiers, k = {given.k}")
        if given.rules:
            for each in everything[name]:
                print(
                    f"  {each['masked']:9} {each['before repair']:6} → {each['after repair']:3}  loss "
                    f"{each['loss before']:.2f} → {each['loss after']:.2f}  cpu {each['cpu of all']:.2f} s  "
                    f"{each['rule']}"
                )
            continue
        usual = everything[name]["typical"]["mean tv"]
        for title, each in everything[name].items():
            print(
                f"  {title:18} mean TV {each['mean tv']:.4f} ({each['mean tv'] / usual:.2f} of typical)  worst "
                f"{each['worst tv']:.4f}  vanished {each['vanished']:3}  loss {each['loss']:6.2f}  linkage "
                f"{each['linkage']:6.2f}  k {each['k']}  cpu {each['cpu']:.2f} s"
            )
    if given.json:
        print(json.dumps(everything, indent=1))


if __name__ == "__main__":
    main()
