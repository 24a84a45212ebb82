"""A release as evidence for a rulebook, from its files alone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from crypsis.audits import Finding, FindingKind
from crypsis.errors import TableError, name_step
from crypsis.measures.measure import Reading
from crypsis.release.published import read_published
from crypsis.rulebook import Evidence, Rulebook, RuleResult, check_rulebook
from crypsis.table.table import Table


def public_part_as_evidence(folder: Path) -> Path:
    """The public part of a release as evidence for a rulebook, or the folder itself if it is one."""
    public = folder / "public" if (folder / "public").is_dir() else folder
    if not (public / "manifest.json").is_file():
        found = "a ZIP; unpack it and" if folder.suffix.lower() == ".zip" else "not a release: it has no manifest.json;"
        raise TableError(f"{folder}: {found} give the folder that {name_step('release')} wrote")
    return public


def published_table_as_evidence(folder: str | Path, counted: bool = False) -> Table:
    """The published table as evidence for a rulebook, from the files of a release alone.

    `counted`: whether the files of a release that was counted are read as a whole.
    """
    public = public_part_as_evidence(Path(folder))
    return read_published(public, _read(public / "schema.json"), counted)


def data_file_as_evidence(folder: str | Path) -> Path:
    """The file with the data of a release that is evidence for a rulebook."""
    public = public_part_as_evidence(Path(folder))
    return public / str(_read(public / "schema.json")["file"])


def manifest_as_evidence(folder: str | Path) -> dict[str, Any]:
    """The public manifest of a release, read as evidence for a rulebook."""
    return dict(_read(public_part_as_evidence(Path(folder)) / "manifest.json"))


def evidence_of(folder: str | Path) -> Evidence:
    """What the files say; risks only where the internal part is there and an original was measured."""
    folder = Path(folder)
    public = public_part_as_evidence(folder)
    manifest = _read(public / "manifest.json")
    inner = _read(folder / "internal" / "manifest.json") if (folder / "internal").is_dir() else {}
    risks = None
    if inner.get("measured"):
        limits = [each["reading"] for each in inner.get("limits", []) if each["reading"]["aim"] == "risk"]
        risks = [_read_measure(each) for each in (*inner.get("risks", []), *limits)]
    return Evidence(
        published_table_as_evidence(folder),
        str(manifest.get("family", "unknown")),
        str(manifest.get("order", "kept")),
        int(manifest.get("suppressed", 0)),
        risks,
        [each["finding"]["kind"] for each in inner["findings"] if each["waived"]] if "findings" in inner else None,
    )


def recorded_findings_as_evidence(internal: Path) -> list[Finding]:
    """The findings that the internal manifest states; none without one that can be read."""
    try:
        entries = [each["finding"] for each in _read(internal / "manifest.json")["findings"]]
        return [
            Finding(FindingKind(each["kind"]), tuple(each["columns"]), int(each["records"]), float(each["share"]))
            for each in entries
        ]
    except (TableError, KeyError, TypeError, ValueError):
        return []


def judge_evidence_by_rulebook(
    folder: str | Path, book: Rulebook, waivers: Mapping[str, str] | None = None
) -> list[RuleResult]:
    """Judge the evidence of a release by every rule of a rulebook; recorded waivers count again."""
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
        raise TableError(
            f"{path.parent.name}/{path.name} is missing or cannot be read; see {name_step('verify FOLDER')}"
        ) from None


def _read_measure(content: Mapping[str, Any]) -> Reading:
    interval = content.get("interval")
    return Reading(**{**content, "scope": tuple(content["scope"]), "interval": tuple(interval) if interval else None})


def row_order_as_evidence(folder: str | Path) -> str:
    """The order of the rows of a release that is evidence for a rulebook, `shuffled` or `kept`."""
    return str(manifest_as_evidence(folder).get("order", "kept"))
