"""Manifests: what a bundle consists of, sealed so that a change is seen."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

MANIFEST_FORMAT = 1


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def seal(content: Mapping[str, Any]) -> str:
    """Digest of a manifest without its own seal, whatever its layout."""
    bare = {key: value for key, value in content.items() if key != "seal"}
    return hashlib.sha256(json.dumps(bare, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def digests(folder: Path) -> dict[str, str]:
    """Name and digest of every file of a folder."""
    return {path.name: sha256(path) for path in sorted(folder.iterdir())}


def write_sealed(path: Path, content: dict[str, Any]) -> None:
    content = json.loads(json.dumps(content, default=float))
    write_text(path, json.dumps(content | {"seal": seal(content)}, indent=2, ensure_ascii=False) + "\n")


def write_text(path: Path, text: str) -> None:
    """A file anybody may read in `public`, and only its owner in `internal`."""
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600 if path.parent.name == "internal" else 0o644)
