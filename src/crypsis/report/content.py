"""The content of the two reports as plain data, and the part of it that may be published."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crypsis.attacks.confidential_knowledge import ConfidentialKnowledge
from crypsis.attacks.linkage import MeasuredAttack, choose_worst_linkage
from crypsis.audits import Audit, Finding
from crypsis.kernels.arrays import Floats
from crypsis.measures.information_loss import information_losses
from crypsis.measures.masking_description import Treatment
from crypsis.measures.measure import Reading, measures
from crypsis.measures.utility.estimates import SPREADS
from crypsis.privacy.anonymity import SmallestClass
from crypsis.privacy.model import Verdict
from crypsis.report.histograms import FEW, Histogram
from crypsis.rulebook.rules import RuleResult
from crypsis.table.attribute import Dates, Role, date_text, one_day
from crypsis.table.hierarchy import MISSING
from crypsis.table.table import AGGREGATION, LOCAL, Table
from crypsis.text import (
    attack_finding_text,
    attacker_text,
    masking_missing_text,
    masking_treatment_text,
    published_weight_text,
    recomputed_text,
)
from crypsis.text.attacks import attacked_share_text

EVERYTHING = "every quasi-identifier"
"""Name of the scenario that is always reported: an intruder who knows every quasi-identifier."""
RECEIVED = "as received"
"""Treatment of every column where no original is given."""


@dataclass(frozen=True)
class ReportedColumn:
    """What happened to one column."""

    name: str
    role: str
    kind: str
    treatment: str  # what was done, in words
    distinct_before: int | None  # distinct values; None for a column that was not counted
    distinct_after: int | None
    changed: float | None  # share of released cells with a value that differ from it, 0–100; None without an original
    loss: float | None = None  # mean cell loss, 0–100, of a quasi-identifier with an original
    missing: int | None = None  # empty cells of the released file; None for a column that was not counted
    label: str = ""  # what the source calls it, beside its name


def describe_columns_for_reports(
    original: Table | None, masked: Table, losses: Mapping[str, float] | None = None, family: str = ""
) -> tuple[ReportedColumn, ...]:
    """Content of the two reports as plain data: a description of every published column, as plain data."""
    if original is None:
        return tuple(_describe_received(masked, name) for name in masked.names)
    return tuple(_describe_column(original, masked, name, (losses or {}).get(name), family) for name in masked.names)


def _describe_received(masked: Table, name: str) -> ReportedColumn:
    attribute, distinct = masked.attribute(name), _distinct(masked, name, masked.kept)
    missing, role = int(masked.missing(name)[masked.kept].sum()), attribute.role.value
    return ReportedColumn(
        name,
        role,
        attribute.dates or attribute.kind.value,
        RECEIVED,
        distinct,
        distinct,
        None,
        None,
        missing,
        attribute.label,
    )


def _describe_column(original: Table, masked: Table, name: str, loss: float | None, family: str) -> ReportedColumn:
    attribute, level, groups = original.attribute(name), masked.level(name), 0
    replaced = False
    if level == LOCAL:
        lifted, moved = _recoded_shares(original, masked, name)
        treatment = Treatment.LOCALLY_RECODED if lifted else Treatment.REPLACED if moved else Treatment.UNCHANGED
        changed, replaced = lifted + moved, moved > 0
    elif level > 0 and attribute.hierarchy is not None:
        treatment, changed = Treatment.GENERALISED, 100.0
        groups = len(attribute.hierarchy.labels[level])
    else:
        changed = _changed_share(original, masked, name)
        other = Treatment.MOVED if attribute.numeric else Treatment.REPLACED
        treatment = Treatment.UNCHANGED if changed == 0 else other
    quasi = masked.attribute(name).role is Role.QUASI_IDENTIFIER
    shared = family == AGGREGATION
    done = masking_treatment_text(treatment, groups, masked=quasi, replaced=replaced, shared=shared)
    if attribute.derived and treatment is not Treatment.UNCHANGED:
        done = recomputed_text(attribute.derived)
    if attribute.publish:
        done = published_weight_text(attribute.publish)
    absent, blank = original.missing(name)[masked.kept], masked.missing(name)[masked.kept]
    counts = masking_missing_text(int((blank & ~absent).sum()), int((absent & ~blank).sum()))
    return ReportedColumn(
        name,
        attribute.role.value,
        attribute.dates or attribute.kind.value,
        f"{done}, {counts}" if counts else done,
        _distinct(original, name, np.ones(len(original), dtype=np.bool_)),
        _distinct(masked, name, masked.kept),
        changed,
        loss,
        int(blank.sum()),
        attribute.label,
    )


def _distinct(table: Table, name: str, kept: NDArray[np.bool_]) -> int:
    codes = table.codes([name])[kept, 0]
    return int(np.unique(codes[codes >= 0]).size)


def _changed_share(original: Table, masked: Table, name: str) -> float:
    """Of the released cells that had a value, those that are not as collected, per cent."""
    known = masked.kept & ~original.missing(name)
    before, after = original.column(name)[known], masked.column(name)[known]
    return float(100 * (before != after).mean()) if before.size else 0.0


def _recoded_shares(original: Table, masked: Table, name: str) -> tuple[float, float]:
    """Released cells of a locally recoded column that are coarser, and those with another value, per cent."""
    hierarchy, kept = masked.attribute(name).hierarchy, masked.kept
    column = masked.column(name)[kept]
    if hierarchy is None or not column.size:
        return 0.0, 0.0
    lifted = column >= hierarchy.size
    moved = (column >= 0) & ~lifted & (information_losses(original, masked, name)[kept] > 0)
    return float(100 * lifted.mean()), float(100 * moved.mean())


# -- Groups of records that are hardest to protect: their loss and their risk of re-identification, never who they
#    are.


@dataclass(frozen=True)
class RecordHarm:
    """Loss and risk of each original record, by row."""

    alone: NDArray[np.bool_]  # bool[n]: whether it is unique on the quasi-identifiers in the original
    suppressed: NDArray[np.bool_]  # bool[n]: whether it is suppressed
    loss: Floats  # float64[n]: mean cell loss, 0–1; 1 if suppressed
    # float64[n]: probability of re-identification by record linkage on the released file; None where no attack was
    # run
    found: Floats | None


@dataclass(frozen=True)
class Subgroup:
    """Records that share a value of one column, if there are enough of them to be reported."""

    column: str  # the column and the value or range
    group: str
    records: int  # number of records
    alone: float  # means over the group, per cent; `found` is None where no attack was run
    suppressed: float
    loss: float
    found: float | None


def hardest_groups_for_reports(
    original: Table, harm: RecordHarm, names: Sequence[str], most: int = 12
) -> tuple[Subgroup, ...]:
    """Content of the two reports as plain data: all records, then the groups with the greatest loss; ties by risk."""
    everyone = _subgroup("", "all records", np.ones(len(original), dtype=np.bool_), harm)
    groups = [
        _subgroup(name, label, rows, harm)
        for name in names
        for label, rows in _groups(original, name)
        if int(rows.sum()) >= FEW
    ]
    groups.sort(key=lambda each: (-each.loss, -(each.found or 0.0), -each.alone))
    return (everyone, *groups[:most])


def _subgroup(column: str, label: str, rows: NDArray[np.bool_], harm: RecordHarm) -> Subgroup:
    found = None if harm.found is None else float(100 * harm.found[rows].mean())
    return Subgroup(
        column,
        label,
        int(rows.sum()),
        float(100 * harm.alone[rows].mean()),
        float(100 * harm.suppressed[rows].mean()),
        float(100 * harm.loss[rows].mean()),
        found,
    )


def _groups(original: Table, name: str) -> list[tuple[str, NDArray[np.bool_]]]:
    if original.holds_numbers(name):
        return _quarters(original.column(name), original.attribute(name).dates)
    codes, labels = original.column(name), original.labels(name)
    counts = np.bincount(codes[codes != MISSING], minlength=len(labels))
    groups = [(labels[code], codes == code) for code in np.flatnonzero(counts >= FEW)]
    rare = np.append(counts < FEW, False)[codes] & (codes != MISSING)
    groups.append((f"values of fewer than {FEW} records, together", rare))
    groups.append(("missing", codes == MISSING))
    return groups


def _quarters(numbers: Floats, dates: Dates) -> list[tuple[str, NDArray[np.bool_]]]:
    """Four groups of about equal size, and the missing ones."""
    missing = np.isnan(numbers)
    if missing.all():
        return [("missing", missing)]
    cuts = np.unique(np.nanpercentile(numbers, [25, 50, 75]))
    with np.errstate(invalid="ignore"):
        place = np.where(missing, -1, np.searchsorted(cuts, numbers, side="left"))
    named = [date_text(cut, dates) if dates else f"{cut:g}" for cut in cuts.tolist()]
    labels = [f"up to {named[0]}", *(f"over {low}, up to {high}" for low, high in pairwise(named))]
    labels.append(f"over {named[-1]}")
    return [*((label, place == number) for number, label in enumerate(labels)), ("missing", missing)]


# -- The content of the two reports as plain data, and the part of it that may be published.


@dataclass(frozen=True)
class LimitResult:
    """A limit on a risk, or the tolerance of a declared use, and the reading."""

    name: str  # name of the limit or use
    at_most: float  # largest reading allowed
    holds: bool  # whether the reading is within it
    binding: bool  # whether a release is refused beyond it; otherwise it is reported only
    reading: Reading  # what was measured
    use: bool = False  # whether it is a declared use, which the public report names


@dataclass(frozen=True)
class ReportedFinding:
    """What the file reveals by itself, and the reason it was released all the same."""

    found: str
    waived: str
    finding: Finding


@dataclass(frozen=True)
class ReportedScenario:
    """What an intruder with some knowledge achieves on the original and on the released file."""

    name: str  # name of the scenario
    knows: tuple[str, ...]  # columns the intruder knows
    alone_before: int  # unique records; None after perturbation, where class sizes have no meaning
    alone_after: int | None
    smallest_before: int  # size of the smallest equivalence class
    smallest_after: int | None
    before: Reading  # record linkage on the original and on the released file
    after: Reading
    because: str = ""  # why this intruder knows no other column, as the plan says


@dataclass(frozen=True)
class ReportContent:
    """The facts of a release."""

    title: str
    written: str
    """Time of writing."""
    version: str
    """Version of Crypsis."""
    method: str
    """How the file was masked, in a sentence."""
    family: str
    order: str
    """Order of the rows."""
    rows_before: int
    """Records of the original."""
    rows_after: int
    """Records of the file."""
    columns: tuple[ReportedColumn, ...]
    """What happened to each column."""
    smallest_class: SmallestClass | None
    """k over every quasi-identifier of the released file, whatever columns the demands name."""
    verdicts_before: tuple[Verdict, ...]
    """Privacy models judged on the original."""
    verdicts: tuple[Verdict, ...]
    """Privacy models judged on the file."""
    findings: tuple[ReportedFinding, ...] = ()
    audited: str = ""
    """What the audit looked at."""
    losses: tuple[Reading, ...] = ()
    risks_before: tuple[Reading, ...] = ()
    risks: tuple[Reading, ...] = ()
    skipped: Mapping[str, str] = field(default_factory=dict)
    """Measures without a meaning for this file, and why."""
    demands: tuple[LimitResult, ...] = ()
    rulebook: str = ""
    """Title of the rulebook; empty without one."""
    rules: tuple[RuleResult, ...] = ()
    scenarios: tuple[ReportedScenario, ...] = ()
    attacks: tuple[MeasuredAttack, ...] = ()
    """What attackers find that no search is fitted to."""
    confidential: tuple[ConfidentialKnowledge, ...] = ()
    """What who knows or predicts a confidential column finds."""
    hardest: tuple[Subgroup, ...] = ()
    """Groups of records with the greatest loss."""
    class_sizes: Histogram | None = None
    """Records by size of their equivalence class."""
    distributions: tuple[Histogram, ...] = ()
    """Quasi-identifiers before and after."""
    card: Mapping[str, Any] | None = None
    """What was harmed, as `crypsis.text.card_facts` gives it."""
    chosen: str = ""
    """Which solution was chosen, and why."""
    front: tuple[Mapping[str, Any], ...] = ()
    """Points with name, family, kind ("solution", "baseline" or "chosen"), loss and risk."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the masking."""
    seed_print: str = ""
    """A salted digest of the seed: the owner of the seed can prove it, nobody can read it."""
    signed_by: str = ""
    """Public key of the signature, 64 hexadecimal digits; empty without one."""
    assumed: tuple[str, ...] = ()
    """Confidential columns that are taken for unknown outside: who knows one and two more columns finds people."""
    notes: tuple[str, ...] = ()
    """Warnings for the person who signs."""

    @property
    def suppressed(self) -> int:
        """Number of suppressed records."""
        return self.rows_before - self.rows_after

    def internal(self) -> dict[str, Any]:
        """The content of the internal report."""
        return dict(self._facts)

    @cached_property
    def _facts(self) -> dict[str, Any]:
        return asdict(self) | {"suppressed": self.suppressed}

    def external(self) -> dict[str, Any]:
        """The content of the external report: no risk figure, no setting, nothing about rare values of the original."""
        return external_facts(self.internal())


PUBLIC_READING = ("measure", "unit", "better", "definition", "missing", "value", "scope")
"""What the external report says of a reading."""


def external_facts(internal: Mapping[str, Any]) -> dict[str, Any]:
    """The content of the external report, from that of the internal one."""
    same = (
        "title",
        "written",
        "version",
        "method",
        "family",
        "order",
        "suppressed",
        "smallest_class",
        "assumed",
        "signed_by",
    )
    demands = internal["demands"]
    card = internal["card"] or {}
    return {
        **{name: internal[name] for name in same},
        "rows": internal["rows_after"],
        "columns": [
            {name: column[name] for name in ("name", "label", "role", "kind", "treatment", "missing")}
            | {"distinct": column["distinct_after"], "loss": _public_loss(column)}
            for column in internal["columns"]
        ],
        "guarantees": guarantees_for_reports(
            [verdict["demand"] for verdict in internal["verdicts"]],
            limited_risks_for_reports(internal),
            internal["rulebook"] if internal["rules"] else "",
        ),
        "promised": guaranteed_columns_for_reports(internal),
        "attacks": _public_attacks(internal["attacks"]),
        "confidential": [_public_shares(each) for each in internal["confidential"]],
        "uses": [
            {"name": d["name"], "at_most": d["at_most"], "kept": d["holds"], **_public_reading(d["reading"])}
            for d in demands
            if d["use"]
        ],
        "losses": [_public_reading(reading) for reading in internal["losses"] if _is_public(reading)],
        "harmed": list(card.get("public", ())),
        **_answers(card),
    }


def _answers(card: Mapping[str, Any]) -> dict[str, Any]:
    """What an analyst keeps, without figures of few people; empty for a release that was not compared in this way."""
    found = dict[str, Any]()
    if card.get("analyses"):
        found["analyses"] = {name: card["analyses"][name] for name in ("drawn", "kept", "text", "public")}
    if card.get("estimates"):
        found["estimates"] = [_public_estimates(column) for column in card["estimates"]]
    if card.get("weighted"):
        columns = [_public_estimates(column, errors=True) for column in card["weighted"]["columns"]]
        found["weighted"] = {"text": card["weighted"]["text"], "columns": columns}
    return found


def _public_estimates(column: Mapping[str, Any], *, errors: bool = False) -> dict[str, Any]:
    """The open figures of a column, rounded; of a category the values that the file has.

    `errors`: with all standard errors of the original; without, those that follow from open figures: of the mean, and
    of shares.
    """

    def is_derived(figure: Mapping[str, Any]) -> bool:
        return figure["figure"] == "mean" or not column["numeric"]

    def round_figure(figure: Mapping[str, Any], value: float | None) -> float | None:
        dates: Dates = "" if figure["figure"] in SPREADS else column["dates"]
        return None if value is None else _round_beyond(value, figure["one_record"], dates)

    shown = [each for each in column["figures"] if each["public"] and (column["numeric"] or each["after"])]
    figures = [
        {
            "figure": each["figure"],
            "before": round_figure(each, each["before"]),
            "after": round_figure(each, each["after"]),
            "inside": each["inside"],
            **({"error": each["error"] and float(f"{each['error']:.2g}")} if errors or is_derived(each) else {}),
        }
        for each in shown
    ]
    return {"name": column["name"], "numeric": column["numeric"], "dates": column["dates"], "figures": figures}


def guaranteed_columns_for_reports(internal: Mapping[str, Any]) -> list[list[str]]:
    """Content of the two reports as plain data: the columns that each guarantee names."""
    return [list(verdict["columns"]) for verdict in internal["verdicts"]]


def _public_attacks(attacks: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What the most successful attacker of each intruder finds, as the external report gives it."""
    worst = choose_worst_linkage([MeasuredAttack(**each) for each in attacks])
    return [_public_shares(asdict(replace(each, intruder=""))) for each in worst]


def _public_shares(item: Mapping[str, Any]) -> dict[str, Any]:
    """Plain data with every per cent figure rounded as sentences give it."""

    def rounded_share(value: Any) -> Any:
        if isinstance(value, float):
            return float(attacked_share_text(value))
        return [rounded_share(each) for each in value] if isinstance(value, list | tuple) else value

    return {name: rounded_share(value) for name, value in item.items()}


def guarantees_for_reports(statements: Iterable[str], limited: Sequence[str], rulebook: str) -> list[str]:
    """Content of the external report: what models state, that a risk is limited, that rules were checked.

    `limited`: the attackers whose risk is limited; `rulebook`: title of the rulebook; empty without one.
    """
    sentences = list(dict.fromkeys(statements))
    sentences += [f"the limit set on the people found is kept, measured for {each}" for each in limited]
    if rulebook:
        sentences.append(f"the rules for this kind of file were checked: {rulebook}")
    return sentences


def limited_risks_for_reports(internal: Mapping[str, Any]) -> list[str]:
    """Content of the two reports as plain data: the attackers whose success a binding limit bounds."""
    readings = [each["reading"] for each in internal["demands"] if each["binding"] and each["reading"]["aim"] == "risk"]
    return list(dict.fromkeys(attacker_text(each["measure"], each["scope"]) for each in readings))


def _is_public(reading: Mapping[str, Any]) -> bool:
    """Whether users of the file may read a loss; one of a measure that is no longer known may be read."""
    return reading["measure"] not in measures or measures[reading["measure"]].public


def _public_loss(column: Mapping[str, Any]) -> float | None:
    """The rounded loss of a column: 0 for one that did not change, None where it is not known."""
    if column["loss"] is None:
        return 0.0 if column["changed"] == 0 else None
    return round_figure_for_reports(column["loss"])


def _public_reading(reading: Mapping[str, Any]) -> dict[str, Any]:
    """A reading as the external report gives it: rounded, without counts."""
    named = {name: reading[name] for name in PUBLIC_READING}
    return {**named, "value": round_figure_for_reports(reading["value"]), "scope": list(reading["scope"])}


def _round_beyond(value: float, one_record: float, dates: Dates = "") -> float:
    """A public estimate, so coarse that no single record moves it by more than a unit of its last digit.

    Four significant digits at most. The total of 5 190 records is 1 566, and one record can move it by 9:

    >>> _round_beyond(1566.0, 9.0), _round_beyond(0.30173, 0.0017), _round_beyond(52.0616, 0.0193)
    (1570.0, 0.3, 52.1)

    Of dates, whose numbers count from a day that means nothing, whole days or tens, hundreds, … of days:

    >>> _round_beyond(17831.4, 0.2, "date"), _round_beyond(17831.4, 3.0, "date")
    (17831.0, 17830.0)
    """
    if dates:
        day = one_day(dates)
        return day * round(value / day, -max(0, math.ceil(math.log10(one_record / day))) if one_record > 0 else 0)
    value = round_figure_for_reports(value)
    return round(value, -math.ceil(math.log10(one_record))) if one_record > 0 else value


def round_figure_for_reports(value: float) -> float:
    """A number in the published content of reports, to four significant digits: exact sums would disclose values.

    >>> round_figure_for_reports(12.34567)
    12.35
    """
    return float(f"{value:.4g}")


def findings_for_internal_report(audit: Audit) -> tuple[ReportedFinding, ...]:
    """Content of the internal report: findings on the file as plain data."""
    return tuple(ReportedFinding(attack_finding_text(each), audit.reason(each), each) for each in audit.findings)
