"""How children are scored and what every file keeps: tallies that follow changes, full readings, constraints."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from crypsis.encodings.masked_file import MaskedFileEncoding, masked_file_key
from crypsis.engines import Engine
from crypsis.errors import SearchError, listing
from crypsis.evolution.problem import Evaluate, Genome, Scores
from crypsis.kernels import mutations as kernels
from crypsis.kernels.arrays import Floats
from crypsis.kernels.ledger import MaskingTrial
from crypsis.kernels.mutations import aim, halves, is_preferred
from crypsis.measures.categorical_ledger import Seven, Stack
from crypsis.measures.categories import Pairing
from crypsis.measures.measure import measures
from crypsis.measures.objective import Objective
from crypsis.privacy.model import PrivacyModel

Ints = NDArray[np.int64]
Codes = NDArray[np.signedinteger[Any]]
Rule = Mapping[str, str]
"""Column → category: a combination that no masked record may have."""
Allowed = Callable[[Mapping[str, str | None]], bool]
"""Whether a masked record may hold these labels (None: missing), column by column."""


# -- What a masked file may hold: combinations of categories, and privacy models every file must satisfy.

MOST_COMBINATIONS = 2_000_000


@dataclass(frozen=True, eq=False)
class Constraints:
    """What every file of a population keeps."""

    encoding: MaskedFileEncoding  # how codes become a table, for the models
    allowed: NDArray[np.bool_]  # by combination of codes, found by the `strides`; empty if everything is allowed
    strides: NDArray[np.int64]  # int64[p]: distance of a column's codes in `allowed`
    models: tuple[PrivacyModel, ...] = ()  # judged on the decoded table

    @classmethod
    def of(
        cls,
        encoding: MaskedFileEncoding,
        forbidden: Sequence[Rule] = (),
        allowed: Allowed | None = None,
        models: Sequence[PrivacyModel] = (),
    ) -> Constraints:
        """From forbidden combinations, a rule of the user's own, and privacy models."""
        labels, names = encoding.labels, encoding.context.names
        widths = [len(known) for known in labels]
        if not forbidden and allowed is None:
            return cls(encoding, np.empty(0, dtype=np.bool_), np.zeros(len(widths), dtype=np.int64), tuple(models))
        if math.prod(widths) > MOST_COMBINATIONS:
            raise SearchError(
                f"constraints on {math.prod(widths)} combinations of categories are too many; protect fewer columns"
            )
        grid = np.ones(widths, dtype=np.bool_)
        for rule in forbidden:
            problem = scoring_constraint_obstacle(rule, encoding)
            if problem:
                raise SearchError(problem)
            where = (labels[j].index(rule[name]) if name in rule else slice(None) for j, name in enumerate(names))
            grid[tuple(where)] = False
        if allowed is not None:
            for cell in product(*(range(width) for width in widths)):
                held = {name: labels[j][cell[j]] for j, name in enumerate(names)}
                grid[cell] = grid[cell] and allowed(held)
        strides = np.array([math.prod(widths[j + 1 :]) for j in range(len(widths))], dtype=np.int64)
        return cls(encoding, grid.ravel(), strides, tuple(models))

    def find_broken(self, codes: Codes) -> NDArray[np.bool_]:
        """bool[n]: records that hold a combination they may not."""
        if not len(self.allowed):
            return np.zeros(len(codes), dtype=np.bool_)
        return np.asarray(~self.allowed[codes @ self.strides])

    def hold(self, codes: Codes) -> bool:
        """Whether a file keeps every constraint."""
        return not self.find_broken(codes).any() and self.models_hold(codes)

    def models_hold(self, codes: Codes) -> bool:
        """Whether the decoded file satisfies every model."""
        if not self.models:
            return True
        table = self.encoding.decode(codes)
        return all(model.judge(table).holds for model in self.models)


def scoring_constraint_obstacle(rule: Rule, encoding: MaskedFileEncoding) -> str:
    """Scoring of children in a search: why a constraint does not fit the columns; empty if it does."""
    labels = dict(zip(encoding.context.names, encoding.labels, strict=True))
    unknown = sorted(set(rule) - set(labels))
    if unknown or not rule:
        return f"a forbidden combination names {listing(unknown) or 'nothing'}; use protected columns"
    for name, label in rule.items():
        if label not in labels[name]:
            return f"a forbidden combination uses a category that column {name!r} does not have"
    return ""


# -- Parents, what is tried on them, and their children.


@dataclass(frozen=True, eq=False)
class Parent:
    """A file of the population: codes [n, p], their key, loss and risk, and its goal (see `kernels.fitness`)."""

    codes: Codes
    key: bytes
    scores: Floats
    goal: Floats


@dataclass(frozen=True, eq=False)
class Proposal:
    """What is tried on a parent: single changes in turn (int64[k, 3]: row, column, code), or a whole child."""

    parent: Parent
    changes: Ints | None = None
    codes: Codes | None = None


@dataclass(frozen=True, eq=False)
class Offspring:
    """A child with its scores, whether it takes its parent's place (then with its key), and how many were scored.

    Of changes in turn the child has all that were kept; where none was, the last one tried.
    """

    codes: Codes
    scores: Scores
    survives: bool
    tried: int = 1
    key: bytes = b""


class Trials(Protocol):
    """How children are scored and judged: by tallies that follow changes, or in full."""

    def score(self, codes: Codes, key: bytes) -> Scores:
        """Loss and risk of a file."""

    def aim(self, parent: Parent, changes: Ints, draws: Floats, share: float) -> None:
        """Aim a share of the changes at where risk or loss sits, in place."""

    def run(self, proposals: Sequence[Proposal], engine: Engine) -> list[Offspring | None]:
        """One child for each proposal; None where nothing could be tried."""


def _rejected_child(
    parent: Parent, changes: Ints, last: int, scores: Scores, tried: int, constraints: Constraints
) -> Offspring | None:
    """The child with the last change tried, for the front to see; None if there is none or it breaks a model."""
    if last < 0:
        return None
    row, column, code = changes[last]
    codes = parent.codes.copy()
    codes[row, column] = code
    return Offspring(codes, scores, False, tried) if constraints.models_hold(codes) else None


# -- Children scored by tallies that follow their changes, so that what did not change is not counted again.

PER_AMENDMENT, PER_KEY, PER_ROW = 150.0, 50.0, 90.0
"""Nanoseconds, roughly: an amendment per original tuple; a full count per margin of a tuple and per record."""


class Ledgers:
    """Tallies of files at hand, found by key; a file whose tallies are gone is counted again, with the same bits.

    `neutral`: whether a child worth the same may take its parent's place.
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

    def find_slot(self, codes: Codes, key: bytes) -> int:
        """Where the tallies of a file are; counted if they are not at hand."""
        slot = self._slots.pop(key, None)
        if slot is None:
            slot = self._spare_slot()
            self._fill(slot, codes)
        self._slots[key] = slot
        return slot

    def _spare_slot(self) -> int:
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
        loss, risk = self.trial.pairs[self.find_slot(codes, key)].tolist()
        return loss, risk

    def aim(self, parent: Parent, changes: Ints, draws: Floats, share: float) -> None:
        """Aim a share of the changes at where risk or loss sits, in place."""
        slot = self.find_slot(parent.codes, parent.key)
        self.trial.goals[slot], self.trial.pairs[slot] = parent.goal, parent.scores
        aim(self.stack.frame, self.stack.tallies, self.trial, slot, changes, draws, share)

    def run(self, proposals: Sequence[Proposal], engine: Engine) -> list[Offspring | None]:
        """One child for each proposal, here: the tallies cannot be sent to workers."""
        return [
            self._try_changes(p.parent, p.changes) if p.changes is not None else self._try_crossover(p.parent, p.codes)
            for p in proposals
        ]

    def _try_changes(self, parent: Parent, changes: Ints) -> Offspring | None:
        slot = self.find_slot(parent.codes, parent.key)
        del self._slots[parent.key]  # whoever interrupts must not find tallies half changed
        self.trial.goals[slot] = parent.goal
        tried, kept, last, loss, risk = self._attempt_changes(slot, changes)
        if kept:
            codes = self.stack.tallies.codes[slot].astype(parent.codes.dtype)
            loss, risk = self.trial.pairs[slot].tolist()
            return Offspring(codes, (loss, risk), True, tried, self._replace_parent(parent, codes, slot))
        self._slots[parent.key] = slot
        return _rejected_child(parent, changes, last, (loss, risk), tried, self._constraints)

    def _attempt_changes(self, slot: int, changes: Ints) -> tuple[int, int, int, float, float]:
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

    def _try_crossover(self, parent: Parent, codes: Codes | None) -> Offspring | None:
        if codes is None or not self._constraints.hold(codes):
            return None
        changed = int((codes != parent.codes).any(axis=1).sum())
        if not changed:
            return None
        rows, tuples = len(codes), len(self.stack.frame.tuples)
        afresh = PER_ROW * rows + PER_KEY * (2 * tuples << codes.shape[1])
        if changed * tuples * PER_AMENDMENT < afresh:
            source = self.find_slot(parent.codes, parent.key)
            slot = self._spare_slot()
            self.stack.copy(source, slot)
            kernels.follow(self.stack.frame, self.stack.tallies, slot, np.ascontiguousarray(codes, dtype=np.int32))
            self._read(slot)
        else:
            slot = self._spare_slot()
            self._fill(slot, codes)
        loss, risk = self.trial.pairs[slot].tolist()
        survives = kernels.is_preferred(loss, risk, parent.scores, parent.goal, self._neutral)
        if not survives:
            self._free.append(slot)
            return Offspring(codes, (loss, risk), False)
        return Offspring(codes, (loss, risk), True, key=self._replace_parent(parent, codes, slot))

    def _replace_parent(self, parent: Parent, codes: Codes, slot: int) -> bytes:
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
    """Every child is read in full, wherever the engine puts it: for measures whose tallies nobody follows."""

    evaluate: Evaluate  # codes → loss and risk
    constraints: Constraints  # what every file keeps
    neutral: bool  # whether a child worth the same may take its parent's place
    unread: Ledgers = field(repr=False)  # tallies without a measure: where a change may be aimed

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
        survives = is_preferred(loss, risk, parent.scores, parent.goal, neutral)
        return Offspring(codes, (loss, risk), survives, key=masked_file_key(codes) if survives else b"")
    codes, pair = parent.codes.copy(), parent.scores
    tried, kept, last, loss, risk = 0, 0, -1, np.nan, np.nan
    for place, (row, column, code) in enumerate(changes):
        old, codes[row, column] = codes[row, column], code
        if code != old and not constraints.find_broken(codes[row : row + 1]).any():
            tried, last, (loss, risk) = tried + 1, place, evaluate(codes)
            if is_preferred(loss, risk, pair, parent.goal, neutral) and constraints.models_hold(codes):
                kept, pair = kept + 1, np.array([loss, risk])
                continue
        codes[row, column] = old
    if kept:
        return Offspring(codes, tuple(pair.tolist()), True, tried, masked_file_key(codes))
    return _rejected_child(parent, changes, last, (loss, risk), tried, constraints)


# -- Which measures are followed by tallies, and their first count.


@dataclass(frozen=True, eq=False)
class FreshCounts:
    """Loss and risk of a file, counted afresh."""

    pairing: Pairing = field(repr=False)
    measured: Seven

    def __call__(self, genome: Genome) -> Scores:
        """Mean of the losses, mean of the risks."""
        stack = Stack(self.pairing, self.measured, 1)
        stack.fill(0, np.ascontiguousarray(genome, dtype=np.int32))
        loss, risk = halves(stack.read(0), stack.frame.chosen)
        return float(loss), float(risk)


def own_measures(encoding: MaskedFileEncoding) -> Seven:
    """Every registered measure of categories that has tallies and can read the columns."""
    chosen = [measures[name](columns=encoding.context.names) for name in measures if measures[name].tally]
    return Seven.of(*(measure for measure in chosen if not measure.obstacle(encoding.table)))


def measures_for_quick_scoring(objective: Objective, encoding: MaskedFileEncoding) -> Seven | None:
    """For the scoring of children in a search: the measures, if tallies follow all of them; else None."""
    readers = [*objective.losses, *objective.risks]
    chosen = [reader.measure for reader in readers]
    bound = [cast(Any, each) for reader in readers for each in reader.bound.values()]
    if not all(each.follows for each in chosen) or len(bound) > len({each.tally for each in chosen}):
        return None
    same = all(each.context.names == encoding.context.names for each in bound)
    return Seven.of(*chosen) if same else None
