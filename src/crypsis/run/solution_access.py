"""What can be asked of one solution of a run: its table, its description, its release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from crypsis.errors import CrypsisError
from crypsis.measures.masking_description import MaskingDescription, describe_masking
from crypsis.measures.utility import RuleHarm, UseResult, UtilityCard, utility_card
from crypsis.measures.utility.propensity import Model
from crypsis.pieces import completed
from crypsis.plan import Plan
from crypsis.plan.sections import Use
from crypsis.run.baselines import baselines
from crypsis.run.choosing import DEFAULT_PICK
from crypsis.run.decoding import DecodedTables
from crypsis.run.folder import Lock
from crypsis.run.front import Front
from crypsis.run.shading import weighed
from crypsis.run.solution import Solution
from crypsis.table.attribute import Role
from crypsis.table.restoring import to_frame
from crypsis.table.rules import RuleCounts, count_violations, read_rule
from crypsis.table.table import Table

if TYPE_CHECKING:
    from crypsis.rulebook import Rulebook

UNTOUCHED, PLAIN = "untouched", "plain MDAV"
"""The baseline that is the original itself, and the one that is beside every card."""
MADE_UP_TO = 20_000
"""Records up to which plain MDAV is made for a card."""


class SolutionAccess:
    """The solutions of a run, one by one.

    Attributes
    ----------
    plan : Plan
        The plan of the run.
    lock : Lock
        What the run was started with.
    """

    plan: Plan
    lock: Lock

    if TYPE_CHECKING:

        @property
        def front(self) -> Front: ...

        @property
        def original(self) -> Table: ...

        @property
        def _decoded(self) -> DecodedTables: ...

    def choose(self, pick: Solution | str | int = DEFAULT_PICK) -> Solution:
        """Choose a solution.

        Parameters
        ----------
        pick : Solution, str or int
            A solution, its number, "faithful" (the least loss within all limits, the default), "balanced", "safest",
            "knee", or one of these words with a condition: "faithful where risk < 5".

        Returns
        -------
        Solution
        """
        return pick if isinstance(pick, Solution) else self.front.pick(pick)

    def weighed(self, importance: Mapping[str, float]) -> Front:
        """The front by other importances of the columns, from what was measured: nothing is searched again.

        Parameters
        ----------
        importance : mapping of str to float
            0 to 5 by column; others keep that of the plan.

        Returns
        -------
        Front
        """
        declared = {n: c.importance for n, c in self.plan.columns.items() if c.role is Role.QUASI_IDENTIFIER}
        losses = [choice.name for choice in self.plan.measures.loss]
        return weighed(self.front, {**declared, **importance}, losses)

    def decode(self, pick: Solution | str | int = DEFAULT_PICK) -> Table:
        """The masked table of a solution.

        Parameters
        ----------
        pick : Solution, str or int
            Which solution: see `choose`.

        Returns
        -------
        Table
        """
        return self._decoded[self.choose(pick)]

    def describe(self, pick: Solution | str | int = DEFAULT_PICK) -> MaskingDescription:
        """Describe what a solution does: treatment of each column, class sizes, and which records bear the loss.

        Parameters
        ----------
        pick : Solution, str or int
            Which solution: see `choose`.

        Returns
        -------
        MaskingDescription
        """
        solution = self.choose(pick)
        return describe_masking(self.original, self.decode(solution), solution.family)

    def card(self, pick: Solution | str | int = DEFAULT_PICK, *, general: bool = True) -> UtilityCard:
        """What a solution harmed, worst first: columns, pairs of columns, the whole file, and the declared uses.

        Parameters
        ----------
        pick : Solution, str or int
            Which solution: see `choose`.
        general : bool
            Whether pMSE is measured, which takes longest.

        Returns
        -------
        UtilityCard
        """
        solution = self.choose(pick)
        masked = self.decode(solution)
        uses = [self._use(use, solution, masked) for use in self.plan.use]
        rules = [RuleHarm(title, counts.created, counts.records) for title, counts in self.rules(solution).items()]
        models: Sequence[Model] = ("pairs", "cart") if general else ()
        beside = self._plain_files(solution)
        return utility_card(self.original, masked, self.plan.useful, uses, rules, general=models, beside=beside)

    def _plain_files(self, but: Solution) -> dict[str, Table]:
        """The masked tables of the other baselines, releasable or not, of which a card asks the same analyses.

        Plain MDAV is made here where the run had no time for it, unless the table is large.
        """
        measured = {each.title: each for each in self.front.baselines if each.title != UNTOUCHED}
        found = {}
        for each in baselines(self.plan, self.original):
            if each.name in measured and measured[each.name].number != but.number:
                found[each.name] = self.decode(measured[each.name])
            elif each.name == PLAIN and each.name not in measured and len(self.original) <= MADE_UP_TO:
                try:
                    masked = completed(each.make(self.original, np.random.default_rng(0)))
                except CrypsisError:  # the table does not allow it
                    continue
                found[each.name] = self._decoded.finish(masked, each.family)
        return found

    def _use(self, use: Use, solution: Solution, masked: Table) -> UseResult:
        """A declared use as it was measured, with what its analysis gave."""
        value, name = solution.figure(use.title), use.measure
        if value is None:
            return UseResult(use.title, None, use.tolerance, name)
        counts = use.build().against(self.original).explain(masked).counts
        return UseResult(use.title, value, use.tolerance, name, counts)

    def rules(self, pick: Solution | str | int = DEFAULT_PICK) -> dict[str, RuleCounts]:
        """How a solution keeps the edit rules of the plan.

        Parameters
        ----------
        pick : Solution, str or int
            Which solution: see `choose`.

        Returns
        -------
        dict of str to RuleCounts
            By the name of the rule: violations created, healed and kept, and records for which it is undecided.
        """
        masked = self.decode(pick)
        return {each.title: count_violations(read_rule(each.holds), self.original, masked) for each in self.plan.rule}

    def frame(self, pick: Solution | str | int = DEFAULT_PICK) -> Any:
        """The masked table of a solution as a frame of the kind of the original, polars by default.

        Parameters
        ----------
        pick : Solution, str or int
            Which solution: see `choose`.

        Returns
        -------
        Frame
        """
        return to_frame(self.decode(pick))

    def release(
        self,
        pick: Solution | str | int = DEFAULT_PICK,
        folder: str | Path = "release",
        *,
        title: str = "Protected microdata",
        rulebook: Rulebook | None = None,
        waivers: Mapping[str, str] | None = None,
        sign: str | Path | None = None,
        preview: bool = False,
    ) -> Solution:
        """Publish a solution under all demands of the plan.

        Parameters
        ----------
        pick : Solution, str or int
            Which solution: see `choose`.
        folder : path
            Must not exist yet.
        title : str
            Title of the reports.
        rulebook : Rulebook, optional
            Rules the file must keep.
        waivers : mapping, optional
            Rule (its id) or finding (such as ``singling-out:weight``) → why it may pass; instead of the plan's own.
        sign : path, optional
            Private key that signs the release: see `new_keys`.
        preview : bool
            Whether the folder is only looked at, and not entered into the ledger of releases.

        Returns
        -------
        Solution
            The released solution.

        Raises
        ------
        ReleaseRefused
            With every reason, if the written file does not meet the demands of the plan.
        """
        from crypsis.run.releasing import (
            ReleaseTerms,
            refuse_infeasible,
            release_solution,
        )  # with reports and templates

        solution = self.choose(pick)
        refuse_infeasible(solution)
        release_solution(
            self.plan,
            self.original,
            self.decode(solution),
            solution,
            Path(folder),
            front=self.front,
            seed=self.lock.seed,
            terms=ReleaseTerms(title, rulebook, waivers, sign, preview),
            beside=self._plain_files(solution),
        )
        return solution
