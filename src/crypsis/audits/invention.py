"""Values that nobody gave: missing cells that hold a value, numbers beyond the range, pairs that never occurred."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from crypsis.audits.published import Finding, FindingKind, Published
from crypsis.table.equivalence_classes import equivalence_classes
from crypsis.table.hierarchy import MISSING

PAIRED = 40
"""Columns of categories up to which pairs are looked at."""


def find_invented(seen: Published) -> list[Finding]:
    """Numbers outside the collected range, and the worst pair of categories that no record of the original holds."""
    before, found = seen.original, list[Finding]()
    if before is None:
        return found
    records = max(len(seen.table), 1)
    for name in seen.columns:
        if name in before.names and seen.table.holds_numbers(name) and before.holds_numbers(name):
            new, old = seen.table.column(name), before.column(name)
            if np.isnan(old).all():
                continue
            count = int(np.sum((new < np.nanmin(old)) | (new > np.nanmax(old))))
            if count:
                found.append(Finding(FindingKind.INVENTED, (name,), count, count / records, refuses=False))
    worst = max(_pairs(seen), key=lambda each: each.records, default=None)
    return [*found, worst] if worst is not None else found


def _pairs(seen: Published) -> list[Finding]:
    """Pairs of columns of which one was masked, and that hold new combinations of collected categories."""
    before = seen.original
    assert before is not None
    codes = {}
    for name in seen.columns:
        if name not in before.names or seen.table.holds_numbers(name) or before.holds_numbers(name):
            continue
        place = {label: code for code, label in enumerate(before.labels(name))}
        held = [place.get(label, MISSING) for label in seen.table.labels(name)]  # a group of values is none
        codes[name] = np.array([*held, MISSING])[seen.table.column(name)]
    changed = {name for name in codes if seen.masked_cells[name].any()}
    found = list[Finding]()
    for pair in combinations(list(codes), 2) if len(codes) <= PAIRED else ():
        if changed.isdisjoint(pair):
            continue
        old = np.stack([before.column(name) for name in pair], axis=1)
        new = np.stack([codes[name] for name in pair], axis=1)
        classes = equivalence_classes(np.concatenate([old, new]))
        known = np.zeros(classes.count, dtype=np.bool_)
        known[classes.of[: len(old)]] = True
        count = int(np.sum(~known[classes.of[len(old) :]] & (new != MISSING).all(axis=1)))
        if count:
            found.append(Finding(FindingKind.INVENTED, pair, count, count / max(len(new), 1), refuses=False))
    return found
