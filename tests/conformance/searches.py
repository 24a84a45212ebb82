"""Ways in which every registered search is walked: tables, modes, values of settings, and what one sees of a run."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import cache
from typing import Any

import numpy as np

from conformance.tables import mixed_table, numeric_table, ordinal_table
from crypsis.engines import Serial
from crypsis.errors import CrypsisError, SearchError
from crypsis.evolution import Engine, Genome, Problem, State
from crypsis.measures import measures
from crypsis.measures.objective import Objective
from crypsis.searches.search import Search, searches
from crypsis.table.attribute import Attribute, Kind, Role
from crypsis.table.builders import build_hierarchy
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.table import Table

Settings = dict[str, Any]

QUANTA = 4
"""How far a search is followed; enough for every operator to work and for idle ones to be switched off."""

_LATTICE: Settings = {"suppression": 0.2, "population": 8}
_GOMM: Settings = {
    "k": 4,
    "missing": "mean",
    "population": 8,
    "crossovers": 2,
    "local_searches": 1,
    "local_search_size": 2,
}
_PARTITION: Settings = {"k": 3, "k_values": 3, "chains_per_generation": 2}
_RECODING: Settings = {"k": 3, "k_values": 2, "nodes": 64}

MODES: dict[str, dict[str, Settings]] = {
    "composite": {
        "usual": {"k": 3, "k_values": 2},
        "truthful": {"k": 3, "k_values": 2, "truthful": True},
        "from MDAV": {"k": 3, "k_values": 2, "start": "mdav"},
        "one k": {"k": 3, "k_values": 1},
    },
    "households": {
        "whole": {"k": 3, "k_values": 3, "largest_k": 10, "whole": True, "suppression": 0.2},
        "nested": {"k": 3, "k_values": 2, "largest_k": 6},
        "truthful": {"k": 3, "k_values": 1, "truthful": True},
    },
    "gomm": {
        "best": _GOMM,
        "paper": {**_GOMM, "recipe": "paper"},
        "dynamic": {**_GOMM, "recipe": "dynamic", "disable_after": 2, "disable_window": 1},
        "pareto": {**_GOMM, "recipe": "pareto", "largest_k": 12},
        "without local search": {k: v for k, v in _GOMM.items() if k != "local_search_size"} | {"local_searches": 0},
        "another partitioner": {**_GOMM, "partitioner": "cbfs"},
    },
    "mixed-grouping": {
        "usual": {"k": 3, "largest_k": 9, "population": 8, "crossovers": 2},
        "truthful, disabling operators": {
            "k": 3,
            "population": 8,
            "local_searches": 1,
            "local_search_size": 2,
            "disable_operators": True,
            "disable_after": 2,
            "disable_window": 1,
            "truthful": True,
        },
    },
    "pbg-ea": {
        "auto": {"suppression": 0.2},
        "exact": {"suppression": 0.2, "method": "exact", "indices": ("k", "cm", "s_l")},
        "pbg": {**_LATTICE, "method": "pbg", "boxes": (2.0, 1.0)},
        "nsga2": {**_LATTICE, "method": "nsga2", "indices": ("l", "glm", "s_k"), "rule": "failing-class"},
        "demanded": {"suppression": 0.2, "k": 3},
        "demanded, exact": {"suppression": 0.2, "k": 3, "l": 2, "method": "exact"},
        "demanded, feasible": {**_LATTICE, "k": 3, "method": "feasible"},
    },
    "local-recoding": {
        "usual": _RECODING,
        "one k": {**_RECODING, "k_values": 1},
        "diverse": {**_RECODING, "l": 2},
    },
    "cell-suppression": {
        "usual": {"k": 2, "k_values": 2, "largest_k": 6, "effort": 1},
        "one k": {"k": 3, "k_values": 1, "effort": 1},
    },
    "categorical-masking": {
        "usual": {"largest_k": 3, "depths": 1, "swappings": 1, "prams": 2, "batch": 4},
        "front": {
            "largest_k": 3,
            "depths": 1,
            "swappings": 1,
            "prams": 2,
            "batch": 4,
            "score": "front",
            "changes_per_mutation": 40,
        },
    },
    "mixed-masking": {
        "usual": {"risk_limits": 2, "sets": 3},
        "replacing": {"risk_limits": 2, "sets": 0, "categories": "replaced"},
        "one limit": {"risk_limits": 1, "sets": 3},
    },
    "ga-microaggregation": {"usual": {**_PARTITION, "population": 6}},
    "hybrid-microaggregation": {
        "two-step": {**_PARTITION, "epochs": 3000, "macrogroup": 21},
        "one-step": {**_PARTITION, "epochs": 3000, "macrogroup": 20, "variant": "one-step"},
    },
    "memetic": {
        "usual": _PARTITION,
        "few steps": {**_PARTITION, "steps": 20},
        "in blocks": {**_PARTITION, "blocks": "always"},
    },
}
"""Search → name of a mode → its settings; a search that is not listed is walked as it comes."""


def modes(name: str) -> dict[str, Settings]:
    return MODES.get(name, {"as it comes": {}})


def first_mode(name: str) -> Settings:
    return next(iter(modes(name).values()))


OTHER: dict[tuple[str, str], Any] = {
    ("*", "columns"): [("age", "hours", "sex"), ("age", "hours"), ("a", "c")],
    ("households", "columns"): [("roof", "age")],
    ("households", "suppression"): [0.0],
    ("*", "largest_k"): [20],
    ("gomm", "partitioner"): ["cbfs", "v-mdav"],
    ("gomm", "initial_population"): [20],
    ("gomm", "copies"): [0, 2],
    ("gomm", "memory"): [0.0],
    ("gomm", "population"): [12, 20],
    ("mixed-grouping", "partitioner"): ["cbfs", "v-mdav"],
    ("mixed-grouping", "initial_population"): [20],
    ("mixed-grouping", "copies"): [0, 2],
    ("mixed-grouping", "memory"): [0.0],
    ("mixed-grouping", "population"): [12, 20],
    ("gomm", "missing"): ["refuse"],
    ("pbg-ea", "indices"): [("k", "s_k"), ("k", "glm", "s_k")],
    ("pbg-ea", "boxes"): [(5.0, 5.0), (50.0, 50.0, 50.0)],
    ("pbg-ea", "label"): ["diagnosis"],
    ("pbg-ea", "patience"): [0.0],
    ("pbg-ea", "k"): [2, 4],
    ("pbg-ea", "l"): [2, 3, 4],
    ("pbg-ea", "crossover"): [0.0, 1.0],
    ("pbg-ea", "mutation"): [0.9],
    ("memetic", "steps"): [0, 40],
    ("memetic", "initial_temperature"): [0.1],
    ("hybrid-microaggregation", "heuristic"): ["cbfs", "v-mdav"],
    ("categorical-masking", "forbidden"): [({"sex": "female", "marital": "widowed"},)],
    ("categorical-masking", "highest_risk"): [20.0],
    ("categorical-masking", "crossover_length"): [0.5, 0.1, 0.01],
    ("mixed-masking", "lowest"): [5.0],
    ("mixed-masking", "highest"): [50.0],
}
"""(search or *, setting) → values to try, where none can be guessed from the type."""

REFUSING: dict[tuple[str, str], Settings] = {
    ("gomm", "missing"): {"missing": "refuse"},
    ("ga-microaggregation", "missing"): {"missing": "refuse"},
    ("hybrid-microaggregation", "missing"): {"missing": "refuse"},
    ("memetic", "missing"): {"missing": "refuse"},
}
"""Settings whose effect is that a table with missing values is refused, and the value that refuses."""

LATE: dict[tuple[str, str], int] = {
    ("gomm", "disable_operators"): 22,
    ("mixed-grouping", "disable_operators"): 22,
    ("local-recoding", "offspring"): 16,
    ("memetic", "region"): 8,
}
"""Settings that take effect after many quanta, and how many."""

GUIDES = (("cell-loss", "record-linkage"), ("distance-loss", "category-linkage"))
"""Measures that may guide a search; each takes the first it can follow."""


@cache
def wide_table() -> Table:
    """Thirteen columns of three levels above their values: more nodes than are ever judged one by one."""
    rng = np.random.default_rng(8)
    attributes, columns = [], []
    rows = [[f"{leaf}", f"{leaf // 2}..", f"{leaf // 4}...", "*"] for leaf in range(8)]
    for place in range(13):
        tree = Hierarchy.from_rows(rows)
        attributes.append(Attribute(f"q{place}", Kind.NOMINAL, Role.QUASI_IDENTIFIER, tree.labels[0], tree))
        columns.append(rng.integers(0, 8, 40).astype(np.int32))
    attributes.append(Attribute("secret", Kind.NOMINAL, Role.CONFIDENTIAL, ("x", "y", "z")))
    columns.append(rng.integers(0, 3, 40).astype(np.int32))
    return Table(tuple(attributes), tuple(columns))


@cache
def household_table() -> Table:
    """Households of one to four members: a roof and rooms of the household, age and sex of the person, and a wage."""
    rng = np.random.default_rng(9)
    sizes = np.array([1] * 8 + [2] * 14 + [3] * 11 + [4] * 7)
    home = np.repeat(np.arange(len(sizes)), sizes)
    roof, rooms = np.array(list("abcd"))[rng.integers(0, 4, len(sizes))], rng.integers(1, 7, len(sizes))
    columns = {
        "roof": roof[home].tolist(),
        "rooms": rooms[home].tolist(),
        "age": rng.integers(0, 90, len(home)).tolist(),
        "sex": np.array(["f", "m"])[rng.integers(0, 2, len(home))].tolist(),
        "wage": rng.integers(1, 50, len(home)).tolist(),
        "home": home.tolist(),
    }
    roles = dict.fromkeys(("roof", "rooms", "age", "sex"), "quasi") | {"wage": "confidential", "home": "household"}
    return Table.from_columns(columns, roles)


@cache
def rare_table() -> tuple[Table, tuple[str, ...]]:
    """People of whom one has a name, a town, an age and an income of their own; and how those are written."""
    rare = ("Zyxwvut", "Qqqtown", "98765", "123456789")
    rng = np.random.default_rng(6)
    towns = [f"town {place}" for place in range(4)]
    ages, incomes, hours = rng.integers(20, 60, 60), rng.integers(1000, 9000, 60), rng.integers(5, 40, 60)
    table = Table.from_columns(
        {
            "name": [*(f"person {row}" for row in range(60)), rare[0]],
            "town": [*(towns[code] for code in rng.integers(0, 4, 60)), rare[1]],
            "age": [*ages.tolist(), int(rare[2])],
            "hours": [*hours.tolist(), 39],
            "income": [*incomes.tolist(), int(rare[3])],
            "home": [*(row // 2 for row in range(60)), 29],
        },
        {
            "home": "household",
            "name": "identifier",
            "town": "quasi",
            "age": "quasi",
            "hours": "quasi",
            "income": "confidential",
        },
    )
    specs = {"town": "merge:2", "age": "intervals:10,50", "hours": "intervals:10,20"}
    trees = {name: build_hierarchy(spec, table.attribute(name), table.column(name)) for name, spec in specs.items()}
    return table.with_columns({}, attributes={n: table.attribute(n).but(hierarchy=t) for n, t in trees.items()}), rare


TABLES: dict[str, Callable[[], Table]] = {
    "numeric": numeric_table,
    "mixed": mixed_table,
    "ordinal": ordinal_table,
    "wide": wide_table,
    "households": household_table,
}


@cache
def objective(table: str, guide: tuple[str, ...]) -> Objective:
    return Objective(TABLES[table](), {name: measures.build(name) for name in guide})


def objectives(table: str) -> list[Objective]:
    """Those of the guides that can be read on a table."""
    found = []
    for guide in GUIDES:
        try:
            found.append(objective(table, guide))
        except SearchError:
            continue
    return found


def posed(search: Search, table: str, guided: bool) -> tuple[Problem, Objective | None]:
    """The problem and the objective it follows; with none that it can follow, the last refusal."""
    if not guided:
        return search.pose(TABLES[table](), None, np.random.default_rng(3)), None
    refusal: Exception = SearchError(f"no measures can be read on the table {table}")
    for chosen in objectives(table):
        try:
            return search.pose(TABLES[table](), chosen, np.random.default_rng(3)), chosen
        except SearchError as error:
            refusal = error
    raise refusal


def states(problem: Problem, quanta: int = QUANTA, engine: Engine | None = None) -> list[State]:
    """The first state and the states after each quantum."""
    where = engine or Serial()
    first = problem.strategy.begin(problem, np.random.default_rng(5), where)
    found = [first if first.genomes else advanced(problem, first, where)]
    for _ in range(quanta):
        found.append(advanced(problem, found[-1], where))
    return found


def advanced(problem: Problem, state: State, engine: Engine) -> State:
    """The state after the next quantum that changes it: while a candidate is worked out task by task, none does."""
    before = state.to_bytes()
    while (after := problem.strategy.advance(problem, state, engine)) is state or after.to_bytes() == before:
        state = after
    return after


def found_by(state: State, most: int = 3) -> list[Genome]:
    """Some candidates of a state: of its front, and of its population."""
    return [*state.frontier.genomes[:most], *state.genomes[:most]]


def work(problem: Problem) -> Mapping[str, int]:
    """What was counted on the way, for settings that spare work and change no result."""
    for owner in (problem.evaluate, getattr(problem.facts, "__self__", None)):
        if hasattr(owner, "counts"):
            return asdict(owner.counts)
    return {}


def outcome(search: Search, table: str, guided: bool, quanta: int = QUANTA) -> tuple[Any, ...]:
    """Everything a person could see of a search on a table, as something that can be compared."""
    problem, _ = posed(search, table, guided)
    last = states(problem, quanta)[-1]
    encoding = search.encoding(TABLES[table]())
    seen: list[Any] = []
    variants = problem.variants or (lambda candidate: ())
    for candidate in (each for found in found_by(last) for each in (found, *variants(found))):
        genome = problem.express_candidate(candidate)
        try:
            masked = encoding.decode(genome)
        except CrypsisError as refusal:
            seen.append(str(refusal))
            continue
        description = encoding.describe(genome, masked)
        own = dict(problem.facts(candidate)) if problem.facts is not None else {}
        seen.append((masked.fingerprint(), description.message, dict(description.facts), own))
    digest = hashlib.sha256(last.to_bytes()).hexdigest()
    return digest, dict(problem.notes), search.budget(), work(problem), seen


def build(name: str, settings: Settings) -> Search:
    return searches.build(name, **settings)
