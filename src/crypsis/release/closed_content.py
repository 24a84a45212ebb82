"""What a release may hold: the files and entries that Crypsis writes, and no others.

Digests and seals can be made again by whoever changes a folder. A file or an entry that no release has is therefore
found by its name: nothing can be published in a release beside what is judged and compared.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import fields
from typing import Any

from crypsis.errors import listing
from crypsis.privacy.model import Verdict
from crypsis.release.manifest import internal_claims, public_claims
from crypsis.release.page_check import MALFORMED
from crypsis.report.content import PUBLIC_READING, ReportContent, external_facts
from crypsis.text.attacks import is_attacker_text

FAMILIES = ("aggregation", "recoding", "perturbation", "none", "unknown")
REPORTS = ("report.json", "report.html")
COUNTED_FILE = re.compile(r"data-[0-9]{3,}\.parquet")
_NOTHING: Mapping[str, Any] = defaultdict(list)
"""Stands for the content of an internal report where only the names of entries are asked for."""

_digest = re.compile(r"[0-9a-f]{64}").fullmatch
_version = re.compile(r"[0-9][0-9A-Za-z.+-]{0,40}").fullmatch
_rule = re.compile(r"[a-z0-9-]+").fullmatch
PUBLIC_MANIFEST = {"format", "crypsis", "files", "requirements", "rulebook", "seal", *public_claims(_NOTHING)}
INTERNAL_MANIFEST = {"format", "public", "files", "measured", "rulebook", "seal", *internal_claims(_NOTHING)}
EXTERNAL_REPORT = {*external_facts(_NOTHING), "analyses", "estimates"}
INTERNAL_REPORT = {each.name for each in fields(ReportContent)} | {"suppressed"}
COLUMN = {"name", "role", "kind", "treatment", "distinct", "loss"}
ANALYSES = {"drawn", "kept", "text", "public"}
ESTIMATES = {"name", "numeric", "figures"}
USE = {"name", "at_most", "kept", *PUBLIC_READING}

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

    manifest, schema, report  its JSON files; empty where one cannot be read, which is a problem of its own
    """
    try:
        return _foreign_public(manifest, schema, report)
    except MALFORMED:
        return ["public/manifest.json cannot be compared with what a release has: a part of it is of another type"]


def _foreign_public(manifest: Mapping[str, Any], schema: Mapping[str, Any], report: Mapping[str, Any]) -> list[str]:
    counted = "counted" in manifest
    own = {"counted"} if counted else {"fingerprint"}
    data = {name for name in manifest.get("files", {}) if COUNTED_FILE.fullmatch(name)} if counted else set()
    known = {*REPORTS, "schema.json", *(data or {f"data.{schema.get('format', 'csv')}"})}
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
    if not isinstance(limited, bool):
        odd += ["limited_risk"] * (not all(is_attacker_text(str(each), _columns(schema)) for each in limited))
    found += [f"{where} has a value that no release has in: {listing(odd)}"] * bool(odd)
    found += _foreign("public/report.json", [report], EXTERNAL_REPORT)
    found += _foreign("public/report.json: columns", report.get("columns"), COLUMN)
    found += _foreign("public/report.json: losses", report.get("losses"), set(PUBLIC_READING))
    found += _foreign("public/report.json: analyses", [report.get("analyses")], ANALYSES)
    found += _foreign("public/report.json: estimates", report.get("estimates"), ESTIMATES)
    return found + _foreign("public/report.json: uses", report.get("uses"), USE)


def foreign_internal(manifest: Mapping[str, Any], report: Mapping[str, Any]) -> list[str]:
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
