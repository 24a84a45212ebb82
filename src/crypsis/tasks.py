"""Long work in tasks: it can be stopped between any two of them, and tasks of one batch can run side by side.

Such work is a generator. It yields batches of tasks, calls without arguments that do not depend on each other, is sent
their results in order, and returns its own. An exception of a task is raised where its batch was yielded.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from functools import partial
from typing import Any, Generic, TypeAlias, TypeVar

from crypsis.engines import Mapper, Serial

T = TypeVar("T")
Task = Callable[[], Any]
Tasks: TypeAlias = Generator[Sequence[Task], list[Any], T]
"""Work that returns a T."""

_Outcome = tuple[Any, Exception | None]


def _attempt(_: None, task: Task) -> _Outcome:
    try:
        return task(), None
    except Exception as error:  # noqa: BLE001 - raised again by the work it belongs to
        return None, error


class Underway(Generic[T]):
    """Work that is done a few tasks at a time.

    >>> def five():
    ...     return sum((yield [lambda: 9, lambda: 16])) ** 0.5
    >>> work = Underway(five())
    >>> work.advance(), work.advance(), work.result
    (False, True, 5.0)
    """

    def __init__(self, work: Tasks[T]) -> None:
        self.result: T | None = None
        self.done = False
        self.batch: list[Task] = []
        self._work, self._outcomes = work, list[_Outcome]()
        self._resume(lambda: next(work))

    def advance(self, engine: Mapper | None = None, most: int = 1) -> bool:
        """Do the next tasks.

        `most`: how many of the batch at most; returns whether the work is done.
        """
        self.take((engine or Serial()).map(_attempt, self.batch[:most]))
        return self.done

    def take(self, outcomes: Sequence[_Outcome]) -> None:
        """Take in what the next tasks gave; after the last of a batch the work goes on."""
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

    def _resume(self, go_on: Callable[[], Sequence[Task]]) -> None:
        try:
            self.batch = list(go_on())
        except StopIteration as end:
            self.result, self.done = end.value, True


def complete(work: Tasks[T]) -> T:
    """Do all tasks one after the other."""
    try:
        batch = next(work)
        while True:
            results = []
            try:
                for task in batch:
                    results.append(task())
            except Exception as error:  # noqa: BLE001 - raised again by the work it belongs to
                batch = work.throw(error)
            else:
                batch = work.send(results)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


def together(works: Sequence[Tasks[T]]) -> Tasks[list[T]]:
    """Several works side by side, batch by batch.

    Returns their results in order.
    """
    begun = [Underway(work) for work in works]
    while not all(each.done for each in begun):
        open_ = [each for each in begun if not each.done]
        outcomes = yield [partial(_attempt, None, task) for each in open_ for task in each.batch]
        for each in open_:
            own, outcomes = outcomes[: len(each.batch)], outcomes[len(each.batch) :]
            each.take(own)
    return [each.result for each in begun]  # type: ignore[misc]
