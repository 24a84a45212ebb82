"""Local recoding's first step by dictionaries: nodes in order, classes that are large enough freeze."""

from __future__ import annotations

from collections import defaultdict


def freeze(rows, records, values, lifts, nodes, k, l):  # noqa: E741
    """rows: leaf tuples; values: set of confidential values per tuple; lifts[a][level][leaf] → group.

    → the node at which each tuple froze (None: nowhere).
    """
    frozen = [None] * len(rows)
    for number, node in enumerate(nodes):
        classes = defaultdict(list)
        for place, row in enumerate(rows):
            if frozen[place] is None:
                classes[
                    tuple(lifts[a][level][leaf] for a, (level, leaf) in enumerate(zip(node, row, strict=True)))
                ].append(place)
        for members in classes.values():
            held = sum(records[place] for place in members)
            seen = set().union(*(values[place] for place in members))
            if held >= k and len(seen) >= l:
                for place in members:
                    frozen[place] = number
    return frozen
