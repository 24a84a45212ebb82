"""A run that is asked to stop ends its step first."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator

import pytest

from crypsis.run.clock import defer_interrupts_of_run


@pytest.fixture(autouse=True)
def interrupts_are_obeyed() -> Iterator[None]:
    """A process in the background begins with Ctrl-C ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_a_signal_waits_for_the_end_of_the_step() -> None:
    done = []
    with pytest.raises(KeyboardInterrupt), defer_interrupts_of_run():  # noqa: PT012
        os.kill(os.getpid(), signal.SIGINT)
        done.append("the rest of the step")
    assert done
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_signal_is_obeyed_at_once() -> None:
    done = []
    with pytest.raises(KeyboardInterrupt), defer_interrupts_of_run():  # noqa: PT012
        os.kill(os.getpid(), signal.SIGINT)
        done.append("after the first")
        os.kill(os.getpid(), signal.SIGINT)
        done.append("after the second")
    assert done == ["after the first"]


def test_a_step_that_fails_keeps_its_own_error() -> None:
    with pytest.raises(ZeroDivisionError), defer_interrupts_of_run():  # noqa: PT012
        os.kill(os.getpid(), signal.SIGINT)
        1 / 0  # noqa: B018


def test_other_threads_change_no_handler() -> None:
    seen = []

    def work() -> None:
        with defer_interrupts_of_run():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]
