"""Points of a run measured in a second process of this machine, while the first one searches.

Threads of one process gain little here: measuring is many short calls that wait for each other. The other process is
told once how points are measured, then a genome at a time. It reads and writes pipes, so that it ends with this one,
however that ends, and nothing unprotected touches a disk.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import time
from collections import deque
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress

from threadpoolctl import ThreadpoolController

from crypsis.encodings.encoding import Description
from crypsis.errors import EngineLost
from crypsis.evolution import Genome
from crypsis.measures.objective import Evaluation
from crypsis.run.search_state import Measuring

Read = tuple[Description, Evaluation]
LAST = 4
"""Points by which the next one is foretold: as long as the longest of them."""
UNPICKLABLE = (pickle.PicklingError, AttributeError, TypeError)
"""What Python raises for settings that only this process knows, such as a class written in a notebook."""


class MeasuringProcess:
    """A process that measures points of the searches of a run, one after the other.

    `measurings`: how those of each search are measured; raises one of `UNPICKLABLE` if they cannot be sent.
    """

    def __init__(self, measurings: Mapping[int, Measuring]) -> None:
        told = pickle.dumps(dict(measurings), protocol=pickle.HIGHEST_PROTOCOL)
        self._worker = subprocess.Popen(
            [sys.executable, "-P", "-c", "from crypsis.run.measuring_process import answer; answer()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            start_new_session=True,  # Ctrl-C asks this process to stop, which then ends the other one
        )
        self._last: deque[float] = deque(maxlen=LAST)
        self._talk = ThreadPoolExecutor(1, thread_name_prefix="crypsis-measuring")
        self._begun = self._talk.submit(self._ask, told)

    @property
    def ready(self) -> bool:
        """Whether it knows how to measure."""
        return self._begun.done() and self._begun.exception() is None

    @property
    def seconds(self) -> float:
        """What one more point takes, about; 0 before the first."""
        return max(self._last, default=0.0)

    def measure(self, search: int, genome: Genome) -> Future[Read]:
        """Measure one more point, after those it was given before; the result raises `EngineLost` if it cannot."""
        return self._talk.submit(self._measure, search, genome)

    def _measure(self, search: int, genome: Genome) -> Read:
        started = time.monotonic()
        read: Read | None = self._ask(pickle.dumps((search, genome), protocol=pickle.HIGHEST_PROTOCOL))
        self._last.append(time.monotonic() - started)
        if read is None:
            raise EngineLost("a point could not be measured in another process")
        return read

    def _ask(self, question: bytes) -> Read | None:
        """Write a question and wait for the answer."""
        assert self._worker.stdin is not None
        assert self._worker.stdout is not None
        try:
            self._worker.stdin.write(question)
            self._worker.stdin.flush()
            return pickle.load(self._worker.stdout)  # type: ignore[no-any-return]
        except (OSError, EOFError, ValueError, pickle.UnpicklingError):
            raise EngineLost("the process that measures points has ended") from None

    def close(self) -> None:
        """End the process, whatever it is doing."""
        self._worker.kill()
        self._talk.shutdown(cancel_futures=True)
        for pipe in (self._worker.stdin, self._worker.stdout):
            if pipe is not None:
                with suppress(OSError):  # what was not written yet
                    pipe.close()
        self._worker.wait()


def answer() -> None:
    """Be the other process: measure what is asked on the standard input until it is closed.

    A point that cannot be measured is answered by nothing: the process that asked measures it and sees why.
    """
    questions, answers = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a library prints is no answer
    with ThreadpoolController().limit(limits=1):  # as in the other process: the number would show in the last digit
        measurings: dict[int, Measuring] = pickle.load(questions)
        read: Read | None = None
        while True:
            pickle.dump(read, answers, protocol=pickle.HIGHEST_PROTOCOL)
            answers.flush()
            try:
                search, genome = pickle.load(questions)
            except EOFError:
                return
            try:
                read = measurings[search](genome)
            except Exception:  # noqa: BLE001 - raised again where the point is measured next
                read = None
