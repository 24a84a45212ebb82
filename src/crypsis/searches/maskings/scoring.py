"""Children scored by tallies that follow their changes, so that what did not change is not counted again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from crypsis.encodings.masked_file import masked_file_key
from crypsis.engines import Engine
from crypsis.evolution.problem import Evaluate, Scores
from crypsis.kernels import mutations as kernels
from crypsis.kernels.ledger import MaskingTrial
from crypsis.kernels.mutations import aim, preferred
from crypsis.measures.categorical_ledger import Seven, Stack
from crypsis.measures.categories import Pairing
from crypsis.searches.maskings.constraints import Constraints
from crypsis.searches.maskings.strategy import Codes, Floats, Ints, Offspring, Parent, Proposal, rejected_child

PER_AMENDMENT, PER_KEY, PER_ROW = 150.0, 50.0, 90.0
"""Nanoseconds, roughly: an amendment per original tuple; a full count per margin of a tuple and per record."""


class Ledgers:
    """Tallies of files at hand, found by key; a file whose tallies are gone is counted again, with the same bits.

    Parameters
    ----------
    pairing : Pairing
        The original, and the numbering of all files.
    measured : Seven
        What is tallied.
    constraints : Constraints
        What every file keeps.
    most : int
        Files whose tallies are kept at hand; fewer where memory is short.
    neutral : bool
        Whether a child worth the same may take its parent's place.
    """

    def __init__(self, pairing: Pairing, measured: Seven, constraints: Constraints, most: int, neutral: bool) -> None:
        self._pairing, self._measured, self._most = pairing, measured, most
        self._constraints, self._neutral = constraints, neutral
        self._slots: dict[bytes, int] = {}

    @cached_property
    def stack(self) -> Stack:
        """The tallies; made when the first file is counted."""
        return Stack(self._pairing, self._measured, max(2, self._most), least=2)

    @cached_property
    def trial(self) -> MaskingTrial:
        """What is held against the file in each slot."""
        context, size = self._pairing.context, len(self.stack.tallies.codes)
        return MaskingTrial(
            goals=np.ones((size, 4)),
            readings=np.full((size, len(Seven._fields)), np.nan),
            pairs=np.full((size, 2), np.nan),
            sizes=np.array(context.sizes, dtype=np.int64),
            ordinal=np.array(context.ordinal, dtype=np.bool_),
            allowed=self._constraints.allowed,
            strides=self._constraints.strides,
        )

    @cached_property
    def _free(self) -> list[int]:
        return list(range(len(self.stack.tallies.codes)))[::-1]

    def slot(self, codes: Codes, key: bytes) -> int:
        """Where the tallies of a file are; counted if they are not at hand."""
        slot = self._slots.pop(key, None)
        if slot is None:
            slot = self._spare()
            self._fill(slot, codes)
        self._slots[key] = slot
        return slot

    def _spare(self) -> int:
        """A slot that may be overwritten; if all are taken, that of the file not asked for longest."""
        if not self._free and not self._slots:  # all were given out when somebody interrupted
            self._free += range(len(self.stack.tallies.codes))
        elif not self._free:
            self._free.append(self._slots.pop(next(iter(self._slots))))
        return self._free.pop()

    def _fill(self, slot: int, codes: Codes) -> None:
        self.stack.fill(slot, np.ascontiguousarray(codes, dtype=np.int32))
        self._read(slot)

    def _read(self, slot: int) -> None:
        self.trial.readings[slot] = self.stack.read(slot)
        self.trial.pairs[slot] = kernels.halves(self.trial.readings[slot], self.stack.frame.chosen)

    def score(self, codes: Codes, key: bytes) -> Scores:
        """Loss and risk of a file."""
        loss, risk = self.trial.pairs[self.slot(codes, key)].tolist()
        return loss, risk

    def aim(self, parent: Parent, changes: Ints, draws: Floats, share: float) -> None:
        """Aim a share of the changes at where risk or loss sits, in place."""
        slot = self.slot(parent.codes, parent.key)
        self.trial.goals[slot], self.trial.pairs[slot] = parent.goal, parent.scores
        aim(self.stack.frame, self.stack.tallies, self.trial, slot, changes, draws, share)

    def run(self, proposals: Sequence[Proposal], engine: Engine) -> list[Offspring | None]:
        """One child for each proposal, here: the tallies cannot be sent to workers."""
        return [
            self._changed(p.parent, p.changes) if p.changes is not None else self._crossed(p.parent, p.codes)
            for p in proposals
        ]

    def _changed(self, parent: Parent, changes: Ints) -> Offspring | None:
        slot = self.slot(parent.codes, parent.key)
        del self._slots[parent.key]  # whoever interrupts must not find tallies half changed
        self.trial.goals[slot] = parent.goal
        tried, kept, last, loss, risk = self._attempts(slot, changes)
        if kept:
            codes = self.stack.tallies.codes[slot].astype(parent.codes.dtype)
            loss, risk = self.trial.pairs[slot].tolist()
            return Offspring(codes, (loss, risk), True, tried, self._replaced(parent, codes, slot))
        self._slots[parent.key] = slot
        return rejected_child(parent, changes, last, (loss, risk), tried, self._constraints)

    def _attempts(self, slot: int, changes: Ints) -> tuple[int, int, int, float, float]:
        """As the kernel's; where models must hold, change by change, each judged when it would be kept."""
        stack, trial, neutral = self.stack, self.trial, self._neutral
        if not self._constraints.models:
            return kernels.attempts(stack.frame, stack.tallies, trial, slot, changes, neutral)
        tried, kept, last, loss, risk = 0, 0, -1, np.nan, np.nan
        for place, change in enumerate(changes):
            row, before = int(change[0]), stack.tallies.codes[slot, change[0]].copy()
            readings, pair = trial.readings[slot].copy(), trial.pairs[slot].copy()
            one, better, _, *scores = kernels.attempts(
                stack.frame, stack.tallies, trial, slot, changes[place : place + 1], neutral
            )
            if one:
                tried, last, (loss, risk) = tried + 1, place, scores
            if better and self._constraints.models_hold(stack.tallies.codes[slot]):
                kept += 1
            elif better:
                stack.amend(slot, row, before)
                trial.readings[slot], trial.pairs[slot] = readings, pair
        return tried, kept, last, loss, risk

    def _crossed(self, parent: Parent, codes: Codes | None) -> Offspring | None:
        if codes is None or not self._constraints.hold(codes):
            return None
        changed = int((codes != parent.codes).any(axis=1).sum())
        if not changed:
            return None
        rows, tuples = len(codes), len(self.stack.frame.tuples)
        afresh = PER_ROW * rows + PER_KEY * (2 * tuples << codes.shape[1])
        if changed * tuples * PER_AMENDMENT < afresh:
            source = self.slot(parent.codes, parent.key)
            slot = self._spare()
            self.stack.copy(source, slot)
            kernels.follow(self.stack.frame, self.stack.tallies, slot, np.ascontiguousarray(codes, dtype=np.int32))
            self._read(slot)
        else:
            slot = self._spare()
            self._fill(slot, codes)
        loss, risk = self.trial.pairs[slot].tolist()
        survives = kernels.preferred(loss, risk, parent.scores, parent.goal, self._neutral)
        if not survives:
            self._free.append(slot)
            return Offspring(codes, (loss, risk), False)
        return Offspring(codes, (loss, risk), True, key=self._replaced(parent, codes, slot))

    def _replaced(self, parent: Parent, codes: Codes, slot: int) -> bytes:
        """The key under which the child's tallies are found from now on; those of its parent are given up."""
        key = masked_file_key(codes)
        for old in (parent.key, key):
            other = self._slots.pop(old, slot)
            if other != slot:
                self._free.append(other)
        self._slots[key] = slot
        return key


# -- Children read in full, whatever the measures: the same children survive as by tallies where both can read them.


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
    return rejected_child(parent, changes, last, (loss, risk), tried, constraints)
