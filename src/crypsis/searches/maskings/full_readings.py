"""Children read in full, whatever the measures: the same children survive as by tallies where both can read them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from crypsis.encodings.masked_file import masked_file_key
from crypsis.engines import Engine
from crypsis.evolution.problem import Evaluate, Scores
from crypsis.kernels.trials import preferred
from crypsis.searches.maskings.constraints import Constraints
from crypsis.searches.maskings.ledgers import Ledgers
from crypsis.searches.maskings.trials import Codes, Floats, Ints, Offspring, Parent, Proposal, rejected


@dataclass(frozen=True, eq=False)
class FullReadings:
    """Every child is read in full, wherever the engine puts it: for measures whose tallies nobody follows.

    Parameters
    ----------
    evaluate : callable
        Codes → loss and risk.
    constraints : Constraints
        What every file keeps.
    neutral : bool
        Whether a child worth the same may take its parent's place.
    unread : Ledgers
        Tallies without a measure: where a change may be aimed.
    """

    evaluate: Evaluate
    constraints: Constraints
    neutral: bool
    unread: Ledgers = field(repr=False)

    def score(self, codes: Codes, key: bytes) -> Scores:
        """Loss and risk of a file."""
        return self.evaluate(codes)

    def aim(self, parent: Parent, changes: Ints, draws: Floats, share: float) -> None:
        """Aim a share of the changes at where risk or loss sits, in place; any record may carry the risk."""
        self.unread.aim(parent, changes, draws, share)

    def run(self, proposals: Sequence[Proposal], engine: Engine) -> list[Offspring | None]:
        """One child for each proposal, by the engine."""
        return engine.map(_read_in_full, proposals, (self.evaluate, self.constraints, self.neutral))


def _read_in_full(shared: tuple[Evaluate, Constraints, bool], proposal: Proposal) -> Offspring | None:
    """The child of one proposal; what `Ledgers` would make of it."""
    evaluate, constraints, neutral = shared
    parent, changes, codes = proposal.parent, proposal.changes, proposal.codes
    if changes is None:
        if codes is None or np.array_equal(codes, parent.codes) or not constraints.hold(codes):
            return None
        loss, risk = evaluate(codes)
        survives = preferred(loss, risk, parent.scores, parent.goal, neutral)
        return Offspring(codes, (loss, risk), survives, key=masked_file_key(codes) if survives else b"")
    codes, pair = parent.codes.copy(), parent.scores
    tried, kept, last, loss, risk = 0, 0, -1, np.nan, np.nan
    for place, (row, column, code) in enumerate(changes):
        old, codes[row, column] = codes[row, column], code
        if code != old and not constraints.broken(codes[row : row + 1]).any():
            tried, last, (loss, risk) = tried + 1, place, evaluate(codes)
            if preferred(loss, risk, pair, parent.goal, neutral) and constraints.models_hold(codes):
                kept, pair = kept + 1, np.array([loss, risk])
                continue
        codes[row, column] = old
    if kept:
        return Offspring(codes, tuple(pair.tolist()), True, tried, masked_file_key(codes))
    return rejected(parent, changes, last, (loss, risk), tried, constraints)
