"""Judge a release again from its files alone, and name everything that is not as it was signed."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from crypsis.errors import CrypsisError, TableError
from crypsis.privacy import models
from crypsis.privacy.model import Verdict
from crypsis.release.guarantees import complaint
from crypsis.release.manifest import MANIFEST_FORMAT, seal, sha256
from crypsis.release.published import read_published


@dataclass(frozen=True)
class Verification:
    """What was found; sound when there is nothing to complain about."""

    folder: str
    verdicts: tuple[Verdict, ...]
    problems: tuple[str, ...]
    files: int

    @property
    def sound(self) -> bool:
        return not self.problems


def verify(folder: str | Path) -> Verification:
    """Re-read and re-judge a release bundle, or its public folder alone."""
    folder = Path(folder)
    public = folder / "public" if (folder / "public").is_dir() else folder
    if not (public / "manifest.json").is_file():
        raise TableError(f"{folder}: not a release: it holds no manifest.json; give the folder `crypsis release` wrote")
    problems: list[str] = []
    manifest = _manifest(public / "manifest.json", problems)
    files = _check_files(public, manifest, problems)
    internal = folder / "internal"
    if internal.is_dir():
        inner = _manifest(internal / "manifest.json", problems)
        files += _check_files(internal, inner, problems)
        if inner and inner.get("public") != sha256(public / "manifest.json"):
            problems.append("public/manifest.json is not the one the internal manifest was written with")
    verdicts = _judge_again(public, manifest, problems)
    return Verification(str(folder), tuple(verdicts), tuple(problems), files)


def _manifest(path: Path, problems: list[str]) -> dict[str, Any]:
    name = f"{path.parent.name}/{path.name}"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        found = content["format"]
    except (OSError, ValueError, KeyError, TypeError):
        problems.append(f"{name} is missing or cannot be read")
        return {}
    if found != MANIFEST_FORMAT:
        raise TableError(
            f"{name}: written in format {found}, this version reads {MANIFEST_FORMAT}; use the Crypsis it names"
        )
    if content.get("seal") != seal(content):
        problems.append(f"{name} was changed after it was sealed")
    return dict(content)


def _check_files(folder: Path, manifest: dict[str, Any], problems: list[str]) -> int:
    if not manifest:
        return 0
    listed: dict[str, str] = manifest.get("files", {})
    for name, digest in listed.items():
        path = folder / Path(name).name
        if not path.is_file():
            problems.append(f"{folder.name}/{name} is missing")
        elif sha256(path) != digest:
            problems.append(f"{folder.name}/{name} was changed after it was released")
    present = {path.name for path in folder.iterdir()} - {"manifest.json"}
    problems.extend(f"{folder.name}/{name} does not belong to the release" for name in sorted(present - set(listed)))
    return len(listed)


def _judge_again(public: Path, manifest: dict[str, Any], problems: list[str]) -> list[Verdict]:
    if not manifest:
        return []
    try:
        schema = json.loads((public / "schema.json").read_text(encoding="utf-8"))
        table = read_published(public, schema)
    except (CrypsisError, OSError, ValueError, KeyError, TypeError) as error:
        problems.append(f"the data cannot be read by its schema: {error}")
        return []
    if table.fingerprint() != manifest.get("fingerprint"):
        problems.append("the data are not the table that was signed")
    verdicts = []
    for item in manifest.get("requirements", []):
        verdict = models.build(item["model"], **item["settings"]).judge(table)
        verdicts.append(verdict)
        if not verdict.holds:
            problems.append(complaint(verdict))
        if json.loads(json.dumps(asdict(verdict), default=float)) != item["verdict"]:
            problems.append(f"{item['model']} is judged differently from what the manifest says")
    return verdicts
