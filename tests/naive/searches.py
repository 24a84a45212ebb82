"""What each search minimises by itself, read off the masked table it decodes into: plain loops over records.

Every twin takes the search, the original and the masked table, and gives the scores in the order of the objectives.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from crypsis.masking.scaling import embed
from crypsis.measures import measures
from crypsis.measures.linkage_attacks import LinkageAttack
from crypsis.searches.search import Search
from crypsis.table.table import LOCAL, Table
from naive.cell_loss import Scale, node_of, recoded_cell
from naive.cell_suppression import records_of_persons, wildcard_counts
from naive.equivalence_classes import group_by
from naive.exchanges import credits

Twin = Callable[[Any, Table, Table], tuple[float, ...]]


class OnAnEdge(Exception):
    """Rounding alone decides whether a value lies inside its interval, so that there is nothing to compare."""


def shown(table: Table, names: list[str] | tuple[str, ...]) -> list[tuple[Any, ...]]:
    """The cells of every record as they are published; None where one is missing."""
    columns = []
    for name in names:
        cells = table.column(name).tolist()
        if table.holds_numbers(name):
            columns.append([None if cell != cell else cell for cell in cells])
        else:
            columns.append([None if cell < 0 else table.labels(name)[cell] for cell in cells])
    return list(zip(*columns, strict=True))


def kept_classes(table: Table, names: list[str] | tuple[str, ...]) -> list[list[int]]:
    """Records that publish the same, suppressed ones apart."""
    rows = shown(table, names)
    return list(group_by([row if table.kept[record] else ("suppressed", record) for record, row in enumerate(rows)])
                .values())  # fmt: skip


def partition(search: Search, original: Table, masked: Table) -> tuple[float, ...]:
    """Squares within groups of equal published records over squares about the mean; groups over records."""
    names = search.names(original)  # type: ignore[attr-defined]
    points = embed(original, names, search.scaling)  # type: ignore[attr-defined]
    groups = kept_classes(masked, names)
    within = sum(
        float(np.square(points[row] - np.mean([points[peer] for peer in members], axis=0)).sum())
        for members in groups
        for row in members
    )
    total = sum(float(np.square(point - points.mean(axis=0)).sum()) for point in points)
    return 100 * within / total, 100 * len(groups) / len(original)


def local_recoding(search: Search, original: Table, masked: Table) -> tuple[float, ...]:
    """Mean cell loss of the recoded columns; classes over records."""
    losses = []
    for name in search.names(original):  # type: ignore[attr-defined]
        attribute, hierarchy = original.attribute(name), original.attribute(name).hierarchy
        values = [row[0] for row in shown(original, [name])]
        scale = Scale(str(attribute.kind), values, attribute.categories)
        assert masked.level(name) == LOCAL
        for value, number in zip(values, masked.column(name).tolist(), strict=True):
            node = None if number < 0 else node_of(hierarchy, number)
            losses.append(recoded_cell(hierarchy, node, value, scale))
    classes = kept_classes(masked, masked.quasi_identifiers)
    return 100 * sum(losses) / len(losses), 100 * len(classes) / len(original)


def cell_suppression(search: Any, original: Table, masked: Table) -> tuple[float, ...]:
    """Mean loss of cells, 1 where one is hidden; mean over persons of 1 / records that do not contradict them."""
    names = search.open_names(original)
    hidden = [after is None and before is not None for name in names for (before,), (after,) in
              zip(shown(original, [name]), shown(masked, [name]), strict=True)]  # fmt: skip
    known = list(dict.fromkeys((*names, *original.quasi_identifiers)))
    people, published = shown(original, known), shown(masked, known)
    counts = records_of_persons(published, people) if search.missing == "target" else wildcard_counts(published)
    return 100 * sum(hidden) / len(hidden), 100 * sum(1 / count for count in counts) / len(counts)


def composite(search: Search, original: Table, masked: Table) -> tuple[float, ...]:
    """Mean cell loss of columns of values and columns of nodes; classes over records."""
    losses = []
    for name in search.names(original):  # type: ignore[attr-defined]
        attribute, hierarchy = original.attribute(name), original.attribute(name).hierarchy
        values, after = ([row[0] for row in shown(table, [name])] for table in (original, masked))
        scale = Scale(str(attribute.kind), values, attribute.categories)
        for value, label, number in zip(values, after, masked.column(name).tolist(), strict=True):
            if masked.level(name) == LOCAL:
                losses.append(recoded_cell(hierarchy, None if number < 0 else node_of(hierarchy, number), value, scale))
            elif value is None or label is None:
                losses.append(float((value is None) != (label is None)))
            else:
                losses.append(scale.distance(value, label))
    classes = kept_classes(masked, masked.quasi_identifiers)
    return 100 * sum(losses) / len(losses), 100 * len(classes) / len(original)


def households(search: Search, original: Table, masked: Table) -> tuple[float, ...]:
    """Mean cell loss, a record that is left out losing every cell; classes over published records."""
    left = masked.take(np.flatnonzero(masked.kept))
    gone, names = len(original) - len(left), len(search.names(original))  # type: ignore[attr-defined]
    loss, classes = composite(search, original.take(np.flatnonzero(masked.kept)), left)
    share = gone / len(original)
    return loss * (1 - share) + 100 * share * names / names, classes


def pbg_ea(search: Any, original: Table, masked: Table) -> tuple[float, ...]:
    """The indices of the front, negated; or the loss that meets a demand."""
    names = search.columns or original.quasi_identifiers
    groups = kept_classes(masked, names)
    alive = [members for members in groups if masked.kept[members[0]]]
    gone = [record for record in range(len(original)) if not masked.kept[record]]
    loss = 0.0
    for name in names:
        hierarchy, level = original.attribute(name).hierarchy, masked.level(name)
        for record, leaf in enumerate(original.leaf_codes(name).tolist()):
            if record in gone:
                loss += 1.0
            elif leaf >= 0 and hierarchy.size > 1:
                held = sum(group == hierarchy.groups[level][leaf] for group in hierarchy.groups[level])
                loss += (held - 1) / (hierarchy.size - 1)
    cells = len(original) * len(names)
    if search.k or search.l:
        return 100 * loss / cells, 0.0
    secret = original.codes([original.confidential[0]])[:, 0].tolist()
    labels = original.codes([search.label or original.confidential[0]])[:, 0].tolist()
    together = [*alive, *([gone] if gone else [])]
    counts = [(members, Counter(secret[record] for record in members)) for members in together]
    same = sum(count * count for _, held in counts for count in held.values())
    misfits = len(gone) + sum(
        len(members) - max(Counter(labels[record] for record in members).values()) for members in alive
    )
    indices = {
        "k": min(len(members) for members in alive),
        "l": min(len({secret[record] for record in members}) for members in alive),
        "glm": cells - loss,
        "cm": len(original) - misfits,
        "s_k": sum(len(members) ** 2 for members in together),
        "s_l": same if search.favour == "many" else len(original) ** 2 - same,
    }
    return tuple(-float(indices[name]) for name in search.indices)


def mixed_grouping(search: Any, original: Table, masked: Table) -> tuple[float, ...]:
    """Information loss, and one-to-one linkage over every quasi-identifier; each has a slow twin of its own."""
    loss = measures.build("information-loss", columns=search.names(original))
    linkage = measures.build("one-to-one-linkage", columns=tuple(original.quasi_identifiers))
    return loss.against(original).read(masked), linkage.against(original).read(masked)


def gomm(search: Any, original: Table, masked: Table) -> tuple[float, ...]:
    """IL; and DR, the mean of disclosure by intervals of 1 … 10 % and of linkage of the nearest."""
    names = search.names(original)
    values, published = original.numbers(names), masked.numbers(names)
    values = np.where(np.isnan(values), np.nanmean(values, axis=0), values)
    low, spread = values.mean(axis=0), values.std(axis=0)
    if search.scaling == "range":
        low, spread = values.min(axis=0), values.max(axis=0) - values.min(axis=0)
    points, images = (values - low) / spread, (published - low) / spread
    n, p = points.shape
    loss = 100 * np.square(points - images).sum() / np.square(points - points.mean(axis=0)).sum()

    def rank(value: float, column: Any) -> float:
        return ((column < value).sum() + (column <= value).sum()) / (2 * n)

    inside = 0
    for j in range(p):
        for i in range(n):
            gap, unit = abs(points[i, j] - images[i, j]), images[i, j]
            if search.interval == "rank":
                gap, unit = abs(rank(values[i, j], values[:, j]) - rank(published[i, j], values[:, j])), 1.0
            reaches = [width / 100 * unit for width in range(1, 11)]
            if search.interval == "value" and any(abs(gap - reach) < 1e-9 for reach in reaches):
                raise OnAnEdge
            inside += sum(gap <= reach + 1e-12 for reach in reaches)
    credit = 0.0
    for i in range(n):
        distances = np.square(points[i] - images).sum(axis=1)
        nearest = distances <= distances.min() + 1e-12
        credit += nearest[i] / nearest.sum()
    return float(loss), (100 * inside / (10 * n * p) + 100 * float(credit) / n) / 2


def categorical_masking(search: Any, original: Table, masked: Table) -> tuple[float, ...]:
    """Mean of the three losses and mean of the four risks for categories; each has a slow twin of its own."""
    names = tuple(search.columns or [n for n in original.quasi_identifiers if not original.attribute(n).numeric])
    losses = ("contingency-loss", "distance-loss", "entropy-loss")
    risks = ("category-disclosure", "category-linkage", "probabilistic-linkage", "rank-linkage")
    return tuple(
        sum(measures.build(name, columns=names).against(original).read(masked) for name in group) / len(group)
        for group in (losses, risks)
    )


def mixed_masking(search: Any, original: Table, masked: Table) -> tuple[float, ...]:
    """Mean cell loss over what is known, and the nearest published record of everybody, ties worth their share."""
    known = list(dict.fromkeys([*original.quasi_identifiers, *search.names(original)]))
    losses = []
    for name in known:
        values, after = ([row[0] for row in shown(table, [name])] for table in (original, masked))
        scale = Scale(str(original.attribute(name).kind), values, original.attribute(name).categories)
        losses += [0.0 if one is None else scale.distance(one, two) for one, two in zip(values, after, strict=True)]
    earned = credits(original, masked, LinkageAttack(tuple(known)))
    return 100 * sum(losses) / len(losses), 100 * sum(earned) / len(earned)


TWINS: dict[str, Twin] = {
    "composite": composite,
    "households": households,
    "gomm": gomm,
    "categorical-masking": categorical_masking,
    "pbg-ea": pbg_ea,
    "local-recoding": local_recoding,
    "cell-suppression": cell_suppression,
    "mixed-grouping": mixed_grouping,
    "mixed-masking": mixed_masking,
    "ga-microaggregation": partition,
    "hybrid-microaggregation": partition,
    "memetic": partition,
}
