"""Write a release that proves itself: judge, write aside, read back, judge again, then let it appear at once.

The bundle is one folder. `public/` may be given away whole: data, schema, manifest, report. `internal/` stays
in the house. There is no flag to publish a file that does not keep its guarantee.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from crypsis.errors import PlanError, ReleaseRefused
from crypsis.measures import assess
from crypsis.measures.measure import Reading
from crypsis.privacy import models as registered
from crypsis.privacy.model import PrivacyModel, Verdict
from crypsis.privacy.properties import class_sizes
from crypsis.release.published import flatten, read_published, schema_of
from crypsis.report import Dossier, Histogram, external_html, external_json, internal_html, internal_json
from crypsis.report.dossier import class_size_histogram, distributions, tell_columns
from crypsis.table.attribute import Role
from crypsis.table.files import atomic_folder, write_table
from crypsis.table.table import Table
from crypsis.version import __version__

MANIFEST_FORMAT = 1


@dataclass(frozen=True)
class Account:
    """What is said about how the masked table came to be."""

    title: str = "Protected microdata"
    method: str = "The file was masked before it reached Crypsis."
    family: str = "unknown"
    settings: Mapping[str, Any] = field(default_factory=dict)


def publish(
    masked: Table,
    folder: str | Path,
    *,
    models: Sequence[PrivacyModel],
    original: Table | None = None,
    account: Account | None = None,
    format: Literal["csv", "parquet"] = "csv",
    order: Literal["shuffled", "kept"] = "shuffled",
    rng: Generator | None = None,
) -> Path:
    """Publish a masked table into a folder that must not exist yet.

    models    what every released record must meet; at least one
    original  the table before masking, row by row; needed for losses, risks and the before-figures
    rng       order of the rows; the operating system's randomness unless given
    """
    folder, account = Path(folder), account or Account()
    if not models:
        raise PlanError("a release needs at least one privacy model to keep; add e.g. k-anonymity with k = 5")
    if original is not None and len(original) != len(masked):
        raise PlanError(
            f"the original has {len(original)} rows and the masked table {len(masked)}; rows must correspond"
        )
    refuse_meaningless(models, account.family)
    rows = _row_order(masked, order, rng)
    published = flatten(masked, rows)
    verdicts = judge(models, published)
    readings = _readings(original, masked)
    with atomic_folder(folder) as aside:
        public, internal = aside / "public", aside / "internal"
        public.mkdir(mode=0o755)
        internal.mkdir(mode=0o700)
        schema = schema_of(published, format)
        write_table(published, public / schema["file"])
        _write(public / "schema.json", json.dumps(schema, indent=2, ensure_ascii=False) + "\n")
        _same_again(public, published, models, verdicts)
        dossier = _dossier(masked, original, published, models, verdicts, readings, account, order)
        _write(public / "report.html", external_html(dossier))
        _write(public / "report.json", external_json(dossier))
        _write(internal / "report.html", internal_html(dossier))
        _write(internal / "report.json", internal_json(dossier))
        _manifests(public, internal, published, models, verdicts, readings)
    return folder


def refuse_meaningless(models: Sequence[PrivacyModel], family: str) -> None:
    """Class sizes guarantee nothing once values are false at random."""
    if family == "perturbation":
        names = ", ".join(registered.name_of(model) for model in models)
        raise ReleaseRefused(
            f"{names} cannot protect a perturbed file: after swapping, noise or PRAM equal values do not mean equal "
            f"people; mask by aggregation or recoding, or judge the file by its linkage risk"
        )


def judge(models: Sequence[PrivacyModel], table: Table) -> list[Verdict]:
    """Every verdict, or a refusal that names each model that fails and by how much."""
    for model in models:
        obstacle = model.obstacle(table)
        if obstacle:
            raise PlanError(obstacle)
    verdicts = [model.judge(table) for model in models]
    broken = [v for v in verdicts if not v.holds]
    if broken:
        raise ReleaseRefused("nothing was released: " + "; ".join(complaint(v) for v in broken))
    return verdicts


def complaint(verdict: Verdict) -> str:
    return (
        f"{verdict.model} requires {verdict.sense} {verdict.required:g}, the file attains {verdict.attained:g}, "
        f"and {verdict.offending} of {verdict.records} records offend"
    )


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def seal(content: Mapping[str, Any]) -> str:
    """Digest of a manifest without its own seal, whatever its layout."""
    bare = {key: value for key, value in content.items() if key != "seal"}
    return hashlib.sha256(json.dumps(bare, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def _row_order(masked: Table, order: str, rng: Generator | None) -> NDArray[np.intp]:
    rows = np.flatnonzero(masked.kept)
    if order == "shuffled":
        (rng or np.random.default_rng()).shuffle(rows)
    return rows


def _readings(original: Table | None, masked: Table) -> dict[str, tuple[Reading, ...]]:
    if original is None:
        return {"losses": (), "risks": (), "risks_before": ()}
    after, before = assess(original, masked), assess(original, original)
    return {
        "losses": tuple(r for r in after.readings if r.aim == "loss"),
        "risks": tuple(r for r in after.readings if r.aim == "risk"),
        "risks_before": tuple(r for r in before.readings if r.aim == "risk"),
    }


def _same_again(public: Path, published: Table, models: Sequence[PrivacyModel], verdicts: Sequence[Verdict]) -> None:
    """Read the written file back and demand the same table and the same verdicts."""
    schema = json.loads((public / "schema.json").read_text(encoding="utf-8"))
    again = read_published(public, schema)
    if again.fingerprint() != published.fingerprint():
        raise ReleaseRefused(
            "nothing was released: the written file does not read back as the table that was judged; "
            "please report this with the format and the kinds of the columns"
        )
    if judge(models, again) != list(verdicts):
        raise ReleaseRefused("nothing was released: the written file is judged differently from the table in memory")


def _dossier(
    masked: Table,
    original: Table | None,
    published: Table,
    models: Sequence[PrivacyModel],
    verdicts: Sequence[Verdict],
    readings: Mapping[str, tuple[Reading, ...]],
    account: Account,
    order: str,
) -> Dossier:
    visible = masked.drop(masked.named(Role.IDENTIFIER))
    before = original.drop(original.named(Role.IDENTIFIER)) if original is not None else visible
    known = original is not None
    return Dossier(
        title=account.title,
        written=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        version=__version__,
        method=account.method,
        family=account.family,
        order=order,
        rows_before=len(masked),
        rows_after=len(published),
        columns=tell_columns(before, visible),
        verdicts_before=tuple(model.judge(before) for model in models) if known else (),
        verdicts=tuple(verdicts),
        class_sizes=_class_histogram(before, visible) if known else None,
        distributions=distributions(before, visible) if known else (),
        settings=account.settings,
        **readings,
    )


def _class_histogram(before: Table, after: Table) -> Histogram:
    names = before.quasi_identifiers
    return class_size_histogram(class_sizes(before, names), class_sizes(after, names))


def _manifests(
    public: Path,
    internal: Path,
    published: Table,
    models: Sequence[PrivacyModel],
    verdicts: Sequence[Verdict],
    readings: Mapping[str, tuple[Reading, ...]],
) -> None:
    content: dict[str, Any] = {
        "format": MANIFEST_FORMAT,
        "crypsis": __version__,
        "fingerprint": published.fingerprint(),
        "files": {path.name: sha256(path) for path in sorted(public.iterdir())},
        "requirements": [
            {"model": registered.name_of(model), "settings": model.model_dump(mode="json"), "verdict": asdict(verdict)}
            for model, verdict in zip(models, verdicts, strict=True)
        ],
        "losses": [asdict(reading) for reading in readings["losses"]],
    }
    _write_sealed(public / "manifest.json", content)
    _write_sealed(
        internal / "manifest.json",
        {
            "format": MANIFEST_FORMAT,
            "public": sha256(public / "manifest.json"),
            "files": {path.name: sha256(path) for path in sorted(internal.iterdir())},
            "risks": [asdict(reading) for reading in readings["risks"]],
        },
    )


def _write_sealed(path: Path, content: dict[str, Any]) -> None:
    content = json.loads(json.dumps(content, default=float))
    _write(path, json.dumps(content | {"seal": seal(content)}, indent=2, ensure_ascii=False) + "\n")


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600 if path.parent.name == "internal" else 0o644)
