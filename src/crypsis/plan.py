"""A whole job as one TOML document: what she has, what must hold, what must survive.

A plan is frozen and equal to its file. Reading one reports every problem at once, each with the place in
the document where it stands.
"""

from __future__ import annotations

import hashlib
import json
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from crypsis.errors import PlanError, listing, suggestion
from crypsis.privacy import models
from crypsis.privacy.model import PrivacyModel
from crypsis.registry import Settings, explain
from crypsis.table.attribute import Kind, Role
from crypsis.table.files import read_table
from crypsis.table.profile import Profile
from crypsis.table.table import Table


class Data(Settings):
    """Where the table lies and how to read it."""

    source: str = Field(description="path of the CSV, TSV or Parquet file, relative to the plan")
    delimiter: str | None = Field(
        default=None, min_length=1, max_length=1, description="CSV delimiter; default: , or tab"
    )
    encoding: str = Field(default="utf8", description="text encoding of a CSV file")
    missing: tuple[str, ...] = Field(default=("",), description="cell texts that mean: not known")


class Column(Settings):
    """What is said about one column."""

    role: Role = Field(default=Role.OTHER, description="identifier, quasi, confidential or other")
    kind: Kind | None = Field(default=None, description="numeric, ordinal or nominal; default: read from the values")
    hierarchy: str | None = Field(
        default=None,
        description="a file, or a builder such as intervals:5,10,20 · dates:month,year · prefixes:3,2 · merge:8,4",
    )
    order: tuple[str, ...] = Field(default=(), description="categories from low to high, for an ordinal column")


class Requirement(BaseModel):
    """A privacy model every released record must meet; its own settings stand beside its name."""

    model_config = ConfigDict(frozen=True, extra="allow")

    model: str = Field(description="name of a registered privacy model")

    def build(self) -> PrivacyModel:
        return models.build(self.model, **(self.model_extra or {}))


class Release(Settings):
    """How the file is published."""

    format: Literal["csv", "parquet"] = Field(default="csv", description="format of the released data")
    order: Literal["shuffled", "kept"] = Field(
        default="shuffled", description="row order; the original order can betray who is who"
    )
    suppression: str = Field(default="1%", description="largest share of records that may be left out, e.g. 1%")

    @field_validator("suppression")
    @classmethod
    def _is_a_share(cls, value: str) -> str:
        share(value)
        return value


def share(text: str) -> float:
    """'1%' or '0.01' → 0.01; anything outside 0–100 % is refused."""
    try:
        number = float(text.rstrip("% ")) / (100 if text.strip().endswith("%") else 1)
    except ValueError:
        raise ValueError(f"{text!r} is not a share; write 1% or 0.01") from None
    if not 0 <= number <= 1:
        raise ValueError(f"{text!r} is outside 0 to 100 %")
    return number


class Plan(Settings):
    """data + columns + requirements + release; one TOML file."""

    data: Data
    columns: dict[str, Column] = Field(default_factory=dict, description="one entry per column that has a role")
    require: tuple[Requirement, ...] = Field(default=(), description="privacy models that must hold")
    release: Release = Field(default=Release(), description="how to publish")

    @field_validator("require")
    @classmethod
    def _requirements_exist(cls, value: tuple[Requirement, ...]) -> tuple[Requirement, ...]:
        problems = []
        for item in value:
            try:
                item.build()
            except PlanError as error:
                problems.append(str(error))
        if problems:
            raise ValueError("; ".join(problems))
        return value

    @classmethod
    def read(cls, path: str | Path) -> Plan:
        """A plan from a TOML file; every problem of the document is reported together."""
        path = Path(path)
        try:
            document = tomllib.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise PlanError(f"{path}: there is no such plan; write one with `crypsis init FILE`") from None
        except (OSError, UnicodeDecodeError) as error:
            raise PlanError(
                f"{path}: the plan cannot be read ({error.__class__.__name__}); it must be UTF-8 text"
            ) from None
        except tomllib.TOMLDecodeError as error:
            raise PlanError(f"{path}: not valid TOML: {error}; see `crypsis init` for an example") from None
        return cls.parse(document, where=str(path))

    @classmethod
    def parse(cls, document: Mapping[str, Any], where: str = "plan") -> Plan:
        try:
            return cls.model_validate(dict(document))
        except ValidationError as error:
            raise PlanError(f"{where}: {explain(error, cls)}") from None

    def fingerprint(self) -> str:
        """SHA-256 of the plan's content, whatever its layout on the page."""
        return hashlib.sha256(json.dumps(self.model_dump(mode="json"), sort_keys=True).encode()).hexdigest()

    def table(self, folder: Path) -> Table:
        """Read the data the plan speaks of; paths are relative to `folder`."""
        source = folder / self.data.source
        table = read_table(
            source,
            roles={name: column.role.value for name, column in self.columns.items()},
            kinds={name: column.kind.value for name, column in self.columns.items() if column.kind},
            hierarchies={
                name: self._hierarchy(column.hierarchy, folder)
                for name, column in self.columns.items()
                if column.hierarchy
            },
            delimiter=self.data.delimiter,
            encoding=self.data.encoding,
            missing=self.data.missing,
        )
        return self._ordered(table)

    @staticmethod
    def _hierarchy(spec: str, folder: Path) -> str | Path:
        """A builder's spec as it stands; a file relative to the plan."""
        head = spec.split(":", 1)[0]
        return spec if ":" in spec and not Path(folder / spec).is_file() and len(head) > 1 else folder / spec

    def _ordered(self, table: Table) -> Table:
        """Categories of ordinal columns in the plan's order."""
        for name, column in self.columns.items():
            if column.order:
                table = table.with_categories(name, column.order, Kind.ORDINAL)
        return table

    def models(self) -> list[PrivacyModel]:
        return [item.build() for item in self.require]


def unknown_columns(named: Mapping[str, Any], present: list[str]) -> list[str]:
    """A sentence for every column a plan names and the file lacks."""
    return [
        f"the plan names column {name!r}, which the file does not have{suggestion(name, present)}; columns: {listing(present)}"
        for name in named
        if name not in present
    ]


def draft(source: Path, plan: Path, table: Table, seen: Profile, k: int) -> str:
    """A commented plan for a file, from its profile: roles and kinds with the reason for each."""
    relative = os.path.relpath(source, plan.parent)
    lines = [
        "# What this file is, what must hold, and how it is published. Every line is yours to correct.",
        "",
        "[data]",
        f"source = {_quoted(relative)}",
        "",
        "[columns]",
        "# role: identifier (never released) | quasi (an intruder may know it) | confidential | other",
        "# hierarchy: a file, or intervals:5,10,20 | dates:month,year | prefixes:3,2 | merge:8,4",
    ]
    for column in seen.columns:
        entry = f"role = {_quoted(column.role)}, kind = {_quoted(column.kind)}"
        if column.hierarchy:
            entry += f", hierarchy = {_quoted(column.hierarchy)}"
        lines.append(f"{_key(column.name)} = {{ {entry} }}  # {_one_line(column.reason)}")
    lines += [
        "",
        "[[require]]",
        "# every released record shares its quasi-identifiers with at least k records",
        'model = "k-anonymity"',
        f"k = {k}",
        "",
        "[release]",
        'format = "csv"        # or parquet',
        'order = "shuffled"    # or kept: but the order of rows can betray people',
        'suppression = "1%"    # largest share of records that may be left out',
        "",
    ]
    return "\n".join(lines)


def _quoted(text: str) -> str:
    """A TOML string."""
    return json.dumps(text, ensure_ascii=False)


def _key(name: str) -> str:
    """A TOML key: bare where that is allowed."""
    bare = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if bare else _quoted(name)


def _one_line(text: str) -> str:
    return " ".join(text.split())
