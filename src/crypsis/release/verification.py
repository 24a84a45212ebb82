"""Verification of a release from its files alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from crypsis.audits import Audit, Published, audit_published
from crypsis.audits.metadata import metadata
from crypsis.errors import CrypsisError
from crypsis.measures.constraint import within
from crypsis.privacy import models
from crypsis.privacy.anonymity import SmallestClass, smallest_class
from crypsis.privacy.model import Assumption, PrivacyModel, Verdict
from crypsis.release.attacker_check import check_attackers, homogeneity_texts
from crypsis.release.bundle_files import check_files, foreign_entries, read_json, read_manifest
from crypsis.release.closed_content import foreign_internal, foreign_public
from crypsis.release.count_release import read_counted
from crypsis.release.evidence import public_of, reading_of, recorded_findings
from crypsis.release.file_findings import audit_files
from crypsis.release.guarantees import complaint
from crypsis.release.manifest import MANIFEST, internal_claims, public_claims, sha256
from crypsis.release.older_formats import ADDED, FIGURES, completed, older_format, older_notes, requirement_of
from crypsis.release.page_check import MALFORMED, render_again
from crypsis.release.published import read_published, schema_of
from crypsis.release.signature_check import Trust, check_signature, signature_notes
from crypsis.release.signing import read_public
from crypsis.report import external_html, internal_html
from crypsis.report.content import external_facts, guarantees
from crypsis.table.attribute import Role
from crypsis.table.provenance import PERTURBATION
from crypsis.table.table import Table
from crypsis.text import audited_text, finding_text, singled_out_text


@dataclass(frozen=True)
class Verification:
    """The result of a verification.

    verdicts        privacy models, judged again on the data
    problems        everything that is not as it was released; empty if the release is sound
    files           how many were checked
    notes           what could not be checked, and why
    smallest_class  k over every quasi-identifier of the file, whatever columns its guarantees name
    family          of the masking, as the manifest says
    assumed         confidential columns that are taken for unknown outside, as the manifest says
    signed_by       public key, 64 hexadecimal digits, as the manifest says
    signature       "unsigned", "unchecked", "signed" or "trusted"
    singled_out     how many people columns single out, alone and together, in words; empty where that is unknown
    statements      who finds how many people in the file, and what its classes give away, in sentences
    older           format of a manifest that states less than this version asks for; 0 for one of this version
    """

    folder: str
    verdicts: tuple[Verdict, ...]
    problems: tuple[str, ...]
    files: int
    notes: tuple[str, ...] = ()
    smallest_class: SmallestClass | None = None
    family: str = "unknown"
    signature: Trust = "unsigned"
    signed_by: str = ""
    assumed: tuple[str, ...] = ()
    older: int = 0
    singled_out: str = ""
    statements: tuple[str, ...] = ()

    @property
    def sound(self) -> bool:
        """Whether there is no problem and everything was looked at; never so for a release of an older format."""
        return not self.problems and not self.older

    @property
    def word(self) -> str:
        """The verdict in a few words."""
        if self.problems:
            return "NOT sound"
        return f"as its manifest of format {self.older} states, which is less than sound" if self.older else "sound"


@dataclass(frozen=True)
class _Judged:
    """What the published data give."""

    rows: int
    distinct: Mapping[str, int | None]
    smallest_class: SmallestClass | None
    judge: Callable[[PrivacyModel], Verdict]
    audit: Audit | None = None
    table: Table | None = None


def verify(folder: str | Path, *, key: str | Path | None = None) -> Verification:
    """Check a release, or its public folder alone, from its files.

    Parameters
    ----------
    folder : path
        The release, or its public folder.
    key : path, optional
        File of the public key that must have signed the release.

    Returns
    -------
    Verification
        Sound if there is no problem.

    Notes
    -----
    Everything that follows from the files is computed again and compared: verdicts, schema, statements of the reports,
    and both pages from their JSON files. What was measured against the original, and free texts, are only known to be
    unchanged since the manifest was written; a signature shows by whom.

    Examples
    --------
    >>> import crypsis
    >>> people = crypsis.example(200)
    >>> masked = crypsis.Microaggregation(k=5).mask(people.with_roles({"income": "quasi"}), rng=1)
    >>> folder = crypsis.publish(masked, "release", models=[crypsis.KAnonymity(k=5)])
    >>> crypsis.verify(folder).sound
    True
    """
    wanted = read_public(key) if key is not None else ""
    folder = Path(folder)
    public, internal = public_of(folder), folder / "internal"
    problems = foreign_entries(folder, public)
    if problems:
        return Verification(str(folder), (), tuple(problems), 0)
    manifest = read_manifest(public / MANIFEST, problems)
    files = check_files(public, manifest, problems)
    report = read_json(public / "report.json", problems)
    older = older_format(manifest)
    lacking = [name for name in ADDED if older and name not in manifest]
    manifest, report = completed(manifest, older), completed(report, older)
    trust = check_signature(public, manifest, wanted, problems)
    notes = signature_notes(trust, manifest) + older_notes(older, lacking)
    verdicts, smallest, singled_out = list[Verdict](), None, ""
    attackers, homogeneous = list[str](), list[str]()
    if manifest and not older:
        problems += foreign_public(manifest, read_json(public / "schema.json", []), report)
    if manifest:
        data = _read_data(public, manifest, report, problems)
        if data is not None:
            if "smallest_class" in lacking:
                shown = data.smallest_class and asdict(data.smallest_class)
                manifest, report = {**manifest, "smallest_class": shown}, {**report, "smallest_class": shown}
            smallest, verdicts = data.smallest_class, _judge_again(data, manifest, problems, notes)
            _compare_report(report, manifest, data, verdicts, problems)
            notes += _revealed(data.audit, internal)
            singled_out = _singled_out(data.audit, internal)
            homogeneous = homogeneity_texts(data.audit)
            attackers = check_attackers(data.table, manifest, problems) if data.table is not None else []
    pages: list[tuple[Path, Callable[[Mapping[str, Any]], str]]] = [(public, external_html)]
    if internal.is_dir():
        files += _verify_internal(internal, public, manifest, report, verdicts, wanted, problems)
        pages.append((internal, internal_html))
    else:
        notes.append("the internal part is not here: risks and waivers could not be checked")
    for part, render in pages:
        # Pages of an older format were written by other templates.
        incomparable = problems if trust != "trusted" and not older else notes
        render_again(part, render, incomparable, problems, older)
    family, signer = str(manifest.get("family", "unknown")), str(manifest.get("signed_by", ""))
    return Verification(
        str(folder),
        tuple(verdicts),
        tuple(problems),
        files,
        tuple(notes),
        smallest,
        family,
        trust,
        signer,
        _assumed(manifest),
        older,
        singled_out,
        (*attackers, *homogeneous),
    )


def _unstated(roles: Iterable[tuple[str, str]], manifest: Mapping[str, Any]) -> frozenset[str]:
    """The confidential columns that are not taken for unknown."""
    return frozenset(name for name, role in roles if role == Role.CONFIDENTIAL).difference(_assumed(manifest))


def _assumed(manifest: Mapping[str, Any]) -> tuple[str, ...]:
    """The confidential columns that a manifest takes for unknown outside."""
    named = manifest.get("assumed", ())
    return tuple(map(str, named)) if isinstance(named, list) else ()


def _limited(manifest: Mapping[str, Any]) -> list[str] | bool:
    """The attackers whose risk is limited, as a manifest says; of an older format, whether one is."""
    named = manifest["limited_risk"]
    if older_format(manifest) and isinstance(named, bool):
        return named
    if not isinstance(named, list):
        raise TypeError
    return [str(each) for each in named]


def _revealed(audit: Audit | None, internal: Path) -> list[str]:
    """What the published bytes reveal and nobody waived; without the internal part waivers are not known."""
    if audit is None:
        return [
            "the file is perturbed: which of its values are true is known to its custodian alone, so it was not audited"
        ]
    known = {each.key for each in recorded_findings(internal)}
    found = [finding_text(each) for each in audit.open if each.key not in known]
    return [audited_text(audit), *(f"the file reveals: {text}" for text in found)]


def _singled_out(audit: Audit | None, internal: Path) -> str:
    """How many people columns single out; of a perturbed file its internal part alone knows."""
    if audit is not None:
        return singled_out_text(audit.findings)
    found = recorded_findings(internal)
    return singled_out_text(found) if found else ""


# -- the data and what was demanded of them --


def _read_data(
    public: Path, manifest: Mapping[str, Any], report: Mapping[str, Any], problems: list[str]
) -> _Judged | None:
    """The published data, which must be those of schema and manifest."""
    schema = read_json(public / "schema.json", problems)
    try:
        roles = [(column["name"], column["role"]) for column in schema["columns"]]
        if roles != [(column["name"], column["role"]) for column in report["columns"]]:
            problems.append("public/report.json gives columns other names or roles than public/schema.json")
        if "counted" in manifest:
            counted = read_counted(public, schema, manifest["counted"])
            if not counted.described:
                problems.append("public/schema.json does not describe the data")
            seen = audit_files(public, dict(roles), unstated=_unstated(roles, manifest))
            return _Judged(counted.records, counted.distinct, counted.smallest_class, counted.judge, seen)
        table = read_published(public, schema)
        if schema_of(table, schema["format"]) != schema:
            problems.append("public/schema.json does not describe the data")
    except CrypsisError as error:
        problems.append(f"the data cannot be read by its schema: {error}")
        return None
    except (OSError, *MALFORMED):
        problems.append("the data cannot be read by its schema")
        return None
    if table.fingerprint() != manifest.get("fingerprint"):
        problems.append("the data are not the table that was sealed")
    distinct = {name: _distinct(table, name) for name in table.names}
    perturbed = manifest.get("family") == PERTURBATION
    shown = Published(table, unstated=_unstated(roles, manifest), missing=reading_of(manifest))
    audit = None if perturbed else audit_published(shown, beside=metadata(public / schema["file"]))
    return _Judged(len(table), distinct, smallest_class(table), lambda model: model.judge(table), audit, table)


def _distinct(table: Table, name: str) -> int:
    codes = table.codes([name])[:, 0]
    return len(set(codes[codes >= 0].tolist()))


def _judge_again(data: _Judged, manifest: Mapping[str, Any], problems: list[str], notes: list[str]) -> list[Verdict]:
    """The verdicts of all requirements of the manifest, at least one; one that needs a population is only noted."""
    verdicts: list[Verdict] = []
    try:
        for item in manifest["requirements"]:
            item = requirement_of(item, older_format(manifest))
            model = models.build(item["model"], **item["settings"]).within(item["verdict"]["scenario"])
            if model.beyond_file:
                verdicts.append(
                    Verdict(
                        **{
                            **item["verdict"],
                            "columns": tuple(item["verdict"]["columns"]),
                            "assumptions": tuple(map(Assumption, item["verdict"]["assumptions"])),
                        }
                    )
                )
                shown = "" if model.membership else f"; the file alone shows at least {data.judge(model).attained:g}"
                notes.append(f"{item['model']} {model.beyond_file}; it was not judged again{shown}")
                continue
            verdict = data.judge(model)
            verdicts.append(verdict)
            if not verdict.holds:
                problems.append(complaint(verdict))
            stated = FIGURES if older_format(manifest) else tuple(asdict(verdict))
            if any(not _same(asdict(verdict)[name], item["verdict"][name]) for name in stated):
                problems.append(f"{item['model']} is judged differently from what the manifest says")
        if not verdicts and not _limited(manifest):
            problems.append(
                "public/manifest.json demands nothing of the data: neither a privacy model nor a risk limit"
            )
        if verdicts and manifest["family"] == "perturbation":
            problems.append(
                "public/manifest.json requires class sizes of a perturbed file, where they guarantee nothing"
            )
        if not _same(data.smallest_class and asdict(data.smallest_class), manifest["smallest_class"]):
            problems.append("public/manifest.json has another k over all quasi-identifiers than the data")
    except CrypsisError as error:
        problems.append(f"public/manifest.json demands what cannot be judged: {error}")
    except MALFORMED:
        problems.append("public/manifest.json cannot be read: a part of it is missing or of another type")
    return verdicts


# -- what the reports state --


def _compare_report(
    report: Mapping[str, Any],
    manifest: Mapping[str, Any],
    data: _Judged,
    verdicts: Sequence[Verdict],
    problems: list[str],
) -> None:
    """Compare the statements of the external report with data and manifest."""
    try:
        distinct = {column["name"]: column["distinct"] for column in report["columns"]}
        if report["rows"] != data.rows or distinct != data.distinct:
            problems.append("public/report.json counts other records, columns or values than the data")
        if not _same(report["smallest_class"], data.smallest_class and asdict(data.smallest_class)):
            problems.append("public/report.json has another k over all quasi-identifiers than the data")
        book = manifest["rulebook"]
        expected = guarantees([v.statement for v in verdicts], _limited(manifest), book["title"] if book else "")
        for sentence in expected:
            if sentence not in report["guarantees"]:
                problems.append(f"public/report.json does not state the guarantee: {sentence}")
        if any(sentence not in expected for sentence in report["guarantees"]):
            problems.append("public/report.json states a guarantee that neither data nor manifest support")
        shared = ("family", "order", "suppressed", "assumed", "losses", "signed_by", "attacks", "confidential")
        if any(not _same(report[name], manifest[name]) for name in shared) or report["version"] != manifest["crypsis"]:
            problems.append("public/report.json and public/manifest.json are not of one release")
    except MALFORMED:
        problems.append("public/report.json cannot be compared: a part of it is missing or of another type")


def _verify_internal(
    internal: Path,
    public: Path,
    manifest: Mapping[str, Any],
    report: Mapping[str, Any],
    verdicts: Sequence[Verdict],
    wanted: str,
    problems: list[str],
) -> int:
    """The internal part against the public one: both must follow from the internal report."""
    older = older_format(manifest)
    inner = read_manifest(internal / MANIFEST, problems)
    files = check_files(internal, inner, problems)
    if inner and inner.get("public") != sha256(public / MANIFEST):
        problems.append("public/manifest.json is not the one the internal manifest was written with")
    if inner:
        check_signature(internal, inner, wanted, problems)
    facts = read_json(internal / "report.json", problems)
    problems += [] if older else foreign_internal(inner, facts)
    if not facts or not inner:
        return files
    facts, inner = completed(facts, older), completed(inner, older)
    if older and facts["smallest_class"] is None:
        facts = {**facts, "smallest_class": manifest["smallest_class"]}
    try:
        if not _same(external_facts(facts), report):
            problems.append("public/report.json does not follow from internal/report.json")
        claims = {name: manifest.get(name) for name in public_claims(facts)}
        rules = inner["rulebook"] and inner["rulebook"]["rules"]
        if (
            not _same(public_claims(facts), claims)
            or not (older or _same(facts["verdicts"], [asdict(verdict) for verdict in verdicts]))
            or not _same(internal_claims(facts), {name: inner[name] for name in internal_claims(facts)})
            or not _same(facts["rules"], rules or [])
        ):
            problems.append("the manifests differ from internal/report.json")
        problems.extend(
            f"internal/report.json: the limit on {each['name']} is not kept"
            for each in facts["demands"]
            if each["binding"] and not _kept(each)
        )
        problems.extend(
            f"internal/report.json: the rule {rule['id']} is neither kept nor waived"
            for rule in facts["rules"]
            if not rule["holds"] and not rule["waived"]
        )
    except MALFORMED:
        problems.append("internal/report.json cannot be compared: a part of it is missing or of another type")
    return files


def _kept(demand: Mapping[str, Any]) -> bool:
    """Whether the figure of a limit is within it."""
    return within(demand["reading"]["value"], demand["at_most"], demand["reading"]["better"])


def _same(first: Any, second: Any) -> bool:
    """Whether two values are the same JSON."""
    return _text(first) == _text(second)


def _text(content: Any) -> str:
    return json.dumps(content, sort_keys=True, default=float)
