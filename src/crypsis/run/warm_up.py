"""Compile the kernels of the usual searches ahead of the first run, on a few invented people."""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache

import numpy as np

from crypsis.engines import Serial
from crypsis.kernels.compile import complete
from crypsis.searches import searches
from crypsis.searches.offers import offers
from crypsis.table.example import example

ROWS, K = 60, 5


def warm_up() -> Iterator[str]:
    """Let each search of a first plan take one step, and yield its name when its kernels are compiled.

    The longest compilation comes first: a run that starts meanwhile needs the later ones sooner.

    Yields
    ------
    str
        Name of a search.
    """
    table = example(ROWS, seed=1)
    for offer in reversed(offers(table, K)):
        if offer.drawback:
            continue
        search = searches.build(offer.name, **offer.settings)
        encoding = search.encoding(table)
        problem = search.problem(encoding, None, np.random.default_rng(0))
        state = problem.strategy.begin(problem, np.random.default_rng(0), Serial())
        state = problem.strategy.advance(problem, state, Serial())
        for genome in state.frontier.genomes[:1]:
            encoding.decode(problem.expressed(genome))
        yield offer.name
    with suppress(OSError):  # without a place to write it, the next run compiles ahead again
        complete().parent.mkdir(parents=True, exist_ok=True)
        complete().touch()


@cache
def compile_ahead() -> None:
    """Start a process that compiles the kernels of the usual searches, unless they are compiled; it ends with this one.

    Whichever of the two needs a kernel first compiles it, and the other takes it from the cache.
    """
    if (os.cpu_count() or 1) < 2 or complete().exists():
        return
    command = [sys.executable, "-c", "from crypsis.run.warm_up import warm_up; list(warm_up())"]
    nothing = subprocess.DEVNULL
    worker = subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing)
    atexit.register(_end, worker)


def _end(worker: subprocess.Popen[bytes]) -> None:
    worker.terminate()
    worker.wait()
