"""Judge a release again from its files alone, and name everything that is not as it was signed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from jinja2 import UndefinedError

from crypsis.errors import CrypsisError, TableError
from crypsis.privacy import models
from crypsis.privacy.anonymity import SmallestClass, smallest_class
from crypsis.privacy.model import Verdict
from crypsis.release.count_release import compare_smallest
from crypsis.release.count_release import judge_again as judge_counted_again
from crypsis.release.evidence import public_of
from crypsis.release.guarantees import complaint
from crypsis.release.manifest import MANIFEST_FORMAT, seal, sha256
from crypsis.release.published import read_published, schema_of
from crypsis.report import external_html, internal_html
from crypsis.table.table import Table
from crypsis.version import __version__

DRAWING = re.compile(r"<svg.*?</svg>", re.DOTALL)
"""Pictures depend on the renderer's version; the numbers they show stand in the tables beside them."""


@dataclass(frozen=True)
class Verification:
    """What was found; sound when there is nothing to complain about."""

    folder: str
    verdicts: tuple[Verdict, ...]
    problems: tuple[str, ...]
    files: int
    notes: tuple[str, ...] = ()
    """What could not be checked, and why."""
    smallest_class: SmallestClass | None = None
    """k over every quasi-identifier of the file, whatever columns its guarantees name."""
    family: str = "unknown"
    """How the file was masked, as its manifest says."""

    @property
    def sound(self) -> bool:
        return not self.problems


def verify(folder: str | Path) -> Verification:
    """Re-read and re-judge a release bundle, or its public folder alone.

    What follows from the files is made again and compared: verdicts, schema, the facts of the reports, and both pages
    from their JSON twins. What was measured beside the original is only known to be as it was sealed.
    """
    folder = Path(folder)
    public = public_of(folder)
    problems: list[str] = []
    manifest = _manifest(public / "manifest.json", problems)
    files = _check_files(public, manifest, problems)
    internal = folder / "internal"
    pages: list[tuple[Path, Callable[[Mapping[str, Any]], str]]] = [(public, external_html)]
    if internal.is_dir():
        pages.append((internal, lambda facts: internal_html(facts, draw=lambda spec: "")))
        inner = _manifest(internal / "manifest.json", problems)
        files += _check_files(internal, inner, problems)
        if inner and inner.get("public") != sha256(public / "manifest.json"):
            problems.append("public/manifest.json is not the one the internal manifest was written with")
    if "counted" in manifest:
        (verdicts, smallest), table = judge_counted_again(public, manifest, problems), None
    else:
        verdicts, table = _judge_again(public, manifest, problems)
        smallest = smallest_class(table) if table is not None else None
    notes = [] if internal.is_dir() else ["the internal part is not here: risks and waivers could not be looked at"]
    if table is not None:
        compare_smallest(smallest, {"manifest": manifest.get("smallest_class")}, problems)
        _compare_facts(public, table, verdicts, problems)
    for part, render in pages:
        notes += _render_again(part, render, problems)
    family = str(manifest.get("family", "unknown"))
    return Verification(str(folder), tuple(verdicts), tuple(problems), files, tuple(notes), smallest, family)


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


def _judge_again(public: Path, manifest: dict[str, Any], problems: list[str]) -> tuple[list[Verdict], Table | None]:
    if not manifest:
        return [], None
    try:
        schema = json.loads((public / "schema.json").read_text(encoding="utf-8"))
        table = read_published(public, schema)
    except (CrypsisError, OSError, ValueError, KeyError, TypeError) as error:
        problems.append(f"the data cannot be read by its schema: {error}")
        return [], None
    if table.fingerprint() != manifest.get("fingerprint"):
        problems.append("the data are not the table that was signed")
    if schema_of(table, schema["format"]) != schema:
        problems.append("public/schema.json does not describe the data")
    verdicts = []
    for item in manifest.get("requirements", []):
        verdict = models.build(item["model"], **item["settings"]).judge(table)
        verdicts.append(verdict)
        if not verdict.holds:
            problems.append(complaint(verdict))
        if json.loads(json.dumps(asdict(verdict), default=float)) != item["verdict"]:
            problems.append(f"{item['model']} is judged differently from what the manifest says")
    return verdicts, table


def _compare_facts(public: Path, table: Table, verdicts: list[Verdict], problems: list[str]) -> None:
    """What the external report says of the data, against the data."""
    try:
        told = json.loads((public / "report.json").read_text(encoding="utf-8"))
        columns = {column["name"]: column["distinct"] for column in told["columns"]}
        rows, guarantees, smallest = told["rows"], told["guarantees"], told["smallest_class"]
    except (OSError, ValueError, KeyError, TypeError):
        problems.append("public/report.json is missing or cannot be read")
        return
    compare_smallest(smallest_class(table), {"report": smallest}, problems)
    found = {name: _distinct(table, name) for name in table.names}
    if rows != len(table) or columns != found:
        problems.append("public/report.json counts other records, columns or values than the data hold")
    problems.extend(
        f"public/report.json does not state the guarantee of {verdict.model}"
        for verdict in verdicts
        if verdict.statement not in guarantees
    )


def _distinct(table: Table, name: str) -> int:
    codes = table.codes([name])[:, 0]
    return len(set(codes[codes >= 0].tolist()))


def _render_again(folder: Path, render: Callable[[Mapping[str, Any]], str], problems: list[str]) -> list[str]:
    """The page made from its JSON twin must be the page in the folder; another version may draw it differently."""
    try:
        facts = json.loads((folder / "report.json").read_text(encoding="utf-8"))
        page = (folder / "report.html").read_text(encoding="utf-8")
        if facts["version"] != __version__:
            return [f"{folder.name}/report.html was written by Crypsis {facts['version']} and not rendered again"]
        same = render(facts) == DRAWING.sub("", page)
    except (OSError, ValueError, KeyError, TypeError, UndefinedError):
        same = False
    if not same:
        problems.append(f"{folder.name}/report.html does not say what {folder.name}/report.json says")
    return []
