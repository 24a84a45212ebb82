"""A whole job as one TOML document: the data, the demands, the analyses to serve, the budget.

A plan is immutable and equal to its file. All problems of a document are reported at once, each with its place.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field, ValidationError, field_validator, model_validator

from crypsis.audits import REASONED, published_finding_key
from crypsis.errors import PlanError, TableError, listing, suggestion
from crypsis.masking.weights import draw_weight_noise, weight_margin_obstacle
from crypsis.measures.information_loss import InformationLoss
from crypsis.measures.measure import Measure
from crypsis.measures.objective import LimitDemand, Objective, UseDemand
from crypsis.measures.uses import DeclaredUse
from crypsis.measures.utility import Usefulness
from crypsis.plan.problems import problems_of, problems_text
from crypsis.plan.sections import (
    AXES,
    REFUSED,
    Column,
    Data,
    Limit,
    Masking,
    MeasureChoice,
    Measures,
    Named,
    Privacy,
    Release,
    Requirement,
    RuleDemand,
    Running,
    Scenario,
    SearchChoice,
    Use,
    Waiver,
    measures,
    read_plan_share,
    searches,
)
from crypsis.plan.validation import refuse_named_parts, spell_out_for_validation
from crypsis.privacy.anonymity import missing_cells_in_anonymity
from crypsis.privacy.model import PrivacyModel
from crypsis.registry import Settings
from crypsis.searches.search import Search
from crypsis.table.attribute import UNPUBLISHED, Kind, Role, Scale
from crypsis.table.builders import BUILDERS
from crypsis.table.files import read_table
from crypsis.table.rules import EditRule, derivation_obstacle, read_derivation, read_rule
from crypsis.table.table import PERTURBATION, Table, lock_table_columns
from crypsis.table.text_files import read_toml

MASKED_BEFOREHAND = 0x6D61736B
"""Keeps the random numbers of maskings before the search apart from those of the searches."""
USED = 4.0
"""How much more a column weighs in a search where a declared use that is an objective speaks of it."""


FOUND_IN_CLASSES = ("class-risk", "record-linkage", "one-to-one-linkage")
"""Risks that are at most 100 / k where every class has k records."""


class Plan(Settings):
    """A plan: data, columns, requirements, scenarios, searches, measures, uses, limits, waivers, run and release.

    Examples
    --------
    >>> document = {"data": {"source": "people.csv"}, "columns": {"age": {"role": "quasi"}}}
    >>> plan = Plan.parse(document | {"require": [{"model": "k-anonymity", "k": 5}]})
    >>> plan.models()[0].k
    5
    """

    data: Data = Field(description="where the table is and how to read it")
    columns: dict[str, Column] = Field(default_factory=dict, description="role, kind, hierarchy and order by column")
    mask: tuple[Masking, ...] = Field(default=(), description="columns that are masked on their own, before any search")
    require: tuple[Requirement, ...] = Field(default=(), description="privacy models that must hold")
    scenario: tuple[Scenario, ...] = Field(default=(), description="intruders, and what each knows")
    privacy: Privacy = Field(default=Privacy(), description="how demands and risks read missing cells")
    search: tuple[SearchChoice, ...] = Field(default=(), description="one or several searches that share one front")
    measures: Measures = Field(default=Measures(), description="losses and risks of the common front")
    use: tuple[Use, ...] = Field(default=(), description="analyses that the file must serve")
    limit: tuple[Limit, ...] = Field(default=(), description="largest readings a released file may have")
    useful: Usefulness = Field(
        default=Usefulness(), description="when a column counts as ruined and a file as no longer useful"
    )
    rule: tuple[RuleDemand, ...] = Field(
        default=(), description="relations between columns that masking must not break"
    )
    waive: tuple[Waiver, ...] = Field(default=(), description="findings on the released file that may pass, and why")
    run: Running = Field(default=Running(), description="budget, engine, seed")
    release: Release = Field(default=Release(), description="how to publish")

    @model_validator(mode="before")
    @classmethod
    def _one_reading_of_missing_cells(cls, document: Any) -> Any:
        return spell_out_for_validation(document) if isinstance(document, Mapping) else document

    @field_validator("search", mode="before")
    @classmethod
    def _one_search_is_enough(cls, value: Any) -> Any:
        return [value] if isinstance(value, Mapping) else value

    # -- reading --

    @classmethod
    def read(cls, path: str | Path) -> Plan:
        """Read a plan from a TOML file.

        Parameters
        ----------
        path : path

        Returns
        -------
        Plan

        Raises
        ------
        PlanError
            With every problem of the file.
        """
        path = Path(path)
        return cls.parse(load(path), where=str(path))

    @classmethod
    def parse(cls, document: Mapping[str, Any], where: str = "plan") -> Plan:
        """Make a plan of a document.

        Parameters
        ----------
        document : mapping
        where : str
            Name of the document in messages.

        Returns
        -------
        Plan
            The plan, if the document has no problem.

        Raises
        ------
        PlanError
            With every problem of the document.
        """
        plan, problems = cls.understand(document)
        if plan is None or problems:
            raise PlanError(problems_text(where, problems))
        return plan

    @classmethod
    def understand(cls, document: Mapping[str, Any]) -> tuple[Plan | None, list[str]]:
        """Make a plan of a document, and find its problems.

        Parameters
        ----------
        document : mapping

        Returns
        -------
        plan : Plan or None
            None if the form of the document is wrong.
        problems : list of str
        """
        problems = refuse_named_parts(document)
        try:
            plan = cls.model_validate(dict(document))
        except ValidationError as error:
            form = [item for item in error.errors(include_url=False) if item["type"] != REFUSED]
            if form:
                refused = {item["loc"] for item in error.errors(include_url=False) if item["type"] == REFUSED}
                found = [p.message for p in problems_of(error, cls) if p.place not in refused]
                problems = found + problems
            return None, problems
        return plan, problems + _disagreements(plan)

    # -- content --

    def fingerprint(self) -> str:
        """SHA-256 of the content of the plan, without the seed."""
        content = self.model_dump(mode="json", by_alias=True, exclude={"run": {"seed"}})
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    def models(self) -> list[PrivacyModel]:
        """Every model that must hold: the general ones, then those of each scenario."""
        return [item.build() for item in self.require] + [m for each in self.scenario for m in each.models()]

    def searches(self) -> list[Search]:
        """Every search with its settings, under the models that must hold."""
        models, intruders = self.models(), [each.knows for each in self.scenario]
        limits = [LimitDemand(each.measure, each.at_most, each.build()) for each in self.limit] + self._caps()
        return [
            choice.build().under(models, intruders, self.edit_rules(), self.safe_k, limits) for choice in self.search
        ]

    @property
    def safe_k(self) -> int:
        """The class size at which no risk exceeds the limits: who is one of k alike is found 1 time in k.

        Returns
        -------
        int
            1 if no such risk has a limit.
        """
        linked = set(FOUND_IN_CLASSES)
        if {each.name for each in self.measures.risk} <= linked:
            linked.add("risk")
        limits = [limit.at_most for limit in self.limit if limit.measure in linked]
        return max((math.ceil(100.0 / limit) for limit in limits if limit > 0.0), default=1)

    def masked_beforehand(self, table: Table, seed: int) -> Table:
        """The table with the columns of `mask` masked; the quasi-identifiers are left to the searches.

        Parameters
        ----------
        table : Table
            As collected.
        seed : int
            Of the run.

        Returns
        -------
        Table
        """
        table = draw_weight_noise(table, np.random.default_rng([seed, MASKED_BEFOREHAND, len(self.mask)]))
        for number, choice in enumerate(self.mask):
            table = choice.build().mask(table, np.random.default_rng([seed, MASKED_BEFOREHAND, number]))
        return table

    def steer(self, table: Table) -> Table:
        """The table with columns that matter more to the searches where a use that is an objective speaks of them.

        Parameters
        ----------
        table : Table
            What the searches mask; the loss that is printed is that of the original, whose importances stay.

        Returns
        -------
        Table
        """
        used = [use.build() for use in self.use if use.treated_as == "objective"]
        names = {name for use in used if isinstance(use, DeclaredUse) for name in use.scope()} & set(table.names)
        changed = {n: table.attribute(n).but(importance=USED * table.attribute(n).importance) for n in names}
        return table.with_columns({}, attributes=changed) if changed else table

    def objective(self, table: Table) -> Objective:
        """All measures and demands of the plan, bound to a table.

        Parameters
        ----------
        table : Table
            The original, with its roles, to which all figures refer.

        Returns
        -------
        Objective
        """
        measures: dict[str, Measure] = {}
        for choice in (*self.measures.loss, *self.measures.risk):
            measures[_free(choice.name, measures)] = choice.build()
        return Objective(
            table,
            measures,
            intruders={each.name: each.knows for each in self.scenario},
            uses=[UseDemand(u.title, u.build(), u.tolerance, u.weight, u.treated_as) for u in self.use],
            limits=[LimitDemand(each.measure, each.at_most, each.build()) for each in self.limit]
            + self.column_limits(),
            models=self.models(),
            suppression=self.suppression,
            missing=missing_cells_in_anonymity(self.models()),
        )

    def edit_rules(self) -> tuple[EditRule, ...]:
        """The rules that are limited, and mended where that is possible."""
        return tuple(read_rule(each.holds) for each in self.rule if each.at_most is not None)

    def column_limits(self) -> list[LimitDemand]:
        """The largest loss of every column that has one, and how often each rule may be broken."""
        rules = [LimitDemand(each.title, _unless(each.at_most), each.measure()) for each in self.rule]
        return rules + self._caps()

    def _caps(self) -> list[LimitDemand]:
        """The largest loss of every column that has one."""
        return [
            LimitDemand(
                f"loss of {name}",
                most,
                InformationLoss(columns=(name,), suppressed="left-out" if column.lock else "lost"),
            )
            for name, column in self.columns.items()
            if (most := 0.0 if column.lock else column.at_most) is not None
        ]

    def waivers(self) -> dict[str, str]:
        """What may pass, as a release takes it: finding and column → reason."""
        decided = {
            published_finding_key(REASONED[column.role], name): column.because
            for name, column in self.columns.items()
            if column.because and column.role in REASONED
        }
        return decided | {published_finding_key(each.finding, each.column): each.because for each in self.waive}

    def list_unstated(self) -> list[str]:
        """Confidential columns of which the plan does not say that nobody outside knows them."""
        silent = {name for name, column in self.columns.items() if column.role is Role.CONFIDENTIAL}
        return sorted(silent - {name for name, column in self.columns.items() if column.because.strip()})

    @property
    def suppression(self) -> float:
        """Largest share of records that may be suppressed."""
        return read_plan_share(self.release.suppression)

    # -- data --

    def table(
        self,
        folder: Path,
        source: Path | None = None,
        roles: Mapping[str, str] | None = None,
        kinds: Mapping[str, str] | None = None,
        hierarchies: Mapping[str, str | Path] | None = None,
        masked: bool = False,
        reading: Mapping[str, Any] | None = None,
    ) -> Table:
        """Read the data of the plan.

        Parameters
        ----------
        folder : Path
            Folder to which paths are relative.
        source : Path, optional
            Another file with the same columns.
        roles, kinds, hierarchies : mapping, optional
            By column, instead of those of the plan.
        masked : bool
            The file has masked values, which hierarchies and orders need not contain; how the source is written says
            nothing about it but for missing values.
        reading : mapping, optional
            Options of `read_table`, instead of those of the plan.

        Returns
        -------
        Table
            The source with the roles, kinds and hierarchies of the plan.

        Raises
        ------
        TableError
            If the file cannot be read.
        """
        said = self.data.reading()
        if masked and source is not None:
            said = {name: value for name, value in said.items() if name == "missing"}
        table = read_table(
            source or folder / self.data.source,
            roles={name: column.role.value for name, column in self.columns.items()} | dict(roles or {}),
            kinds={n: c.kind.value for n, c in self.columns.items() if c.kind} | dict(kinds or {}),
            hierarchies=({} if masked else self.hierarchies(folder)) | dict(hierarchies or {}),
            masked=masked,
            **{**said, **(reading or {})},
        )
        return table if masked else self._settle_columns(table)

    def hierarchies(self, folder: Path) -> dict[str, str | Path]:
        """Hierarchies by column: a builder, or the path of a file.

        Parameters
        ----------
        folder : Path
            Folder to which paths are relative.

        Returns
        -------
        dict of str to str or Path
        """
        return {name: self._hierarchy(c.hierarchy, folder) for name, c in self.columns.items() if c.hierarchy}

    @staticmethod
    def _hierarchy(spec: str, folder: Path) -> str | Path:
        """A builder as it is, or a file relative to the folder."""
        head, _, rest = spec.partition(":")
        if head in BUILDERS:
            return folder / rest if head == "file" else spec
        return spec if ":" in spec and not Path(folder / spec).is_file() and len(head) > 1 else folder / spec

    def _settle_columns(self, table: Table) -> Table:
        """Categories of ordinal columns in the plan's order, and what each column counts."""
        for name, column in self.columns.items():
            if column.order:
                table = table.with_categories(name, column.order, Kind.ORDINAL)
        known = {name: column for name, column in self.columns.items() if name in table.names}
        for name, column in known.items():
            _refuse_scale(table, name, column.scale)
        counted = {
            n: table.attribute(n).but(
                importance=c.importance, linked=c.linked, derived=c.derived, publish=c.publish, scale=c.scale
            )
            for n, c in known.items()
        }
        described = table.with_columns({}, attributes=counted)
        obstacles = (derivation_obstacle(described, name) for name, column in known.items() if column.derived)
        weights = (weight_margin_obstacle(described, name) for name, column in known.items() if column.publish)
        if wrong := next(filter(None, (*obstacles, *weights)), ""):
            raise TableError(wrong)
        return lock_table_columns(described, [name for name, c in known.items() if c.lock])


def load(path: Path) -> dict[str, Any]:
    """Read the document of a plan."""
    try:
        return read_toml(path, "plan", "see `crypsis init` for an example")
    except FileNotFoundError:
        raise PlanError(f"{path}: there is no such file; write a plan with `crypsis init FILE`") from None


def _refuse_scale(table: Table, name: str, scale: Scale) -> None:
    """Refuse logarithms of a column that has none."""
    if scale == "automatic" or (table.attribute(name).numeric and scale == "raw"):
        return
    if not table.attribute(name).numeric:
        raise TableError(f"columns.{name}.scale: {name!r} holds no numbers, so it has no scale; drop it")
    low = int((table.column(name) <= 0).sum())
    if low:
        raise TableError(
            f'columns.{name}.scale: {low} of its values are 0 or less and have no logarithm; write scale = "raw", or '
            f"drop it"
        )


def _unless(at_most: float | None) -> float:
    """A limit; without one, what no reading in per cent exceeds."""
    return 100.0 if at_most is None else at_most


def _free(name: str, taken: Mapping[str, object]) -> str:
    """The name, followed by a number if it is taken."""
    number = 2
    free = name
    while free in taken:
        free, number = f"{name} ({number})", number + 1
    return free


# -- A plan as TOML that `Plan.read` reads into the same plan.


def as_toml(plan: Plan) -> str:
    """A plan as TOML, without comments and defaults."""
    content = plan.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    content = {"data": {"source": plan.data.source}, **content}
    lines: list[str] = []
    _table(content, "", lines)
    return "\n".join(lines).strip() + "\n"


def _table(content: dict[str, Any], path: str, lines: list[str]) -> None:
    nested = {
        key: value for key, value in content.items() if _is_tables(value) or (isinstance(value, dict) and not path)
    }
    for key, value in content.items():
        if key not in nested and value is not None:
            lines.append(f"{toml_key(key)} = {_value(value)}")
    for key, value in nested.items():
        name = f"{path}.{toml_key(key)}" if path else toml_key(key)
        for item in value if isinstance(value, list) else [value]:
            lines += ["", f"[[{name}]]" if isinstance(value, list) else f"[{name}]"]
            _table(item, name, lines)


def _is_tables(value: Any) -> bool:
    """Whether a value is a list of tables, which get a heading each."""
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)


def _value(value: Any) -> str:
    if isinstance(value, dict):
        pairs = (f"{toml_key(key)} = {_value(item)}" for key, item in value.items() if item is not None)
        return "{ " + ", ".join(pairs) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    if isinstance(value, float):
        return repr(value)
    return json.dumps(value, ensure_ascii=False)


def toml_key(name: str) -> str:
    """A name as a key of a TOML table: bare where that is allowed."""
    bare = bool(name) and name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if bare else json.dumps(name, ensure_ascii=False)


# -- The JSON Schema of a plan, for editors: with every registered search, measure and model and its settings.


def schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a plan."""
    document = Plan.model_json_schema(by_alias=True)
    document["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    document["title"] = "Crypsis plan"
    definitions = document["$defs"]
    for kind in (Requirement, SearchChoice, MeasureChoice, Use, Limit):
        _detail(definitions[kind.__name__], kind, definitions)
    one = {"$ref": "#/$defs/SearchChoice"}
    listed = document["properties"]["search"]
    document["properties"]["search"] = {
        "description": listed.get("description", ""),
        "anyOf": [one, {"type": "array", "items": one}],
    }
    named = {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/MeasureChoice"}]}
    for aim in ("loss", "risk"):
        definitions["Measures"]["properties"][aim]["items"] = named
    return document


def _detail(definition: dict[str, Any], kind: type[Named[Any]], definitions: dict[str, Any]) -> None:
    """Add the registered names and the settings of each."""
    names = sorted(kind.registry)
    key = kind.key
    definition["properties"][key]["enum"] = [*names, *(AXES if kind is Limit else ())]
    definition.pop("additionalProperties", None)
    branches = []
    for name in names:
        own = kind.registry[name].model_json_schema(by_alias=True)
        definitions.update(own.pop("$defs", {}))
        branches.append(
            {
                "if": {"properties": {key: {"const": name}}},
                "then": {"properties": own.get("properties", {}), "required": own.get("required", [])},
            }
        )
    definition["allOf"] = branches


BOTH_ENDS = ["bottom-coding", "top-coding"]
"""Methods that may mask one column together: each an end of it."""


def _disagreements(plan: Plan) -> list[str]:
    """Find contradictions in a plan."""
    return [
        *_columns(plan),
        *_maskings(plan),
        *_scenarios(plan),
        *_searches(plan),
        *_measures(plan),
        *_limits(plan),
        *_rules(plan),
        *_waivers(plan),
        *_run(plan),
    ]


def _columns(plan: Plan) -> list[str]:
    found = []
    if not any(column.role is Role.QUASI_IDENTIFIER for column in plan.columns.values()) and not plan.scenario:
        found.append(
            "columns: no column has the role 'quasi', so nothing is protected; give it to columns that an intruder may "
            "know"
        )
    for name, column in plan.columns.items():
        if column.order and column.kind is not None and column.kind != "ordinal":
            found.append(f'columns.{name}: order is given but kind is {column.kind}; write kind = "ordinal" or drop it')
        if column.order and len(set(column.order)) < len(column.order):
            found.append(f"columns.{name}.order: a category is listed twice; list every one once")
        if column.hierarchy and column.role in UNPUBLISHED:
            found.append(
                f"columns.{name}: a column with the role {column.role} is never released, so its hierarchy has "
                f"no effect; drop it or change the role"
            )
        found += _check_losses(plan, name, column)
        found += _check_derived(plan, name, column)
        found += _check_publish(plan, name, column)
        if column.scale != "automatic" and (column.role in UNPUBLISHED or column.kind not in (None, "numeric")):
            because = f"its role is {column.role}" if column.role in UNPUBLISHED else f"its kind is {column.kind}"
            found.append(
                f"columns.{name}: scale has no effect, as moments are kept of published numbers and {because}; drop it"
            )
        if column.because and column.role not in REASONED:
            reasoned = listing(map(str, REASONED))
            found.append(f"columns.{name}: because is the reason for the roles {reasoned}; its role is {column.role}")
    return found


def _check_publish(plan: Plan, name: str, column: Column) -> list[str]:
    """What contradicts the treatment of a weight."""
    if not column.publish:
        return []
    where, found = f"columns.{name}.publish", list[str]()
    if column.role is not Role.WEIGHT:
        found.append(f"{where}: it treats a weight, and the role is {column.role}; drop it or change the role")
    if any(name in choice.build().columns for choice in plan.mask):
        found.append(f"{where}: a [[mask]] table masks {name!r} as well; keep one of the two")
    weights = [each for each, other in plan.columns.items() if other.role is Role.WEIGHT]
    if len(weights) > 1:
        found.append(
            f"{where}: {len(weights)} columns have the role weight; one can be treated, give others another role"
        )
    return found


def _check_derived(plan: Plan, name: str, column: Column) -> list[str]:
    """What contradicts that a column is recomputed from others."""
    if not column.derived:
        return []
    found, inputs = list[str](), read_derivation(column.derived).columns
    where = f"columns.{name}.derived"
    if column.role in UNPUBLISHED:
        found.append(f"{where}: a column with the role {column.role} is never released; drop derived")
    given = {"lock": column.lock, "linked": bool(column.linked), "at_most": column.at_most is not None}
    for key in (key for key, there in given.items() if there):
        found.append(f"{where}: the column is recomputed, so {key} has no effect; drop one of the two")
    for each in inputs:
        source = plan.columns.get(each)
        role = Role.UNDECIDED if source is None else source.role
        if each == name:
            found.append(f"{where}: {name!r} cannot follow from itself; leave it out")
        elif role in UNPUBLISHED:
            found.append(
                f"{where}: {each!r} has the role {role} and is never released, and the column would tell it; name "
                f"other columns or drop derived"
            )
        elif column.role is Role.QUASI_IDENTIFIER and role is not Role.QUASI_IDENTIFIER:
            found.append(
                f"{where}: an intruder may know {name!r}, which follows from {each!r}, and searches do not mask that; "
                f"give {each!r} the role quasi, or drop derived"
            )
    return found


def _check_losses(plan: Plan, name: str, column: Column) -> list[str]:
    """What is said of the loss of a column that has none, and links that lead nowhere."""
    found = []
    given = {
        "importance": column.importance != 1.0, "lock": column.lock, "linked": bool(column.linked),
        "at_most": column.at_most is not None,
    }  # fmt: skip
    idle = [key for key, there in given.items() if there]
    if idle and column.role is not Role.QUASI_IDENTIFIER:
        found.append(
            f"columns.{name}: {listing(idle)} {'has' if len(idle) == 1 else 'have'} no effect, as searches mask only "
            f"quasi-identifiers and its role is {column.role}; drop it or change the role"
        )
    if column.lock and (column.at_most is not None or column.linked):
        other = "at_most" if column.at_most is not None else "linked"
        found.append(f"columns.{name}: a locked column is published as collected, so {other} has no effect; drop one")
    lead = plan.columns.get(column.linked)
    if column.linked and (lead is None or column.linked == name or lead.role is not Role.QUASI_IDENTIFIER):
        found.append(
            f"columns.{name}.linked: {column.linked!r} is not another quasi-identifier of the plan"
            f"{_near(plan, column.linked)}; name the column that determines {name!r}"
        )
    elif lead is not None and lead.linked:
        found.append(f"columns.{name}.linked: {column.linked!r} is linked itself; link both to {lead.linked!r}")
    quasi = [each for each in plan.columns.values() if each.role is Role.QUASI_IDENTIFIER]
    if name == next(iter(plan.columns)) and quasi and not any(each.importance for each in quasi):
        found.append("columns: every quasi-identifier has the importance 0, so no loss counts; give one of them some")
    return found


def _maskings(plan: Plan) -> list[str]:
    """Columns that a masking before the search cannot have."""
    found, seen = list[str](), dict[str, list[str]]()
    for number, choice in enumerate(plan.mask, 1):
        method, where = choice.build(), f"mask[{number}]"
        if method.family == PERTURBATION:
            found.append(
                f"{where}: {choice.method} makes values false at random, and no class size means anything after it; "
                f"name a method that aggregates or recodes"
            )
        if not method.columns:
            found.append(f'{where}: it names no columns; write columns = ["…"]')
        for name in method.columns:
            column = plan.columns.get(name)
            if column is None:
                found.append(f"{where}.columns: {name!r} is not among the columns of the plan{_near(plan, name)}")
            elif column.derived:
                found.append(f"{where}.columns: {name!r} is derived and recomputed from others; mask these")
            elif column.role is Role.QUASI_IDENTIFIER:
                found.append(f"{where}.columns: {name!r} is a quasi-identifier, which the searches mask; leave it out")
            elif column.role in UNPUBLISHED:
                found.append(
                    f"{where}.columns: {name!r} has the role {column.role} and is never released; leave it out"
                )
            before = seen.setdefault(name, [])
            if before and sorted([*before, choice.method]) != BOTH_ENDS:
                found.append(f"{where}.columns: {name!r} is masked twice; name it once")
            before.append(choice.method)
    return found


def _near(plan: Plan, name: str) -> str:
    return suggestion(name, list(plan.columns))


def _repeats(names: Iterable[str]) -> list[tuple[str, int]]:
    """Names that occur more than once, and how often."""
    return [(name, count) for name, count in Counter(names).items() if count > 1]


def _scenarios(plan: Plan) -> list[str]:
    found = []
    for name, count in _repeats(each.name for each in plan.scenario):
        found.append(f"scenario: {count} scenarios are called {name!r}; give each its own name")
    for number, each in enumerate(plan.scenario, 1):
        twice = [name for name, _ in _repeats(each.knows)]
        if twice:
            found.append(f"scenario[{number}].knows: {listing(map(repr, twice))} listed twice; list every column once")
        hidden = [n for n in each.knows if n in plan.columns and plan.columns[n].role in UNPUBLISHED]
        if hidden:
            found.append(
                f"scenario[{number}].knows: {listing(map(repr, hidden))} is an identifier and never released, so the "
                f"intruder cannot use it; leave it out or change its role"
            )
    return found


def _searches(plan: Plan) -> list[str]:
    """Settings of searches that have no effect, with or without measures that guide them."""
    refusals = [
        (n, choice.name, choice.build().refusal(plan.measures.guide)) for n, choice in enumerate(plan.search, 1)
    ]
    return [f"search[{number}] ({name}): {why}" for number, name, why in refusals if why]


def _measures(plan: Plan) -> list[str]:
    found = []
    for aim in ("loss", "risk"):
        chosen = getattr(plan.measures, aim)
        if not chosen:
            found.append(f"measures.{aim}: the list is empty and the front needs a {aim}; name one or remove the key")
        for number, choice in enumerate(chosen, 1):
            measure = measures[choice.name]
            if measure.aim != aim:
                fitting = [name for name in measures if measures[name].aim == aim]
                found.append(
                    f"measures.{aim}[{number}]: {choice.name!r} is a {measure.aim} and not a {aim}; "
                    f"{'losses' if aim == 'loss' else 'risks'}: {listing(fitting, most=40)}"
                )
            elif measure.better == "high":
                found.append(
                    f"measures.{aim}[{number}]: {choice.name!r} is better when high, and the front minimises; choose "
                    f"another"
                )
        twice = [name for name, _ in _repeats(choice.name for choice in chosen)]
        if twice:
            found.append(f"measures.{aim}: {listing(map(repr, twice))} named twice; name every measure once")
    for title, count in _repeats(use.title for use in plan.use):
        found.append(f"use: {count} uses are called {title!r}; give each a name of its own")
    return found


def _limits(plan: Plan) -> list[str]:
    found = [f"limit: {n} limits on {name!r}; keep one of them" for name, n in _repeats(x.measure for x in plan.limit)]
    for number, limit in enumerate(plan.limit, 1):
        if limit.measure == "loss" and limit.at_most == 0 and (plan.require or any(s.require for s in plan.scenario)):
            found.append(
                f"limit[{number}]: no loss is allowed and a privacy model is required, which only an unmasked file can "
                f"meet; allow some loss"
            )
        if limit.measure == "suppressed" and limit.at_most > 100 * plan.suppression:
            found.append(
                f"limit[{number}]: {limit.at_most:g} % suppressed is allowed here and {plan.release.suppression} in "
                f"release.suppression; keep one of the two"
            )
    return found


def _rules(plan: Plan) -> list[str]:
    """Rules that stand twice, and those that no masking could break."""
    found = [f"rule: {n} rules are called {name!r}; keep one" for name, n in _repeats(r.title for r in plan.rule)]
    for number, each in enumerate(plan.rule, 1):
        names = read_rule(each.holds).columns
        hidden = [n for n in names if n in plan.columns and plan.columns[n].role in UNPUBLISHED]
        if hidden:
            found.append(f"rule[{number}]: {listing(map(repr, hidden))} is never released, so nobody can see it broken")
    return found


def _waivers(plan: Plan) -> list[str]:
    counts = Counter(published_finding_key(each.finding, each.column) for each in plan.waive)
    return [f"waive: {n} waivers of {key!r}; keep the one whose reason counts" for key, n in counts.items() if n > 1]


def _run(plan: Plan) -> list[str]:
    found = []
    if plan.run.engine == "dask" and not plan.run.scheduler:
        found.append('run: the engine dask needs the address of a scheduler; write scheduler = "tcp://host:8786"')
    if plan.run.scheduler and plan.run.engine != "dask":
        found.append(
            f"run.scheduler: the engine {plan.run.engine} needs no scheduler; write engine = 'dask' or drop it"
        )
    perturbing = [c.name for c in plan.search if searches[c.name].family == PERTURBATION]
    required = [item.model for item in plan.require] + [m.model for each in plan.scenario for m in each.require]
    if plan.search and required and len(perturbing) == len(plan.search):
        found.append(
            f"require: {listing(map(repr, dict.fromkeys(required)))} cannot hold after perturbation, and every search "
            f"named ({listing(map(repr, perturbing))}) perturbs; add a search that aggregates or recodes, or limit a "
            f"risk instead"
        )
    return found
