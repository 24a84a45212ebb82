"""Releases of an older manifest format: what they may lack, and how they are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from crypsis.errors import listing
from crypsis.release.manifest import MANIFEST_FORMAT

ADDED: dict[str, Any] = {
    "assumed": [], "signed_by": "", "smallest_class": None, "attacks": None, "confidential": None
}  # fmt: skip
"""What releases of an older format may lack, and how that is read."""
FIGURES = ("columns", "required", "attained", "holds", "offending", "records")
"""What a verdict of an older format is compared in; sentences have changed since."""


def older_format(manifest: Mapping[str, Any]) -> int:
    """The format of a manifest that is older than this version's; 0 otherwise."""
    found = int(manifest.get("format", MANIFEST_FORMAT))
    return found if found < MANIFEST_FORMAT else 0


def complete_document(content: Mapping[str, Any], older: int) -> dict[str, Any]:
    """A document of an older format with what it lacks, read as nothing stated."""
    return {**ADDED, **content} if older and content else dict(content)


def older_notes(older: int, lacking: Sequence[str]) -> list[str]:
    """What a release of an older format is not asked for; the bytes of its data are judged and audited like any."""
    if not older:
        return []
    missing = f"; it does not state: {listing(lacking)}" if lacking else ""
    return [
        f"the manifest is of format {older}, before {MANIFEST_FORMAT}{missing}. A release of this version from which "
        f"statements were taken away looks the same: ask the publisher for a signature, or for a new release"
    ]


def requirement_of(item: Mapping[str, Any], older: int) -> dict[str, Any]:
    """A requirement of a manifest; one of an older format names neither scenario nor assumptions."""
    if not older:
        return dict(item)
    return {**item, "verdict": {"scenario": "", "assumptions": [], **item["verdict"]}}
