"""Settings of other tools, read into roles, kinds, hierarchies and demands of a first plan; nothing is executed."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crypsis.errors import PlanError, listing
from crypsis.table.table import Table

LARGEST = 64_000_000
"""Bytes of a script, and of each part of a project, that are read at most."""


@dataclass
class ForeignSettings:
    """What a script or project of another tool says about a table; filled in while it is read."""

    source: str  # name of its file, for sentences
    roles: dict[str, str] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    measured: list[str] = field(default_factory=list)  # quasi-identifiers that are masked as numbers
    hierarchies: dict[str, list[list[str]]] = field(default_factory=dict)  # by column: a row for every value
    files: dict[str, str] = field(default_factory=dict)  # by column: where its hierarchy was written
    importance: dict[str, float] = field(default_factory=dict)  # 0 to 5
    k: int | None = None
    demands: list[dict[str, Any]] = field(default_factory=list)  # beside k-anonymity
    suppression: float | None = None  # largest share of the records
    steps: list[tuple[str, dict[str, Any]]] = field(default_factory=list)  # masking methods with their settings
    notes: list[str] = field(default_factory=list)  # what was not understood, in sentences

    def note(self, sentence: str) -> None:
        """Say something about the file."""
        self.notes.append(f"{self.source}: {sentence}")

    def known_columns(self, table: Table, names: Sequence[str], where: str) -> list[str]:
        """The named columns that the table has; R writes other characters as dots. Others are said and skipped."""
        plain = {re.sub(r"[^A-Za-z0-9_.]", ".", name): name for name in table.names}
        found = {name: name if name in table.names else plain.get(name) for name in names}
        lost = [name for name, own in found.items() if own is None]
        if lost:
            self.note(f"{where} names {listing(map(repr, lost), most=10)}, which the table does not have; skipped")
        return [own for own in found.values() if own is not None]

    def demand_tables(self) -> list[str]:
        """The demands beside k-anonymity as tables of a plan."""
        lines = []
        for each in self.demands:
            lines += ["[[require]]", *(f"{key} = {json.dumps(value)}" for key, value in each.items()), ""]
        return lines

    def describe(self, source: str, plan: str) -> list[str]:
        """How the masking of the file is done again as a baseline, as comments of a plan."""
        if not self.steps:
            return []
        lines = [f"# {self.source} masks in this way; the lines below do the same, to compare it with the front:"]
        before, kinds = source, ""
        for number, (method, settings) in enumerate(self.steps, 1):
            after, given = f"{Path(self.source).stem}-{number}.csv", kinds
            if method == "generalisation":  # every column that is recoded, at the first level of its hierarchy
                settings = {"columns": list(self.files), "levels": dict.fromkeys(self.files, 1), "suppression": 0}
                given = "".join(f" --hierarchy {_quote_word(f'{name}={path}')}" for name, path in self.files.items())
                kinds = "".join(f" --kind {_quote_word(f'{name}=nominal')}" for name in self.files)
            said = " ".join(f"--set {key}={_quote_word(value)}" for key, value in settings.items())
            known = _quote_word(",".join(settings["columns"]))
            lines.append(f"# crypsis mask {before} {method} --quasi {known} {said}{given} --keep-order -o {after}")
            before = after
        return [*lines, f"# crypsis assess {source} {before} -p {plan}", ""]


def _quote_word(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
    return f"'{text}'" if re.search(r"[^\w.:-]", text) else text


def read_foreign_settings(path: Path, table: Table) -> ForeignSettings:
    """Read a script of sdcMicro (.R) or a project of ARX (.deid) about a table."""
    from crypsis.plan.arx_project import read_arx_project
    from crypsis.plan.sdcmicro_script import read_sdcmicro_script

    readers = {".r": read_sdcmicro_script, ".deid": read_arx_project}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise PlanError(
            f"{path} ends in {path.suffix or 'nothing'!r}; settings are read from a script of sdcMicro (.R) or a "
            f"project of ARX (.deid)"
        )
    try:
        if path.stat().st_size > LARGEST:
            raise PlanError(f"{path} has more than {LARGEST // 1_000_000} MB; give the settings alone")
        content = path.read_bytes()
    except OSError:
        raise PlanError(f"{path} cannot be read; check the name and the permissions") from None
    found = reader(content, path.name, table)
    if not found.roles:
        raise PlanError(f"{path}: no column of the table has a role there; check that the settings belong to this file")
    return found


def rank_importance(ranks: Mapping[str, float]) -> dict[str, float]:
    """Importance in a plan, 1 to 5, from ranks of which 1 is the most important.

    >>> rank_importance({"age": 3, "sex": 1, "town": 2})
    {'age': 1.0, 'sex': 5.0, 'town': 3.0}
    """
    last = max(ranks.values(), default=1.0)
    return {name: 5.0 if last <= 1 else round(1 + 4 * (last - rank) / (last - 1), 2) for name, rank in ranks.items()}
