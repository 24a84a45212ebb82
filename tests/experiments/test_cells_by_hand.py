"""Two cells of every verdict, computed again by code that shares nothing with the package: csv and numpy only."""

from __future__ import annotations

import csv
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from reference import EIA_COLUMNS, reference

ROOT = Path(__file__).resolve().parents[2] / "experiments"
Floats = NDArray[np.float64]


def told(paper: str, table: str, row: str, column: str) -> str:
    """What a kept verdict has as ours in a cell."""
    page = (ROOT / paper / "verdict.md").read_text(encoding="utf-8")
    part = page.partition(f"\n## {table}\n")[2].partition("\n## ")[0]
    found = re.search(rf"^\| {re.escape(row)} \| {re.escape(column)} \| [^|]+ \| ([^|]+) \|", part, re.MULTILINE)
    assert found is not None, f"{paper}: no cell {table}, {row}, {column}"
    return found[1].strip()


def rows(name: str) -> list[dict[str, str]]:
    with reference(name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


# -- GA 2006 --


def test_table_one_counts_the_partitions_of_n_into_parts_from_k_to_2k_minus_1() -> None:
    ways = [1] + [0] * 1000
    for part in (5, 6, 7, 8, 9):
        for total in range(part, 1001):
            ways[total] += ways[total - part]
    assert told("ga-2006", "Table I", "1000", "k=5") == str(ways[1000])
    groups = math.factorial(30) // (math.factorial(3) ** 10 * math.factorial(10))
    assert told("ga-2006", "Example 1", "n=30 k=3", "mu") == str(groups)


def divisions(records: tuple[int, ...], least: int) -> Iterator[list[tuple[int, ...]]]:
    """Every division of records into groups of least … 2·least − 1."""
    if not records:
        yield []
        return
    first, rest = records[0], records[1:]
    for size in range(least, 2 * least):
        for others in combinations(rest, size - 1):
            left = tuple(record for record in rest if record not in others)
            if not left or len(left) >= least:
                yield from ([(first, *others), *further] for further in divisions(left, least))


def test_the_optimum_of_eleven_records_by_trying_all_10_395_divisions() -> None:
    every = list(divisions(tuple(range(11)), 3))
    assert len(every) == 10_395  # 11!/(3! 3! 5! 2!) + 11!/(3! 4! 4! 2!)
    codes = {group: place for place, group in enumerate({group for division in every for group in division})}
    used = np.array([[codes[group] for group in division] for division in every])
    optima = []
    for table in range(25):
        values = np.random.default_rng([11, 2, table]).uniform(-1e4, 1e4, (11, 2))
        points = (values - values.mean(axis=0)) / values.std(axis=0)
        within = np.array([((points[list(g)] - points[list(g)].mean(axis=0)) ** 2).sum() for g in codes])
        optima.append(float(within[used].sum(axis=1).min()))
    assert told("ga-2006", "Section III.A", "11x2", "optimum") == f"{np.mean(optima):.2f}"


# -- HYBRID 2007 and GOMM 2014 --


def euclidean(points: Floats, centre: Floats) -> Floats:
    return np.asarray(((points - centre) ** 2).sum(axis=1))


def manhattan(points: Floats, centre: Floats) -> Floats:
    return np.asarray(np.abs(points - centre).sum(axis=1))


def mdav(points: Floats, k: int, distance: Callable[[Floats, Floats], Floats]) -> list[list[int]]:
    """MDAV as its text says it; what is left at the end is one group, whatever its size."""
    left, groups = list(range(len(points))), []

    def gather(seed: int) -> None:
        order = np.argsort(distance(points[left], points[seed]), kind="stable")[:k]
        group = [left[place] for place in order]
        groups.append(group)
        for record in group:
            left.remove(record)

    while len(left) >= 2 * k:
        one = left[int(np.argmax(distance(points[left], points[left].mean(axis=0))))]
        other = left[int(np.argmax(distance(points[left], points[one])))]
        gather(one)
        gather(other)
    return [*groups, left] if left else groups


def squares(points: Floats, groups: list[list[int]]) -> float:
    return float(sum(((points[g] - points[g].mean(axis=0)) ** 2).sum() for g in groups))


@pytest.mark.parametrize("name, row", [("census.csv", "Census K=12"), ("eia.csv", "EIA K=12")])
def test_the_sse_of_mdav_on_the_public_files(name: str, row: str) -> None:
    columns = EIA_COLUMNS if name == "eia.csv" else None
    values = np.array([[float(record[c]) for c in columns or record] for record in rows(name)])
    points = (values - values.mean(axis=0)) / values.std(axis=0)
    assert told("hybrid-2007", "Table 2", row, "SSE MDAV") == f"{squares(points, mdav(points, 3, euclidean)):.2f}"


def score(values: Floats, blocks: list[list[int]], k: int) -> float:
    """GOMM's score of a grouping of the attributes: loss and risk of the file it gives, on the range scale."""
    points = (values - values.min(axis=0)) / (values.max(axis=0) - values.min(axis=0))
    masked = np.empty_like(points)
    for block in blocks:
        part = points[:, block]
        for group in mdav(part, k, manhattan):
            masked[np.ix_(group, block)] = part[group].mean(axis=0)
    loss = 100 * ((points - masked) ** 2).sum() / ((points - points.mean(axis=0)) ** 2).sum()
    widths = [np.mean(np.abs(points - masked) <= width / 100 * masked) for width in range(1, 11)]
    linked = 0.0
    for record in range(len(points)):
        far = np.sqrt(((masked - points[record]) ** 2).sum(axis=1))
        nearest = np.flatnonzero(far <= far.min() + 1e-12)
        linked += (record in nearest) / len(nearest)
    return float((loss + (100 * np.mean(widths) + 100 * linked / len(points)) / 2) / 2)


@pytest.mark.parametrize("row, k", [("G12", 100), ("G4nc", 25)])
def test_scores_of_groupings_of_census(row: str, k: int) -> None:
    values = np.array([[float(value) for value in list(record.values())[:12]] for record in rows("census.csv")])
    blocks = {
        "G12": [list(range(12))],
        "G4nc": [[0, 1, 3, 4], [2, 5, 9, 10], [6, 7, 8, 11]],
    }[row]
    assert float(told("gomm-2014", "Table 6", row, f"k={k}")) == pytest.approx(score(values, blocks, k), abs=6e-4)


@pytest.mark.parametrize("distance", [euclidean, manhattan])
@pytest.mark.parametrize("scale", ["none", "deviation", "range"])
def test_the_interval_of_the_text_does_not_give_the_score(
    scale: str, distance: Callable[[Floats, Floats], Floats]
) -> None:
    """Section 3 counts protected values within 10 % of the original one; one group, k = 100, printed 18.1."""
    values = np.array([[float(value) for value in list(record.values())[:12]] for record in rows("census.csv")])
    centre, width = {
        "none": (np.zeros(12), np.ones(12)),
        "deviation": (values.mean(axis=0), values.std(axis=0)),
        "range": (values.min(axis=0), np.ptp(values, axis=0)),
    }[scale]
    points = (values - centre) / width
    groups = mdav(points, 100, distance)
    masked = np.empty_like(points)
    for group in groups:
        masked[group] = points[group].mean(axis=0)
    loss = 100 * squares(points, groups) / squares(points, [list(range(len(points)))])
    disclosed = 100 * np.mean(np.abs(points - masked) <= 0.1 * np.abs(points))
    original = 100 * np.mean(np.abs(points - masked) * width <= 0.1 * np.abs(values))
    linked = 100 * len(groups) / len(points)
    for interval in (disclosed, original):
        for links in (0.0, linked):
            assert abs((loss + (interval + links) / 2) / 2 - 18.1) > 1


# -- MASKING 2012 and PBG 2009 --


@pytest.mark.parametrize(
    "paper_set, name, column", [("Flare", "solar_flare", "CLASS"), ("German", "german_credit", "SAVINGS")]
)
def test_categories_that_occur_in_the_public_files(paper_set: str, name: str, column: str) -> None:
    records = rows(f"{name}.csv")
    domain = {r["code"] for r in rows("categorical_domains.csv") if (r["dataset"], r["attribute"]) == (name, column)}
    assert {record[column] for record in records} <= domain
    assert told("masking-2012", "Section 3 categories", paper_set, column) == str(len(domain))
    assert told("masking-2012", "Section 3 populations", paper_set, "records") == str(len(records))


def lost(original: NDArray[np.int64], masked: NDArray[np.int64], sizes: list[int]) -> float:
    """Mean of three losses: contingency tables up to three ways, changed cells, conditional entropy; 0 to 100."""
    n = len(original)
    changed = []
    for width in (1, 2, 3):
        for chosen in combinations(range(len(sizes)), width):
            before, after = (Counter(map(tuple, codes[:, list(chosen)].tolist())) for codes in (original, masked))
            changed.append(sum(abs(before[cell] - after[cell]) for cell in before | after) / (2 * n))
    moved = [(original[:, j] != masked[:, j]).mean() for j in range(len(sizes))]
    unsure = []
    for j, size in enumerate(sizes):
        pairs = Counter(zip(original[:, j].tolist(), masked[:, j].tolist(), strict=True))
        shown = Counter(masked[:, j].tolist())
        bits = -sum(count / n * math.log2(count / shown[code]) for (_, code), count in pairs.items())
        unsure.append(bits / math.log2(size))
    return float(100 * np.mean([np.mean(changed), np.mean(moved), np.mean(unsure)]))


@pytest.mark.parametrize(
    "paper_set, name, columns",
    [
        ("Flare", "solar_flare", ("CLASS", "LARGSPOT", "SPOTDIST")),
        ("German", "german_credit", ("EXISTACC", "SAVINGS", "PRESEMPLOY")),
    ],
)
def test_the_worst_file_of_the_start_is_the_deepest_bottom_coding(
    paper_set: str, name: str, columns: tuple[str, ...]
) -> None:
    domains = rows("categorical_domains.csv")
    order = {c: [r["code"] for r in domains if (r["dataset"], r["attribute"]) == (name, c)] for c in columns}
    original = np.array([[order[c].index(record[c]) for c in columns] for record in rows(f"{name}.csv")])
    sizes = [len(order[c]) for c in columns]
    masked = np.maximum(original, [round(0.8 * size) - 1 for size in sizes])  # 4 of 4 depths: four fifths become one
    found = lost(original, masked, sizes)
    assert told("masking-2012", "Section 3.2 max score", paper_set, "max before") == f"{found:.2f}"


def test_nodes_of_the_lattice_and_the_most_records_suppressed() -> None:
    names = "age workclass education marital-status race sex native-country salary-class".split()
    nodes = 1
    for name in names:
        with reference(f"dgh/adult_{name}.csv").open(encoding="utf-8") as file:
            nodes *= len(re.split("[;,]", file.readline().strip()))
    assert told("pbg-2009", "Section 7", "Adult", "lattice nodes") == str(nodes)
    with reference("adult.csv").open(encoding="utf-8") as file:
        records = sum(1 for _ in file) - 1
    assert told("pbg-2009", "Section 7", "Adult", "suppression limit") == str(records // 100)
