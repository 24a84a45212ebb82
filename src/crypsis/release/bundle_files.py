"""The files of a release: exactly those that its manifests list, unchanged, and no links."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from crypsis.errors import TableError
from crypsis.release.manifest import MANIFEST, MANIFEST_FORMAT, OLDEST_FORMAT, seal, sha256
from crypsis.release.signing import SIGNATURE

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
