"""Long work in pieces: it can be stopped between any two of them, and pieces of one batch can run side by side.

Such work is a generator. It yields batches of pieces, calls without arguments that do not depend on each other, is sent
their results in order, and returns its own. An exception of a piece is raised where its batch was yielded.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from functools import partial
from typing import Any, Generic, TypeAlias, TypeVar

from crypsis.engines import Mapper, Serial

T = TypeVar("T")
Piece = Callable[[], Any]
Pieces: TypeAlias = Generator[Sequence[Piece], list[Any], T]
"""Work that returns a T."""

_Outcome = tuple[Any, Exception | None]


def _attempt(_: None, piece: Piece) -> _Outcome:
    try:
        return piece(), None
    except Exception as error:  # noqa: BLE001 - raised again by the work it belongs to
        return None, error


class Underway(Generic[T]):
    """Work that is done a few pieces at a time.

    batch  the pieces that are not done yet, before the work goes on
    result  what the work returned, once it is done

    Examples
    --------
    >>> def five():
    ...     return sum((yield [lambda: 9, lambda: 16])) ** 0.5
    >>> work = Underway(five())
    >>> work.advance(), work.advance(), work.result
    (False, True, 5.0)
    """

    def __init__(self, work: Pieces[T]) -> None:
        self.result: T | None = None
        self.done = False
        self.batch: list[Piece] = []
        self._work, self._outcomes = work, list[_Outcome]()
        self._resume(lambda: next(work))

    def advance(self, engine: Mapper | None = None, most: int = 1) -> bool:
        """Do the next pieces.

        engine  where they are done; this thread by default
        most  how many of the batch at most
        returns  whether the work is done

        Raises
        ------
        Exception
            What a piece raised and the work did not handle.
        """
        self.take((engine or Serial()).map(_attempt, self.batch[:most]))
        return self.done

    def take(self, outcomes: Sequence[_Outcome]) -> None:
        """Take in what the next pieces gave; after the last of a batch the work goes on."""
        self._outcomes += outcomes
        self.batch = self.batch[len(outcomes) :]
        if self.batch or self.done:
            return
        known, self._outcomes = self._outcomes, []
        raised = next((error for _, error in known if error is not None), None)
        if raised is not None:
            self._resume(lambda: self._work.throw(raised))
        else:
            self._resume(lambda: self._work.send([value for value, _ in known]))

    def _resume(self, go_on: Callable[[], Sequence[Piece]]) -> None:
        try:
            self.batch = list(go_on())
        except StopIteration as end:
            self.result, self.done = end.value, True


def complete(work: Pieces[T]) -> T:
    """Do all pieces one after the other.

    Parameters
    ----------
    work : generator
        Yields batches of pieces.

    Returns
    -------
    object
        What the work returns.
    """
    underway = Underway(work)
    while not underway.done:
        underway.advance()
    return underway.result  # type: ignore[return-value]


def together(works: Sequence[Pieces[T]]) -> Pieces[list[T]]:
    """Several works side by side, batch by batch.

    returns  their results in order
    """
    begun = [Underway(work) for work in works]
    while not all(each.done for each in begun):
        open_ = [each for each in begun if not each.done]
        outcomes = yield [partial(_attempt, None, piece) for each in open_ for piece in each.batch]
        for each in open_:
            own, outcomes = outcomes[: len(each.batch)], outcomes[len(each.batch) :]
            each.take(own)
    return [each.result for each in begun]  # type: ignore[misc]
