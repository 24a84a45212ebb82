"""Signals that ask a run to stop wait for the end of a step, so that no step is left half done."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def interrupts_deferred() -> Iterator[None]:
    """Hold back the first signal that asks to stop until the block has ended; a second one is obeyed at once.

    A signal without a handler in Python keeps its effect, and outside the main thread, where no signal arrives, nothing
    is changed.

    Examples
    --------
    >>> with interrupts_deferred():
    ...     pass
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    asked = list[int]()
    handlers = {number: signal.getsignal(number) for number in SIGNALS}
    before = {number: handler for number, handler in handlers.items() if callable(handler)}

    def hold(number: int, frame: FrameType | None) -> None:
        if asked:
            before[signal.Signals(number)](number, frame)
        asked.append(number)

    for number in before:
        signal.signal(number, hold)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if asked:
        before[signal.Signals(asked[0])](asked[0], None)
