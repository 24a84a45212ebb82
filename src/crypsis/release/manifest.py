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
from crypsis.release.signing import SIGNATURE, SigningKey
from crypsis.report import ReportContent
from crypsis.report.content import external_facts, limited_risks
from crypsis.rulebook import Rulebook
from crypsis.version import __version__

MANIFEST_FORMAT = 4
MANIFEST = "manifest.json"
OLDEST_FORMAT = 2
"""Oldest format that can be verified, as far as it goes."""


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

    content   what the reports say
    own       further entries of this kind of release
    measured  whether losses and risks were measured against an original
    key       signs both; `content` names its public part
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
    return {**{name: outside[name] for name in same}, "limited_risk": limited_risks(facts)}


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
    write_text(path, json.dumps(plain | {"seal": seal(plain)}, indent=2, ensure_ascii=False) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a file that everybody may read in `public`, and only its owner in `internal`."""
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600 if path.parent.name == "internal" else 0o644)


# -- The files of a release: exactly those that its manifests list, unchanged, and no links.

PARTS = ("public", "internal")


def foreign_entries(folder: Path, public: Path) -> list[str]:
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
    if not isinstance(found, int) or not OLDEST_FORMAT <= found <= MANIFEST_FORMAT:
        raise TableError(
            f"{name}: written in format {found}, this version reads {MANIFEST_FORMAT}; use the Crypsis it names"
        )
    if not plain:
        problems.append(f"{name} lists files outside its folder")
        return {}
    if content.get("seal") != seal(content):
        problems.append(f"{name} was changed after it was sealed")
    return dict(content)


def check_files(folder: Path, manifest: dict[str, Any], problems: list[str]) -> int:
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


def read_json(path: Path, problems: list[str]) -> dict[str, Any]:
    """A JSON object of the release; empty if it cannot be read."""
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, RecursionError):
        problems.append(f"{path.parent.name}/{path.name} is missing or cannot be read")
        return {}
