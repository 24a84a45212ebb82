"""The content of the reports of a release: what was decided, judged and measured on the written file."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from crypsis.attacks.confidential_knowledge import ConfidentialKnowledge, confidential_knowledge
from crypsis.attacks.linkage import MeasuredAttack, attack_by_linkage
from crypsis.audits import Audit
from crypsis.audits.published_weights import weight_restoring
from crypsis.errors import listing
from crypsis.measures.assess import assess_before_and_after
from crypsis.measures.information_loss import information_losses
from crypsis.measures.measure import Reading, measures
from crypsis.measures.one_to_one_linkage import ONE_TO_ONE
from crypsis.measures.record_linkage import RecordLinkage
from crypsis.measures.uses import DeclaredUse
from crypsis.measures.utility import RuleHarm, Usefulness, UseResult, UtilityCard, utility_card
from crypsis.privacy.anonymity import KAnonymity, SmallestClass
from crypsis.privacy.model import PrivacyModel, Verdict
from crypsis.release.manifest import remove_seeds_for_manifest
from crypsis.release.published import Population
from crypsis.release.signing import fingerprint_seed
from crypsis.report.content import (
    EVERYTHING,
    LimitResult,
    RecordHarm,
    ReportContent,
    ReportedScenario,
    describe_columns_for_reports,
    findings_for_internal_report,
    hardest_groups_for_reports,
)
from crypsis.report.histograms import class_size_histogram, histograms_of_distributions
from crypsis.rulebook import Rulebook, RuleResult
from crypsis.table.attribute import UNPUBLISHED
from crypsis.table.equivalence_classes import count_class_readings, equivalence_class_sizes
from crypsis.table.table import AGGREGATION, PERTURBATION, RECODING, Table
from crypsis.text import audited_text, readings_text, utility_card_facts
from crypsis.text.cards import restoring_text
from crypsis.text.reports import sentence_text
from crypsis.version import __version__

USUAL = Usefulness()
"""Thresholds where no plan gives any."""


POINT = ("name", "family", "kind", "loss", "risk", "intruder")
"""What the internal report shows of a point of the front."""


@dataclass(frozen=True)
class ReleaseDescription:
    """What the reports say about the masking."""

    title: str = "Protected microdata"  # title of the reports
    method: str = "The file was masked before it reached Crypsis."  # how the file was masked, in a sentence
    family: str = "unknown"  # family of the masking: aggregation, recoding, perturbation or unknown
    settings: Mapping[str, Any] = field(default_factory=dict)  # settings of the masking, for the internal report
    chosen: str = ""  # which solution was chosen and why, for the internal report
    useful: Usefulness = USUAL  # when a column counts as ruined
    # name of a scenario → why its intruder knows no other column, for the internal report
    because: Mapping[str, str] = field(default_factory=dict)
    # points (name, family, kind, loss, risk, intruder) of the front of the run, for the internal report
    front: Sequence[Mapping[str, Any]] = ()
    # seed of the masking; reported as a salted digest only, and refused anywhere in the public files
    seed: int | None = None
    # other masked versions of the original by name, such as plain MDAV, of which the same analyses are asked
    beside: Mapping[str, Table] = field(default_factory=dict)
    # what the search itself found missed in it, a sentence each: the file is refused for it, with all else
    complaints: Sequence[str] = ()
    beyond: Sequence[str] = ()  # what else stops the release, such as scenarios that do not say what they assume

    @classmethod
    def of(cls, masked: Table, title: str = "Protected microdata") -> ReleaseDescription:
        """The description from the provenance of a table; a table without one was masked elsewhere."""
        known = masked.provenance
        if known is None or not known.steps:
            return cls(title)
        message = f"{known.message[:1].upper()}{known.message[1:].rstrip('.')}."
        return cls(title, message, known.family, {k: v for step in known.steps for k, v in step.settings.items()})


@dataclass(frozen=True)
class Facts:
    """What was decided and judged."""

    description: ReleaseDescription
    order: str
    models: Sequence[PrivacyModel]
    verdicts: Sequence[Verdict]
    smallest_class: SmallestClass | None
    audit: Audit
    limits: Sequence[LimitResult]
    rulebook: Rulebook | None
    rules: Sequence[RuleResult]
    population: Population | None = None

    def before(self, model: PrivacyModel, original: Table, before: Table) -> Verdict:
        """The verdict of a model on the published columns of the original, or on the population it is part of."""
        model = model.bind_original(original)
        around = self.population.original if self.population is not None and model.membership else None
        return model.judge(before if around is None else around)


@dataclass(frozen=True)
class Readings:
    """What was measured on the written file against the original."""

    measured: bool = False
    losses: tuple[Reading, ...] = ()
    risks: tuple[Reading, ...] = ()
    risks_before: tuple[Reading, ...] = ()
    scenarios: tuple[ReportedScenario, ...] = ()
    attacks: tuple[MeasuredAttack, ...] = ()
    confidential: tuple[ConfidentialKnowledge, ...] = ()
    skipped: Mapping[str, str] = field(default_factory=dict)


def readings_for_report_facts(
    original: Table | None,
    masked: Table,
    family: str,
    scenarios: Mapping[str, Sequence[str]] | None,
    because: Mapping[str, str] | None = None,
    answered: Collection[str] = (),
) -> Readings:
    """What the reports say was measured: every measure for this family of masking, and attacks for every scenario."""
    if original is None:
        return Readings()
    known = family if family in (AGGREGATION, RECODING, PERTURBATION) else None
    before, after = assess_before_and_after(original, masked, known)
    risks = tuple(r for r in after.readings if r.aim == "risk")
    known_columns = dict(scenarios or {})
    everything = original.quasi_identifiers
    if everything and not any(set(knows) >= set(everything) for knows in known_columns.values()):
        known_columns[EVERYTHING] = everything
    ready = [_read(before.readings, "record-linkage"), _read(risks, "record-linkage")]
    reported = tuple(
        replace(_scenario(name, tuple(k), original, masked, family, ready), because=(because or {}).get(name, ""))
        for name, k in known_columns.items()
    )
    losses = sorted((r for r in after.readings if r.aim == "loss"), key=lambda r: r.measure != "information-loss")
    # A use that is not declared is not a measure that does not apply.
    skipped = {name: why for name, why in after.skipped.items() if not issubclass(measures[name], DeclaredUse)}
    assigned = _read(risks, ONE_TO_ONE)
    attacks = [
        attack_by_linkage(
            original, masked, name, k, family, assigned if list(k) == original.quasi_identifiers else None
        )
        for name, k in known_columns.items()
    ]
    confidential = confidential_knowledge(original, masked, answered) if family != PERTURBATION else ()
    return Readings(
        True, tuple(losses), risks, before.readings, reported, tuple(a for both in attacks for a in both), confidential,
        skipped,
    )  # fmt: skip


def _read(readings: Sequence[Reading], measure: str) -> Reading | None:
    return next((reading for reading in readings if reading.measure == measure), None)


def _scenario(
    name: str, knows: tuple[str, ...], original: Table, masked: Table, family: str, ready: Sequence[Reading | None]
) -> ReportedScenario:
    """ready  record linkage over every quasi-identifier, before and after, so that it is not measured twice"""
    bound = RecordLinkage(columns=knows).against(original)
    known = ready if list(knows) == original.quasi_identifiers else (None, None)
    before, after = equivalence_class_sizes(original, knows), equivalence_class_sizes(masked, knows)
    counted = family != PERTURBATION and bool(masked.kept.any())
    return ReportedScenario(
        name=name,
        knows=knows,
        alone_before=int((before == 1).sum()),
        alone_after=int((after == 1).sum()) if counted else None,
        smallest_before=int(np.nanmin(before)),
        smallest_after=int(np.nanmin(after)) if counted else None,
        before=known[0] or bound.explain(original),
        after=known[1] or bound.explain(masked),
    )


def collect_report_facts(
    facts: Facts, original: Table | None, masked: Table, rows: int, readings: Readings
) -> ReportContent:
    """The content of both reports of a release: what was decided, judged and measured on the written file."""
    description = facts.description
    visible = masked.drop(masked.names_by_role(*UNPUBLISHED))
    before = original.drop(original.names_by_role(*UNPUBLISHED)) if original is not None else visible
    known, counted = original is not None, description.family != PERTURBATION
    by_column = next((r.counts for r in readings.losses if r.measure == "information-loss"), {})
    names = before.quasi_identifiers
    return ReportContent(
        title=description.title,
        written=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        version=__version__,
        method=description.method,
        family=description.family,
        order=facts.order,
        rows_before=len(masked),
        rows_after=rows,
        columns=describe_columns_for_reports(before if known else None, visible, dict(by_column), description.family),
        verdicts_before=tuple(facts.before(m, original, before) for m in facts.models) if original is not None else (),
        verdicts=tuple(facts.verdicts),
        smallest_class=facts.smallest_class,
        findings=findings_for_internal_report(facts.audit),
        assumed=facts.audit.assumed_columns(visible.confidential),
        audited=audited_text(facts.audit),
        losses=readings.losses,
        risks_before=readings.risks_before,
        risks=readings.risks,
        skipped=readings.skipped,
        demands=tuple(facts.limits),
        rulebook=facts.rulebook.title if facts.rulebook else "",
        rules=tuple(facts.rules),
        scenarios=readings.scenarios,
        attacks=readings.attacks,
        confidential=readings.confidential,
        hardest=hardest_groups_for_reports(before, _record_harm(original, masked, names), names)
        if original is not None and names
        else (),
        class_sizes=class_size_histogram(
            equivalence_class_sizes(before, names), equivalence_class_sizes(visible, names)
        )
        if known and counted and names
        else None,
        distributions=histograms_of_distributions(before, visible) if known else (),
        card=_card_facts(facts, before, visible) if known else None,
        chosen=description.chosen,
        front=tuple({key: point.get(key) for key in POINT} for point in description.front),
        settings=remove_seeds_for_manifest(description.settings),
        seed_print=fingerprint_seed(description.seed) if description.seed is not None else "",
        notes=(*_notes(facts, known), *(_true_counts(facts.models, masked, original) if original is not None else ())),
    )


def _card_facts(facts: Facts, original: Table, masked: Table) -> dict[str, Any]:
    """What was harmed as plain data, and what the published weight restores of the masked columns."""
    found = dict(utility_card_facts(_card(facts, original, masked)))
    if found["weighted"]:
        restored = weight_restoring(masked, original)
        found["weighted"] |= {"restored": [asdict(each) for each in restored], "reveals": restoring_text(restored)}
    return found


def _card(facts: Facts, original: Table, masked: Table) -> UtilityCard:
    """What was harmed, with the uses and edit rules that were measured on the written file."""
    uses = [
        UseResult(each.name, each.reading.value, each.at_most, each.reading.measure, each.reading.counts)
        for each in facts.limits
        if each.use
    ]
    rules = [
        RuleHarm(each.name, int(each.reading.counts["created"]), int(each.reading.counts["records"]))
        for each in facts.limits
        if each.reading.measure == "rule-violations" and "created" in each.reading.counts
    ]
    beside = {name: each for name, each in facts.description.beside.items() if each.rows == original.rows}
    useful = facts.description.useful
    return utility_card(original, masked, useful, uses, rules, general=("pairs",), beside=beside)


def _record_harm(original: Table, masked: Table, names: Sequence[str]) -> RecordHarm:
    lost = np.mean([information_losses(original, masked, name) for name in names], axis=0)
    return RecordHarm(
        alone=equivalence_class_sizes(original, names) == 1,
        suppressed=~masked.kept,
        loss=lost,
        found=RecordLinkage(columns=tuple(names)).against(original).credits(masked),
    )


def _true_counts(models: Sequence[PrivacyModel], masked: Table, original: Table) -> list[str]:
    """What an intruder finds who knows the true values, where a demand lets a missing value equal every value, and
    every reading of missing cells, where they differ.
    """
    notes = []
    readings = count_class_readings(masked, masked.quasi_identifiers, original)
    if readings:
        notes.append(sentence_text(f"over {listing(masked.quasi_identifiers, most=12)}, {readings_text(readings)}"))
    for model in models:
        if isinstance(model, KAnonymity) and model.missing == "wildcard":
            verdict = KAnonymity(**{**model.model_dump(), "missing": "target"}).bind_original(original).judge(masked)
            notes.append(
                f"{model.k}-anonymity lets a missing value equal every value. To an intruder who knows the true values "
                f"of a person, the fewest records that may be that person are {verdict.attained:g}; "
                f"{verdict.offending} of {verdict.records} people have fewer than {model.k}."
            )
    return notes


def _notes(facts: Facts, known: bool) -> tuple[str, ...]:
    notes = []
    if not known:
        notes.append("No original was given: losses and risks could not be measured, only the file itself was judged.")
    if facts.description.family == PERTURBATION:
        notes.append(
            "The file was perturbed: equal values do not mean equal people, so class sizes are not shown; the risk "
            "limits are on measured attacks."
        )
    if facts.description.family == "unknown":
        notes.append(
            "It is not known how the file was masked. Class sizes protect only if values were aggregated or recoded, "
            "not if they were swapped or made noisy."
        )
    if facts.order == "kept":
        notes.append("The rows keep the order of the source, which may re-identify people.")
    return tuple(notes)
