"""Publish a release: judge, write to a temporary folder, read back, judge again, rename atomically.

A release is one folder. `public/` may be published as it is: data, schema, manifest, report. `internal/` is never
published. No option publishes a file that does not keep its guarantees.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from numpy.random import Generator
from threadpoolctl import threadpool_limits

from crypsis.errors import PlanError, ReleaseRefused
from crypsis.privacy.anonymity import missing_reading, smallest_class
from crypsis.privacy.model import PrivacyModel, Verdict
from crypsis.release.facts import Facts, Readings, ReleaseDescription, readings_of, report_content
from crypsis.release.findings import AuditTerms, audit_release, check_finding_waivers, refuse_open, split_waivers
from crypsis.release.guarantees import (
    Knowledge,
    MeasuredLimit,
    answered_columns,
    check_limits,
    judge,
    refuse_changed_roles,
    refuse_contradiction,
    refuse_found,
    refuse_meaningless,
    refuse_perturbed,
    refuse_unguarded,
)
from crypsis.release.leaks import refuse_leaks
from crypsis.release.ledger import ReleaseLedger, earlier_findings
from crypsis.release.manifest import seal, sha256, write_manifests, write_text
from crypsis.release.published import (
    Format,
    Order,
    flatten,
    members_only,
    put_back,
    read_published,
    row_order,
    schema_of,
)
from crypsis.release.signing import SigningKey
from crypsis.report import ReportContent, external_html, external_json, internal_html, internal_json
from crypsis.report.content import LimitResult
from crypsis.rulebook import Evidence, Rulebook, RuleResult, check_rulebook, refusals
from crypsis.table.aligning import aligned_pair
from crypsis.table.files import atomic_folder, write_table
from crypsis.table.frames import Frame, as_table
from crypsis.table.precision import at_source_precision
from crypsis.table.provenance import PERTURBATION
from crypsis.table.table import Table
from crypsis.text import attacker_text, confidential_text, measured_attack_text

__all__ = ["ReleaseDescription", "publish", "seal", "sha256"]


def publish(
    masked: Table | Frame,
    folder: str | Path,
    *,
    models: Sequence[PrivacyModel],
    original: Table | Frame | None = None,
    description: ReleaseDescription | None = None,
    format: Format = "csv",
    order: Order = "shuffled",
    rng: Generator | None = None,
    limits: Sequence[MeasuredLimit] = (),
    scenarios: Mapping[str, Sequence[str]] | None = None,
    rulebook: Rulebook | None = None,
    waivers: Mapping[str, str] | None = None,
    unstated: Collection[str] = (),
    sign: str | Path | None = None,
    ledger: ReleaseLedger | None = None,
) -> Path:
    """Publish a masked table as a release: data, schema, manifest and two reports.

    Parameters
    ----------
    masked : Table or frame
        The masked table; suppressed records and identifiers are not written.
    folder : path
        Folder of the release; must not exist yet.
    models : sequence of PrivacyModel
        What every released record must meet; at least one, or a binding limit on a risk.
    original : Table or frame, optional
        The table before masking, with the same rows; needed for losses, risks and limits.
    description : ReleaseDescription, optional
        What the reports say beside what is measured, and the seed that no public file may show; by default from the
        provenance of the table.
    format : {"csv", "parquet"}
        Format of the data.
    order : {"shuffled", "kept"}
        Order of the rows.
    rng : Generator, optional
        Draws the order; by default the randomness of the operating system.
    limits : sequence of MeasuredLimit
        Largest readings allowed, of risks and of declared uses.
    scenarios : mapping of str to sequence of str, optional
        Name → columns that an intruder knows; one who knows every quasi-identifier is always added.
    rulebook : Rulebook, optional
        Rules that the file must keep.
    waivers : mapping of str to str, optional
        Rule (its id) or finding (such as ``singling-out:weight``) → reason why it may pass.
    unstated : collection of str
        Confidential columns of which nobody said that no one outside knows their values, such as a role that was only
        suggested: where one singles people out together with others, nothing is released.
    sign : path, optional
        File of a private key that signs the manifests: see `new_keys`.
    ledger : ReleaseLedger, optional
        Where releases of one source are entered and looked up to be attacked together; by default that of the user.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    ReleaseRefused
        With every reason, if the written file does not keep its guarantees, limits or rules; nothing is written.

    Examples
    --------
    >>> import crypsis
    >>> people = crypsis.example(200)
    >>> masked = crypsis.Microaggregation(k=5).mask(people.with_roles({"income": "quasi"}), rng=1)
    >>> crypsis.publish(masked, "release", models=[crypsis.KAnonymity(k=5)]).name
    'release'
    """
    key = SigningKey.read(sign) if sign is not None else None
    original, masked = (None, as_table(masked)) if original is None else aligned_pair(original, masked)
    folder, description = Path(folder), description or ReleaseDescription.of(masked)
    _refuse_early(masked, original, models, limits, description, rulebook, waivers)
    ledger, source = ledger or ReleaseLedger.usual(), original
    ledger.check()
    masked, original, population = members_only(models, masked, original)
    of_rules, of_findings = split_waivers(waivers)
    rows = row_order(masked, order, rng)
    masked = masked if original is None else at_source_precision(masked, original)
    published = flatten(masked, rows)

    def judged(table: Table) -> list[Verdict]:
        around = population.around(table, rows) if population else None
        return judge(models, table, Knowledge(around, original, original and put_back(table, masked, rows)))

    verdicts, as_published = judged(published), put_back(published, masked, rows)
    before = check_limits(limits, original, as_published, description.family) if original is not None else []
    with threadpool_limits(limits=1), atomic_folder(folder, mode=0o755) as aside:  # matrices are small: threads wait
        public, internal = _folders(aside)
        data = _write_data(public, published, format)
        again = _read_again(public, published, judged, verdicts)
        earlier = earlier_findings(original, again, ledger.earlier(source) if source is not None else ())
        read = replace(again, provenance=masked.provenance)
        allowed = rulebook.allowed_alone if rulebook is not None else 0
        terms = AuditTerms(description.family, frozenset(unstated), missing_reading(models), allowed)
        found = refuse_open(audit_release(read, original, rows, terms, data, earlier), of_findings)
        shown, smallest = put_back(again, masked, rows), smallest_class(again)
        kept = _limits_again(limits, original, shown, description.family, before)
        answered = answered_columns(models, shown, unstated)
        readings = readings_of(original, shown, description.family, scenarios, description.because, answered)
        _refuse_attacks(readings, scenarios, description.family, limits)
        evidence = Evidence(again, description.family, order, len(masked) - len(again), None, found.waived_kinds)
        rules = _rules(rulebook, of_rules, readings, kept, evidence)
        facts = Facts(description, order, models, verdicts, smallest, found, kept, rulebook, rules, population)
        content = report_content(facts, original, shown, len(again), readings)
        content, own = replace(content, signed_by=key.public if key else ""), {"fingerprint": again.fingerprint()}
        write_reports(public, internal, content)
        write_manifests(public, internal, content, models, own, measured=readings.measured, rulebook=rulebook, key=key)
        _refuse_leaks(public, again, original, facts, readings)
    if source is not None:
        ledger.enter(source, folder)
    return folder


def _refuse_early(
    masked: Table,
    original: Table | None,
    models: Sequence[PrivacyModel],
    limits: Sequence[MeasuredLimit],
    description: ReleaseDescription,
    rulebook: Rulebook | None,
    waivers: Mapping[str, str] | None,
) -> None:
    refuse_unguarded(models, limits, original)
    if original is not None and len(original) != len(masked):
        raise PlanError(
            f"the original has {len(original)} rows and the masked table {len(masked)}; rows must correspond"
        )
    known = masked.provenance.family if masked.provenance is not None else description.family
    for family in (known, description.family):
        refuse_meaningless(models, family)
    if original is not None:
        refuse_changed_roles(original, masked)
        refuse_perturbed(models, original, masked)
    of_rules, of_findings = split_waivers(waivers)
    check_finding_waivers(of_findings, masked.names)
    if of_rules and rulebook is None:
        raise PlanError("a rule was waived and no rulebook given; name the rulebook of the rule")
    if rulebook is not None:
        rulebook.check_waivers(of_rules)


def _refuse_attacks(
    readings: Readings, scenarios: Mapping[str, Sequence[str]] | None, family: str, limits: Sequence[MeasuredLimit]
) -> None:
    """Refuse a file whose measured attacks contradict its classes or, without classes, its limits on risk."""
    refuse_contradiction(readings.attacks)
    if family == PERTURBATION:
        refuse_found([each for each in readings.attacks if not scenarios or each.intruder in scenarios], limits)


def _folders(aside: Path) -> tuple[Path, Path]:
    """Make the public part of a release, which all may read, and the internal one."""
    public, internal = aside / "public", aside / "internal"
    public.mkdir(mode=0o755)
    internal.mkdir(mode=0o700)
    return public, internal


def _write_data(public: Path, published: Table, format: Format) -> Path:
    """Write the data and their schema; the file of the data."""
    schema = schema_of(published, format)
    write_table(published, public / schema["file"])
    write_text(public / "schema.json", json.dumps(schema, indent=2, ensure_ascii=False) + "\n")
    return public / str(schema["file"])


def _refuse_leaks(public: Path, again: Table, original: Table | None, facts: Facts, readings: Readings) -> None:
    """Refuse public files that hold values of records, or a seed, beyond what statements and measures say."""
    limited = [each.reading for each in facts.limits]
    sentences = [verdict.statement for verdict in facts.verdicts]
    sentences += [*map(measured_attack_text, readings.attacks), *map(confidential_text, readings.confidential)]
    sentences += [attacker_text(each.measure, each.scope) for each in limited if each.aim == "risk"]
    sentences += [f"{each.definition} {each.missing} {each.unit}" for each in (*readings.losses, *limited)]
    risks = [*readings.risks, *(each for each in limited if each.aim == "risk")]
    refuse_leaks(public, again, original, risks=risks, seed=facts.description.seed, sentences=sentences)


def _read_again(
    public: Path, published: Table, judged: Callable[[Table], list[Verdict]], verdicts: Sequence[Verdict]
) -> Table:
    """Read the written file back; it must give the same table and the same verdicts."""
    schema = json.loads((public / "schema.json").read_text(encoding="utf-8"))
    again = read_published(public, schema)
    if again.fingerprint() != published.fingerprint():
        raise ReleaseRefused(
            "nothing was released: the written file does not read back as the table that was judged; "
            "please report this with the format and the kinds of the columns"
        )
    if judged(again) != list(verdicts):
        raise ReleaseRefused("nothing was released: the written file is judged differently from the table in memory")
    return again


def _limits_again(
    limits: Sequence[MeasuredLimit], original: Table | None, shown: Table, family: str, before: Sequence[LimitResult]
) -> list[LimitResult]:
    """Every limited measure, read from the written file; it must give the same readings as the table in memory."""
    if original is None:
        return []
    after = check_limits(limits, original, shown, family)
    if after != list(before):
        raise ReleaseRefused("nothing was released: the written file is measured differently from the table in memory")
    return after


def _rules(
    rulebook: Rulebook | None,
    waivers: Mapping[str, str] | None,
    readings: Readings,
    kept: Sequence[LimitResult],
    evidence: Evidence,
) -> list[RuleResult]:
    if rulebook is None:
        return []
    risks = [*readings.risks, *(s.after for s in readings.scenarios)] if readings.measured else None
    if risks is not None:
        risks += [each.reading for each in kept if each.reading.aim == "risk"]
    results = check_rulebook(rulebook, replace(evidence, risks=risks), waivers)
    broken = refusals(results)
    if broken:
        raise ReleaseRefused(f"nothing was released: rulebook {rulebook.name}: {'; '.join(broken)}")
    return results


def write_reports(public: Path, internal: Path, content: ReportContent) -> None:
    """Write both reports as JSON, and as pages that are rendered from the JSON."""
    outside, inside = external_json(content), internal_json(content)
    write_text(public / "report.json", outside)
    write_text(public / "report.html", external_html(json.loads(outside)))
    write_text(internal / "report.json", inside)
    write_text(internal / "report.html", internal_html(json.loads(inside)))
