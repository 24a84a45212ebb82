"""The signature of a release that was published without one: reports and manifests name the key, the data stay."""

from __future__ import annotations

import json
import secrets
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from crypsis.errors import PlanError, ReleaseRefused
from crypsis.release.ledger import ReleaseLedger
from crypsis.release.manifest import MANIFEST, PARTS, digests, sha256, write_beside_manifest, write_sealed
from crypsis.release.signing import SigningKey
from crypsis.release.verification import verify
from crypsis.report import external_html, internal_html
from crypsis.table.files import atomic_folder

_RENDER: dict[str, Callable[[Mapping[str, Any]], str]] = {"public": external_html, "internal": internal_html}


def sign_release(folder: Path, key_file: str | Path, ledger: ReleaseLedger | None = None) -> str:
    """Sign a release that is sound and not signed yet; → the public key, 64 hexadecimal digits.

    The data, schema and codebook are copied byte by byte. Reports and manifests are written again in a temporary
    folder with the name of the key, verified there, and take the place of the release at once.
    """
    key, found = SigningKey.read(key_file), verify(folder)
    if found.signed_by:
        raise PlanError(f"{folder.name} is signed already; a release has one signature")
    if not found.sound:
        raise ReleaseRefused(f"{folder.name} was not signed: it is not sound: {found.problems[0]}")
    if not all((folder / part / MANIFEST).is_file() for part in PARTS):
        raise PlanError(f"{folder.name} was not signed: sign the whole release, with its internal part")
    signed = folder.with_name(f"{folder.name}-{secrets.token_hex(4)}")
    with atomic_folder(signed, mode=0o755) as aside:
        for part in PARTS:
            shutil.copytree(folder / part, aside / part)
            _name_key(aside / part, key.public)
        outside = _read(aside / "public" / MANIFEST) | {"files": _files(aside / "public"), "signed_by": key.public}
        write_sealed(aside / "public" / MANIFEST, outside)
        inside = _read(aside / "internal" / MANIFEST) | {
            "public": sha256(aside / "public" / MANIFEST),
            "files": _files(aside / "internal"),
            "signed_by": key.public,
        }
        write_sealed(aside / "internal" / MANIFEST, inside)
        for part in PARTS:
            key.sign(aside / part / MANIFEST)
        if problems := verify(aside).problems:
            raise ReleaseRefused(f"{folder.name} was not signed: {problems[0]}")
    _take_place(signed, folder)
    (ledger or ReleaseLedger.usual()).seal_anew(folder)
    return key.public


def _name_key(part: Path, public: str) -> None:
    """Write the report of a part again, with the key that signs it."""
    facts = _read(part / "report.json") | {"signed_by": public}
    write_beside_manifest(part / "report.json", json.dumps(facts, indent=2, ensure_ascii=False) + "\n")
    write_beside_manifest(part / "report.html", _RENDER[part.name](facts))


def _files(part: Path) -> dict[str, str]:
    return {name: digest for name, digest in digests(part).items() if name != MANIFEST}


def _read(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text(encoding="utf-8")))


def _take_place(new: Path, old: Path) -> None:
    """Let a folder take the place of another; if it cannot, the other stays."""
    aside = old.with_name(f".{old.name}-{secrets.token_hex(4)}")
    old.rename(aside)
    try:
        new.rename(old)
    except OSError:
        aside.rename(old)
        raise
    shutil.rmtree(aside, ignore_errors=True)
