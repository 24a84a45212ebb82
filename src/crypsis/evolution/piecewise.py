"""Scores worked out in pieces: the scoring of a candidate may take several quanta.

What is worked out between two quanta is no part of the state. A run that goes on from a checkpoint begins the pieces of
its next candidates again, and finds the same scores.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from crypsis.engines import Engine
from crypsis.pieces import Pieces, Underway, completed, together

if TYPE_CHECKING:
    from crypsis.evolution.problem import Genome, Scores

RECORDS = 100_000
"""Records that the pieces of one quantum read, unless one piece for each worker reads more."""


@dataclass(eq=False)
class PiecewiseScores:
    """An evaluation of candidates whose work can be divided between quanta.

    scoring  candidate → its scores, in pieces
    key  candidate → bytes, equal for equal scores
    records  of the table, which a piece reads
    """

    scoring: Callable[[Genome], Pieces[Scores]]
    key: Callable[[Genome], bytes]
    records: int
    _keys: tuple[bytes, ...] = field(default=(), repr=False)
    _work: Underway[list[Scores]] | None = field(default=None, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_keys": (), "_work": None}

    def __call__(self, candidate: Genome) -> Scores:
        """The scores: those that were worked out, or worked out now."""
        key = self.key(candidate)
        if self._work is not None and self._work.result is not None and key in self._keys:
            return self._work.result[self._keys.index(key)]
        return completed(self.scoring(candidate))

    def ready(self, candidates: Sequence[Genome], engine: Engine) -> bool:
        """Work out a few pieces of the scores of all candidates; whether none is left.

        engine  in other processes they are worked out as they are scored
        """
        if not engine.here or not candidates:
            return True
        keys = tuple(self.key(each) for each in candidates)
        if self._work is None or keys != self._keys:
            self._keys, self._work = keys, Underway(together([self.scoring(each) for each in candidates]))
        left = max(engine.workers, RECORDS // max(self.records, 1))
        while not self._work.done and left > 0:
            some = min(len(self._work.batch), left)
            self._work.advance(engine, some)
            left -= max(some, 1)
        return self._work.done
