"""Labels of merged categories that name nobody: a category that few records hold is never part of a label."""

from __future__ import annotations

from collections.abc import Collection, Sequence

RARE = 3
"""A category held by fewer records than this is not named."""


def listed_label(labels: Sequence[str], counts: Sequence[int], taken: Collection[str]) -> str:
    """Name a group of categories by its members.

    taken  labels that stand for something else
    returns  the members that are not rare, and that there are others

    Examples
    --------
    >>> listed_label(["nurse", "cook", "falconer"], [9, 4, 1], ())
    'nurse | cook | other'
    """
    named = [label for label, count in zip(labels, counts, strict=True) if count >= RARE]
    if len(named) == len(labels):
        return " | ".join(named)
    return free_label(" | ".join([*named, "other"]), taken)


def spanning_label(labels: Sequence[str], counts: Sequence[int], taken: Collection[str]) -> str:
    """Name neighbouring ordered categories by their ends.

    labels  the members in order; one alone is its own label
    taken  labels that stand for something else
    returns  the outermost members that are not rare, and whether rarer ones lie beyond

    Examples
    --------
    >>> spanning_label(["none", "basic", "high"], [5, 1, 9], ())
    'none – high'
    >>> spanning_label(["high", "phd"], [9, 1], ())
    'high and rarer'
    """
    if len(labels) == 1:
        return labels[0]
    named = [place for place, count in enumerate(counts) if count >= RARE]
    if not named:
        return free_label("other", taken)
    low, high = named[0], named[-1]
    span = labels[low] if low == high else f"{labels[low]} – {labels[high]}"
    whole = low == 0 and high == len(labels) - 1
    return span if whole else free_label(f"{span} and rarer", taken)


def free_label(label: str, taken: Collection[str]) -> str:
    """A label, or the same with the first number that makes it another one.

    taken  labels that stand for something else

    Examples
    --------
    >>> free_label("other", ["other", "other 1"])
    'other 2'
    """
    number, free = 0, label
    while free in taken:
        number += 1
        free = f"{label} {number}"
    return free
