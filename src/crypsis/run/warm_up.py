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
from crypsis.kernels.compile import is_compiled, locate_compile_mark
from crypsis.kernels.rollup import visit
from crypsis.masking import LocalRecoding, Microaggregation
from crypsis.measures import assess
from crypsis.searches import searches
from crypsis.searches.pbg_ea import evaluate_lattice
from crypsis.searches.search import SearchOffer, offers
from crypsis.table.example import example
from crypsis.table.table import Table

ROWS, K = 60, 5
QUANTA = 8
"""Quanta after which a search has called all its kernels on so few rows."""


def warm_up(walk: bool = True) -> Iterator[str]:
    """Let each search of a first plan take its first steps, and yield its name when its kernels are compiled.

    A run that starts meanwhile begins with the first two searches. So the later ones come first, then what the first
    one needs once it has begun, and what a release measures; the second one comes last.
    """
    table = example(ROWS, seed=1)
    worth = [offer for offer in offers(table, K) if not offer.drawback]
    for offer in [*reversed(worth[2:]), *worth[:1]]:
        _take_steps(offer, table)
        yield offer.name
    assess(table, Microaggregation(k=K).mask(table, np.random.default_rng(0)), family=Microaggregation.family)
    yield "release"
    LocalRecoding(k=K).mask(table, np.random.default_rng(0))
    yield "baselines"
    if walk:
        evaluate_lattice(table, k=K, prune=K)
        yield "lattice of many nodes"
    for offer in worth[1:2]:
        _take_steps(offer, table)
        yield offer.name
    mark = locate_compile_mark()
    if mark is not None:
        with suppress(OSError):  # without a place to write it, the next run compiles ahead again
            mark.parent.mkdir(parents=True, exist_ok=True)
            mark.touch()


def _take_steps(offer: SearchOffer, table: Table) -> None:
    """The first quanta of a search: what refines its first candidates is another kernel than what makes them."""
    search = searches.build(offer.name, **offer.settings)
    encoding = search.encoding(table)
    problem = search.problem(encoding, None, np.random.default_rng(0))
    state = problem.strategy.begin(problem, np.random.default_rng(0), Serial())
    for _ in range(QUANTA):
        state = problem.strategy.advance(problem, state, Serial())
    for genome in state.frontier.genomes[:1]:
        encoding.decode(problem.express_candidate(genome))


@cache
def compile_ahead(walk: bool = True) -> None:
    """Start a process that compiles the kernels of the usual searches, unless they are compiled; it ends with this one.

    Whichever of the two needs a kernel first compiles it, and the other takes it from the cache. Where no compiled
    kernel is kept there is nothing to take, and no process is started.
    """
    mark = locate_compile_mark()
    if mark is None or (os.cpu_count() or 1) < 2 or (mark.exists() and (is_compiled(visit) or not walk)):
        return
    compiling = f"import gc; gc.disable(); from crypsis.run.warm_up import warm_up; list(warm_up({walk}))"
    command = [sys.executable, "-c", compiling]  # it ends before garbage matters
    nothing = subprocess.DEVNULL
    worker = subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing)
    atexit.register(_end, worker)


def _end(worker: subprocess.Popen[bytes]) -> None:
    worker.terminate()
    worker.wait()
