"""Publish a release: judge, write to a temporary folder, read back, judge again, rename atomically.

A release is one folder. `public/` may be published as it is: data, schema, codebook, manifest, report. `internal/` is
never published. No option publishes a file that does not keep its guarantees.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, get_args

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from crypsis.attacks.linkage import MeasuredAttack, choose_worst_linkage
from crypsis.audits import Audit
from crypsis.errors import PlanError, ReleaseRefused, TableError, listing
from crypsis.measures.linkage_attacks import HeldOutLinkage
from crypsis.measures.objective import OverallFigure, keeps_objective_limit
from crypsis.measures.one_to_one_linkage import OneToOneLinkage
from crypsis.measures.record_linkage import RecordLinkage
from crypsis.privacy.anonymity import missing_cells_in_anonymity, smallest_anonymity_class
from crypsis.privacy.model import PrivacyModel, Verdict
from crypsis.release.facts import Facts, Readings, ReleaseDescription, collect_report_facts, readings_for_report_facts
from crypsis.release.findings import (
    AuditTerms,
    Refusal,
    audit_release_findings,
    check_finding_waivers,
    columns_answering_findings,
    split_waivers,
)
from crypsis.release.guarantees import (
    Knowledge,
    MeasuredLimit,
    check_limits,
    complaints_of_contradictions,
    complaints_of_guarantees,
    complaints_of_perturbed,
    judge_guarantees,
    refuse_meaningless_guarantees,
    refuse_unguarded,
)
from crypsis.release.leaks import refuse_leaks
from crypsis.release.ledger import LedgerEntry, ReleaseLedger, earlier_findings
from crypsis.release.manifest import seal, sha256, write_beside_manifest, write_manifests
from crypsis.release.published import (
    Order,
    Population,
    flatten,
    order_published_rows,
    prepare_published,
    put_back,
    read_published,
    schema_of,
)
from crypsis.release.signing import SigningKey
from crypsis.report import (
    ReportContent,
    codebook_html,
    codebook_json,
    external_html,
    external_json,
    internal_html,
    internal_json,
)
from crypsis.report.codebook import PublishedLabels, codebook_facts, named_in_codebook, published_labels
from crypsis.report.content import LimitResult
from crypsis.rulebook import Evidence, Rulebook, RuleResult, check_rulebook, read_rulebook
from crypsis.table.aligning import aligned_pair, refuse_unaligned_roles
from crypsis.table.files import atomic_folder, write_table
from crypsis.table.frames import Frame, as_table
from crypsis.table.readers.formats import WrittenFormat, writers
from crypsis.table.table import PERTURBATION, Table
from crypsis.text import attacker_text, confidential_text, measured_attack_text, replacement_text

__all__ = ["ReleaseDescription", "publish", "seal", "sha256"]

EXACT = ("csv", "csv.gz", "parquet")
"""Formats that hold every table exactly."""


def publish(
    masked: Table | Frame,
    folder: str | Path,
    *,
    models: Sequence[PrivacyModel],
    original: Table | Frame | None = None,
    description: ReleaseDescription | None = None,
    format: WrittenFormat = "csv",
    order: Order = "shuffled",
    rng: Generator | int | None = None,
    limits: Sequence[MeasuredLimit] = (),
    scenarios: Mapping[str, Sequence[str]] | None = None,
    rulebook: Rulebook | str | Path | None = None,
    waivers: Mapping[str, str] | None = None,
    unstated: Collection[str] = (),
    sign: str | Path | None = None,
    ledger: ReleaseLedger | None = None,
) -> Path:
    """Publish a masked table as a release: data, schema, codebook, manifest and two reports.

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
    format : {"csv", "csv.gz", "parquet", "xlsx", "sav", "dta", "xpt"}
        Format of the data. Labels of variables and values are written where the format has them; all but csv, csv.gz
        and parquet need the extra ``files``.
    order : {"shuffled", "kept"}
        Order of the rows.
    rng : Generator or int, optional
        Draws the order, a generator or a seed; by default the randomness of the operating system.
    limits : sequence of MeasuredLimit
        Largest readings allowed, of risks and of declared uses.
    scenarios : mapping of str to sequence of str, optional
        Name → columns that an intruder knows; one who knows every quasi-identifier is always added.
    rulebook : Rulebook, str or path, optional
        Rules that the file must keep: a rulebook that is shipped, by its name such as "public-use", or a file.
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
    original, masked = (None, as_table(masked)) if original is None else aligned_pair(original, masked)
    folder, description = Path(folder), description or ReleaseDescription.of(masked)
    rulebook = read_rulebook(rulebook) if isinstance(rulebook, str | Path) else rulebook
    _refuse_early(masked, original, models, limits, description, rulebook, waivers)
    if format not in (known := get_args(WrittenFormat)):
        raise PlanError(f"format {format!r}: choose {listing(known, most=20)}")
    ledger, source = ledger or ReleaseLedger.usual(), original
    ledger.check()
    masked, original, population = prepare_published(models, masked, original)
    rows = order_published_rows(masked, order, np.random.default_rng(rng))
    publication = TablePublication(
        masked, original, rows, population, models, description, format, order,
        limits, scenarios, rulebook, waivers, unstated, ledger.earlier(source) if source is not None else (),
    )  # fmt: skip
    write_bundle(folder, publication, sign)
    if source is not None:
        ledger.enter(source, folder)
    return folder


# -- the one way in which a bundle comes to be --


class Publication(Protocol):
    """A masked table that is about to be published: in memory, or held by an engine that counts it."""

    @property
    def models(self) -> Sequence[PrivacyModel]:
        """What every released record meets."""

    @property
    def rulebook(self) -> Rulebook | None:
        """The rules that the file keeps."""

    @property
    def measured(self) -> bool:
        """Whether losses and risks are measured against an original."""

    def write(self, public: Path) -> ReportContent:
        """Write data and schema, read them back, judge, audit and measure what was written; refuse what differs."""

    def facts(self) -> Mapping[str, Any]:
        """What the public manifest states beside the report."""

    def labels(self, public: Path) -> Sequence[PublishedLabels]:
        """The labels of every written column, with what is known of the values behind them."""

    def refuse_leaks(self, public: Path, content: ReportContent, named: Sequence[str]) -> None:
        """Refuse public files that hold values of records, or a seed, beyond what statements and measures say.

        `named`: what the codebook names on purpose.
        """


def write_bundle(folder: str | Path, publication: Publication, sign: str | Path | None = None) -> Path:
    """Write a release to a temporary folder, check what was written, sign it, and rename it atomically.

    `sign`: file of a private key.
    """
    if (Path(folder) / "public" / "manifest.json").is_file():
        raise TableError(
            f"{folder} holds an earlier release and is never overwritten; release into another folder, and if nobody "
            f"outside has the earlier one: {replacement_text(str(folder))}"
        )
    key = SigningKey.read(sign) if sign is not None else None
    with threadpool_limits(limits=1), atomic_folder(Path(folder), mode=0o755) as aside:  # small matrices: threads wait
        public, internal = aside / "public", aside / "internal"
        public.mkdir(mode=0o755)
        internal.mkdir(mode=0o700)
        content = replace(publication.write(public), signed_by=key.public if key else "")
        _write_reports(public, internal, content)
        named = _write_codebook(public, content, publication.labels(public))
        write_manifests(
            public, internal, content, publication.models, publication.facts(),
            measured=publication.measured, rulebook=publication.rulebook, key=key,
        )  # fmt: skip
        publication.refuse_leaks(public, content, named)
    return Path(folder)


@dataclass(eq=False)
class TablePublication:
    """A masked table in memory, beside the original it is measured against."""

    masked: Table
    original: Table | None
    rows: NDArray[np.intp]  # the masked row of every published one
    population: Population | None
    models: Sequence[PrivacyModel]
    description: ReleaseDescription
    format: WrittenFormat
    order: Order
    limits: Sequence[MeasuredLimit]
    scenarios: Mapping[str, Sequence[str]] | None
    rulebook: Rulebook | None
    waivers: Mapping[str, str] | None
    unstated: Collection[str]
    earlier: Sequence[LedgerEntry]

    @property
    def measured(self) -> bool:
        """Whether losses and risks are measured against an original."""
        return self._readings.measured

    def write(self, public: Path) -> ReportContent:
        """Write data and schema; the file that is read back must be judged, audited and measured as before."""
        family, published = self.description.family, flatten(self.masked, self.rows)
        verdicts, shown = self.judge(published), self._put_back(published)
        before = [] if self.original is None else check_limits(self.limits, self.original, shown, family)
        if not len(published):  # nothing to read back
            Refusal(self._missed(verdicts, before)).raise_any()
        data = _write_data(public, published, self.format)
        again = self._again = _read_again(public, published, self.judge, verdicts)
        found = self._audit(again, data)
        shown, kept = self._put_back(again), self._limits_again(again, before)
        answered = columns_answering_findings(self.models, shown, self.unstated)
        because = self.description.because
        readings = readings_for_report_facts(self.original, shown, family, self.scenarios, because, answered)
        self._readings = readings
        evidence = Evidence(again, family, self.order, len(self.masked) - len(again), None, found.waived_kinds)
        rules = _rules(self.rulebook, split_waivers(self.waivers)[0], readings, kept, evidence)
        broken = [each for each in rules if not each.passed]
        attacked = complaints_of_attacks(readings, self.scenarios, family, self.limits)
        folders = [each.folder for each in self.earlier]
        Refusal([*self._missed(verdicts, kept), *attacked], found.open, folders, self.rulebook, broken).raise_any()
        self._facts = Facts(
            self.description, self.order, self.models, verdicts, smallest_anonymity_class(again), found, kept,
            self.rulebook, rules, self.population,
        )  # fmt: skip
        return collect_report_facts(self._facts, self.original, shown, len(again), readings)

    def _missed(self, verdicts: Sequence[Verdict], limits: Sequence[LimitResult]) -> list[str]:
        """Guarantees and limits that are missed, and why a model or a scenario cannot protect this file."""
        complaints = self.description.complaints or complaints_of_guarantees(verdicts, limits)
        beyond = [] if self.original is None else complaints_of_perturbed(self.models, self.original, self.masked)
        return [*complaints, *beyond, *self.description.beyond]

    def judge(self, table: Table) -> list[Verdict]:
        """The verdicts of the privacy models on the rows as they are published."""
        around = self.population.around(table, self.rows) if self.population else None
        before = self.original and self._put_back(table)
        return judge_guarantees(self.models, table, Knowledge(around, self.original, before))

    def facts(self) -> Mapping[str, Any]:
        """The fingerprint of the file that was read back."""
        return {"fingerprint": self._again.fingerprint()}

    def labels(self, public: Path) -> Sequence[PublishedLabels]:
        """The labels of the file that was read back."""
        return list(published_labels(self._again, self.masked, self.original))

    def refuse_leaks(self, public: Path, content: ReportContent, named: Sequence[str]) -> None:
        """Refuse values of records and the seed in public files, beyond what statements and measures say."""
        readings, limited = self._readings, [each.reading for each in self._facts.limits]
        sentences = [*named, *(verdict.demand for verdict in content.verdicts)]
        sentences += [*map(measured_attack_text, readings.attacks), confidential_text(readings.confidential)]
        sentences += [attacker_text(each.measure, each.scope) for each in limited if each.aim == "risk"]
        sentences += [f"{each.definition} {each.missing} {each.unit}" for each in (*readings.losses, *limited)]
        risks = [*readings.risks, *(each for each in limited if each.aim == "risk")]
        refuse_leaks(public, self._again, self.original, risks=risks, seed=self.description.seed, sentences=sentences)

    def _put_back(self, table: Table) -> Table:
        """Published rows in the order of the masked table."""
        return put_back(table, self.masked, self.rows)

    def _audit(self, again: Table, data: Path) -> Audit:
        """What the written file reveals, with what is waived of it."""
        earlier = earlier_findings(self.original, again, self.earlier)
        allowed = self.rulebook.allowed_alone if self.rulebook is not None else 0
        terms = AuditTerms(
            self.description.family, frozenset(self.unstated), missing_cells_in_anonymity(self.models), allowed
        )
        read = replace(again, provenance=self.masked.provenance)
        found = audit_release_findings(read, self.original, self.rows, terms, data, earlier)
        return replace(found, waived=split_waivers(self.waivers)[1])

    def _limits_again(self, again: Table, before: Sequence[LimitResult]) -> list[LimitResult]:
        """Every limited measure, read from the written file; it must give the same readings as the table in memory."""
        if self.original is None:
            return []
        after = check_limits(self.limits, self.original, self._put_back(again), self.description.family)
        if after != list(before):
            raise ReleaseRefused(
                "nothing was released: the written file is measured differently from the table in memory"
            )
        return after


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
    if not isinstance(waivers or {}, Mapping):
        raise PlanError('waivers: give a reason for each finding, such as {"singling-out:weight": "known to nobody"}')
    if original is not None and len(original) != len(masked):
        raise PlanError(
            f"the original has {len(original)} rows and the masked table {len(masked)}; rows must correspond"
        )
    known = masked.provenance.family if masked.provenance is not None else description.family
    for family in (known, description.family):
        refuse_meaningless_guarantees(models, family)
    if original is not None:
        refuse_unaligned_roles(original, masked)
    of_rules, of_findings = split_waivers(waivers)
    check_finding_waivers(of_findings, masked.names)
    if of_rules and rulebook is None:
        raise PlanError("a rule was waived and no rulebook given; name the rulebook of the rule")
    if rulebook is not None:
        rulebook.check_waivers(of_rules)


def complaints_of_attacks(
    readings: Readings, scenarios: Mapping[str, Sequence[str]] | None, family: str, limits: Sequence[MeasuredLimit]
) -> list[str]:
    """Why measured attacks stop a file: they contradict its classes or, without classes, its limits on risk."""
    found = complaints_of_contradictions(readings.attacks)
    if family == PERTURBATION:
        asked = [each for each in readings.attacks if not scenarios or each.intruder in scenarios]
        found += complaints_above_limit(asked, limits)
    return found


def _write_data(public: Path, published: Table, format: WrittenFormat) -> Path:
    """Write the data and their schema; the file of the data."""
    schema = schema_of(published, format)
    write_table(published, public / schema["file"])
    write_beside_manifest(public / "schema.json", json.dumps(schema, indent=2, ensure_ascii=False) + "\n")
    return public / str(schema["file"])


def _read_again(
    public: Path, published: Table, judge_table: Callable[[Table], list[Verdict]], verdicts: Sequence[Verdict]
) -> Table:
    """Read the written file back; it must give the same table and the same verdicts."""
    schema = json.loads((public / "schema.json").read_text(encoding="utf-8"))
    again = read_published(public, schema)
    if again.fingerprint() != published.fingerprint():
        raise ReleaseRefused(_explain_difference(again, published, schema["format"]))
    if judge_table(again) != list(verdicts):
        raise ReleaseRefused("nothing was released: the written file is judged differently from the table in memory")
    return again


def _explain_difference(again: Table, published: Table, format: str) -> str:
    """Why a written file is not the table that was judged: which columns its format does not hold exactly."""
    start = "nothing was released: the written file does not read back as the table that was judged"
    kind = writers.of(f"data.{format}")
    if kind is None or format in EXACT:
        return f"{start}; please report this with the format and the kinds of the columns"
    if len(again) != len(published):
        return f"{start}: {kind.what} does not hold records without any value; choose the format csv or parquet"
    names = [name for name in published.names if _column_alone(again, name) != _column_alone(published, name)]
    return f"{start}: {kind.what} does not hold {listing(map(repr, names))} exactly; choose the format csv or parquet"


def _column_alone(table: Table, name: str) -> str:
    """The fingerprint of one column."""
    return table.drop(other for other in table.names if other != name).fingerprint()


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
    return check_rulebook(rulebook, replace(evidence, risks=risks), waivers)


def _write_reports(public: Path, internal: Path, content: ReportContent) -> None:
    """Write both reports as JSON, and as pages that are rendered from the JSON."""
    outside, inside = external_json(content), internal_json(content)
    write_beside_manifest(public / "report.json", outside)
    write_beside_manifest(public / "report.html", external_html(json.loads(outside)))
    write_beside_manifest(internal / "report.json", inside)
    write_beside_manifest(internal / "report.html", internal_html(json.loads(inside)))


def _write_codebook(public: Path, content: ReportContent, labels: Sequence[PublishedLabels]) -> list[str]:
    """Write the codebook as JSON, and as a page that is rendered from the JSON; → what it names on purpose."""
    schema = json.loads((public / "schema.json").read_text(encoding="utf-8"))
    text = codebook_json(codebook_facts(content, labels, schema))
    facts = json.loads(text)
    write_beside_manifest(public / "codebook.json", text)
    write_beside_manifest(public / "codebook.html", codebook_html(facts))
    return named_in_codebook(facts)


def complaints_above_limit(attacks: Sequence[MeasuredAttack], limits: Sequence[MeasuredLimit]) -> list[str]:
    """Attackers that no search is fitted to and that find more in a perturbed file than a limit on risk allows."""
    most = min((limit.at_most for limit in limits if limit.binding and _limits_linkage(limit)), default=None)
    return [
        f"{measured_attack_text(each)}, and the limit on the risk is {most:g} %; mask more, aggregate or recode "
        f"instead, or allow a higher risk"
        for each in choose_worst_linkage(attacks)
        if most is not None and each.found is not None and not keeps_objective_limit(each.found, most, "low")
    ]


def _limits_linkage(limit: MeasuredLimit) -> bool:
    if isinstance(limit.measure, OverallFigure):
        return limit.measure.figure == "risk"
    return isinstance(limit.measure, RecordLinkage | OneToOneLinkage | HeldOutLinkage)
