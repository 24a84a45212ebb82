"""Verification of a release from its files alone."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl
from jinja2 import UndefinedError

from crypsis.attacks.confidential_knowledge import ConfidentialKnowledge, known_value
from crypsis.attacks.linkage import MeasuredAttack
from crypsis.audits import Audit, Published, audit_matched_records
from crypsis.audits.published import FindingKind
from crypsis.audits.restatement import find_restating_metadata
from crypsis.errors import CrypsisError, listing, read_path, word
from crypsis.measures.class_risk import class_risk
from crypsis.measures.objective import keeps_objective_limit
from crypsis.privacy import models
from crypsis.privacy.anonymity import SmallestClass, missing_cells_in_anonymity, smallest_anonymity_class
from crypsis.privacy.model import Assumption, PrivacyModel, Verdict, complaint_of_model
from crypsis.release.evidence import public_part_as_evidence, recorded_findings_as_evidence
from crypsis.release.lazy_audit import audit_lazy_release
from crypsis.release.lazy_release import count_distinct_released, judge_lazy_release, table_for_lazy_release
from crypsis.release.manifest import MANIFEST, PARTS, internal_claims, public_claims, read_manifest, sha256
from crypsis.release.published import read_published, scan_published_parts, schema_of
from crypsis.release.signing import INSTALL, SIGNATURE, available, read_public, signature_fits
from crypsis.report import codebook_html, external_html, internal_html
from crypsis.report.codebook import ROLE_WORDS, RULES
from crypsis.report.content import PUBLIC_READING, ReportContent, external_facts, guarantees_for_reports
from crypsis.small_tables import draw_html_table
from crypsis.table.attribute import Role
from crypsis.table.equivalence_classes import MissingReading, count_class_readings
from crypsis.table.lazy import RECORDS, lazy_frame, tally
from crypsis.table.table import AGGREGATION, PERTURBATION, RECODING, UNKNOWN, Table
from crypsis.text import (
    attack_finding_text,
    audited_text,
    confidential_text,
    measured_attack_text,
    readings_text,
    singled_out_text,
)
from crypsis.text.attacks import attacked_share_text, is_attacker_text
from crypsis.version import __version__

MALFORMED = (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError)
"""What a manifest or report of another shape raises when it is read."""


def _render_again(
    folder: Path, name: str, render: Callable[[Mapping[str, Any]], str], incomparable: list[str], problems: list[str]
) -> None:
    """Render a page from its JSON file and compare it with the page in the folder.

    `name`: of both files, without suffix.
    `incomparable`: gets a sentence if another version wrote the page; a problem unless a trusted key signed it.
    """
    version: Any = __version__
    try:
        facts = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
        version = facts["version"]
        same = render(facts) == (folder / f"{name}.html").read_text(encoding="utf-8")
    except (OSError, UndefinedError, *MALFORMED):
        same = False
    if not same and version != __version__:
        incomparable.append(
            f"{folder.name}/{name}.html was written by Crypsis {version} and this version, {__version__}, cannot "
            f"compare it with {folder.name}/{name}.json; verify with that version"
        )
    elif not same:
        problems.append(f"{folder.name}/{name}.html differs from {folder.name}/{name}.json")


# -- What a release says about attackers, against its data.


def _check_attackers(table: Table, manifest: Mapping[str, Any], problems: list[str]) -> list[str]:
    """What a manifest says about attackers and about who knows a confidential column, as far as the data agree."""
    sentences = []
    try:
        for each in manifest["attacks"]:
            attack = MeasuredAttack(**each)
            most = None if manifest["family"] == PERTURBATION else class_risk(table, attack.knows)
            if not _same_shares([most], [attack.class_risk]):
                problems.append("public/manifest.json has another class risk than the data")
            sentences.append(measured_attack_text(attack))
        confidential = [ConfidentialKnowledge(**each) for each in manifest["confidential"]]
        for known in confidential:
            if not _same_shares(known_value(table, known.column), [known.class_risk, known.exact, known.rough]):
                problems.append("public/manifest.json counts other confidential values in the classes than the data")
        sentences += filter(None, [confidential_text(confidential)])
    except CrypsisError as error:
        problems.append(f"public/manifest.json speaks of attackers that cannot be judged: {error}")
    except MALFORMED:
        problems.append("public/manifest.json cannot be read: what attackers find is missing or of another type")
    return sentences


def _same_shares(first: Sequence[float | None], second: Sequence[float | None]) -> bool:
    """Whether figures are the same as reports round them."""
    return [x if x is None else attacked_share_text(x) for x in first] == [
        x if x is None else attacked_share_text(x) for x in second
    ]


def _homogeneity_texts(audit: Audit | None) -> list[str]:
    """Classes that fix a confidential value, counted again in the data."""
    found = () if audit is None else audit.findings
    return [attack_finding_text(each) for each in found if each.kind is FindingKind.HOMOGENEOUS]


# -- What a release may hold: the files and entries that Crypsis writes, and no others.
#
# Digests and seals can be made again by whoever changes a folder. A file or an entry that no release has is therefore
# found by its name: nothing can be published in a release beside what is judged and compared.

FAMILIES = (AGGREGATION, RECODING, PERTURBATION, "none", UNKNOWN)
REPORTS = ("report.json", "report.html")
CODEBOOK = ("codebook.json", "codebook.html")
COUNTED_FILE = re.compile(r"data-[0-9]{3,}\.(parquet|csv)")
_NOTHING: Mapping[str, Any] = defaultdict(list)
"""Stands for the content of an internal report where only the names of entries are asked for."""

_digest = re.compile(r"[0-9a-f]{64}").fullmatch
_version = re.compile(r"[0-9][0-9A-Za-z.+-]{0,40}").fullmatch
_rule = re.compile(r"[a-z0-9-]+").fullmatch
PUBLIC_MANIFEST = {"format", "crypsis", "files", "requirements", "rulebook", "seal", *public_claims(_NOTHING)}
INTERNAL_MANIFEST = {"format", "public", "files", "measured", "rulebook", "seal", *internal_claims(_NOTHING)}
EXTERNAL_REPORT = {*external_facts(_NOTHING), "analyses", "estimates", "weighted"}
INTERNAL_REPORT = {each.name for each in fields(ReportContent)} | {"suppressed"}
COLUMN = {"name", "label", "role", "kind", "treatment", "missing", "distinct", "loss"}
ANALYSES = {"drawn", "kept", "text", "public"}
ESTIMATES = {"name", "numeric", "dates", "figures"}
USE = {"name", "at_most", "kept", *PUBLIC_READING}

BOOK = {"title", "version", "written", "rows", "file", "cite", "rules", "weights", "empty", "few", "columns"}
BOOK_COLUMN = {"name", "label", "kind", "role", "meaning", "done", "form", "missing", "values", "labels"}
BOOK_LABEL = {"label", "stands_for", "members", "rare", "low", "high"}

Check = Callable[[Any], Any]
_VALUES: dict[str, Check] = {
    "format": lambda value: type(value) is int,
    "crypsis": lambda value: isinstance(value, str) and _version(value),
    "family": lambda value: value in FAMILIES,
    "order": lambda value: value in ("shuffled", "kept"),
    "suppressed": lambda value: type(value) is int and value >= 0,
    "signed_by": lambda value: value == "" or _digest(str(value)),
    "fingerprint": lambda value: isinstance(value, str) and _digest(value),
    "seal": lambda value: isinstance(value, str) and _digest(value),
}
"""Entries of the public manifest whose values are of few forms."""


def foreign_public(manifest: Mapping[str, Any], schema: Mapping[str, Any], report: Mapping[str, Any]) -> list[str]:
    """Files and entries of the public part that no release has, and values of another form; a sentence each.

    `manifest`, `schema`, `report`: its JSON files; empty where one cannot be read, which is a problem of its own.
    """
    try:
        return _foreign_public(manifest, schema, report)
    except MALFORMED:
        return ["public/manifest.json cannot be compared with what a release has: a part of it is of another type"]


def _foreign_public(manifest: Mapping[str, Any], schema: Mapping[str, Any], report: Mapping[str, Any]) -> list[str]:
    counted = "counted" in manifest
    own = {"counted"} if counted else {"fingerprint"}
    data = {name for name in manifest.get("files", {}) if COUNTED_FILE.fullmatch(name)} if counted else set()
    known = {*REPORTS, *CODEBOOK, "schema.json", *(data or {f"data.{schema.get('format', 'csv')}"})}
    found = _foreign_files("public", manifest, known)
    where = "public/manifest.json"
    found += _foreign(where, [manifest], PUBLIC_MANIFEST | own)
    found += _foreign(f"{where}: counted", [manifest.get("counted", {})], {"quasi", "confidential"})
    found += _foreign(f"{where}: rulebook", [manifest.get("rulebook") or {}], {"name", "title", "waived"})
    found += _foreign(f"{where}: requirements", manifest.get("requirements"), {"model", "settings", "verdict"})
    verdicts = [each.get("verdict") for each in manifest.get("requirements", []) if isinstance(each, Mapping)]
    found += _foreign(f"{where}: requirements", verdicts, {each.name for each in fields(Verdict)})
    found += _foreign(f"{where}: losses", manifest.get("losses"), set(PUBLIC_READING))
    waived = (manifest.get("rulebook") or {}).get("waived", [])
    odd = [name for name, check in _VALUES.items() if name in manifest and not check(manifest[name])]
    odd += ["files"] * (not all(_digest(str(each)) for each in manifest.get("files", {}).values()))
    odd += ["rulebook"] * (not all(isinstance(each, str) and _rule(each) for each in waived))
    odd += ["assumed"] * (not set(manifest.get("assumed", ())) <= _columns(schema))
    limited = manifest.get("limited_risk", [])
    odd += ["limited_risk"] * (not all(is_attacker_text(str(each), _columns(schema)) for each in limited))
    found += [f"{where} has a value that no release has in: {listing(odd)}"] * bool(odd)
    found += _foreign("public/report.json", [report], EXTERNAL_REPORT)
    found += _foreign("public/report.json: columns", report.get("columns"), COLUMN)
    found += _foreign("public/report.json: losses", report.get("losses"), set(PUBLIC_READING))
    found += _foreign("public/report.json: analyses", [report.get("analyses")], ANALYSES)
    found += _foreign("public/report.json: estimates", report.get("estimates"), ESTIMATES)
    weighted = report.get("weighted") or {}
    found += _foreign("public/report.json: weighted", [weighted], {"text", "columns"})
    found += _foreign("public/report.json: weighted", weighted.get("columns"), ESTIMATES)
    return found + _foreign("public/report.json: uses", report.get("uses"), USE)


def _foreign_internal(manifest: Mapping[str, Any], report: Mapping[str, Any]) -> list[str]:
    """Files and entries of the internal part that no release has; a sentence each."""
    return [
        *_foreign_files("internal", manifest, REPORTS),
        *_foreign("internal/manifest.json", [manifest], INTERNAL_MANIFEST),
        *_foreign("internal/manifest.json: rulebook", [manifest.get("rulebook")], {"name", "rules"}),
        *_foreign("internal/report.json", [report], INTERNAL_REPORT),
    ]


def _columns(schema: Mapping[str, Any]) -> set[str]:
    return {str(each["name"]) for each in schema.get("columns", [])}


def _foreign_files(part: str, manifest: Mapping[str, Any], known: Collection[str]) -> list[str]:
    listed = manifest.get("files", {})
    return [f"{part}/{name} is no file of a release" for name in sorted(set(listed) - set(known))]


def _foreign(where: str, entries: Iterable[Any] | None, known: Collection[str]) -> list[str]:
    """What objects hold beside the known entries; what is no object is compared elsewhere."""
    odd = sorted({str(key) for each in entries or () if isinstance(each, Mapping) for key in each} - set(known))
    return [f"{where} holds what no release has: {listing(map(repr, odd))}"] if odd else []


# -- The signature of a manifest: whether there is one, and whose it is.

Trust = Literal["unsigned", "unchecked", "signed", "trusted"]
"""State of the signature: none; not checked; valid for the key in the manifest; valid for the key that was given."""


def _check_signature(folder: Path, manifest: Mapping[str, Any], wanted: str, problems: list[str]) -> Trust:
    """The state of the signature of a manifest; an invalid one is a problem."""
    name, signer = f"{folder.name}/{MANIFEST}", manifest.get("signed_by", "")
    if not signer:
        if wanted:
            problems.append(f"{name} is not signed, and a key was given to check its signature")
        return "unsigned"
    if not wanted and not available():
        return "unchecked"
    if not signature_fits(folder / MANIFEST, str(signer)):
        problems.append(f"{name}: its signature is missing or does not fit; it was changed after it was signed")
        return "unchecked"
    if wanted and signer != wanted:
        problems.append(f"{name} was signed with the key {signer}, and not with the key that was given")
        return "signed"
    return "trusted" if wanted else "signed"


def _signature_notes(trust: Trust, manifest: Mapping[str, Any]) -> list[str]:
    """What to know about the signature, in sentences."""
    signer = manifest.get("signed_by", "")
    sign = word(python="run.release(sign=…)", command="`crypsis release --sign`", studio="under Sign it")
    key = word(python="key=", command="--key", studio="its key")
    return {
        "unsigned": [
            f"unsigned: anybody who can write the folder can change data, reports and manifest together; only a "
            f"signature shows who released it ({sign})"
        ],
        "unchecked": [f"the signature was not checked; install what it needs with: {INSTALL}"]
        if not available()
        else [],
        "signed": [f"signed with the key {signer}, which was not compared with one you trust: give it with {key}"],
        "trusted": list[str](),
    }[trust]


# -- Verification of a release from its files alone.


@dataclass(frozen=True)
class Verification:
    """The result of a verification."""

    folder: str
    verdicts: tuple[Verdict, ...]  # privacy models, judged again on the data
    problems: tuple[str, ...]  # everything that is not as it was released; empty if the release is sound
    files: int  # how many were checked
    notes: tuple[str, ...] = ()  # what could not be checked, and why
    # k over every quasi-identifier of the file, whatever columns its guarantees name
    smallest_class: SmallestClass | None = None
    family: str = "unknown"  # of the masking, as the manifest says
    signature: Trust = "unsigned"  # "unsigned", "unchecked", "signed" or "trusted"
    signed_by: str = ""  # public key, 64 hexadecimal digits, as the manifest says
    assumed: tuple[str, ...] = ()  # confidential columns that are taken for unknown outside, as the manifest says
    singled_out: str = ""  # how many people columns single out, alone and together, in words; empty if unknown
    # who finds how many people in the file, and what its classes give away, in sentences
    statements: tuple[str, ...] = ()

    @property
    def sound(self) -> bool:
        """Whether there is no problem."""
        return not self.problems

    @property
    def word(self) -> str:
        """The verdict in a few words."""
        return "sound" if self.sound else "NOT sound"

    def __bool__(self) -> bool:
        return self.sound

    def __repr__(self) -> str:
        return f"Verification({': '.join([f'{self.folder!r} is {self.word}', *self.problems])})"

    def __str__(self) -> str:
        return "\n".join(map(": ".join, self._rows()))

    def _repr_html_(self) -> str:
        return draw_html_table(("what", "found"), self._rows())

    def _rows(self) -> list[tuple[str, str]]:
        """Whether it is sound, what is not, every guarantee as it was judged again, and notes."""
        rest = [("problem", each) for each in self.problems] + [("note", each) for each in self.notes]
        judged = [(each.model, each.statement) for each in self.verdicts]
        return [(self.folder, f"{self.word}, {self.files} files checked"), *judged, *rest]


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
    folder = read_path(folder, "folder")
    public, internal = public_part_as_evidence(folder), folder / "internal"
    problems = _foreign_entries(folder, public)
    if problems:
        return Verification(str(folder), (), tuple(problems), 0)
    manifest = read_manifest(public / MANIFEST, problems)
    files = _check_files(public, manifest, problems)
    report = _read_json(public / "report.json", problems)
    trust = _check_signature(public, manifest, wanted, problems)
    notes = _signature_notes(trust, manifest)
    verdicts, smallest, singled_out = list[Verdict](), None, ""
    attackers, homogeneous = list[str](), list[str]()
    if manifest:
        problems += foreign_public(manifest, _read_json(public / "schema.json", []), report)
        data = _read_data(public, manifest, report, problems)
        _check_codebook(public, report, data.table if data is not None else None, problems)
        if data is not None:
            smallest, verdicts = data.smallest_class, _judge_again(data, manifest, problems, notes)
            _compare_report(report, manifest, data, verdicts, problems)
            notes += _find_revealed(data.audit, internal)
            singled_out = _singled_out(data.audit, internal)
            homogeneous = _homogeneity_texts(data.audit)
            attackers = _check_attackers(data.table, manifest, problems) if data.table is not None else []
            notes += _missing_cells(data.table, manifest)
    pages: list[tuple[Path, str, Callable[[Mapping[str, Any]], str]]] = [
        (public, "report", external_html), (public, "codebook", codebook_html)
    ]  # fmt: skip
    if internal.is_dir():
        files += _verify_internal(internal, public, manifest, report, verdicts, wanted, problems)
        pages.append((internal, "report", internal_html))
    else:
        notes.append("the internal part is not here: risks and waivers could not be checked")
    for part, name, render in pages:
        _render_again(part, name, render, notes if trust == "trusted" else problems, problems)
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
        _assumed_columns(manifest),
        singled_out,
        (*attackers, *homogeneous),
    )


def _check_codebook(public: Path, report: Mapping[str, Any], table: Table | None, problems: list[str]) -> None:
    """The codebook must name the columns and labels of the schema and the facts of the report, and nothing else."""
    book, schema = _read_json(public / "codebook.json", problems), _read_json(public / "schema.json", [])
    try:
        where = "public/codebook.json"
        problems += _foreign(where, [book], BOOK)
        problems += _foreign(f"{where}: columns", book.get("columns"), BOOK_COLUMN)
        entries = [entry for each in book["columns"] for entry in each["labels"] or ()]
        problems += _foreign(f"{where}: labels", entries, BOOK_LABEL)
        told = [(c["name"], c["kind"], c["role"], _book_labels(c)) for c in book["columns"]]
        same = told == [(c["name"], c["kind"], c["role"], c.get("categories")) for c in schema["columns"]]
        done = [(c["treatment"], c["distinct"]) for c in report["columns"]]
        same &= [(c["done"], c["values"]) for c in book["columns"]] == done
        counted = [(c["label"], c["missing"]) for c in report["columns"] if c["missing"] is not None]
        same &= not counted or counted == [(c["label"], c["missing"]) for c in book["columns"]]
        same &= [book[key] for key in ("title", "rows", "file")] == [report["title"], report["rows"], schema["file"]]
        same &= [ROLE_WORDS[Role(c["role"])] for c in book["columns"]] == [c["meaning"] for c in book["columns"]]
        same &= book["rules"] == list(RULES)
        if table is not None:
            same &= all(c["missing"] == int(table.missing(c["name"]).sum()) for c in book["columns"])
    except (CrypsisError, *MALFORMED):
        same = False
    if not same:
        problems.append("public/codebook.json does not describe the data")


def _book_labels(column: Mapping[str, Any]) -> list[str] | None:
    """The labels that a codebook lists of a column; None where it lists none."""
    return None if column["labels"] is None else [entry["label"] for entry in column["labels"]]


def _unstated_columns(roles: Iterable[tuple[str, str]], manifest: Mapping[str, Any]) -> frozenset[str]:
    """The confidential columns that are not taken for unknown."""
    return frozenset(name for name, role in roles if role == Role.CONFIDENTIAL).difference(_assumed_columns(manifest))


def _assumed_columns(manifest: Mapping[str, Any]) -> tuple[str, ...]:
    """The confidential columns that a manifest takes for unknown outside."""
    named = manifest.get("assumed", ())
    return tuple(map(str, named)) if isinstance(named, list) else ()


def _limits_of(manifest: Mapping[str, Any]) -> list[str]:
    """The attackers whose risk is limited, as a manifest says."""
    named = manifest["limited_risk"]
    if not isinstance(named, list):
        raise TypeError
    return [str(each) for each in named]


def _missing_cells(table: Table | None, manifest: Mapping[str, Any]) -> list[str]:
    """Every reading of missing cells that the file can show, where they differ."""
    if table is None or manifest.get("family") == PERTURBATION:
        return []
    counts = count_class_readings(table, table.quasi_identifiers)
    return [readings_text(counts)] if counts else []


def _find_revealed(audit: Audit | None, internal: Path) -> list[str]:
    """What the published bytes reveal and nobody waived; without the internal part waivers are not known."""
    if audit is None:
        return [
            "the file is perturbed: which of its values are true is known to its custodian alone, so it was not audited"
        ]
    known = {each.key for each in recorded_findings_as_evidence(internal)}
    found = [attack_finding_text(each) for each in audit.open if each.key not in known]
    return [audited_text(audit), *(f"the file reveals: {text}" for text in found)]


def _singled_out(audit: Audit | None, internal: Path) -> str:
    """How many people columns single out; of a perturbed file its internal part alone knows."""
    if audit is not None:
        return singled_out_text(audit.findings)
    found = recorded_findings_as_evidence(internal)
    return singled_out_text(found) if found else ""


# -- the data and what was demanded of them --


def _read_data(
    public: Path, manifest: Mapping[str, Any], report: Mapping[str, Any], problems: list[str]
) -> _Judged | None:
    """The published data, which must be those of schema and manifest."""
    schema = _read_json(public / "schema.json", problems)
    try:
        roles = [(column["name"], column["role"]) for column in schema["columns"]]
        if roles != [(column["name"], column["role"]) for column in report["columns"]]:
            problems.append("public/report.json gives columns other names or roles than public/schema.json")
        if "counted" in manifest:
            counted = _read_counted(public, schema, manifest["counted"])
            if not counted.described:
                problems.append("public/schema.json does not describe the data")
            files = scan_published_parts(public, schema)
            seen = audit_lazy_release(files, dict(roles), unstated=_unstated_columns(roles, manifest))
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
    shown = Published(
        table, unstated=_unstated_columns(roles, manifest), missing=missing_reading_for_verification(manifest)
    )
    audit = None if perturbed else audit_matched_records(shown, beside=find_restating_metadata(public / schema["file"]))
    return _Judged(
        len(table), distinct, smallest_anonymity_class(table), lambda model: model.judge(table), audit, table
    )


def _distinct(table: Table, name: str) -> int:
    codes = table.codes([name])[:, 0]
    return len(set(codes[codes >= 0].tolist()))


def _stored_verdict(stored: Mapping[str, Any]) -> dict[str, Any]:
    """A verdict as a manifest holds it; the demand was called a statement before."""
    return {"demand" if name == "statement" else name: value for name, value in stored.items()}


def _judge_again(data: _Judged, manifest: Mapping[str, Any], problems: list[str], notes: list[str]) -> list[Verdict]:
    """The verdicts of all requirements of the manifest, at least one; one that needs a population is only noted."""
    verdicts: list[Verdict] = []
    try:
        for item in manifest["requirements"]:
            stated = _stored_verdict(item["verdict"])
            model = models.build(item["model"], **item["settings"]).within(stated["scenario"])
            if model.beyond_file:
                verdicts.append(
                    Verdict(
                        **{
                            **stated,
                            "columns": tuple(stated["columns"]),
                            "assumptions": tuple(map(Assumption, stated["assumptions"])),
                        }
                    )
                )
                notes.append(
                    f"{item['model']} {model.beyond_file}; it was not judged again{_show_without_original(data, model)}"
                )
                continue
            verdict = data.judge(model)
            verdicts.append(verdict)
            if not verdict.holds:
                problems.append(complaint_of_model(verdict))
            if any(not _same(found, stated[name]) for name, found in asdict(verdict).items()):
                problems.append(f"{item['model']} is judged differently from what the manifest says")
        if not verdicts and not _limits_of(manifest):
            problems.append(
                "public/manifest.json demands nothing of the data: neither a privacy model nor a risk limit"
            )
        if verdicts and manifest["family"] == PERTURBATION:
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


def _show_without_original(data: _Judged, model: PrivacyModel) -> str:
    """What the file alone shows of a model that needs more; empty where it shows nothing."""
    if model.membership or model.unit != "record":
        return ""
    return f"; the file alone shows at least {data.judge(model).attained:g}"


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
        expected = guarantees_for_reports(
            [v.demand for v in verdicts], _limits_of(manifest), book["title"] if book else ""
        )
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
    inner = read_manifest(internal / MANIFEST, problems)
    files = _check_files(internal, inner, problems)
    if inner and inner.get("public") != sha256(public / MANIFEST):
        problems.append("public/manifest.json is not the one the internal manifest was written with")
    if inner:
        _check_signature(internal, inner, wanted, problems)
    facts = _read_json(internal / "report.json", problems)
    problems += _foreign_internal(inner, facts)
    if not facts or not inner:
        return files
    try:
        if not _same(external_facts(facts), report):
            problems.append("public/report.json does not follow from internal/report.json")
        claims = {name: manifest.get(name) for name in public_claims(facts)}
        rules = inner["rulebook"] and inner["rulebook"]["rules"]
        if (
            not _same(public_claims(facts), claims)
            or not _same(facts["verdicts"], [asdict(verdict) for verdict in verdicts])
            or not _same(internal_claims(facts), {name: inner[name] for name in internal_claims(facts)})
            or not _same(facts["rules"], rules or [])
        ):
            problems.append("the manifests differ from internal/report.json")
        problems.extend(
            f"internal/report.json: the limit on {each['name']} is not kept"
            for each in facts["demands"]
            if each["binding"] and not _keeps_limit(each)
        )
        problems.extend(
            f"internal/report.json: the rule {rule['id']} is neither kept nor waived"
            for rule in facts["rules"]
            if not rule["holds"] and not rule["waived"]
        )
    except MALFORMED:
        problems.append("internal/report.json cannot be compared: a part of it is missing or of another type")
    return files


def _keeps_limit(demand: Mapping[str, Any]) -> bool:
    """Whether the figure of a limit is within it."""
    return keeps_objective_limit(demand["reading"]["value"], demand["at_most"], demand["reading"]["better"])


def _same(first: Any, second: Any) -> bool:
    """Whether two values are the same JSON."""
    return _text(first) == _text(second)


def _text(content: Any) -> str:
    return json.dumps(content, sort_keys=True, default=float)


def missing_reading_for_verification(manifest: Mapping[str, Any]) -> MissingReading:
    """How verification reads missing cells, from the demands of a manifest; as own values where they say nothing."""
    try:
        return missing_cells_in_anonymity(
            models.build(each["model"], **each["settings"]) for each in manifest["requirements"]
        )
    except (CrypsisError, KeyError, TypeError, ValueError, AttributeError):
        return "own"


def _read_counted(public: Path, schema: Mapping[str, Any], counted: Mapping[str, Sequence[str]]) -> CountedFiles:
    """Count the published files and compare them with their schema."""
    quasi = list(counted["quasi"])
    frame = lazy_frame(scan_published_parts(public, schema))
    written = tally(frame, [*quasi, *counted["confidential"]])
    names = [column["name"] for column in schema["columns"]]
    found = {n: sorted(written[n].drop_nulls().cast(pl.String).unique()) for n in written.columns if n != RECORDS}
    described = (
        schema["rows"] == int(written[RECORDS].sum())
        and names == frame.collect_schema().names()
        and quasi == [c["name"] for c in schema["columns"] if c["role"] == Role.QUASI_IDENTIFIER.value]
        and all(c["categories"] == found.get(c["name"]) for c in schema["columns"] if "categories" in c)
    )
    return CountedFiles(written, tuple(quasi), tuple(names), described)


@dataclass(frozen=True, eq=False)
class CountedFiles:
    """A count over published files."""

    written: pl.DataFrame
    quasi: tuple[str, ...]
    names: tuple[str, ...]
    described: bool
    """Whether the schema describes the files."""

    @property
    def records(self) -> int:
        """Number of published records."""
        return int(self.written[RECORDS].sum())

    @property
    def distinct(self) -> dict[str, int | None]:
        """How many values each column has; None where it was not counted."""
        counted = {
            name: count_distinct_released(self.written[name]) for name in self.written.columns if name != RECORDS
        }
        return {name: counted.get(name) for name in self.names}

    @property
    def smallest_class(self) -> SmallestClass:
        """Size of the smallest equivalence class over all quasi-identifiers."""
        classes = self.written.group_by(self.quasi).agg(pl.col(RECORDS).sum())
        return SmallestClass(self.quasi, int(np.asarray(classes[RECORDS]).min(initial=self.records)))

    def judge(self, model: PrivacyModel) -> Verdict:
        """The verdict of a privacy model on the published data."""
        return judge_lazy_release(
            model, table_for_lazy_release(self.written, self.quasi), self.written[RECORDS].to_numpy()
        )


def _read_json(path: Path, problems: list[str]) -> dict[str, Any]:
    """A JSON object of the release; empty if it cannot be read."""
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, RecursionError):
        problems.append(f"{path.parent.name}/{path.name} is missing or cannot be read")
        return {}


def _check_files(folder: Path, manifest: dict[str, Any], problems: list[str]) -> int:
    """Number of files that the manifest lists; files that are missing, changed or not listed are problems."""
    if not manifest:
        return 0
    listed: dict[str, str] = manifest["files"]
    for name, digest in listed.items():
        path = folder / name
        if not path.is_file():
            problems.append(f"{folder.name}/{name} is missing")
        elif sha256(path) != digest:
            problems.append(f"{folder.name}/{name} was changed after it was released")
    present = {path.name for path in folder.iterdir()} - {MANIFEST, *([SIGNATURE] if manifest.get("signed_by") else [])}
    problems.extend(f"{folder.name}/{name} does not belong to the release" for name in sorted(present - set(listed)))
    return len(listed)


def _foreign_entries(folder: Path, public: Path) -> list[str]:
    """Everything in a release that is no plain file of its two folders: links, folders, devices, other files.

    Nothing is read while there is a link or a device, which would lead out of the release.
    """
    parts = [public] if public == folder else [folder / name for name in PARTS]
    found = [
        f"{path.name} does not belong to the release"
        for path in sorted(folder.iterdir())
        if public != folder and path not in parts
    ]
    for part in parts:
        if part != folder and part.is_symlink():
            found.append(f"{part.name} is a link out of the release; give the folder itself")
        elif part.is_dir():
            found += [
                f"{part.name}/{path.name} is no plain file but a {'link' if path.is_symlink() else 'folder or device'}"
                for path in sorted(part.iterdir())
                if path.is_symlink() or not path.is_file()
            ]
    return found
