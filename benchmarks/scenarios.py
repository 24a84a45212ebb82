"""What it gains to mask columns apart that no intruder knows together, and what it does not protect against.

    python benchmarks/scenarios.py [--tables example adult] [--rows 2000] [--seconds 20 | --generations 40] [--seeds 1]

Each table has two disjoint scenarios, k = 5 in each. `together` is the search composite with k = 5 over all
quasi-identifiers, `apart` the search mixed-grouping under the two scenarios; both get the same budget.
Printed for the solution of least loss: cell loss; record linkage in the worst scenario and for an intruder who knows
every quasi-identifier; smallest class in the scenarios and over all; mean total variation distance of the categories.
`apart, as safe` is the least loss with no more linkage in the worst scenario than `together` has, from larger clusters;
`apart, truthful` publishes nothing that is false of a record. Reference data: the folder named by CRYPSIS_DATA, else
../shared/data beside the repository. Give seconds on a quiet machine only.
"""

from __future__ import annotations

import argparse

from models import adult

import crypsis
from crypsis.measures.utility import Distributions
from crypsis.privacy import KAnonymity
from crypsis.table.attribute import Kind
from crypsis.table.equivalence_classes import equivalence_class_sizes
from crypsis.table.table import Table

K = 5
Known = tuple[tuple[str, ...], tuple[str, ...]]

EXAMPLE: Known = (("age", "sex", "district", "marital"), ("education", "occupation", "hours"))
ADULT: Known = (
    ("age", "sex", "race", "native-country", "marital-status"),
    ("workclass", "education", "salary-class"),
)


def tables(names: list[str], rows: int) -> dict[str, tuple[Table, Known]]:
    """The tables asked for, each with what two intruders know."""
    made = {}
    if "example" in names:
        made["example"] = (crypsis.example(rows), EXAMPLE)
    if "adult" in names:
        made["adult"] = (adult(rows), ADULT)
    return made


def scenarios(known: Known) -> list[dict[str, object]]:
    """The section of a plan."""
    return [
        {"name": name, "knows": list(knows), "require": [{"model": "k-anonymity", "k": K}]}
        for name, knows in zip(("at home", "at work"), known, strict=True)
    ]


def line(title: str, table: Table, known: Known, masked: Table) -> str:
    """What is read off one masked table."""
    everything = tuple(table.quasi_identifiers)
    asked = (*known, everything)
    linkage = {names: crypsis.RecordLinkage(columns=names).against(table).read(masked) for names in asked}
    sizes = [int(equivalence_class_sizes(masked, names).min()) for names in known]
    moved = Distributions(table).figures(masked, everything)
    tv = [moved[n]["distance"] for n in everything if table.attribute(n).kind is not Kind.NUMERIC and n in moved]
    return (
        f"  {title:17}loss {crypsis.CellLoss().against(table).read(masked):6.2f}   linkage: worst scenario "
        f"{max(linkage[names] for names in known):6.2f}, knows all {linkage[everything]:6.2f}   k: scenarios "
        f"{min(sizes)}, over all {int(equivalence_class_sizes(masked, everything).min())}   "
        f"TV {sum(tv) / max(len(tv), 1):.2f}"
    )


def main() -> None:
    """Print the comparison."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", nargs="*", default=["example", "adult"])
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=0.0)
    parser.add_argument("--generations", type=int, default=60)
    parser.add_argument("--seeds", type=int, nargs="*", default=[1])
    given = parser.parse_args()
    budget = f"{given.seconds:g}s" if given.seconds else f"{given.generations} generations"
    grouping = crypsis.MixedGroupingSearch(k=K)
    larger = crypsis.MixedGroupingSearch(k=K, largest_k=5 * K)
    truthful = crypsis.MixedGroupingSearch(k=K, truthful=True)
    for name, (table, known) in tables(given.tables, given.rows).items():
        print(f"\n{name}, {len(table)} records, {' + '.join(str(len(each)) for each in known)} columns, {budget}")
        for seed in given.seeds:
            asked = {"budget": budget, "seed": seed}
            with crypsis.evolve(table, crypsis.CompositeSearch(k=K, k_values=1), [KAnonymity(k=K)], **asked) as run:
                masked = run.decode("faithful")
                print(line("together", table, known, masked))
            most = max(crypsis.RecordLinkage(columns=names).against(table).read(masked) for names in known)
            with crypsis.evolve(table, larger, scenario=scenarios(known), **asked) as run:
                print(line("apart, as safe", table, known, run.decode(f"faithful where risk <= {most:.6f}")))
            for title, search in (("apart", grouping), ("apart, truthful", truthful)):
                with crypsis.evolve(table, search, scenario=scenarios(known), **asked) as run:
                    print(line(title, table, known, run.decode("faithful")))


if __name__ == "__main__":
    main()
