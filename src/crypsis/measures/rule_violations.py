"""Edit rules that a masking breaks."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field, field_validator

from crypsis.errors import PlanError
from crypsis.measures.measure import Aim, BoundColumns, Measure, Reading, check_measured_rows, measures
from crypsis.table.rules import EditRule, judge_rule_violations, read_rule, rule_obstacle
from crypsis.table.rules.judging import violations
from crypsis.table.table import Table


@measures.add("rule-violations")
class RuleViolations(Measure):
    """Share of the published records that break an edit rule which they kept in the original.

    100 times the published records that kept the rule before masking and break it after, over all published records; a
    record whose blanked or generalised cells may still keep the rule does not break it.

    Notes
    -----
    - Formula: 100 · created / records
    - Paper: own, after Fellegi and Holt (1976)
    - Cost: O(n) for each comparison of the rule
    - Departures: only created violations count; those of the original are reported beside them

    Examples
    --------
    >>> original = crypsis.Table.from_columns({"low": [1, 2, 3, 4], "high": [2, 3, 4, 5]}, {"low": "quasi"})
    >>> masked = original.with_columns({"low": np.array([1.0, 2.5, 4.5, 4.5])})
    >>> crypsis.RuleViolations(rule="low <= high").against(original).read(masked)
    25.0
    """

    aim: ClassVar[Aim] = "loss"

    columns: tuple[str, ...] = Field(
        default=(), description="columns that matter: a rule that names none of them is not asked; empty: it is asked"
    )
    rule: str = Field(
        default="",
        max_length=1000,
        description="the rule, e.g. if marital = 'married' then age >= 15",
        examples=["age >= 30", "if age > 40 then age > 60"],
    )

    @field_validator("rule")
    @classmethod
    def _is_a_rule(cls, text: str) -> str:
        if text.strip():
            try:
                read_rule(text)
            except PlanError as error:
                raise ValueError(str(error)) from None
        return text

    def obstacle(self, original: Table) -> str:
        if not self.rule.strip():
            return "no rule is given; write one, e.g. start <= end"
        return rule_obstacle(read_rule(self.rule), original) or super().obstacle(original)

    def against(self, original: Table) -> BoundRule:
        return BoundRule.of(self, original)


class BoundRule(BoundColumns[RuleViolations]):
    """A rule bound to an original."""

    def read(self, masked: Table) -> float:
        check_measured_rows(self.original.rows, masked)
        if not self._rule:
            return 0.0
        created = violations(self._rule, masked) & ~violations(self._rule, self.original, collected=True) & masked.kept
        return 100.0 * float(created.sum()) / max(int(masked.kept.sum()), 1)

    def explain(self, masked: Table) -> Reading:
        missing = "a missing or blanked cell may be any value: a rule that asks for it is undecided, not broken"
        if not self._rule:
            return self.measure.make_reading(self.read(masked), self.names, missing, {})
        found = judge_rule_violations(self._rule, self.original, masked)
        counts = {
            "created": found.created, "healed": found.healed, "broken before and after": found.kept,
            "undecided": found.undecided, "records": found.records,
        }  # fmt: skip
        return self.measure.make_reading(self.read(masked), self._rule.columns, missing, counts)

    @property
    def _rule(self) -> EditRule | None:
        """The rule that is asked; None where there is none, or it names none of the given columns."""
        if not self.measure.rule.strip():
            return None
        rule = read_rule(self.measure.rule)
        return None if self.measure.columns and not set(self.measure.columns) & set(rule.columns) else rule
