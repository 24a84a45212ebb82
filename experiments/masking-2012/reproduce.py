"""Marés and Torra (2012): an evolutionary optimisation approach for categorical data protection.

python experiments/masking-2012/reproduce.py [--quick] [--out FOLDER]

What the paper leaves open (group sizes, per cents of the rank swappings, depths of the codings, how the measures are
scaled, generations) is read in several ways; the printed *starting* scores choose masks and scale, one printed column
the generations, and the rest is held out.
Every run is kept in the output folder: a stopped experiment goes on where it was.
"""

from __future__ import annotations

import csv
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from data import reference_file
from verdicts import Report, begin

from crypsis.masking import MaskingMethod, Microaggregation
from crypsis.measures import (
    CategoryDisclosure,
    CategoryLinkage,
    ContingencyLoss,
    DistanceLoss,
    EntropyLoss,
    ProbabilisticLinkage,
    RankLinkage,
)
from crypsis.measures.categorical_ledger import CategoricalMeasure
from crypsis.measures.objective import Objective
from crypsis.searches.categorical_masking import PAPER, Criteria, evolve_maskings
from crypsis.searches.categorical_masking.first_population import MaskedFiles, PaperFamilies, build_population
from crypsis.table.attribute import Attribute, Kind, Role
from crypsis.table.table import Table

SETS: dict[str, tuple[str, tuple[str, ...], dict[str, int]]] = {
    "German": ("german_credit", ("EXISTACC", "SAVINGS", "PRESEMPLOY"), {"largest_k": 13, "depths": 4}),
    "Flare": ("solar_flare", ("CLASS", "LARGSPOT", "SPOTDIST"), {"largest_k": 13, "depths": 4}),
    "Adult": ("adult_1000", ("education", "marital-status", "occupation"), {"largest_k": 9, "depths": 6}),
}


@dataclass(frozen=True)
class Masks:
    """How 12 (or 8) group sizes, 11 rank swappings and 4 or 6 codings may have been graded, and what a global recoding
    publishes."""

    k_step: int
    recoded: str
    swap_step: float
    coded: str

    def __str__(self) -> str:
        sizes = "2, 3, 4" if self.k_step == 1 else f"{self.k_step}, {2 * self.k_step}"
        to = {"representative": "an old category", "merged": "a new one"}[self.recoded]
        word = {"depth": "equal depth", "share": "share of the categories"}[self.coded]
        step = self.swap_step
        return f"k = {sizes}, …; swapping {step:g} … {11 * step:g} %; codings by {word}; recoded to {to}"


@dataclass(frozen=True)
class Scale:
    """How the measures may have been scaled.

    divisor        the distance of two categories in DBIL and DBRL: ranks over their number, or 1 if they differ
    order          the most columns crossed in a table of CTBIL
    normalisation  a loss of 100 in EBIL: log2 of the number of categories, or the entropy of the column
    credit         what RSRL counts: containment as a link, or 1 over the number of candidates
    """

    divisor: str
    order: int
    normalisation: str
    credit: str

    def __str__(self) -> str:
        apart = {"size": "ranks apart", "nominal": "equal or not"}[self.divisor]
        whole = {"size": "log |D|", "entropy": "entropy"}[self.normalisation]
        credit = {"set": "containment", "expected": "expected links"}[self.credit]
        return f"{apart}, tables of up to {self.order}, {whole}, {credit}"

    def measures(self) -> tuple[tuple[CategoricalMeasure, ...], tuple[CategoricalMeasure, ...]]:
        """The three losses and the four risks of the paper."""
        losses = (
            ContingencyLoss(order=self.order), DistanceLoss(divisor=self.divisor),
            EntropyLoss(normalisation=self.normalisation),
        )  # fmt: skip
        risks = (
            CategoryDisclosure(), CategoryLinkage(divisor=self.divisor), ProbabilisticLinkage(),
            RankLinkage(credit=self.credit),
        )  # fmt: skip
        return losses, risks

    def objective(self, table: Table) -> Objective:
        losses, risks = self.measures()
        return Objective(table, {measure.tally: measure for measure in (*losses, *risks)})


@dataclass(frozen=True)
class Reading:
    masks: Masks
    scale: Scale

    def __str__(self) -> str:
        return f"{self.scale}; {self.masks}"


CHOICES: dict[str, tuple[Any, ...]] = {
    "k_step": (1, 5, 10), "recoded": ("representative", "merged"), "swap_step": (5.0, 2.0, 1.0),
    "coded": ("depth", "share"), "divisor": ("size", "nominal"), "order": (2, 3),
    "normalisation": ("size", "entropy"), "credit": ("set", "expected"),
}  # fmt: skip
"""What was tried where nothing is printed; first of all the reading of a library's defaults."""
MASKS = tuple(Masks(*chosen) for chosen in product(*list(CHOICES.values())[:4]))
SCALES = tuple(Scale(*chosen) for chosen in product(*list(CHOICES.values())[4:]))
READINGS = tuple(Reading(masks, scale) for scale in SCALES for masks in MASKS)
SHOWN = 10
"""Readings that are shown, the nearest first."""
GENERATIONS = 1200
POPULATIONS = 3
PARTS = {"mean": "Section 3.1 mean score", "max": "Section 3.2 max score"}
FIGURES = {
    ("mean", "Adult"): (1, 2), ("mean", "German"): (5, 6), ("mean", "Flare"): (7, 8),
    ("max", "Adult"): (9, 10), ("max", "German"): (13, 14), ("max", "Flare"): (15, 16),
}  # fmt: skip
UNKNOWN = "unknowable, because neither the parameters of the masks nor the scales of the measures are printed"
WHICH = ("max", "mean", "min")
ROBUST = ("min after", "distance from the full run")
Floats = NDArray[np.float64]


def load(name: str) -> tuple[Table, int, int]:
    """The three protected attributes in documented order; records and columns of the whole file."""
    stem, columns, _ = SETS[name]
    domains: dict[str, list[str]] = {column: [] for column in columns}
    with reference_file("categorical_domains.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["dataset"] == stem and row["attribute"] in domains:
                domains[row["attribute"]].append(row["code"])
    with reference_file(f"{stem}.csv").open(encoding="utf-8") as file:
        records = list(csv.DictReader(file))
    attributes, codes = [], []
    for column in columns:
        place = {label: code for code, label in enumerate(domains[column])}
        attributes.append(Attribute(column, Kind.ORDINAL, Role.QUASI_IDENTIFIER, tuple(domains[column])))
        codes.append(np.array([place[record[column]] for record in records], dtype=np.int32))
    return Table(tuple(attributes), tuple(codes)), len(records), len(records[0])


def methods(name: str, masks: Masks, table: Table) -> list[MaskingMethod]:
    """One per file; group sizes 2, 3, … become the multiples of a larger step."""
    graded = {"recoding": masks.recoded, "swap_step": masks.swap_step, "coding": masks.coded}
    made, step = PaperFamilies(**SETS[name][2], **graded).methods(table, SETS[name][1]), masks.k_step
    if step == 1:
        return made
    return [m.model_copy(update={"k": step * (m.k - 1)}) if isinstance(m, Microaggregation) else m for m in made]


def posed(name: str, masks: Masks, seed: int) -> tuple[Table, MaskedFiles]:
    table = load(name)[0]
    return table, build_population(table, methods(name, masks, table), np.random.default_rng([seed, 1]))


@dataclass(frozen=True)
class Evolved:
    """A run: (IL, DR) of all files before and after, and generation, max, mean and min score on the way."""

    before: Floats
    after: Floats
    history: Floats

    def at(self, generation: int) -> Floats:
        """Max, mean and min score after so many generations."""
        return np.asarray(self.history[self.history[:, 0] <= generation][-1, 1:])


def evolved(
    report: Report, name: str, reading: Reading, seed: int, score: str, generations: int, removed: float = 0.0
) -> Evolved:
    """A population evolved, without its best share if some are to be removed."""

    def run() -> dict[str, Any]:
        table, population = posed(name, reading.masks, seed)
        settings = PAPER.model_copy(update={"score": score, "generations": generations})
        aims = Criteria(reading.scale.objective(table))
        files = list(population.files)
        if removed:
            first = evolve_maskings(
                table, files, settings.model_copy(update={"generations": 1}), np.random.default_rng([seed, 2]), aims
            )
            order = np.argsort(first.scores_before, kind="stable")
            files = [files[i] for i in np.sort(order[round(removed * len(order)) :])]
        result = evolve_maskings(table, files, settings, np.random.default_rng([seed, 3 if removed else 2]), aims)
        parts = {"before": result.pairs_before, "after": result.pairs, "history": result.history}
        return {what: np.round(values, 6).tolist() for what, values in parts.items()}

    label = f"{name}; {reading}; population {seed}; {score} score; {generations} generations; {removed:.0%} removed"
    kept = report.kept.run(label, run)
    return Evolved(*(np.array(kept[what]) for what in ("before", "after", "history")))


def inputs(report: Report) -> None:
    """Sizes of files and populations, and category counts."""
    kinds = {"microaggregations": "microaggregation", "bottom codings": "bottom-coding", "top codings": "top-coding",
             "global recodings": "global-recoding", "rank swappings": "rank-swapping", "PRAMs": "pram"}  # fmt: skip
    for name in SETS:
        table, records, width = load(name)
        made = Counter(type(method).__name__.lower() for method in methods(name, MASKS[0], table))
        where = "Section 3 populations"
        report.exact(where, name, "records", records)
        report.word(
            where,
            name,
            "categorical attributes",
            str(width),
            "input",
            "columns of the public file at hand, numeric ones included",
        )
        sizes = {"protections": sum(made.values())} | {c: made[kind.replace("-", "")] for c, kind in kinds.items()}
        for column, count in sizes.items():
            report.word(where, name, column, str(count), "input", "populations are built to the printed sizes")
        for attribute in table.attributes:
            report.exact(
                "Section 3 categories", name, attribute.name.upper(), len(attribute.categories),
                why="unknowable, because the paper does not list them; the UCI file has one less, perhaps a label for "
                "missing values was counted",
            )  # fmt: skip


def start_scores(pairs: Floats) -> dict[str, Floats]:
    """Max, mean and min of both scores over a population."""
    both = {"mean": pairs.mean(axis=1), "max": pairs.max(axis=1)}
    return {score: np.array([v.max(), v.mean(), v.min()]) for score, v in both.items()}


def first_pairs(report: Report, name: str, masks: Masks, seed: int) -> dict[Scale, Floats]:
    """(IL, DR) of all files before any evolution, by each scale; every measure reads every file once."""
    ways = {repr(measure): measure for scale in SCALES for half in scale.measures() for measure in half}

    def run() -> dict[str, Any]:
        table, population = posed(name, masks, seed)
        bound = {label: measure.against(table) for label, measure in ways.items()}
        return {label: [round(each.read(file), 6) for file in population.files] for label, each in bound.items()}

    kept = report.kept.run(f"{name}; {masks}; population {seed}; first files by every measure", run)
    return {
        scale: np.stack(
            [np.mean([kept[repr(measure)] for measure in half], axis=0) for half in scale.measures()], axis=1
        )
        for scale in SCALES
    }


@dataclass(frozen=True)
class Starts:
    """Starting scores of all readings.

    printed  for every score and data set max, mean and min; NaN where nothing is printed
    found    the same for every reading, mean of the populations
    """

    printed: dict[tuple[str, str], Floats]
    found: dict[Reading, dict[tuple[str, str], Floats]]

    def apart(self, reading: Reading, sets: Sequence[str] = tuple(SETS)) -> float:
        """Root mean square distance from the printed starting scores of some sets."""
        gaps = [self.found[reading][key] - told for key, told in self.printed.items() if key[1] in sets]
        return float(np.sqrt(np.nanmean(np.concatenate(gaps) ** 2)))

    def nearest(self, among: Sequence[Reading] = READINGS, sets: Sequence[str] = tuple(SETS)) -> list[Reading]:
        return sorted(among, key=lambda reading: self.apart(reading, sets))

    def range_of(self, score: str, name: str, place: int, printed: str) -> str:
        """What the readings give for a starting score, and whether the printed one is among it."""
        values = [each[score, name][place] for each in self.found.values()]
        told = f"the readings start from {min(values):.1f} to {max(values):.1f}"
        return told + ("" if min(values) <= float(printed) <= max(values) else ", so none of them is the authors'")


def fitted(report: Report, populations: int) -> Starts:
    """How near the starting scores of every reading lie to the printed ones."""
    printed: dict[tuple[str, str], Floats] = {}
    for score, table in PARTS.items():
        for name in SETS:
            cells = [report.printed.get((table, name, f"{which} before")) for which in WHICH]
            printed[score, name] = np.array([float(cell.value) if cell else np.nan for cell in cells])
    found: dict[Reading, dict[tuple[str, str], Floats]] = {reading: {} for reading in READINGS}
    for masks in MASKS:
        for name in SETS:
            drawn = [first_pairs(report, name, masks, seed) for seed in range(populations)]
            for scale, score in product(SCALES, PARTS):
                runs = [start_scores(pairs[scale])[score] for pairs in drawn]
                found[Reading(masks, scale)][score, name] = np.mean(runs, axis=0)
    starts = Starts(printed, found)
    shown(report, starts)
    choices(report, starts)
    held_out(report, starts)
    balance(report, starts)
    return starts


def shown(report: Report, starts: Starts) -> None:
    """The nearest readings, then the nearest of every other scale; all of them go into readings.csv."""
    title = f"masks and scales by the starting scores (max / mean / min); all {len(READINGS)} in readings.csv"
    told = {f"{name}, {score}": _triple(starts.printed[score, name]) for score, name in starts.printed}
    report.reading(title, {"reading": "printed", **told, "root mean square": "–"})
    order = starts.nearest()
    with (report.out / "readings.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        which = [f"{name}, {score}, {each}" for score, name in starts.printed for each in WHICH]
        rows.writerow([*CHOICES, *which, "root mean square"])
        for each in order:
            chosen = (*vars(each.masks).values(), *vars(each.scale).values())
            scores = [f"{value:.2f}" for key in starts.printed for value in starts.found[each][key]]
            rows.writerow([*chosen, *scores, f"{starts.apart(each):.2f}"])
    nearest = {reading.scale: reading for reading in reversed(order)}
    for each in [*order[:SHOWN], *(r for r in order[SHOWN:] if nearest[r.scale] == r or r == READINGS[0])]:
        told = {f"{name}, {score}": _triple(starts.found[each][score, name]) for score, name in starts.printed}
        report.reading(title, {"reading": str(each), **told, "root mean square": f"{starts.apart(each):.2f}"})


def choices(report: Report, starts: Starts) -> None:
    """What every single choice costs: the nearest reading that makes it."""
    title = "what each choice is worth: root mean square of the nearest reading that makes it"
    for place, (name, values) in enumerate(CHOICES.items()):
        least = {}
        for value in values:
            made = [r for r in READINGS if getattr(r.masks if place < 4 else r.scale, name) == value]
            least[str(value)] = starts.apart(starts.nearest(made)[0])
        report.reading(title, {"choice": name, "nearest": " · ".join(f"{v}: {x:.2f}" for v, x in least.items())})


def held_out(report: Report, starts: Starts) -> None:
    """Whether the scores of two data sets choose a reading that fits the third."""
    title = "a reading chosen by two data sets, on the third: root mean square"
    for name in SETS:
        others = [other for other in SETS if other != name]
        chosen = starts.nearest(sets=others)[0]
        first = starts.apart(READINGS[0], [name])
        report.reading(title, {
            "set": name, "chosen by the others": str(chosen), "on the others": f"{starts.apart(chosen, others):.2f}",
            "on this one": f"{starts.apart(chosen, [name]):.2f}",
            "least any reading has here": f"{starts.apart(starts.nearest(sets=[name])[0], [name]):.2f}",
            "the first reading here": f"{first:.2f}",
        })  # fmt: skip


def balance(report: Report, starts: Starts) -> None:
    """What both mean scores say about the starting files: max(IL, DR) = (IL + DR) / 2 + |IL − DR| / 2."""
    title = "how far apart loss and risk of the starting files are, and what they sum to: mean |IL − DR| / mean IL + DR"

    def told(by: dict[tuple[str, str], Floats]) -> dict[str, str]:
        means = {n: (by["mean", n][1], by["max", n][1]) for n in SETS}
        return {name: f"{2 * (highest - mean):.1f} / {2 * mean:.1f}" for name, (mean, highest) in means.items()}

    report.reading(title, {"reading": "printed", **told(starts.printed)})
    nearest = starts.nearest()
    others = (next(r for r in nearest if r.scale.divisor == divisor) for divisor in CHOICES["divisor"])
    for each in (*others, READINGS[0]):
        report.reading(title, {"reading": str(each), **told(starts.found[each])})


def _triple(values: Any) -> str:
    return " / ".join("–" if np.isnan(value) else f"{value:.1f}" for value in values)


def reached(run: Evolved, gain: float) -> float:
    """The generation at which the mean score had improved by so many per cent; infinite if never."""
    mean = run.history[:, 2]
    met = np.flatnonzero(100 * (1 - mean / mean[0]) >= gain)
    return float(run.history[met[0], 0]) if len(met) else np.inf


def inferred(report: Report, runs: dict[tuple[str, str], list[Evolved]]) -> int:
    """The generations after which the mean of the max score had improved as printed: the median over sets and runs."""
    found = {}
    for name in SETS:
        gain = report.value(PARTS["max"], name, "mean improvement %")
        found[name] = [reached(run, gain) for run in runs["max", name]]
    report.note(
        "generations are not printed; the printed improvement of the mean (max score, about 18 %) is met after "
        + "; ".join(f"{name}: {min(values):.0f} to {max(values):.0f}" for name, values in found.items())
    )
    return int(np.median([value for values in found.values() for value in values]))


def judge(report: Report, name: str, score: str, runs: list[Evolved], generations: int, starts: Starts) -> None:
    """Before and after by largest, mean and smallest score, one value per population."""
    table = PARTS[score]
    for place, which in enumerate(WHICH):
        before = np.array([run.at(0)[place] for run in runs])
        after = np.array([run.at(generations)[place] for run in runs])
        chosen = which == "mean" and score == "max"
        if (table, name, f"{which} before") in report.printed:
            printed = report.printed[table, name, f"{which} before"].value
            why = f"{UNKNOWN}; {starts.range_of(score, name, place, printed)}; this row helped to choose the reading"
            report.chance(table, name, f"{which} before", before, why=why)
            report.chance(table, name, f"{which} after", after, why=f"{UNKNOWN}; after {generations} generations")
        why = f"{UNKNOWN}; after {generations} generations" + ("; chose the generations" if chosen else "; held out")
        report.chance(table, name, f"{which} improvement %", 100 * (1 - after / before), why=why)


def lengths(report: Report, runs: dict[tuple[str, str], list[Evolved]], inferred_one: int) -> None:
    """What other numbers of generations would give."""
    for score in PARTS:
        title = f"generations, by the improvement % of max / mean / min ({score} score)"
        row = {"generations": "printed"}
        for name in SETS:
            row[name] = " / ".join(
                cell.value if (cell := report.printed.get((PARTS[score], name, f"{which} improvement %"))) else "–"
                for which in WHICH
            )
        report.reading(title, row)
        for generations in sorted({200, inferred_one, 800, GENERATIONS}):
            row = {"generations": f"{generations}{' (judged)' if generations == inferred_one else ''}"}
            for name in SETS:
                gains = [100 * (1 - run.at(generations) / run.at(0)) for run in runs[score, name]]
                row[name] = _triple(np.mean(gains, axis=0))
            report.reading(title, row)


def apart(pairs: Any) -> float:
    """How far loss and risk lie apart in the mean."""
    return float(np.abs(np.diff(pairs)).mean())


def draw(report: Report, name: str, score: str, result: Evolved, numbers: tuple[int, int], extra: str = "") -> None:
    cloud = [
        {"loss": float(a), "risk": float(b), "when": when}
        for when, pairs in (("initial", result.before), ("final", result.after))
        for a, b in pairs
    ]
    report.figure(
        f"Figure {numbers[0]}",
        {
            "title": f"{name}, {score} score{extra}", "data": {"values": cloud}, "width": 300, "height": 260,
            "mark": {"type": "point", "filled": True, "size": 25},
            "encoding": {
                "x": {"field": "loss", "type": "quantitative", "title": "information loss"},
                "y": {"field": "risk", "type": "quantitative", "title": "disclosure risk"},
                "color": {"field": "when", "type": "nominal", "sort": ["initial", "final"], "title": None},
            },
        },
        "dispersion of (IL, DR), initial and final population",
        f"mean |IL − DR| {apart(result.before):.1f} → {apart(result.after):.1f}",
    )  # fmt: skip
    lines = [
        {"generation": float(row[0]), "score": float(row[1 + place]), "which": which}
        for row in result.history
        for place, which in enumerate(("max", "mean", "min"))
    ]
    report.figure(
        f"Figure {numbers[1]}",
        {
            "title": f"{name}, {score} score{extra}", "data": {"values": lines}, "width": 320, "height": 220,
            "mark": "line",
            "encoding": {
                "x": {"field": "generation", "type": "quantitative"},
                "y": {"field": "score", "type": "quantitative", "scale": {"zero": False}},
                "color": {"field": "which", "type": "nominal", "title": None},
            },
        },
        "max, mean and min score over the generations: max falls in steps, mean steadily, min hardly",
        "max {:.1f} → {:.1f}, mean {:.1f} → {:.1f}, min {:.1f} → {:.1f}".format(
            *(value for place in (1, 2, 3) for value in (result.history[0, place], result.history[-1, place]))
        ),
    )  # fmt: skip


def invariants(report: Report, runs: dict[tuple[str, str], list[Evolved]], generations: int) -> None:
    """What must hold whatever the population."""
    every = [result for results in runs.values() for result in results]
    grew = [bool((np.diff(r.history[:, 1:], axis=0) > 1e-9).any()) for r in every]
    report.claim("max, mean and min score never grow", not any(grew), f"{len(grew) - sum(grew)} of {len(grew)} runs")
    gains = {pair: np.array([1 - r.at(generations) / r.at(0) for r in results]) for pair, results in runs.items()}
    least = [bool(mean[2] <= mean[:2].min()) for mean in (values.mean(axis=0) for values in gains.values())]
    single = [bool(row[2] <= row[:2].min()) for values in gains.values() for row in values]
    report.claim(
        "the min score improves less than max and mean",
        True if all(least) else None,
        f"{sum(least)} of {len(least)} data sets and scores by the mean of the runs, {sum(single)} of {len(single)} "
        "runs; generations are not printed",
    )
    smaller = []
    for name in SETS:
        if ("mean", name) in runs and ("max", name) in runs:
            for one, two in zip(runs["mean", name], runs["max", name], strict=True):
                smaller.append(apart(two.after) < apart(one.after))
    if smaller:
        report.claim(
            "the max score ends with more balanced files than the mean score", sum(smaller) >= 0.8 * len(smaller),
            f"smaller mean |IL − DR| in {sum(smaller)} of {len(smaller)} runs",
        )  # fmt: skip
    ends = {name: [apart(run.after) for run in found] for (score, name), found in runs.items() if score == "mean"}
    if len(ends) == len(SETS):
        report.claim(
            "by the mean score, German and Flare end with less balanced files than Adult",
            min(ends["German"] + ends["Flare"]) > max(ends["Adult"]),
            "mean |IL − DR| after the last generation, lowest to highest run: "
            + ", ".join(f"{name} {min(values):.1f} to {max(values):.1f}" for name, values in ends.items()),
        )


def robustness(report: Report, reading: Reading, generations: int) -> None:
    """Flare without its best files; the printed gaps to the full run, for both kinds of masks."""
    title = "Flare without its best files: min score, and its distance from the full run's"
    shares = {0.05: (17, 19), 0.10: (18, 20)}
    rows = [f"best {100 * share:.0f} % removed" for share in shares]
    row = {"reading": "printed"}
    for name in rows:
        row[name] = " / ".join(report.printed["Section 3.3 robustness", name, c].value for c in ROBUST)
    report.reading(title, row)
    tried = [(READINGS[0], generations, generations), (reading, generations, GENERATIONS)]
    for each, length, made in [*tried, (reading, GENERATIONS, GENERATIONS)]:
        full = [evolved(report, "Flare", each, seed, "max", made) for seed in range(POPULATIONS)]
        row = {"reading": f"{each}, {length} generations"}
        for (share, numbers), name in zip(shares.items(), rows, strict=True):
            rest = [evolved(report, "Flare", each, s, "max", made, share) for s in range(POPULATIONS)]
            lowest = np.array([run.at(length)[2] for run in rest])
            gaps = lowest - np.array([run.at(length)[2] for run in full])
            row[name] = f"{lowest.mean():.2f} / {gaps.mean():.2f}"
            if (each, length) != (reading, generations):
                continue
            for column, values in zip(ROBUST, (lowest, gaps), strict=True):
                report.chance("Section 3.3 robustness", name, column, values, why=f"{UNKNOWN}; held out")
            told = report.printed["Section 3.3 robustness", name, ROBUST[1]].value
            report.claim(
                f"{name}: the search almost reaches the full run (within 2 points)", True if gaps.max() <= 2 else None,
                f"{gaps.min():.2f} to {gaps.max():.2f} (printed {told}); generations and masks are not printed",
            )  # fmt: skip
            draw(report, "Flare", "max", rest[0], numbers, f", {name}")
        report.reading(title, row)


def main(arguments: Sequence[str] | None = None) -> None:
    report, asked = begin(__file__, "MASKING (2012): evolution of masked categorical files, redone", arguments)
    report.conventions += [
        "IL = mean of CTBIL (0–100), DBIL, EBIL; DR = mean of ID, DBRL, PRL, RSRL",
        "linkage ties count 1/t",
        "Equation 3 as printed favours bad files; selection is proportional to max + min − score, as the text says",
        "leaders: the best tenth; number of generations, leaders and the parameters of the masks are not printed",
        "masks and scales of the measures: the reading whose starting scores lie nearest to the printed ones; "
        "generations: where the mean of the max score has improved as printed; all other printed numbers are held out",
        "one breeding per generation; Adult: the first 1000 complete records",
    ]
    inputs(report)
    populations = 1 if asked.quick else POPULATIONS
    if asked.quick:
        quick(report)
        report.finish()
        return
    starts = fitted(report, populations)
    nearest = starts.nearest()
    reading = nearest[0]
    runner_up = next(each for each in nearest if each.scale != reading.scale)
    runs = {
        (score, name): [evolved(report, name, reading, s, score, GENERATIONS) for s in range(populations)]
        for name in SETS
        for score in PARTS
    }
    generations = inferred(report, runs)
    report.note(f"judged: {reading}, {generations} generations, {populations} populations")
    for score, name in runs:
        judge(report, name, score, runs[score, name], generations, starts)
        draw(report, name, score, runs[score, name][0], FIGURES[score, name])
    lengths(report, runs, generations)
    invariants(report, runs, generations)
    robustness(report, reading, generations)
    for each in (runner_up, READINGS[0]):
        other(report, each, generations)
    left(report)
    report.finish()


def other(report: Report, reading: Reading, generations: int) -> None:
    """The population of another reading beside the judged one, to the same generation."""
    for score in PARTS:
        title = f"another reading ({reading}), after {generations} generations, {score} score: max / mean / min"
        for when, at in (("before", 0), ("after", generations)):
            row = {"": when}
            for name in SETS:
                runs = [evolved(report, name, reading, s, score, generations) for s in range(2)]
                row[name] = _triple(np.mean([run.at(at) for run in runs], axis=0))
            report.reading(title, row)


def quick(report: Report) -> None:
    """One population of Flare, a few generations: the machinery and what must hold whatever the population."""
    reading = READINGS[0]
    runs = {(score, "Flare"): [evolved(report, "Flare", reading, 0, score, 200)] for score in PARTS}
    for (score, name), found in runs.items():
        draw(report, name, score, found[0], FIGURES[score, name])
    invariants(report, runs, 200)
    left(report)


def left(report: Report) -> None:
    """What nothing here can stand beside."""
    pace = [
        1000 * row["seconds"] / float(label.partition(" generations")[0].rpartition(" ")[2])
        for label, row in report.kept.found.items()
        if f"{GENERATIONS} generations" in label
    ]
    if pace:
        report.note(
            f"{np.mean(pace):.1f} ms of CPU per generation here, building the population included; the paper: 120 s "
            f"with mutation, 242 s with crossover"
        )
    missing = "the 1993 American Housing Survey extract is not public: none of its 4 figures can be redrawn"
    for table in (*PARTS.values(), "Section 3 populations", "Section 3 categories"):
        report.skip(table, missing, row="Housing")
        report.skip(table, "not in the quick run")
    report.skip("Section 3.3 robustness", "not in the quick run")
    report.skip(
        "Section 3.2 time", "unknowable, because machine and program are others (one-cell changes amend tallies here)"
    )
    report.note("Figures 3, 4, 11 and 12 (Housing) are not redrawn: the data are not available")


if __name__ == "__main__":
    main()
