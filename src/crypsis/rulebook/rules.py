"""The rules of rulebooks: what each demands of a released file, and what it finds.

A rule that cannot be checked is not kept: where a risk is not known, or a model has no meaning after the masking of the
file, the rule fails and says why.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, field_validator, model_validator

from crypsis.audits import FindingKind
from crypsis.audits.exposure import alone
from crypsis.errors import PlanError, listing
from crypsis.measures import measures
from crypsis.measures.measure import Reading
from crypsis.measures.objective import within
from crypsis.privacy import models
from crypsis.privacy.model import PrivacyModel, class_sizes, worst
from crypsis.registry import Settings
from crypsis.table.attribute import Role
from crypsis.table.equivalence_classes import equivalence_classes
from crypsis.table.hierarchy import MISSING
from crypsis.table.table import Table

EVERY = "all quasi-identifiers"

Outcome = tuple[str, bool]
"""What was found, in words, and whether the rule is kept."""


@dataclass(frozen=True)
class Evidence:
    """What the rules look at.

    Attributes
    ----------
    table : Table
        The published table: no suppressed record, plain labels.
    family : str
        How it is masked.
    order : str
        Order of the rows.
    suppressed : int
        Suppressed records.
    risks : sequence of Reading or None
        Measured risks; None where they are not known (a public folder alone, or no original).
    waived : sequence of str or None
        Kinds of the findings of the audit that were waived; None where they are not known (a public folder alone).
    """

    table: Table
    family: str = "unknown"
    order: str = "shuffled"
    suppressed: int = 0
    risks: Sequence[Reading] | None = None
    waived: Sequence[str] | None = None


class Rule(Settings):
    """A demand on a released file."""

    id: str = Field(pattern=r"^[a-z0-9-]+$", description="short name, used in results and waivers")
    waivable: bool = Field(default=True, description="whether the rule may be waived with a reason")
    families: tuple[Literal["aggregation", "recoding", "perturbation", "unknown"], ...] = Field(
        default=(), description="families of masking for which the rule applies; empty: all"
    )

    def requirements(self) -> list[PrivacyModel]:
        """Privacy models that demand the same."""
        return []

    @abstractmethod
    def statement(self) -> str:
        """What the rule demands, in words."""

    @abstractmethod
    def find(self, evidence: Evidence) -> Outcome:
        """Check the rule.

        evidence  what the rule looks at
        """


_PERTURBED = "has no meaning after perturbation: equal values do not mean equal people"


class ModelRule(Rule):
    """A privacy model must hold."""

    demand: Literal["model"]
    model: str = Field(description="name of a registered privacy model")
    settings: dict[str, Any] = Field(default_factory=dict, description="the model's own settings")

    @model_validator(mode="after")
    def _exists(self) -> ModelRule:
        self.requirements()
        return self

    def requirements(self) -> list[PrivacyModel]:
        """The privacy model that says the same; see `Rule.requirements`."""
        try:
            return [models.build(self.model, **self.settings)]
        except PlanError as error:
            raise ValueError(str(error)) from None

    def statement(self) -> str:
        (model,) = self.requirements()
        return f"{self.model} {model.sense} {model.required:g} over {listing(model.quasi_identifiers) or EVERY}"

    def find(self, evidence: Evidence) -> Outcome:
        (model,) = self.requirements()
        if evidence.family == "perturbation":
            return f"{self.model} {_PERTURBED}", False
        if "confidential" in type(model).model_fields and not evidence.table.confidential:
            return "no confidential column is published", True
        obstacle = model.obstacle(evidence.table)
        if obstacle:
            return obstacle, False
        verdict = model.judge(evidence.table)
        return f"{verdict.attained:g} attained, {verdict.offending} of {verdict.records} records offend", verdict.holds


class ClassRule(Rule):
    """The smallest equivalence class must have enough records."""

    demand: Literal["class-size"]
    at_least: int = Field(ge=2, description="records in the smallest equivalence class")

    def requirements(self) -> list[PrivacyModel]:
        """The privacy model that says the same; see `Rule.requirements`."""
        return [models.build("k-anonymity", k=self.at_least)]

    def statement(self) -> str:
        return f"at least {self.at_least} records share any combination of quasi-identifiers"

    def find(self, evidence: Evidence) -> Outcome:
        if evidence.family == "perturbation":
            return f"the size of a class {_PERTURBED}", False
        table = evidence.table
        if not len(table):
            return "there is no record", False
        smallest = worst(class_sizes(table, table.quasi_identifiers), "at least")
        return f"the smallest class has {smallest:g} records", smallest >= self.at_least


class RiskRule(Rule):
    """The risk of an attack must be small in every scenario."""

    demand: Literal["risk"]
    measure: str = Field(description="name of a registered measure of risk")
    at_most: float = Field(ge=0, le=100, description="per cent; 5 is a probability of 0.05")

    @field_validator("measure")
    @classmethod
    def _is_a_risk(cls, value: str) -> str:
        try:
            aim = measures[value].aim
        except PlanError as error:
            raise ValueError(str(error)) from None
        if aim != "risk":
            raise ValueError(f"{value!r} measures {aim}, not risk; choose e.g. record-linkage")
        return value

    def statement(self) -> str:
        return f"{self.measure} at most {self.at_most:g} %"

    def find(self, evidence: Evidence) -> Outcome:
        if evidence.risks is None:
            return "not known: no original is given, or the internal folder is absent", False
        found = [reading.value for reading in evidence.risks if reading.measure == self.measure]
        if not found:
            return "not measured for this file", False
        return f"{max(found):.4g} % at worst", within(max(found), self.at_most)


class SuppressionRule(Rule):
    """Few records may be suppressed."""

    demand: Literal["suppression"]
    at_most: float = Field(ge=0, le=100, description="per cent of the original records")

    def statement(self) -> str:
        return f"at most {self.at_most:g} % of the records suppressed"

    def find(self, evidence: Evidence) -> Outcome:
        rows = len(evidence.table) + evidence.suppressed
        share = 100 * evidence.suppressed / rows if rows else 100.0
        return f"{evidence.suppressed} of {rows} ({share:.3g} %)", within(share, self.at_most)


class RowsRule(Rule):
    """The file must have enough records."""

    demand: Literal["rows"]
    at_least: int = Field(ge=1, description="released records")

    def statement(self) -> str:
        return f"at least {self.at_least} records"

    def find(self, evidence: Evidence) -> Outcome:
        return f"{len(evidence.table)}", len(evidence.table) >= self.at_least


class ColumnsRule(Rule):
    """Columns with certain names must not be published."""

    demand: Literal["columns"]
    never: tuple[str, ...] = Field(min_length=1, description="names or patterns such as *surname*; case is ignored")

    def statement(self) -> str:
        return f"no column is called {listing(self.never, most=6)}"

    def find(self, evidence: Evidence) -> Outcome:
        return self.among(evidence.table.names)

    def among(self, names: Iterable[str]) -> Outcome:
        """Check names of columns.

        Parameters
        ----------
        names : iterable of str

        Returns
        -------
        found : str
        kept : bool
        """
        bad = [name for name in names if any(fnmatch(name.lower(), pattern.lower()) for pattern in self.never)]
        return (listing(bad), False) if bad else ("none", True)


class IdentifierRule(Rule):
    """No direct identifier may be published, whatever its name."""

    demand: Literal["identifiers"]

    def statement(self) -> str:
        return "no identifier, and no column of text that is different for every record"

    def find(self, evidence: Evidence) -> Outcome:
        table = evidence.table
        bad = [name for name in table.names if table.attribute(name).role is Role.IDENTIFIER or _names_all(table, name)]
        return (listing(bad), False) if bad else ("none", True)


def _names_all(table: Table, name: str) -> bool:
    codes = table.column(name)
    return (
        not table.attribute(name).numeric and len(table) > 1 and len(np.unique(codes[codes != MISSING])) == len(table)
    )


class OrderRule(Rule):
    """The rows must not be in the order of the source."""

    demand: Literal["order"]

    def statement(self) -> str:
        return "the rows are shuffled"

    def find(self, evidence: Evidence) -> Outcome:
        return evidence.order, evidence.order == "shuffled"


class CellRule(Rule):
    """Every published category, or pair of categories, must have enough records."""

    demand: Literal["cells"]
    at_least: int = Field(ge=2, description="records in every cell that is not empty")
    ways: Literal[1, 2] = Field(default=1, description="count single columns (1) or pairs of columns too (2)")
    columns: tuple[str, ...] = Field(default=(), description="columns to count; empty: every column of categories")

    def statement(self) -> str:
        what = "category" if self.ways == 1 else "category and pair of categories"
        return f"every published {what} has at least {self.at_least} records"

    def find(self, evidence: Evidence) -> Outcome:
        table = evidence.table
        names = [n for n in self.columns or table.names if n in table.names and not table.holds_numbers(n)]
        cells = [[name] for name in names]
        if self.ways == 2:
            cells += [[one, other] for place, one in enumerate(names) for other in names[place + 1 :]]
        small = {" × ".join(cell): count for cell in cells if (count := _small_cells(table, cell, self.at_least))}
        if not small:
            return f"no cell below {self.at_least} in {len(cells)} tables", True
        tables = listing((f"{name} ({count})" for name, count in small.items()), most=6)
        return f"{sum(small.values())} cells below {self.at_least}: {tables}", False


class SingledOutRule(Rule):
    """Few people may be alone with their value of a published column that is no quasi-identifier."""

    demand: Literal["singled-out"]
    at_most: int = Field(default=0, ge=0, description="people whom one column may single out by itself")

    def statement(self) -> str:
        most = f"at most {self.at_most} people are" if self.at_most else "nobody is"
        return f"{most} alone with a value of a column beside the quasi-identifiers"

    def find(self, evidence: Evidence) -> Outcome:
        table = evidence.table
        outside = [name for name in table.names if table.attribute(name).role is not Role.QUASI_IDENTIFIER]
        counts = {name: int(alone(table.codes([name])[:, 0]).sum()) for name in outside}
        beyond = {name: count for name, count in counts.items() if count > self.at_most}
        if not beyond:
            return f"{max(counts.values(), default=0)} at most", True
        return listing((f"{count} by {name}" for name, count in beyond.items()), most=6), False


class AuditRule(Rule):
    """Few findings of the audit may be waived."""

    demand: Literal["audit"]
    at_most: int = Field(default=0, ge=0, description="findings that may be waived")
    kinds: tuple[FindingKind, ...] = Field(default=(), description="kinds of findings that count; empty: all")

    def statement(self) -> str:
        what = f"findings of the audit ({listing(map(str, self.kinds))})" if self.kinds else "findings of the audit"
        return f"no {what} waived" if self.at_most == 0 else f"at most {self.at_most} {what} waived"

    def find(self, evidence: Evidence) -> Outcome:
        if evidence.waived is None:
            return "waivers are not known without the internal part", False
        counted = [kind for kind in evidence.waived if not self.kinds or kind in self.kinds]
        return f"{len(counted)} waived", len(counted) <= self.at_most


def _small_cells(table: Table, names: Sequence[str], least: int) -> int:
    codes = table.codes(names)
    return int((equivalence_classes(codes, (codes != MISSING).all(axis=1)).sizes < least).sum())


AnyRule = Annotated[
    ModelRule
    | ClassRule
    | RiskRule
    | SuppressionRule
    | RowsRule
    | ColumnsRule
    | IdentifierRule
    | OrderRule
    | CellRule
    | SingledOutRule
    | AuditRule,
    Field(discriminator="demand"),
]
