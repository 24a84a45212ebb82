"""What changed between two releases, and whether both together reveal more than each alone.

An intruder with both files can join them by the columns that both publish unmasked. A person found in both is in an
equivalence class of each, and only the records in both classes still protect that person. The files alone do not say
which record of one is which of the other, so the result is a lower bound of what an intruder may learn.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from crypsis.attacks.several_releases import Together, reveal_together, tuples_together
from crypsis.kernels.arrays import Ints
from crypsis.measures.masking_description import Treatment
from crypsis.release.evidence import public_part_as_evidence
from crypsis.release.published import read_published
from crypsis.table.aligning import in_terms_of
from crypsis.table.attribute import Role
from crypsis.table.equivalence_classes import EquivalenceClasses, classes_of, equivalence_classes
from crypsis.table.hierarchy import MISSING
from crypsis.table.table import PERTURBATION, Table
from crypsis.text import masking_treatment_text


@dataclass(frozen=True)
class Change:
    """A figure of both releases; None if a release does not have it."""

    name: str
    old: float | None
    new: float | None


@dataclass(frozen=True)
class Pair:
    """What the two files reveal together, to an intruder who knows that a person is in both."""

    joined_by: tuple[str, ...]
    # records whose values in `joined_by` occur exactly once in each file: the same person, if both contain them
    linked: int
    alone: int  # of these, records that share both classes with no other: unique in the pair
    # of these, records that share both classes with fewer records than the smallest class of the weaker file
    below: int
    smallest_class: tuple[int, int]  # of the old and of the new file

    @property
    def reveals_more(self) -> bool:
        """Whether both files together reveal more than each alone."""
        return self.below > 0


@dataclass(frozen=True)
class Differences:
    """Two releases side by side."""

    old: str
    new: str
    same_data: bool
    """Whether both files hold the same table."""
    rows: Change
    suppressed: Change
    """Records left out."""
    columns_added: tuple[str, ...]
    columns_changed: Mapping[str, str]
    """Column → what differs, in words."""
    columns_removed: tuple[str, ...]
    verdicts: tuple[Change, ...]
    losses: tuple[Change, ...]
    distributions: tuple[Change, ...]
    """Per common column the distance between the two distributions, 0–100, as `new`."""
    pair: Pair
    together: Together
    """What both reveal and neither alone."""
    unknown: tuple[str, ...]
    """What cannot be known from the files alone."""

    @property
    def reveals_more(self) -> bool:
        """Whether both together reveal more than each alone of at least one person."""
        return self.pair.reveals_more or self.together.exposed >= 1


def compare_releases(old: str | Path, new: str | Path, original: Table | None = None) -> Differences:
    """Compare two releases (bundles or public folders) from their public files, and from their source if it is
    given.
    """
    one, other = _ReleaseSide.read(Path(old)), _ReleaseSide.read(Path(new))
    common = [name for name in one.table.names if name in other.table.names]
    return Differences(
        old=str(old),
        new=str(new),
        same_data=one.manifest["fingerprint"] == other.manifest["fingerprint"],
        rows=Change("records", len(one.table), len(other.table)),
        suppressed=Change("suppressed", one.manifest.get("suppressed"), other.manifest.get("suppressed")),
        columns_added=tuple(name for name in other.table.names if name not in common),
        columns_removed=tuple(name for name in one.table.names if name not in common),
        columns_changed={name: text for name in common if (text := _change(one, other, name))},
        verdicts=_changes(_verdicts(one.manifest), _verdicts(other.manifest)),
        losses=_changes(_losses(one.manifest), _losses(other.manifest)),
        distributions=tuple(
            Change(name, None, distance_between_releases(one.table, other.table, name)) for name in common
        ),
        pair=_join_two_releases(one, other, common),
        together=_together(one, other, common, original),
        unknown=_unknown(one, other),
    )


@dataclass(frozen=True)
class _ReleaseSide:
    table: Table
    manifest: Mapping[str, Any]
    report: Mapping[str, Any]

    @classmethod
    def read(cls, folder: Path) -> _ReleaseSide:
        public = public_part_as_evidence(folder)
        content = [
            json.loads((public / name).read_text(encoding="utf-8"))
            for name in ("schema.json", "manifest.json", "report.json")
        ]
        return cls(read_published(public, content[0]), content[1], content[2])

    def treatment(self, name: str) -> str:
        return str(next((c["treatment"] for c in self.report["columns"] if c["name"] == name), ""))


# -- what changed --


def _change(one: _ReleaseSide, other: _ReleaseSide, name: str) -> str:
    before, after = one.table.attribute(name), other.table.attribute(name)
    found = []
    if before.kind is not after.kind:
        found.append(f"kind {before.kind} → {after.kind}")
    if before.role is not after.role:
        found.append(f"role {before.role} → {after.role}")
    if one.treatment(name) != other.treatment(name):
        found.append(f"treatment: {one.treatment(name)} → {other.treatment(name)}")
    if len(before.categories) != len(after.categories):
        found.append(f"{len(before.categories)} → {len(after.categories)} categories")
    elif set(before.categories) != set(after.categories):
        found.append("other categories")
    return "; ".join(found)


def _verdicts(manifest: Mapping[str, Any]) -> dict[str, float]:
    return {_model_name(item): float(item["verdict"]["attained"]) for item in manifest["requirements"]}


def _model_name(item: Mapping[str, Any]) -> str:
    known = item["settings"].get("quasi_identifiers") or []
    return f"{item['model']} ({', '.join(known)})" if known else str(item["model"])


def _losses(manifest: Mapping[str, Any]) -> dict[str, float]:
    return {item["measure"]: float(item["value"]) for item in manifest["losses"]}


def _changes(old: Mapping[str, float], new: Mapping[str, float]) -> tuple[Change, ...]:
    return tuple(Change(name, old.get(name), new.get(name)) for name in dict.fromkeys((*old, *new)))


def distance_between_releases(one: Table, other: Table, name: str) -> float:
    """How far a column changed between two releases: 100 times total variation, or Kolmogorov–Smirnov for numbers."""
    if not len(one) or not len(other):
        return 100.0
    codes = _align_codes(one, other, [name])
    shares = [np.bincount(part[:, 0] + 1, minlength=int(max(c.max(initial=0) for c in codes)) + 2) for part in codes]
    before, after = shares[0] / len(one), shares[1] / len(other)
    if one.holds_numbers(name) and other.holds_numbers(name):
        return float(100 * np.abs(np.cumsum(before) - np.cumsum(after)).max())
    return float(50 * np.abs(before - after).sum())


# -- what both together reveal --


def _align_codes(one: Table, other: Table, names: Sequence[str]) -> tuple[Ints, Ints]:
    """Codes of the same columns of two tables in one numbering: equal codes, equal published values."""
    columns = []
    for name in names:
        if one.holds_numbers(name) and other.holds_numbers(name):
            both = np.concatenate([one.column(name), other.column(name)])
            codes = np.where(np.isnan(both), MISSING, np.unique(both, return_inverse=True)[1])
        else:
            place: dict[str, int] = {}
            parts = [
                [place.setdefault(text, len(place)) if text else MISSING for text in _texts(t, name)]
                for t in (one, other)
            ]
            codes = np.array([*parts[0], *parts[1]])
        columns.append(codes.astype(np.int64))
    stacked = np.stack(columns, axis=1) if columns else np.empty((len(one) + len(other), 0), dtype=np.int64)
    return stacked[: len(one)], stacked[len(one) :]


def _texts(table: Table, name: str) -> list[str]:
    if table.holds_numbers(name):
        return ["" if value != value else f"{value:g}" for value in table.column(name)]
    labels = (*table.labels(name), "")
    return [labels[code] for code in table.column(name)]


def _join_two_releases(one: _ReleaseSide, other: _ReleaseSide, common: Sequence[str]) -> Pair:
    """Join two releases by the columns that both leave unmasked, and count small intersections of classes."""
    anchors = [name for name in common if _is_unmasked(one, name) and _is_unmasked(other, name)]
    classes = [classes_of(side.table, side.table.quasi_identifiers) for side in (one, other)]
    old, new = (int(each.sizes.min()) if each.sizes.size else 0 for each in classes)
    pair = (old, new)
    if not anchors or not len(one.table) or not len(other.table):
        return Pair(tuple(anchors), 0, 0, 0, pair)
    codes = _align_codes(one.table, other.table, anchors)
    keys = equivalence_classes(np.concatenate(codes))
    size, mine, theirs = keys.count, keys.of[: len(one.table)], keys.of[len(one.table) :]
    counts = [np.bincount(part, minlength=size) for part in (mine, theirs)]
    sure = np.flatnonzero((counts[0] == 1) & (counts[1] == 1))
    row_one, row_other = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    row_one[mine], row_other[theirs] = np.arange(len(mine)), np.arange(len(theirs))
    pairs = np.stack([classes[0].of[row_one[sure]], classes[1].of[row_other[sure]]], axis=1)
    shared = _shared_records(pairs, (classes[0], mine), (classes[1], theirs))
    return Pair(tuple(anchors), len(sure), int((shared == 1).sum()), int((shared < min(pair)).sum()), pair)


def _together(one: _ReleaseSide, other: _ReleaseSide, common: Sequence[str], original: Table | None) -> Together:
    """What both files reveal and neither alone, by true values or else by what both publish."""
    if original is not None:
        releases = [in_terms_of(original, side.table, "the release") for side in (one, other)]
        return reveal_together(original, releases)
    anchors = [
        name
        for name in common
        if _is_unmasked(one, name)
        and _is_unmasked(other, name)
        and one.table.attribute(name).numeric == other.table.attribute(name).numeric
    ]
    return tuples_together(one.table, other.table, anchors)


def _is_unmasked(side: _ReleaseSide, name: str) -> bool:
    role = side.table.attribute(name).role
    return role is not Role.QUASI_IDENTIFIER or side.treatment(name) == masking_treatment_text(Treatment.UNCHANGED)


_Keyed = tuple[EquivalenceClasses, Ints]
"""The classes of a release, and the joining values of each of its records as a number."""


def _shared_records(pairs: Ints, one: _Keyed, other: _Keyed) -> Ints:
    """For each (old class, new class): how many records may be in both, by the values of the joining columns."""
    met = equivalence_classes(pairs)
    sizes = np.zeros(met.count, dtype=np.int64)
    members = [_by_class(*side) for side in (one, other)]
    for number, (old, new) in enumerate(pairs[met.first]):
        here, there = members[0].get(int(old), {}), members[1].get(int(new), {})
        sizes[number] = sum(min(count, there.get(key, 0)) for key, count in here.items())
    return sizes[met.of]


def _by_class(classes: EquivalenceClasses, keys: Ints) -> dict[int, dict[int, int]]:
    """Class → joining values → how often they occur in it."""
    pairs = equivalence_classes(np.stack([classes.of, keys], axis=1))
    found: dict[int, dict[int, int]] = {}
    for row, count in zip(pairs.first, pairs.sizes.tolist(), strict=True):
        found.setdefault(int(classes.of[row]), {})[int(keys[row])] = count
    return found


def _unknown(one: _ReleaseSide, other: _ReleaseSide) -> tuple[str, ...]:
    found = [
        "whether the two files are about the same people, and which record of one is which of the other",
        "what an intruder knows beyond the columns both files leave unmasked",
    ]
    if PERTURBATION in (one.manifest.get("family"), other.manifest.get("family")):
        found.append("what perturbation hides: in a perturbed file equal values do not mean equal people")
    return tuple(found)
