"""Rulebooks: the thresholds of an office as a file, checked before and after every release.

A failing rule lets a file pass only by a waiver with a reason, which is recorded with the release.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field, ValidationError, model_validator

from crypsis.errors import PlanError, listing, suggestion
from crypsis.privacy.model import PrivacyModel
from crypsis.registry import Settings, explain
from crypsis.rulebook.rules import AnyRule, Evidence

SHIPPED = Path(__file__).parent.parent / "rulebooks"


@dataclass(frozen=True)
class RuleResult:
    """One rule, what it demands, what was found, and what became of it."""

    id: str
    statement: str
    found: str
    holds: bool
    waived: str = ""
    """The reason it was waived for; empty if it was not."""

    @property
    def passed(self) -> bool:
        return self.holds or bool(self.waived)


class Rulebook(Settings):
    """A named list of rules; one TOML file."""

    name: str = Field(default="", description="how it is called on the command line; the file's name unless given")
    title: str = Field(description="what kind of file it is for")
    about: str = Field(default="", description="where the thresholds come from, and for whom they are")
    rule: tuple[AnyRule, ...] = Field(min_length=1, description="the rules")

    @model_validator(mode="after")
    def _ids_differ(self) -> Rulebook:
        ids = [rule.id for rule in self.rule]
        twice = sorted({each for each in ids if ids.count(each) > 1})
        if twice:
            raise ValueError(f"two rules share the id {listing(twice)}; give every rule its own")
        return self

    def requirements(self, family: str = "unknown") -> list[PrivacyModel]:
        """The privacy models the book demands of a file of this family."""
        return [m for rule in self.rule if not rule.families or family in rule.families for m in rule.requirements()]

    def check_waivers(self, waivers: Mapping[str, str]) -> None:
        """Refuse a waiver of an unknown rule, of one that cannot be waived, or without a reason."""
        rules = {rule.id: rule for rule in self.rule}
        for id, reason in waivers.items():
            if id not in rules:
                raise PlanError(
                    f"rulebook {self.name!r} has no rule {id!r}{suggestion(id, rules)}; "
                    f"rules: {listing(rules, most=40)}"
                )
            if not rules[id].waivable:
                raise PlanError(f"rule {id!r} of rulebook {self.name!r} cannot be waived; mend the file instead")
            if len(reason.strip()) < 5:
                raise PlanError(f"the waiver of rule {id!r} needs a reason in words, e.g. --waive {id}='agreed with …'")


def read_rulebook(name: str | Path) -> Rulebook:
    """A shipped rulebook by its name, or one from a TOML file; all its problems are told at once."""
    path = SHIPPED / f"{name}.toml" if str(name) in shipped_names() else Path(name)
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, IsADirectoryError):
        known = shipped_names()
        raise PlanError(
            f"there is no rulebook {str(name)!r}{suggestion(str(name), known)}: neither a file nor one of "
            f"{listing(known)}; see `crypsis rulebooks`"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise PlanError(
            f"{path}: the rulebook cannot be read ({type(error).__name__}); it must be UTF-8 text"
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise PlanError(f"{path}: not valid TOML: {error}; see `crypsis rulebooks` for examples") from None
    try:
        return Rulebook.model_validate({"name": path.stem} | document)
    except ValidationError as error:
        raise PlanError(f"{path}: {explain(error, Rulebook)}") from None


def shipped_names() -> list[str]:
    return sorted(path.stem for path in SHIPPED.glob("*.toml"))


def check_rulebook(book: Rulebook, evidence: Evidence, waivers: Mapping[str, str] | None = None) -> list[RuleResult]:
    """Every rule against the evidence; a failing rule with a waiver keeps its failure and gets its reason."""
    book.check_waivers(waivers or {})
    results = []
    for rule in book.rule:
        if rule.families and evidence.family not in rule.families:
            found, holds = f"not asked after {evidence.family}", True
        else:
            found, holds = rule.find(evidence)
        results.append(
            RuleResult(rule.id, rule.statement(), found, holds, "" if holds else (waivers or {}).get(rule.id, ""))
        )
    return results


def refusals(results: Sequence[RuleResult]) -> list[str]:
    """A sentence for every rule that fails and was not waived."""
    return [f"rule {each.id}: {each.statement} is demanded, found: {each.found}" for each in results if not each.passed]
