"""Manifests: the files and guarantees of a release, with digests that show changes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from crypsis.errors import TableError
from crypsis.privacy import models as registered
from crypsis.privacy.model import PrivacyModel
from crypsis.release.signing import SigningKey
from crypsis.report import ReportContent
from crypsis.report.content import external_facts, limited_risks_for_reports
from crypsis.rulebook import Rulebook
from crypsis.version import __version__

MANIFEST_FORMAT = 5
MANIFEST = "manifest.json"


def sha256(path: Path) -> str:
    """Digest of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def seal(content: Mapping[str, Any]) -> str:
    """Digest of the content of a manifest without its seal, independent of its layout."""
    bare = {key: value for key, value in content.items() if key != "seal"}
    return hashlib.sha256(json.dumps(bare, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def digests(folder: Path) -> dict[str, str]:
    """Name and digest of every file of a folder."""
    return {path.name: sha256(path) for path in sorted(folder.iterdir())}


def write_manifests(
    public: Path,
    internal: Path,
    content: ReportContent,
    models: Sequence[PrivacyModel],
    own: Mapping[str, Any],
    *,
    measured: bool,
    rulebook: Rulebook | None = None,
    key: SigningKey | None = None,
) -> None:
    """The public manifest, and the internal one that names it by its digest.

    `measured`: whether losses and risks were measured against an original.
    """
    facts = content.internal()
    outside = {
        "format": MANIFEST_FORMAT,
        "crypsis": __version__,
        "files": digests(public),
        "requirements": [
            {"model": registered.name_of(model), "settings": model.model_dump(mode="json"), "verdict": asdict(verdict)}
            for model, verdict in zip(models, content.verdicts, strict=True)
        ],
        "rulebook": rulebook
        and {"name": rulebook.name, "title": rulebook.title, "waived": [r.id for r in content.rules if r.waived]},
        **public_claims(facts),
        **own,
    }
    write_sealed(public / MANIFEST, outside)
    inside = {
        "format": MANIFEST_FORMAT,
        "public": sha256(public / MANIFEST),
        "files": digests(internal),
        "measured": measured,
        "rulebook": rulebook and {"name": rulebook.name, "rules": facts["rules"]},
        **internal_claims(facts),
    }
    write_sealed(internal / MANIFEST, inside)
    if key is not None:
        key.sign(public / MANIFEST)
        key.sign(internal / MANIFEST)


def public_claims(facts: Mapping[str, Any]) -> dict[str, Any]:
    """What the public manifest repeats of the internal report."""
    outside = external_facts(facts)
    same = (
        "family", "order", "suppressed", "smallest_class", "assumed", "losses", "signed_by", "attacks", "confidential"
    )  # fmt: skip
    return {**{name: outside[name] for name in same}, "limited_risk": limited_risks_for_reports(facts)}


def internal_claims(facts: Mapping[str, Any]) -> dict[str, Any]:
    """What the internal manifest repeats of the internal report."""
    return {
        "risks": [*facts["risks"], *(scenario["after"] for scenario in facts["scenarios"])],
        "findings": [{name: each[name] for name in ("finding", "waived")} for each in facts["findings"]],
        "limits": facts["demands"],
        "seed": facts["seed_print"],
        "signed_by": facts["signed_by"],
    }


def write_sealed(path: Path, content: Mapping[str, Any]) -> None:
    """Write a manifest with its seal."""
    plain = json.loads(json.dumps(content, default=float))
    write_beside_manifest(path, json.dumps(plain | {"seal": seal(plain)}, indent=2, ensure_ascii=False) + "\n")


def write_beside_manifest(path: Path, text: str) -> None:
    """Write a manifest or another file of a release, which all may read in `public`, only its owner in `internal`."""
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600 if path.parent.name == "internal" else 0o644)


# -- The files of a release: exactly those that its manifests list, unchanged, and no links.

PARTS = ("public", "internal")


def read_manifest(path: Path, problems: list[str]) -> dict[str, Any]:
    """A manifest; empty if it cannot be read."""
    name = f"{path.parent.name}/{path.name}"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        found, listed = content["format"], content["files"]
        plain = all(isinstance(digest, str) and Path(file).name == file for file, digest in listed.items())
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        problems.append(f"{name} is missing or cannot be read")
        return {}
    if type(found) is not int or found != MANIFEST_FORMAT:
        raise TableError(
            f"{name}: its format is {found!r}, and this version reads {MANIFEST_FORMAT} alone; verify it with the "
            f"version of Crypsis that wrote it, or ask for a new release"
        )
    if not plain:
        problems.append(f"{name} lists files outside its folder")
        return {}
    if content.get("seal") != seal(content):
        problems.append(f"{name} was changed after it was sealed")
    return dict(content)


def remove_seeds_for_manifest(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as a manifest states them, without seeds at any depth, since seeds are secret."""
    return {
        key: remove_seeds_for_manifest(value) if isinstance(value, Mapping) else value
        for key, value in settings.items()
        if "seed" not in str(key).lower()
    }
