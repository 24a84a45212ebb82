"""A release of data that are counted and never read into memory as a whole; a second count checks the written files.

Counts prove k-anonymity and distinct l-diversity. Record linkage follows from them too: an intruder who knows every
quasi-identifier finds the equivalence class of a person, and in expectation re-identifies one person per class.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.random import Generator
from numpy.typing import NDArray

from crypsis.errors import PlanError
from crypsis.privacy import KAnonymity, LDiversity
from crypsis.privacy import models as registered
from crypsis.privacy.anonymity import SmallestClass
from crypsis.privacy.model import PrivacyModel, Verdict
from crypsis.release.bundle import write_reports
from crypsis.release.count_facts import CountedRelease, counted_report_content, distinct, schema_of_counts
from crypsis.release.facts import ReleaseDescription
from crypsis.release.lazy_release import decide, judged_findings, lattice_of, write_node
from crypsis.release.leaks import refuse_leaks
from crypsis.release.manifest import digests, write_manifests, write_text
from crypsis.release.published import Order
from crypsis.release.signing import SigningKey
from crypsis.table.attribute import Kind, Role
from crypsis.table.encoding import Source
from crypsis.table.equivalence_classes import classes_of
from crypsis.table.files import atomic_folder
from crypsis.table.frames import table_of
from crypsis.table.lattice import Lattice
from crypsis.table.lazy import RECORDS, LazyTable, scan, tally
from crypsis.table.table import Table

PATTERN = "data-*.parquet"


def provable(models: Sequence[PrivacyModel]) -> tuple[int, int]:
    """The k and l that meet every model; refused if counts cannot prove one."""
    if not models:
        raise PlanError('nothing is required; add [[require]] with model = "k-anonymity" and k = 5')
    for model in models:
        if not isinstance(model, KAnonymity) and not (isinstance(model, LDiversity) and model.kind == "distinct"):
            raise PlanError(
                f"{registered.name_of(model)} cannot be proven by counting, only k-anonymity and distinct l-diversity "
                f"can; leave it out, or use `crypsis run` where the table fits in memory"
            )
        if isinstance(model, KAnonymity) and model.missing != "own":
            raise PlanError(
                f'k-anonymity with missing = "{model.missing}" cannot be proven by counting equal tuples; leave '
                f"missing out, which is stricter, or use `crypsis run` where the table fits in memory"
            )
    k = max((model.k for model in models if isinstance(model, KAnonymity)), default=1)
    return k, max((int(model.l) for model in models if isinstance(model, LDiversity)), default=0)


def publish_counted(
    source: LazyTable,
    levels: Sequence[int],
    folder: str | Path,
    *,
    models: Sequence[PrivacyModel],
    suppression: float,
    description: ReleaseDescription | None = None,
    order: Order = "shuffled",
    rng: Generator | None = None,
    waivers: Mapping[str, str] | None = None,
    unstated: Collection[str] = (),
    sign: str | Path | None = None,
) -> Path:
    """Generalise, suppress, write, count the written files, judge them, and rename the release atomically.

    levels  one per quasi-identifier, e.g. `optimum(source.counts, k=5).levels`
    models  k-anonymity and distinct l-diversity
    waivers findings that may pass, with the reason, e.g. {"singling-out:wage": "not known outside the office"}
    unstated  confidential columns of which nobody said that no one outside knows them; see `publish`
    sign    file of a private key that signs the manifests: see `new_keys`
    folder  must not exist; gets `public/` and `internal/` like any release, with data in several Parquet files
    """
    key = SigningKey.read(sign) if sign is not None else None
    k, l = provable(models)  # noqa: E741
    lattice, folder = lattice_of(source), Path(folder)
    levels = tuple(int(level) for level in levels)
    lattice.check(levels)
    outcome = decide(source, lattice, levels, suppression, "failing-class", k, l)
    with atomic_folder(folder, mode=0o755) as aside:
        public, internal, data = aside / "public", aside / "internal", aside / "data"
        public.mkdir(mode=0o755)
        internal.mkdir(mode=0o700)
        found, written = write_node(source, levels, outcome, data, order, rng, k, l)
        findings = judged_findings(source, data, waivers, unstated)
        for place, path in enumerate(sorted(data.iterdir())):
            path.rename(data / f"data-{place:03d}.parquet").chmod(0o644)
        published = tuples_of(written, source.counts.names[: len(lattice.names)])
        verdicts = [judge_counted(model, published, written[RECORDS].to_numpy()) for model in models]
        node = CountedRelease(source, lattice, levels, found, written)
        schema = schema_of_counts(node, data, PATTERN)
        write_text(public / "schema.json", json.dumps(schema, indent=2, ensure_ascii=False) + "\n")
        before = _judged_before(source, lattice, models)
        content = counted_report_content(node, before, verdicts, findings, description or ReleaseDescription(), order)
        content = replace(content, signed_by=key.public if key else "")
        write_reports(public, internal, content)
        quasi = list(lattice.names)
        counted = {"quasi": quasi, "confidential": [n for n in source.counts.names if n not in quasi]}
        files = digests(public) | digests(data)
        write_manifests(public, internal, content, models, {"counted": counted, "files": files}, measured=True, key=key)
        sentences = [v.statement for v in verdicts] + [f"{r.definition} {r.missing} {r.unit}" for r in content.losses]
        refuse_leaks(public, published, source.coded, risks=content.risks, sentences=sentences)
        for path in data.iterdir():
            path.rename(public / path.name)
        data.rmdir()
    return folder


# -- judging --


def tuples_of(tuples: pl.DataFrame, quasi: Sequence[str]) -> Table:
    """Counted tuples as a table of plain categories, one row each."""
    texts = tuples.drop(RECORDS).cast(pl.String)
    roles = {n: Role.QUASI_IDENTIFIER if n in quasi else Role.CONFIDENTIAL for n in texts.columns}
    return table_of(texts, roles, dict.fromkeys(texts.columns, Kind.NOMINAL.value), {}, Source("the counts"), True)


def judge_counted(model: PrivacyModel, tuples: Table, records: NDArray[np.int64]) -> Verdict:
    """The verdict on data given as distinct tuples with their numbers of records."""
    verdict = model.judge(tuples)
    if isinstance(model, KAnonymity):
        classes = classes_of(tuples, model.quasi_identifiers or tuples.quasi_identifiers)
        levels = classes.spread_out(classes.totals(records).astype(np.float64))
    else:
        levels = model.levels(tuples)  # frequencies do not change the number of values
    failing = levels < model.required
    return replace(
        verdict,
        attained=float(levels.min()),
        holds=not failing.any(),
        offending=int(records[failing].sum()),
        records=int(records.sum()),
    )


def read_counted(public: Path, schema: Mapping[str, Any], counted: Mapping[str, Sequence[str]]) -> CountedFiles:
    """Count the published files and compare them with their schema."""
    quasi = list(counted["quasi"])
    frame = scan(public / PATTERN)
    written = tally(frame, [*quasi, *counted["confidential"]])
    names = [column["name"] for column in schema["columns"]]
    found = {n: sorted(written[n].drop_nulls().cast(pl.String).unique()) for n in written.columns if n != RECORDS}
    described = (
        schema["rows"] == int(written[RECORDS].sum())
        and names == frame.collect_schema().names()
        and quasi == [c["name"] for c in schema["columns"] if c["role"] == Role.QUASI_IDENTIFIER.value]
        and all(c["categories"] == found.get(c["name"]) for c in schema["columns"] if "categories" in c)
    )
    return CountedFiles(written, tuple(quasi), tuple(names), described)


@dataclass(frozen=True, eq=False)
class CountedFiles:
    """A count over published files."""

    written: pl.DataFrame
    quasi: tuple[str, ...]
    names: tuple[str, ...]
    described: bool
    """Whether the schema describes the files."""

    @property
    def records(self) -> int:
        """Number of published records."""
        return int(self.written[RECORDS].sum())

    @property
    def distinct(self) -> dict[str, int | None]:
        """How many values each column has; None where it was not counted."""
        counted = {name: distinct(self.written[name]) for name in self.written.columns if name != RECORDS}
        return {name: counted.get(name) for name in self.names}

    @property
    def smallest_class(self) -> SmallestClass:
        """Size of the smallest equivalence class over all quasi-identifiers."""
        classes = self.written.group_by(self.quasi).agg(pl.col(RECORDS).sum())
        return SmallestClass(self.quasi, int(np.asarray(classes[RECORDS]).min(initial=self.records)))

    def judge(self, model: PrivacyModel) -> Verdict:
        """The verdict of a privacy model on the published data."""
        return judge_counted(model, tuples_of(self.written, self.quasi), self.written[RECORDS].to_numpy())


def _judged_before(source: LazyTable, lattice: Lattice, models: Sequence[PrivacyModel]) -> list[Verdict]:
    original = tuples_of(source.tuples, lattice.names)
    return [judge_counted(model, original, source.tuples[RECORDS].to_numpy()) for model in models]
