"""Draw the idea of each of the five papers.

python docs/paper_pictures.py [NAME …]      ga-2006, hybrid-2007, gomm-2014, masking-2012, pbg-2009; all by default

The last three read the reference data (see experiments/README.md).
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "experiments"))

from data import reference_file

from crypsis.charts import to_png
from crypsis.evolution import evolve
from crypsis.masking import Microaggregation
from crypsis.masking.partitioning import partitioners
from crypsis.measures import (
    CategoryDisclosure,
    CategoryLinkage,
    ContingencyLoss,
    DistanceLoss,
    EntropyLoss,
    ProbabilisticLinkage,
    RankLinkage,
)
from crypsis.measures.objective import Objective
from crypsis.searches.categorical_masking import PAPER as MASKING
from crypsis.searches.categorical_masking import Criteria, evolve_maskings
from crypsis.searches.categorical_masking.first_population import PaperFamilies, build_population
from crypsis.searches.ga_microaggregation import Genetic
from crypsis.searches.gomm import PAPER as GOMM
from crypsis.searches.gomm import Evaluator, GommSearch, genome_of_listed_groups
from crypsis.searches.gomm.operators import heuristic_gomm_groupings
from crypsis.searches.partitions.lower_bound import optimal_partition
from crypsis.searches.pbg_ea import PbgEaSearch, minimal_node_scores
from crypsis.table.attribute import Attribute, Kind, Role
from crypsis.table.files import read_table
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.lattice import Lattice
from crypsis.table.table import Table

IMAGES = Path(__file__).parent / "images"
SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
INK, GREEN, RUST, GREY, BLUE = "#333333", "#0b6e4f", "#b5651d", "#9aa0a6", "#3b6ea5"
GENERATIONS = 790
"""After which the verdict judges the masked files."""
Spec = dict[str, Any]
Floats = NDArray[np.float64]


def chart(**parts: Any) -> Spec:
    looks = {"font": "system-ui, sans-serif", "view": {"stroke": "#dddddd"}, "axis": {"grid": False}}
    return {"$schema": SCHEMA, "config": looks, "background": "white", **parts}


def axis(field: str, title: str | None, **more: Any) -> Spec:
    return {"field": field, "type": "quantitative", "title": title, **more}


def groups_panel(points: Floats, labels: NDArray[np.int32], title: str, subtitle: str, colours: Any = None) -> Spec:
    """Records joined to the mean of their group; a letter at each record, or a colour of its own."""
    means = {int(g): points[labels == g].mean(axis=0) for g in np.unique(labels)}
    rows = [
        {
            "x": float(x), "y": float(y), "cx": float(means[int(g)][0]), "cy": float(means[int(g)][1]),
            "letter": chr(65 + int(g)) if colours is None else "", "colour": str(int(g if colours is None else c)),
        }
        for (x, y), g, c in zip(points, labels, labels if colours is None else colours, strict=True)
    ]  # fmt: skip
    x, y = axis("x", None, axis=None), axis("y", None, axis=None)
    colour = {"field": "colour", "type": "nominal", "legend": None, "scale": {"scheme": "tableau10"}}
    layers: list[Spec] = [
        {
            "mark": {"type": "rule", "strokeWidth": 1.3},
            "encoding": {"x": x, "y": y, "x2": {"field": "cx"}, "y2": {"field": "cy"}, "color": colour},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 40 if colours is not None else 210, "opacity": 1},
            "encoding": {"x": x, "y": y, "color": colour},
        },
        {
            "mark": {"type": "text", "color": "white", "fontWeight": "bold", "fontSize": 11},
            "encoding": {"x": x, "y": y, "text": {"field": "letter"}},
        },
    ]
    return {
        "title": {"text": title, "subtitle": subtitle, "anchor": "start"},
        "width": 250 if colours is None else 380, "height": 220 if colours is None else 300,
        "data": {"values": rows}, "layer": layers,
    }  # fmt: skip


def sse(points: Floats, labels: NDArray[np.int32]) -> float:
    return float(sum(((points[labels == g] - points[labels == g].mean(axis=0)) ** 2).sum() for g in np.unique(labels)))


def genetic() -> Spec:
    """Eleven records: MDAV, the first population's best chromosome, and what 300 epochs make of it."""
    values = np.random.default_rng(6).uniform(-1, 1, (11, 2))
    points = (values - values.mean(axis=0)) / values.std(axis=0)
    panels = []
    fixed = partitioners.build("mdav").partition(points, 3, np.random.default_rng(0))
    first = Genetic(epochs=0).run(points, 3, np.random.default_rng(2)).labels
    last = Genetic(epochs=300, population=50).run(points, 3, np.random.default_rng(2))
    best = optimal_partition(points, 3)[1]
    for labels, title in (
        (fixed, "MDAV: threes, and what is left"),
        (first, "epoch 0: the best of ten random words"),
        (last.labels, f"epoch {last.convergence_epoch}: the optimum"),
    ):
        word = "".join(chr(65 + int(g)) for g in labels)
        panels.append(groups_panel(points, labels, title, f"{word}, SSE {sse(points, labels):.2f}"))
    if abs(last.sse - best) > 1e-9:
        raise ValueError("the picture says optimum and it is none")
    return chart(hconcat=panels, title="A partition is a word: one letter per record")


def hybrid() -> Spec:
    """Natural groups of three: macrogroups of records tear them, macrogroups of groups keep them whole."""
    rng = np.random.default_rng(4)
    spots = [rng.uniform(-1, 1, 2) + 0.05 * rng.standard_normal((3, 2)) for _ in range(35)]
    points = np.concatenate(spots)
    mdav = partitioners.build("mdav")
    ways = []
    one = mdav.partition(points, 24, rng)
    torn = np.empty(len(points), dtype=np.int32)
    for macro in np.unique(one):
        inside = np.flatnonzero(one == macro)
        torn[inside] = 1000 * macro + mdav.partition(np.ascontiguousarray(points[inside]), 3, rng)
    ways.append((one, np.unique(torn, return_inverse=True)[1].astype(np.int32), "one-step: MDAV with K = 24"))
    start = mdav.partition(points, 3, rng)
    means = np.array([points[start == g].mean(axis=0) for g in range(int(start.max()) + 1)])
    two = mdav.partition(means, 8, rng)[start]
    ways.append((two, start, "two-step: MDAV with k = 3, then eight groups together"))
    panels = [
        groups_panel(
            points, labels, title, f"threes inside the macrogroups: SSE {sse(points, labels):.2f}", colours=macro
        )
        for macro, labels, title in ways
    ]
    return chart(hconcat=panels, title="Colours: the macrogroups the genetic algorithm may rearrange")


def census() -> Floats:
    with reference_file("census.csv").open(encoding="utf-8") as file:
        return np.array([row[:12] for row in list(csv.reader(file))[1:]], dtype=np.float64)


def gomm() -> Spec:
    """Loss and risk of groupings of twelve attributes: at random, by custom, and on GOMM's way."""
    values, k = census(), 50
    evaluator = Evaluator(values, GOMM)
    names = [f"a{j + 1}" for j in range(12)]
    columns = {n: values[:, j].tolist() for j, n in enumerate(names)}
    table = Table.from_columns(columns, dict.fromkeys(names, "quasi"))
    search, rng = GommSearch(k=k, recipe="paper"), np.random.default_rng(0)
    problem = search.pose(table, None, rng)
    rows: list[Spec] = []

    def place(genome: Any, kind: str, name: str = "") -> None:
        found = evaluator.fitness(genome)
        rows.append({"loss": found.IL, "risk": (found.ID + found.DLD) / 2, "kind": kind, "name": name})

    for genome in problem.start:
        place(genome, "first population, at random")
    for number, groups in enumerate(heuristic_gomm_groupings(values)[:20]):
        place(
            genome_of_listed_groups(groups, 12, k),
            "customary",
            ("all together", "each alone")[number] if number < 2 else "",
        )
    best = np.inf
    for state in evolve(problem, rng, search.budget()):
        if state.best_fitness < best - 1e-9:
            best = state.best_fitness
            place(state.best, "best of a generation")
    rows[-1]["name"] = f"GOMM: {best:.2f}"
    kinds = ["first population, at random", "customary", "best of a generation"]
    colour = {
        "field": "kind", "type": "nominal", "title": None, "legend": {"orient": "bottom", "columns": 3},
        "scale": {"domain": kinds, "range": [GREY, BLUE, RUST]},
    }  # fmt: skip
    x, y = axis("loss", "information loss IL, %"), axis("risk", "disclosure risk (ID + DLD) / 2, %")
    lines = [
        {"loss": loss, "risk": 2 * level - loss, "level": level}
        for level in (15.14, 20, 25, 30, 35, 40)
        for loss in (0.0, min(24.0, 2 * level))
    ]
    return chart(
        width=560, height=340, title="Groupings of the 12 attributes of Census, k = 50; grey lines: equal score",
        layer=[
            {"data": {"values": lines}, "mark": {"type": "line", "color": "#dddddd"},
             "encoding": {"x": x, "y": {**y, "scale": {"domain": [0, 90]}}, "detail": {"field": "level"}}},
            {"data": {"values": rows}, "mark": {"type": "point", "filled": True, "size": 45, "opacity": 0.85},
             "encoding": {"x": {**x, "scale": {"domain": [0, 24]}}, "y": y, "color": colour}},
            {"data": {"values": [row for row in rows if row["name"]]},
             "mark": {"type": "text", "align": "left", "dx": 7, "dy": -7, "color": INK},
             "encoding": {"x": x, "y": y, "text": {"field": "name"}}},
        ],
    )  # fmt: skip


def flare() -> Table:
    columns = ("CLASS", "LARGSPOT", "SPOTDIST")
    with reference_file("categorical_domains.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["dataset"] == "solar_flare"]
    with reference_file("solar_flare.csv").open(encoding="utf-8") as file:
        records = list(csv.DictReader(file))
    attributes, codes = [], []
    for column in columns:
        domain = tuple(row["code"] for row in rows if row["attribute"] == column)
        attributes.append(Attribute(column, Kind.ORDINAL, Role.QUASI_IDENTIFIER, domain))
        codes.append(np.array([domain.index(record[column]) for record in records], dtype=np.int32))
    return Table(tuple(attributes), tuple(codes))


def masking() -> Spec:
    """A population of masked files before and after, under both scores, by the reading that the verdict judges."""
    table = flare()
    families = PaperFamilies(largest_k=13, depths=4, swap_step=1.0, coding="share")
    methods = [
        m.model_copy(update={"k": 10 * (m.k - 1)}) if isinstance(m, Microaggregation) else m
        for m in families.methods(table, table.names)
    ]
    files = build_population(table, methods, np.random.default_rng(1)).files
    objective = Objective(table, {
        measure.tally: measure
        for measure in (
            ContingencyLoss(order=3), DistanceLoss(divisor="nominal"), EntropyLoss(), CategoryDisclosure(),
            CategoryLinkage(divisor="nominal"), ProbabilisticLinkage(), RankLinkage(),
        )
    })  # fmt: skip
    panels = []
    for score, title in (("mean", "Equation 1: the mean of both"), ("max", "Equation 2: the larger of both")):
        settings = MASKING.model_copy(update={"score": score, "generations": GENERATIONS})
        result = evolve_maskings(table, files, settings, np.random.default_rng(2), Criteria(objective))
        arrows = [
            {"x": float(a[0]), "y": float(a[1]), "x2": float(b[0]), "y2": float(b[1])}
            for a, b in zip(result.pairs_before, result.pairs, strict=True)
        ]
        apart = [float(np.abs(np.diff(pairs)).mean()) for pairs in (result.pairs_before, result.pairs)]
        x = axis("x", "information loss, %", scale={"domain": [0, 80]})
        y = axis("y", "disclosure risk, %", scale={"domain": [0, 60]})
        panels.append({
            "width": 330, "height": 290,
            "title": {"text": title, "subtitle": f"mean |IL − DR| {apart[0]:.1f} → {apart[1]:.1f}", "anchor": "start"},
            "data": {"values": arrows},
            "layer": [
                {"mark": {"type": "rule", "color": "#d0d4d8"},
                 "encoding": {"x": x, "y": y, "x2": {"field": "x2"}, "y2": {"field": "y2"}}},
                {"mark": {"type": "point", "filled": True, "color": GREY, "size": 28}, "encoding": {"x": x, "y": y}},
                {"mark": {"type": "point", "filled": True, "color": GREEN, "size": 28, "opacity": 1},
                 "encoding": {"x": axis("x2", "information loss, %"), "y": axis("y2", "disclosure risk, %")}},
            ],
        })  # fmt: skip
    title = f"104 masked files of Flare (grey), each moved by {GENERATIONS} generations to its green place"
    return chart(hconcat=panels, title=title)


def pbg() -> Spec:
    """Every node of Adult's lattice by k and GLM, the minimal ones, and those PBG-EA reports."""
    names = "age workclass education marital-status race sex native-country salary-class".split()
    trees = {name: str(reference_file(f"dgh/adult_{name}.csv")) for name in (*names, "occupation")}
    roles = dict.fromkeys(names, "quasi") | {"occupation": "confidential"}
    table = read_table(reference_file("adult.csv"), roles=roles, hierarchies=trees)
    ages = range(17, 91)
    nested = [[str(age), *(str((age - 17) // 2**level) for level in range(1, 6)), "*"] for age in ages]  # 2 to 32 years
    years = Hierarchy.from_rows(nested, np.array(ages, dtype=np.float64))
    table = table.with_columns({}, attributes={"age": table.attribute("age").but(hierarchy=years)})
    search = PbgEaSearch(indices=("k", "glm"), boxes=(1.0, 1.0), method="pbg")
    problem = search.pose(table, None, np.random.default_rng(0))
    everywhere: Floats = problem.evaluate.judge_all()
    *_, state = evolve(problem, np.random.default_rng(3), search.budget())
    cells = len(table) * 8

    def rows(points: Floats) -> list[Spec]:
        return [{"k": float(k), "loss": 100 * (cells - float(glm)) / cells} for k, glm in points]

    x = axis(
        "k",
        "k that holds once at most 301 records are suppressed (log scale)",
        scale={"type": "log", "domain": [1, 40000], "nice": False},
    )
    y = axis("loss", "GLM, % of its largest value")
    some = np.random.default_rng(0).choice(len(everywhere), 6000, replace=False)
    found, front = -state.frontier.scores, everywhere[minimal_node_scores(everywhere)]
    told = f"{len(front)} minimal nodes of {Lattice.of(table).size}"
    told += f"; PBG-EA evaluated {state.evaluations} and reports {len(found)}"
    layers = [
        {"data": {"values": rows(points)}, "mark": {"type": "point", **mark}, "encoding": {"x": x, "y": y}}
        for points, mark in (
            (everywhere[some], {"filled": True, "size": 6, "color": "#c9cdd2", "opacity": 0.5}),
            (front, {"size": 95, "color": INK, "opacity": 1}),
            (found, {"filled": True, "size": 26, "color": RUST, "opacity": 1}),
        )
    ]
    title = {"text": "The lattice of Adult (grey), its minimal nodes (rings), PBG-EA (dots)", "subtitle": told}
    return chart(width=620, height=360, title={**title, "anchor": "start"}, layer=layers)


PICTURES: dict[str, Callable[[], Spec]] = {
    "ga-2006": genetic, "hybrid-2007": hybrid, "gomm-2014": gomm, "masking-2012": masking, "pbg-2009": pbg,
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[*PICTURES, []], default=list(PICTURES))
    for name in parser.parse_args().names:
        path = IMAGES / f"paper-{name}.png"
        path.write_bytes(to_png(PICTURES[name]()))
        sys.stdout.write(f"{path}\n")


if __name__ == "__main__":
    main()
