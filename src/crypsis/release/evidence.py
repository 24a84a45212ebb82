"""A release as evidence for a rulebook, from its files alone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from crypsis.audits import Finding, FindingKind
from crypsis.errors import CrypsisError, TableError
from crypsis.measures.measure import Reading
from crypsis.privacy import models
from crypsis.privacy.anonymity import missing_reading
from crypsis.release.published import read_published
from crypsis.rulebook import Evidence, Rulebook, RuleResult, check_rulebook
from crypsis.table.equivalence_classes import MissingReading
from crypsis.table.table import Table


def public_of(folder: Path) -> Path:
    """The public part of a release, or the folder itself if it is one."""
    public = folder / "public" if (folder / "public").is_dir() else folder
    if not (public / "manifest.json").is_file():
        raise TableError(f"{folder}: not a release: it has no manifest.json; give the folder `crypsis release` wrote")
    return public


def published_of(folder: str | Path) -> Table:
    """The published table of a release, from its files alone.

    folder  a release, or its public part
    """
    public = public_of(Path(folder))
    return read_published(public, _read(public / "schema.json"))


def data_file(folder: str | Path) -> Path:
    """The file with the data of a release.

    folder  a release, or its public part
    """
    public = public_of(Path(folder))
    return public / str(_read(public / "schema.json")["file"])


def order_of(folder: str | Path) -> str:
    """The order of the rows of a release, `shuffled` or `kept`.

    folder  a release, or its public part
    """
    return str(manifest_of(folder).get("order", "kept"))


def reading_of(manifest: Mapping[str, Any]) -> MissingReading:
    """How the demands of a manifest read missing cells; as values of their own where they say nothing."""
    try:
        return missing_reading(models.build(each["model"], **each["settings"]) for each in manifest["requirements"])
    except (CrypsisError, KeyError, TypeError, ValueError, AttributeError):
        return "own"


def manifest_of(folder: str | Path) -> dict[str, Any]:
    """The public manifest of a release.

    folder  a release, or its public part
    """
    return dict(_read(public_of(Path(folder)) / "manifest.json"))


def evidence_of(folder: str | Path) -> Evidence:
    """What the files say; risks only where the internal part is there and an original was measured."""
    folder = Path(folder)
    public = public_of(folder)
    manifest = _read(public / "manifest.json")
    inner = _read(folder / "internal" / "manifest.json") if (folder / "internal").is_dir() else {}
    risks = None
    if inner.get("measured"):
        limits = [each["reading"] for each in inner.get("limits", []) if each["reading"]["aim"] == "risk"]
        risks = [_read_measure(each) for each in (*inner.get("risks", []), *limits)]
    return Evidence(
        published_of(folder),
        str(manifest.get("family", "unknown")),
        str(manifest.get("order", "kept")),
        int(manifest.get("suppressed", 0)),
        risks,
        [each["finding"]["kind"] for each in inner["findings"] if each["waived"]] if "findings" in inner else None,
    )


def recorded_findings(internal: Path) -> list[Finding]:
    """The findings that the internal manifest states; none without one that can be read."""
    try:
        entries = [each["finding"] for each in _read(internal / "manifest.json")["findings"]]
        return [
            Finding(FindingKind(each["kind"]), tuple(each["columns"]), int(each["records"]), float(each["share"]))
            for each in entries
        ]
    except (TableError, KeyError, TypeError, ValueError):
        return []


def check_release(folder: str | Path, book: Rulebook, waivers: Mapping[str, str] | None = None) -> list[RuleResult]:
    """Every rule against a release; waivers recorded with it under the same rulebook count again."""
    inner = Path(folder) / "internal" / "manifest.json"
    recorded = (_read(inner).get("rulebook") or {}) if inner.is_file() else {}
    known = {rule.id for rule in book.rule if rule.waivable}
    before = {
        rule["id"]: rule["waived"]
        for rule in recorded.get("rules", [])
        if recorded.get("name") == book.name and rule["waived"] and rule["id"] in known
    }
    return check_rulebook(book, evidence_of(folder), before | dict(waivers or {}))


def _read(path: Path) -> dict[str, Any]:
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        raise TableError(f"{path.parent.name}/{path.name} is missing or cannot be read; run `crypsis verify`") from None


def _read_measure(content: Mapping[str, Any]) -> Reading:
    interval = content.get("interval")
    return Reading(**{**content, "scope": tuple(content["scope"]), "interval": tuple(interval) if interval else None})
