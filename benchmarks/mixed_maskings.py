"""Masking of mixed files beside other families: loss at equal linkage, and what attacks find that nobody searched with.

    python benchmarks/mixed_maskings.py [compare] [fitted] [rates] [--tables example adult] [--seconds 60] [--seeds 1]

compare  every search alone for so many seconds, with a limit on the risk and no k: the least loss at linkage of at
         most 15, 10 and 5 %; of that solution the worst held-out attack (sets of three and four known columns that no
         search uses, by deviations and by ranges), the mean total variation distance of its categories, and how many
         of them vanished. Rows `honest` ask the same limit of the held-out attacks too, as a release does.
fitted   mixed-masking at 5 %, guided by linkage over all columns alone, by three distances, and by sets of columns
         too: its loss, the most its own attacks find, linkage by ranges, and the most that held-out attacks find.
rates    mixed-masking with rates of moves that follow their success and with fixed ones, the same number of quanta:
         the mean over the limits of loss and of what is found beyond the limit, and the rates at the end.
Tables: the built-in example (1000 records) and 3000 records of Adult (folder CRYPSIS_DATA, else ../shared/data).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import cast

import numpy as np
from models import adult

import crypsis
from crypsis.engines import Serial
from crypsis.measures.linkage_attacks import (
    LinkageAttack,
    attack_credits,
    column_sets_for_linkage,
    searched_linkage_attacks,
)
from crypsis.measures.utility import Distributions
from crypsis.searches.mixed_masking.annealing import ExchangeChains
from crypsis.searches.search import searches
from crypsis.table.attribute import Kind
from crypsis.table.table import Table

LINKAGE = (15.0, 10.0, 5.0)
SEARCHES = ("mixed-masking", "composite", "memetic", "local-recoding")
HELD_OUT_SETS = 24
TABLES: dict[str, Callable[[], Table]] = {"example": lambda: crypsis.example(1000), "adult": lambda: adult(3000)}
QUANTA = 72
"""Two runs of a chain."""


def worst_held_out(table: Table, masked: Table) -> float:
    """The most that linkage finds by a held-out set of columns; generalised columns can be read too."""
    sets = column_sets_for_linkage(table.quasi_identifiers, "held-out", HELD_OUT_SETS)
    return max(
        crypsis.RecordLinkage(columns=known, scaling=scaling).against(table).read(masked)
        for known in sets
        for scaling in ("z", "range")
    )


def compared(name: str, table: Table, search: str, seconds: float, seed: int) -> None:
    """One search alone; a line for every linkage, by linkage and by the held-out attacks too."""
    settings = searches[search].first_settings(table, 3) | ({"k": 3} if "k" in searches[search].model_fields else {})
    names = [n for n in table.quasi_identifiers if table.attribute(n).kind is not Kind.NUMERIC]
    built = searches.build(search, **settings)
    limit = [{"measure": "risk", "at_most": max(LINKAGE)}]
    with crypsis.evolve(table, built, [], budget=f"{seconds:g}s", seed=seed, limit=limit) as run:
        points = sorted(
            ((s.figure("loss"), s.figure("risk"), s) for s in run.front.everything if not s.baseline),
            key=lambda point: (point[0], point[2].number),
        )
        held: dict[int, float] = {}
        for honest in (False, True):
            for most in LINKAGE:
                for loss, risk, solution in points:
                    if risk > most:
                        continue
                    masked = run.decode(solution)
                    if solution.number not in held:
                        held[solution.number] = worst_held_out(table, masked)
                    if honest and held[solution.number] > most:
                        continue
                    harms = Distributions(table).harms(masked, names)
                    print(
                        f"{name:9}{seed:5} {search:16}{'honest' if honest else 'linkage':9}{most:5.0f}"
                        f"{loss:9.2f}{risk:9.2f}{held[solution.number]:10.2f}"
                        f"{np.mean([harm.distance for harm in harms]):7.2f}"
                        f"{sum(harm.vanished for harm in harms):9d}",
                        flush=True,
                    )
                    break
                else:
                    print(f"{name:9}{seed:5} {search:16}{'honest' if honest else 'linkage':9}{most:5.0f}     none")


def fitted(name: str, table: Table, seed: int) -> None:
    """How much a file is fitted to the attacks that guided it."""
    known = tuple(table.quasi_identifiers)
    guides = {"all columns": [LinkageAttack(known)], "three distances": searched_linkage_attacks(known, 0)}
    guides["24 sets too"] = searched_linkage_attacks(known, 24)
    for title, attacks in guides.items():
        search = crypsis.MixedMaskingSearch(risk_limits=1, lowest=5.0)
        problem = search.pose(table, None, np.random.default_rng(seed))
        chains = cast(ExchangeChains, problem.strategy)
        problem = replace(problem, strategy=replace(chains, space=replace(chains.space, attacks=tuple(attacks))))
        state = problem.strategy.begin(problem, np.random.default_rng(seed), Serial())
        for _ in range(QUANTA):
            state = problem.strategy.advance(problem, state, Serial())
        masked = search.encoding(table).decode(state.genomes[0])
        own = attack_credits(table, masked, known, attacks, np.arange(len(table))).mean(axis=1).max()
        ranges = crypsis.RecordLinkage(scaling="range").against(table).read(masked)
        held = crypsis.HeldOutLinkage().against(table).read(masked)
        print(
            f"{name:9}{seed:5} guided by {title:16} loss {state.scores[0, 0]:6.2f}, own attacks {100 * own:6.2f}, "
            f"by ranges {ranges:6.2f}, held-out {held:6.2f}",
            flush=True,
        )


def rates(name: str, table: Table, seed: int) -> None:
    """Adaptive and fixed rates after the same quanta."""
    for adaptive in (True, False):
        search = crypsis.MixedMaskingSearch(adaptive=adaptive, risk_limits=3, lowest=5, highest=20)
        problem = search.pose(table, None, np.random.default_rng(seed))
        state = problem.strategy.begin(problem, np.random.default_rng(seed), Serial())
        for _ in range(QUANTA):
            state = problem.strategy.advance(problem, state, Serial())
        limits = list(problem.notes["limits"])[: len(state.scores)]
        beyond = np.maximum(state.scores[:, 1] - limits, 0.0).mean()
        print(
            f"{name:9}{seed:5} {'adaptive' if adaptive else 'fixed':10} loss {state.scores[:, 0].mean():6.2f}, beyond "
            f"the limit {beyond:5.2f}, rates {state.memory['0/rates'].round(2).tolist()}",
            flush=True,
        )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", default=["compare"], help="compare, fitted, rates")
    parser.add_argument("--tables", nargs="*", default=list(TABLES))
    parser.add_argument("--searches", nargs="*", default=list(SEARCHES))
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seeds", type=int, nargs="*", default=[1])
    given = parser.parse_args(arguments)
    if "compare" in given.what:
        print("table     seed search          asked    most     loss  linkage  held-out     TV vanished")
    for name in given.tables:
        for seed in given.seeds:
            table = TABLES[name]()
            if "compare" in given.what:
                for search in given.searches:
                    compared(name, table, search, given.seconds, seed)
            if "fitted" in given.what:
                fitted(name, table, seed)
            if "rates" in given.what:
                rates(name, table, seed)


if __name__ == "__main__":
    main()
