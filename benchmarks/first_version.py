"""A front of version 0.1, for `equal_linkage.py`: runs under the sources of that version and writes its masked tables.

    PYTHONPATH=FOLDER_OF_0.1/src python benchmarks/first_version.py TABLE.npz OUT.npz SEED CPU_SECONDS

Both versions hold a table as the same arrays, so tables are passed as such. Version 0.1 runs the searches of its first
plan. Its clock is put to CPU seconds; it starts to count after every search made a generation, and generations are
not interrupted, so that it takes more than it is given: the CPU seconds it took are written beside the tables.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from crypsis.table.attribute import Attribute, Kind, Role
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.table import Table

K = 5
MEASURES = {"loss": ["cell-loss"], "risk": ["record-linkage"]}


def packed(table: Table) -> dict[str, Any]:
    """A table as arrays that `numpy.savez` writes."""
    described, arrays = [], dict[str, Any]()
    for place, (attribute, column) in enumerate(zip(table.attributes, table.columns, strict=True)):
        tree = attribute.hierarchy
        arrays[f"column {place}"] = column
        if tree is not None:
            arrays[f"values {place}"] = tree.values
            arrays |= {f"groups {place} {level}": groups for level, groups in enumerate(tree.groups)}
        described.append(
            {
                "name": attribute.name,
                "kind": attribute.kind.value,
                "role": attribute.role.value,
                "categories": list(attribute.categories),
                "labels": None if tree is None else [list(labels) for labels in tree.labels],
            }
        )
    return arrays | {"described": np.array(json.dumps(described))}


def unpacked(arrays: Mapping[str, Any]) -> Table:
    """The table that `packed` took apart."""
    attributes, columns = [], []
    for place, each in enumerate(json.loads(str(arrays["described"]))):
        tree = None
        if each["labels"] is not None:
            groups = tuple(arrays[f"groups {place} {level}"] for level in range(len(each["labels"])))
            tree = Hierarchy(groups, tuple(map(tuple, each["labels"])), arrays[f"values {place}"])
        kind, role = Kind(each["kind"]), Role(each["role"])
        attributes.append(Attribute(each["name"], kind, role, tuple(each["categories"]), tree))
        columns.append(arrays[f"column {place}"])
    return Table(tuple(attributes), tuple(columns))


def first_plan(table: Table) -> list[Any]:
    """The searches that version 0.1 writes into a first plan."""
    from crypsis.plan.catalogue import searches

    draft: Any = import_module("crypsis.plan.draft")  # names of 0.1, which later versions lack

    mixed = any(table.attribute(name).kind != Kind.NUMERIC for name in table.quasi_identifiers)
    chosen = []
    for name, _ in draft.OFFERED:
        settings = draft._settings(name, table, K)
        if settings is not None and not (mixed and name == "grouping"):
            chosen.append(searches.build(name, **settings))
    return chosen


def main(arguments: Sequence[str]) -> None:
    """Run 0.1 on a table and write what is on its front."""
    source, target, seed, cpu = Path(arguments[0]), Path(arguments[1]), int(arguments[2]), float(arguments[3])
    import crypsis

    clock, running, strand, yardstick = (
        import_module(f"crypsis.run.{name}") for name in ("clock", "run", "strand", "yardstick")
    )

    with np.load(source, allow_pickle=False) as arrays:
        table = unpacked(dict(arrays))
    few = table.take(np.arange(min(len(table), 200)))
    crypsis.evolve(few, first_plan(few), [crypsis.KAnonymity(k=K)], budget="1 generations", seed=1).close()  # compiles
    counted = SimpleNamespace(monotonic=time.process_time)
    for module in (clock, running, strand):
        module.time = counted
    seen: list[tuple[Any, Table]] = []
    measure = yardstick.Yardstick.measure

    def kept(self: Any, masked: Table, family: str) -> Any:
        found = measure(self, masked, family)
        seen.append((found, masked))
        return found

    yardstick.Yardstick.measure = kept
    start = time.process_time()
    models = [crypsis.KAnonymity(k=K)]
    run = crypsis.evolve(table, first_plan(table), models, budget=f"{cpu:g}s", seed=seed, measures=MEASURES)
    taken = time.process_time() - start
    front = [dict(s.measured.figures) for s in run.front if not s.baseline]
    arrays, place = {"cpu": np.array(taken)}, 0
    for found, masked in seen:
        if dict(found.figures) in front:
            arrays |= {f"{place} column {a}": column for a, column in enumerate(masked.columns)}
            arrays[f"{place} levels"], arrays[f"{place} kept"] = np.array(masked.levels), masked.kept
            place += 1
    np.savez_compressed(target, **arrays, tables=np.array(place))
    run.close()


if __name__ == "__main__":
    main(sys.argv[1:])
