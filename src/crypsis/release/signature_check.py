"""The signature of a manifest: whether there is one, and whose it is."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from crypsis.release.manifest import MANIFEST
from crypsis.release.signing import INSTALL, available, signature_fits

UNSIGNED = (
    "unsigned: anybody who can write the folder can change data, reports and manifest together; only a signature "
    "shows who released it (`crypsis release --sign`)"
)
Trust = Literal["unsigned", "unchecked", "signed", "trusted"]
"""State of the signature: none; not checked; valid for the key in the manifest; valid for the key that was given."""


def check_signature(folder: Path, manifest: Mapping[str, Any], wanted: str, problems: list[str]) -> Trust:
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


def signature_notes(trust: Trust, manifest: Mapping[str, Any]) -> list[str]:
    """What to know about the signature, in sentences."""
    signer = manifest.get("signed_by", "")
    return {
        "unsigned": [UNSIGNED],
        "unchecked": [f"the signature was not checked; install what it needs with: {INSTALL}"]
        if not available()
        else [],
        "signed": [f"signed with the key {signer}, which was not compared with one you trust: give it with --key"],
        "trusted": list[str](),
    }[trust]
