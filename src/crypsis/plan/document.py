"""A whole job as one TOML document: the data, the demands, the analyses to serve, the budget.

A plan is immutable and equal to its file. All problems of a document are reported at once, each with its place.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field, ValidationError, field_validator, model_validator

from crypsis.audits import REASONED, published_finding_key
from crypsis.errors import PlanError, TableError, listing
from crypsis.masking.weights import draw_weight_noise, weight_margin_obstacle
from crypsis.measures.household_contradictions import CONTRADICTIONS, HouseholdContradictions
from crypsis.measures.information_loss import InformationLoss
from crypsis.measures.measure import Measure
from crypsis.measures.objective import LimitDemand, Objective, UseDemand
from crypsis.measures.uses import DeclaredUse
from crypsis.measures.utility import Usefulness
from crypsis.plan.disagreements import find_disagreements
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
    read_plan_share,
)
from crypsis.plan.validation import refuse_named_parts, spell_out_for_validation
from crypsis.privacy.anonymity import missing_cells_in_anonymity
from crypsis.privacy.model import PrivacyModel
from crypsis.registry import Settings
from crypsis.searches.search import Search
from crypsis.table.attribute import Kind, Role, Scale
from crypsis.table.builders import BUILDERS
from crypsis.table.files import read_table
from crypsis.table.households import household_level_columns, refuse_household_column
from crypsis.table.rules import EditRule, derivation_obstacle, read_rule, replace_derived
from crypsis.table.table import Table, lock_table_columns
from crypsis.table.text_files import read_toml
from crypsis.table.value_labels import label_codes

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
        return plan, problems + find_disagreements(plan)

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
        models = [self._on_masked_columns(model) for model in self.models()]
        intruders = [self._masked_columns(each.knows) for each in self.scenario]
        limits = [LimitDemand(each.measure, each.at_most, each.build()) for each in self.limit] + self._caps()
        return [
            choice.build().under(models, intruders, self.edit_rules(), self.safe_k, limits) for choice in self.search
        ]

    def _on_masked_columns(self, model: PrivacyModel) -> PrivacyModel:
        """The model over columns that a search masks: whoever knows log(wage) knows what wage tells."""
        known = self._masked_columns(model.quasi_identifiers)
        return model if known == model.quasi_identifiers else model.model_copy(update={"quasi_identifiers": known})

    def _masked_columns(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Columns with the derived quasi-identifiers replaced by those they are recomputed from."""
        quasi = {n: c for n, c in self.columns.items() if c.role is Role.QUASI_IDENTIFIER}
        return replace_derived(names, {name: column.derived for name, column in quasi.items() if column.derived})

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
            + self.column_limits()
            + self.household_limits(table),
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

    def household_limits(self, table: Table) -> list[LimitDemand]:
        """That no household contradicts itself where columns have one value within each; unless the plan limits it.

        Parameters
        ----------
        table : Table
            The original, with its roles.

        Returns
        -------
        list of LimitDemand
        """
        if any(each.measure == CONTRADICTIONS for each in self.limit) or not household_level_columns(table):
            return []
        return [LimitDemand(CONTRADICTIONS, 0.0, HouseholdContradictions())]

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
        said = self.data.reading_options()
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
            if column.labels and name in table.names:
                table = label_codes(table, name, column.labels)
        known = {name: column for name, column in self.columns.items() if name in table.names}
        for name, column in known.items():
            _refuse_scale(table, name, column.scale)
            if column.shared:
                refuse_household_column(table, name)
        counted = {
            n: table.attribute(n).but(
                importance=c.importance,
                linked=c.linked,
                derived=c.derived,
                publish=c.publish,
                scale=c.scale,
                shared=c.shared,
                label=c.label or table.attribute(n).label,
            )
            for n, c in known.items()
        }
        described = table.with_columns({}, attributes=counted)
        obstacles = (derivation_obstacle(described, name) for name, column in known.items() if column.derived)
        weights = (weight_margin_obstacle(described, name) for name, column in known.items() if column.publish)
        if wrong := next(filter(None, (*obstacles, *weights)), ""):
            raise TableError(wrong)
        return lock_table_columns(described, [name for name, c in known.items() if c.lock])


def read_waivers(path: Path) -> dict[str, str]:
    """What may pass, from a file of [[waive]] tables alone: finding and column → reason."""
    try:
        document = read_toml(path, "file of waivers", "see `crypsis release --propose FILE` for an example")
    except FileNotFoundError:
        raise PlanError(f"{path}: there is no such file; write one with `crypsis release RUN --propose FILE`") from None
    other = [name for name in document if name != "waive"]
    if other:
        raise PlanError(f"{path}: {listing(other)} cannot stand in a file of waivers; it has [[waive]] tables alone")
    try:
        return Plan.model_validate({"data": {"source": path.name}, **document}).waivers()
    except ValidationError as error:
        raise PlanError(problems_text(path.name, [each.message for each in problems_of(error, Plan)])) from None


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
