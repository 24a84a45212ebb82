"""One node of a lattice judged record by record, straight from the definitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from crypsis.table.hierarchy import Hierarchy
from naive.equivalence_classes import by_size, group_by, known, strictest_l

MISSING = -1


def cell_loss(hierarchy: Hierarchy, leaf: int, level: int) -> float:
    if leaf == MISSING or hierarchy.size == 1:
        return 0.0
    group = hierarchy.groups[level][leaf]
    held = sum(1 for other in range(hierarchy.size) if hierarchy.groups[level][other] == group)
    return (held - 1) / (hierarchy.size - 1)


def judge_node(
    leaves: Sequence[Sequence[int]],
    hierarchies: Sequence[Hierarchy],
    levels: Sequence[int],
    values: Sequence[int],
    labels: Sequence[int],
    limit: int,
    demand: tuple[int, int] | None,
    rule: str,
) -> dict[str, float]:
    """All figures of one node. leaves: one tuple of leaf codes per record."""
    lifted = [
        tuple(
            MISSING if c == MISSING else int(h.groups[lv][c]) for h, lv, c in zip(hierarchies, levels, row, strict=True)
        )
        for row in leaves
    ]
    classes = group_by(lifted)
    if demand:
        k, least = demand
    else:
        k = by_size(classes, limit)
        least = strictest_l(classes, values, k, limit) if rule == "failing-class" else 0
    gone, stay = [], []
    for members in classes.values():
        fails = len(members) < k or len(known(values, members)) < least
        (gone if fails else stay).append(members)
    suppressed = [record for members in gone for record in members]
    loss = float(len(suppressed) * len(levels))
    misfits = len(suppressed)
    size_sum, value_sum = 0, 0
    for members in stay:
        misfits += len(members) - max(Counter(labels[r] for r in members).values())
        for record in members:
            size_sum += len(members)
            value_sum += sum(1 for other in members if values[other] == values[record] != MISSING)
            loss += sum(cell_loss(h, c, lv) for h, c, lv in zip(hierarchies, leaves[record], levels, strict=True))
    for record in suppressed:
        size_sum += len(suppressed)
        value_sum += sum(1 for other in suppressed if values[other] == values[record] != MISSING)
    return {
        "k": min((len(m) for m in stay), default=0),
        "l": min((len(known(values, m)) for m in stay), default=0),
        "glm_sum": loss,
        "cm": misfits,
        "s_k": size_sum,
        "s_l": value_sum,
        "classes": len(stay),
        "suppressed": len(suppressed),
    }


def information_lost(
    columns: Sequence[Sequence[float | None]], groups: Sequence[Sequence[int]], kept: Sequence[bool], numbers: bool
) -> float:
    """Summed information loss of columns published as groups, each column by its own values.

    columns  values of every record, None where missing; groups  the group each record stands in
    A suppressed record loses what the records of its group lose on average if nothing is published of them.
    """
    total = 0.0
    for values, group in zip(columns, groups, strict=True):
        present = [value for value in values if value is not None]

        def change(value: float | None, among: list[float | None], known: list[float | None] = present) -> float:
            """What a value loses that is read as a draw from some values, a number as their mean."""
            if value is None:
                return 0.0
            if numbers:
                mean = sum(known) / len(known)
                spread = sum((each - mean) ** 2 for each in known) / len(known)
                return (value - sum(among) / len(among)) ** 2 / spread if spread else 0.0
            wrong = sum(each != value for each in among) / len(among)
            spread = 1 - sum((known.count(each) / len(known)) ** 2 for each in set(known))
            return wrong / spread if spread > 1e-12 else 0.0

        for record, value in enumerate(values):
            if value is None:
                continue
            fellows = [v for v, g in zip(values, group, strict=True) if g == group[record] and v is not None]
            if kept[record]:
                total += change(value, fellows)
            else:
                varies = len(set(present)) > 1
                blanks = [change(each, present) if varies else 1.0 for each in fellows]
                more = sum(b - change(each, fellows) for b, each in zip(blanks, fellows, strict=True)) / len(fellows)
                total += change(value, fellows) + more
    return total
