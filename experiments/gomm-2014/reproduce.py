"""Balasch-Masoliver, Muntés-Mulero and Nin (2014): GOMM, a genetic optimiser of attribute groupings.

python experiments/gomm-2014/reproduce.py [--quick] [--out FOLDER]

Every run is kept in the output folder: a stopped experiment goes on where it was.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[0]))

from data import reference_file
from gomm_misprints import slips
from gomm_operators import pictures, section
from pictures import time_picture
from verdicts import Report, begin

from crypsis.evolution import evolve
from crypsis.searches.gomm import PAPER, Evaluator, GommSearch, genome_of_listed_groups, groups_of
from crypsis.table.table import Table

SIZES = (5, 10, 25, 50, 100)
PRINTED_TABLE = {"Water": ("Table 1", "Table 5"), "Census": ("Table 2", "Table 6")}
MISPRINTED = ("G10c", "G5nc", "G3c", "G3nc")
WINDOWS = (20, 5, 10, 30)
"""Generations without a useful child after which D-GOMM stops an operator (the paper: several); the first is judged."""
RUNS, OBSERVED = 3, 5
"""Runs of every row and recipe, and of Water at k = 25, whose operators are watched; not printed how many."""
Floats = NDArray[np.float64]


def data() -> dict[str, Floats]:
    """Census: the first 12 attributes; Water: 38 attributes, the 380 complete records."""
    with reference_file("census.csv").open(encoding="utf-8") as file:
        census = [row[:12] for row in list(csv.reader(file))[1:]]
    with reference_file("water_treatment.csv").open(encoding="utf-8") as file:
        water = [row[1:] for row in list(csv.reader(file))[1:] if all(row[1:])]
    return {"Census": np.array(census, dtype=np.float64), "Water": np.array(water, dtype=np.float64)}


def groupings(folder: Path) -> dict[tuple[str, str], list[list[int]]]:
    with (folder / "groupings.csv").open(encoding="utf-8") as file:
        return {
            (row["set"], row["row"]): [[int(a) - 1 for a in group.split()] for group in row["groups"].split("|")]
            for row in csv.DictReader(file)
        }


def as_table(values: Floats) -> Table:
    names = [f"a{j + 1}" for j in range(values.shape[1])]
    return Table.from_columns({n: values[:, j].tolist() for j, n in enumerate(names)}, dict.fromkeys(names, "quasi"))


def search(report: Report, name: str, table: Table, k: int, seed: int, recipe: str, **settings: Any) -> dict[str, Any]:
    """One run: its best grouping, evaluations, CPU seconds and, for Water at k = 25, the work of its operators."""

    def run() -> dict[str, Any]:
        chosen, rng = GommSearch(k=k, recipe=recipe, **settings), np.random.default_rng(seed)
        *_, state = evolve(chosen.pose(table, None, rng), rng, chosen.budget())
        rows = state.settle_tally().table() if (name, k, recipe) == ("Water", 25, "paper") else []
        return {
            "best": state.best.tolist(),
            "score": state.best_fitness,
            "evaluations": state.evaluations,
            "rows": rows,
        }

    special = "".join(f", {setting} {value}" for setting, value in settings.items())
    label = f"{name} k={k} {recipe} seed {seed}{special}"
    found = report.kept.run(label, run)
    return {**found, "seconds": report.kept.found[label]["seconds"]}


def fixed(report: Report, sets: dict[str, Floats]) -> dict[str, Evaluator]:
    """Everything without chance: the ad-hoc rows of Tables 5 and 6, and Tables 3 and 4 as inputs."""
    listed = groupings(report.folder)
    evaluators = {name: Evaluator(values, PAPER) for name, values in sets.items()}
    for (name, row), groups in listed.items():
        if row.startswith("GOMM"):
            continue
        inputs = "Table 3" if name == "Water" else "Table 4"
        if (inputs, row, "groups") in report.printed:
            report.word(inputs, row, "groups", f"{len(groups)} groups", "input", "the ad-hoc groupings as printed")
        for k in SIZES:
            table = PRINTED_TABLE[name][1]
            ours = evaluators[name].fitness(genome_of_listed_groups(groups, sets[name].shape[1], k)).score
            why = "the printed digits are of another rounding"
            if name == "Water" and row in MISPRINTED:
                why = (
                    "unknowable, because the blocks of Table 3 for this row cannot be those of Table 5: the same rules "
                    "give every other row of both tables digit by digit; no single attribute in another block mends it "
                    "(readings)"
                )
            if name == "Water" and row == "G3c":
                why = (
                    "misprint in Table 3: with a3 beside a13, a17 and a20 all five printed figures come out, and with "
                    "none of the other 1 121 groupings one slip away (readings)"
                )
            report.exact(table, row, f"k={k}", ours, why=why, digits=3, truncated=True)
            report.exact(table, row, f"groups k={k}", len(groups), why="blocks counted as printed in Table 3")
    recovered(report, evaluators["Census"], listed)
    one = {name: genome_of_listed_groups([list(range(v.shape[1]))], v.shape[1], 100) for name, v in sets.items()}
    keeping = [Evaluator(sets[n], _generic()).fitness(one[n]).score for n in ("Census", "Water")]
    report.note(
        f"k = 100 leaves 80 records of Census in a last group below k under the paper's MDAV; with the ending that "
        f"keeps k the score of one group is {keeping[0]:.2f} (Census) and {keeping[1]:.2f} (Water)"
    )
    return evaluators


def recovered(report: Report, evaluator: Evaluator, listed: dict[tuple[str, str], list[list[int]]]) -> None:
    """The groupings that two published rows of Table 2 turn out to be."""
    for k in (50, 100):
        groups = listed["Census", f"GOMM{k}"]
        found = evaluator.fitness(genome_of_listed_groups(groups, evaluator.points.shape[1], k))
        told = " and ".join("{" + ", ".join(str(a + 1) for a in group) + "}" for group in groups)
        printed = " / ".join(report.printed["Table 2", f"k={k}", c].value for c in ("IL", "ID", "DLD", "score"))
        report.note(
            f"Table 2, k = {k}: the printed row {printed} is {told}, which gives "
            f"{found.IL:.3f} / {found.ID:.3f} / {found.DLD:.3f} / {found.score:.4f}"
        )


def _generic() -> Any:
    from dataclasses import replace

    return replace(PAPER, ending="generic")


def found(report: Report, name: str, k: int, runs: list[dict[str, Any]], evaluator: Evaluator) -> None:
    """A row of Table 1 or 2 and its cells of Table 5 or 6: the average over the runs, as the paper prints."""
    bests = [np.array(run["best"]) for run in runs]
    fitness, groups = [evaluator.fitness(best) for best in bests], [len(groups_of(best)) for best in bests]
    told, ad_hoc = PRINTED_TABLE[name]
    mean = float(np.mean([f.score for f in fitness]))
    lower = mean < report.value(told, f"k={k}", "score")
    why = "another grouping, of a lower score" if lower else "another grouping than the printed one in some runs"
    for column in ("IL", "ID", "DLD", "score"):
        ours = [getattr(f, column) for f in fitness]
        report.chance(told, f"k={k}", column, ours, why=why, truncated=True, lower_is_better=column == "score")
    report.chance(told, f"k={k}", "groups", groups, why=why, digits=1)
    scores = [f.score for f in fitness]
    report.chance(ad_hoc, "GOMM", f"k={k}", scores, why=why, truncated=True, lower_is_better=True)
    report.chance(ad_hoc, "GOMM", f"groups k={k}", groups, why=why, digits=1)


def seeded(report: Report, tables: dict[str, Table]) -> None:
    """The same recipe from our own start, which holds one group, univariate and correlation-based groupings."""
    lines = []
    for name, k in (("Water", 25),):
        scores = [search(report, name, tables[name], k, s, "paper", start="heuristic")["score"] for s in range(2)]
        plain = [search(report, name, tables[name], k, s, "paper")["score"] for s in range(RUNS)]
        printed = report.printed[PRINTED_TABLE[name][0], f"k={k}", "score"].value
        lines.append(f"{name} k = {k}: {np.mean(scores):.2f} against {np.mean(plain):.2f} (printed {printed})")
    report.note("our customary start (not the paper's), same budget, mean score of 2 runs: " + "; ".join(lines))


def dynamic(report: Report, pairs: dict[int, list[tuple[dict[str, Any], dict[str, Any]]]]) -> None:
    bars, ups, gaps = [], [], []
    for k, runs in pairs.items():
        plain, quick = (float(np.mean([run[side]["seconds"] for run in runs])) for side in (0, 1))
        bars += [{"k": k, "algorithm": "GOMM", "seconds": plain}, {"k": k, "algorithm": "D-GOMM", "seconds": quick}]
        fewer = float(np.mean([run[0]["evaluations"] / run[1]["evaluations"] for run in runs]))
        ups.append((k, fewer, plain / quick))
        gaps += [run[1]["score"] - run[0]["score"] for run in runs]
    report.figure(
        "Figure 8", time_picture(bars, "Time of GOMM and D-GOMM by k (Water, 100 generations)"),
        "bars by k: D-GOMM always faster; the gain shrinks as k grows",
        "; ".join(f"k = {k}: {fewer:.2f} times fewer evaluations, {up:.2f} times faster" for k, fewer, up in ups),
    )  # fmt: skip
    told = ", ".join(f"k = {k}: {fewer:.2f} ({up:.2f})" for k, fewer, up in ups)
    report.claim(
        "D-GOMM is always faster", all(fewer > 1 for _, fewer, _ in ups),
        f"evaluations (CPU time) of GOMM by those of D-GOMM: {told}",
    )  # fmt: skip
    report.claim(
        "the speed-up decreases as k increases", ups[0][1] > ups[-1][1],
        "in evaluations, k = 5 … 100: " + ", ".join(f"{fewer:.2f}" for _, fewer, _ in ups),
    )  # fmt: skip
    equal = sum(abs(gap) <= 0.005 for gap in gaps)
    report.claim(
        "D-GOMM's result is always equal to GOMM's", True if equal == len(gaps) else None,
        f"{equal} of {len(gaps)} runs in every printed digit, {sum(g <= 0.005 for g in gaps)} equal or better, "
        f"differences {min(gaps):+.2f} to {max(gaps):+.2f}; the stop rule is not printed, and a longer one is never "
        f"worse (readings)",
    )  # fmt: skip


def stop_rules(report: Report, table: Table, rows: dict[tuple[str, int], list[dict[str, Any]]]) -> None:
    """What D-GOMM's best scores differ from GOMM's by, seed by seed, under other stop rules."""
    for window in WINDOWS:
        judged = window == WINDOWS[0]
        row = {
            "an operator stops after … generations without a useful child": f"{window}{' (judged)' if judged else ''}"
        }
        for k in (25, 50, 100):
            quick = [search(report, "Water", table, k, s, "dynamic", disable_window=window) for s in range(RUNS)]
            gaps = [ours["score"] - plain["score"] for ours, plain in zip(quick, rows["Water", k], strict=False)]
            row[f"k = {k}"] = ", ".join(f"{gap:+.2f}" for gap in gaps)
        report.reading("D-GOMM, Water: its score less GOMM's, seed by seed", row)


def text(
    report: Report, evaluators: dict[str, Evaluator], water: list[dict[str, Any]], census: list[dict[str, Any]]
) -> None:
    """The numbers of section 5's text, which are not those of the paper's own tables."""
    listed = groupings(report.folder)
    for name, k, runs in (("Water", 50, water), ("Census", 25, census)):
        row, other = f"{name} k={k}", report.printed[PRINTED_TABLE[name][1], "GOMM", f"k={k}"].value
        why = f"the text contradicts the paper's own table, which has {other}"
        report.chance("Section 5", row, "GOMM score in the text", [run["score"] for run in runs], why=why)
        counted = [len(groups_of(np.array(run["best"]))) for run in runs]
        report.chance("Section 5", row, "GOMM groups in the text", counted, why=why, digits=1)
        p = evaluators[name].points.shape[1]
        ad_hoc = {
            row_name: evaluators[name].fitness(genome_of_listed_groups(blocks, p, k)).score
            for (data_set, row_name), blocks in listed.items()
            if data_set == name and not row_name.startswith("GOMM")
        }
        best = min(ad_hoc, key=lambda g: ad_hoc[g])
        why = f"the text contradicts the paper's own table; the lowest here is {best}"
        report.exact("Section 5", row, "best ad-hoc in the text", ad_hoc[best], why=why)
        if ("Section 5", row, "best ad-hoc groups in the text") in report.printed:
            report.exact("Section 5", row, "best ad-hoc groups in the text", len(listed[name, best]), why=why)
    report.skip("Conclusions", "unknowable, because a share of the time is a property of the program and its machine")


def main(arguments: Sequence[str] | None = None) -> None:
    report, asked = begin(__file__, "GOMM (2014): attribute grouping for microaggregation, redone", arguments)
    report.conventions += [
        "attributes scaled by their range; MDAV with Manhattan distance whose last group may fall below k",
        "IL = 100·SSE/SST; linkage by Euclidean distance over all attributes, t equally near records count 1/t",
        "interval disclosure: |x − x'| ≤ w % of x', mean over w = 1 … 10, around the protected value: the text's one "
        "interval of 10 % around the original does not give the paper's tables, this does",
        "Census: the first 12 columns; Water: the 380 complete records; score = (IL + (ID + DLD)/2)/2",
        f"D-GOMM: from generation 20 on, an operator without a useful child in {WINDOWS[0]} generations stops; "
        "the paper says several, and shorter ones contradict its statements (readings)",
        "the rules were chosen on Census k = 5, 10, 25; Water and k = 50, 100 of Table 2 were not used to choose them",
        "the first population is drawn at random, as the paper's: each attribute gets one of as many groups as "
        "there are attributes; digits are compared as cut off, which is how these tables are printed",
    ]
    sets = data()
    evaluators = fixed(report, sets)
    tables = {name: as_table(values) for name, values in sets.items()}
    if asked.quick:
        runs = [search(report, "Census", tables["Census"], 100, s, "paper", generations=30) for s in range(2)]
        found(report, "Census", 100, runs, evaluators["Census"])
        for table in ("Table 1", "Table 2", "Table 5", "Table 6", "Section 4.2", "Section 5", "Conclusions"):
            report.skip(table, "not in the quick run")
        report.finish()
        return
    rows: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for name in ("Water", "Census"):
        for k in (25, 5, 10, 50, 100):
            runs = OBSERVED if (name, k) == ("Water", 25) else RUNS
            rows[name, k] = [search(report, name, tables[name], k, s, "paper") for s in range(runs)]
            found(report, name, k, rows[name, k], evaluators[name])
    stopping = {"disable_window": WINDOWS[0]}
    fast = {
        k: [search(report, "Water", tables["Water"], k, s, "dynamic", **stopping) for s in range(RUNS)] for k in SIZES
    }
    dynamic(report, {k: list(zip(rows["Water", k], fast[k], strict=False)) for k in SIZES})
    stop_rules(report, tables["Water"], rows)
    slips(report, evaluators["Water"], groupings(report.folder), MISPRINTED, SIZES)
    operations = [run["rows"] for run in rows["Water", 25]]
    section(report, operations)
    pictures(report, operations)
    seeded(report, tables)
    text(report, evaluators, rows["Water", 50], rows["Census", 25])
    report.finish()


if __name__ == "__main__":
    main()
