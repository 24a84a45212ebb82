"""Solanas, Martínez-Ballesté, Mateo-Sanz and Domingo-Ferrer (2006): microaggregation by genetic algorithms.

    python experiments/ga-2006/reproduce.py [--quick] [--grid slice|paper|kept] [--upto N] [--passes P] [--out FOLDER]

`slice`: the paper's 1 210 settings twice on 11 records, 90 of them three times on more, always with the paper's epochs;
`paper`: its 1 210 settings P times (10 unless said) on tables of up to N records, the slice above. One pass takes a
few seconds of one core for each table of 11, a minute each for 20 and 35, eight for 50 and eleven for 100 records.
Trials are kept in the output folder, every setting once before any is run again: a stopped run goes on, and `kept`
judges the most complete trials there are.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[0]))

from ga_conclusions import conclude
from ga_pictures import draw, pair_means
from ga_trials import EPOCHS, PAIR, POPULATIONS, Campaign, K, drawn, made, mdav, of_grid, on_tables
from trials import Results
from variance import analyse
from verdicts import WORK, Report, begin

from crypsis.errors import SearchError
from crypsis.searches.ga_microaggregation import Genetic
from crypsis.searches.partitions import lower_bound

TABLES = 25
"""Tables drawn wherever a figure costs little."""
OWN = "tables of the same design drawn here: the paper's were not published"
NAMES = ("11x2", "11x3", "11x5", "11x7", "11x10", "20x2", "35x2", "50x2", "100x2")


def counts(report: Report) -> None:
    for n in (10, 20, 30, 40, 50, 100, 500, 1000):
        for k in (3, 4, 5):
            report.exact("Table I", n, f"k={k}", lower_bound.count_representative_partitions(n, k))
    where = ("Example 1", "n=30 k=3")
    report.exact(*where, "a", lower_bound.count_representative_partitions(30, 3))
    mu = lower_bound.paper_partition_bound(30, 3)
    printed = report.printed[(*where, "mu")].value
    report.word(*where, "mu", str(mu), "same" if printed == str(mu) else "different", "with (3!)¹⁰ in the denominator")
    report.exact(*where, "bound of P", float(lower_bound.paper_bound_probability(30, 3)), digits=-1)
    exact, true = lower_bound.count_partitions(30, 3), float(lower_bound.probability_of_candidate_partition(30, 3))
    eleven = float(lower_bound.probability_of_candidate_partition(11, 3))
    report.claim(
        "Equations 5 and 6 bound the number and the probability of candidates from above",
        False,
        f"n = 30, k = 3: a·μ = {11 * mu:.3g}, but there are exactly {exact:.4g} candidates; a random chromosome is one "
        f"with probability {true:.2g}, not at most 1.3e-11 (n = 11: {eleven:.3f}). "
        f"Sizes 3⁶4³ alone have more than μ partitions, and labelled chromosomes are divided by unlabelled partitions",
        certain=True,
    )


def small(report: Report, quick: bool) -> None:
    """Optimum, MDAV and GA for n = 11, all on the same tables."""
    tables, runs = (4, 2) if quick else (TABLES, 4)
    for d in (2, 3, 5, 7, 10):
        row = f"11x{d}"
        points = [drawn(11, d, table) for table in range(tables)]
        optima = np.array([lower_bound.optimal_partition(p, K)[1] for p in points])
        if d in (2, 3):
            report.chance("Section III.A", row, "optimum", optima, why=OWN)
            continue
        algorithm = Genetic(population=50, epochs=EPOCHS[11])

        def evolved(p: Any = points, a: Genetic = algorithm, best: Any = optima) -> list[float]:
            return [
                float(np.mean([a.run(t, K, np.random.default_rng(s), least=float(o)).sse for s in range(runs)]))
                for t, o in zip(p, best, strict=True)
            ]

        genetic = np.array(report.kept.run(f"{row}: {runs} runs on each of {tables} tables", evolved))
        report.chance("Table IV", row, "SE", optima, why=OWN)
        report.chance("Table IV", row, "MDAV", [mdav(p) for p in points], why=OWN)
        report.chance("Table IV", row, "GA", genetic, why=f"{OWN}; population 50, M_r 0.1, C_r 0.5, {runs} runs each")
        equal = int((genetic <= optima * (1 + 1e-9)).sum())
        report.claim(
            f"{row}: the GA finds the optimum", equal == tables, f"all of {runs} runs on {equal} of {tables} tables"
        )


def trials(report: Report, campaign: Campaign, workers: int, passes: int) -> Results | None:
    """A campaign, its cost counted; None where a stopped one has not run every setting."""
    path = report.out / campaign.file
    if path.is_file():
        report.started -= float(np.nansum(Results.read(path).seconds))  # spent when these trials were run
    elif passes == 0:
        return None
    try:
        return made(campaign, report.out, workers, passes)
    except SearchError:
        return None


def averaged(report: Report, results: dict[str, Results], unkept: dict[str, Results]) -> None:
    """What the paper averages over its grid: convergence epochs and the share of runs that reach the optimum."""
    shares: list[float] = []
    for name, found in results.items():
        if not name.startswith("11x"):
            continue
        d = int(name.partition("x")[2])
        best = lower_bound.optimal_partition(drawn(11, d), K)[1]
        hit = found.response("SSE") <= best * (1 + 1e-9)
        epoch = found.response("convergence epoch")
        if d in (5, 7, 10):
            shares.append(100 * float(hit.mean()))
            report.ratio(
                "Table IV", name, "Av.Conv.E.", float(epoch.mean()), factor=WORK,
                why=f"mean of {len(epoch)} runs over the paper's grid on one own table; runs that only remember the "
                f"best come nearer (readings), and which epoch the paper counts is not said",
            )  # fmt: skip
        printed = report.printed.get(("Table IV", name, "Av.Conv.E."))
        for which, results_of in (("kept", found), ("not", unkept.get(name))):
            if results_of is None:
                continue
            reached = results_of.response("SSE") <= best * (1 + 1e-9)
            row = {
                "table": name,
                "best chromosome": "keeps a place (judged)" if which == "kept" else "is only remembered",
                "printed epoch": printed.value if printed else "–",
                "mean epoch": f"{results_of.response('convergence epoch').mean():.0f}",
                "runs at the optimum": f"{100 * reached.mean():.1f} %",
                "of those with M_r > 0": f"{100 * reached[_mutating(results_of)].mean():.1f} %",
            }
            report.reading("elitism at n = 11, the paper's 1 210 settings", row)
    if len(shares) > 1:
        report.chance(
            "Section III.B", "11x5 to 11x10", "runs that reach the optimum %", shares, of=3, digits=1,
            why='the paper says "around"; ten of its eleven mutation rates are not 0, and those find the optimum',
        )  # fmt: skip


def _mutating(results: Results) -> Any:
    levels = np.array(results.design.factors[0].levels, dtype=np.float64)
    return levels[results.design.places[:, 0]] > 0


def table_two(report: Report, asked: Any, tables: int) -> None:
    """Minimum and average over tables, at the printed best pair of rates and the paper's epochs."""
    for n in (20, 35, 50, 100):
        name = f"{n}x2"
        alone = [mdav(drawn(n, 2, table)) for table in range(TABLES)]
        for table in ("Table II minimum", "Table II average"):
            report.chance(table, name, "MDAV", alone, why=OWN)
        if not tables:
            continue
        done = [trials(report, c, asked.workers, 0 if asked.grid == "kept" else 10) for c in on_tables(n)[:tables]]
        found = [(place, r.response("SSE")) for place, r in enumerate(done) if r is not None]
        if len(found) < 2:
            continue
        how = f"{OWN}; M_r {PAIR[n][0]}, C_r {PAIR[n][1]} as printed, populations 10 … 100, {EPOCHS[n]} epochs"
        sizes = f"{len(found[0][1])} runs a table" + (
            "; the epochs of n = 100 are not printed, more are tried (readings)" if n == 100 else ""
        )
        means = np.array([values.mean() for _, values in found])
        least = np.array([values.min() for _, values in found])
        report.chance("Table II average", name, "GA", means, why=f"{how}, {sizes}")
        report.chance("Table II minimum", name, "GA", least, why=f"{how}, {sizes} (printed: the lowest of 12 100)")
        own = np.array([alone[place] for place, _ in found])
        for word, values in (("minimum", least), ("best average", means)):
            below = int((values < own).sum())
            holds = below < len(own) / 2 if n == 100 else below > len(own) / 2
            report.claim(
                f"{name}: {word} of the GA is {'above' if n == 100 else 'below'} MDAV", holds,
                f"below on {below} of {len(own)} tables; mean {values.mean():.2f} against {own.mean():.2f}",
            )  # fmt: skip


def chosen(report: Report, results: dict[str, Results]) -> None:
    """The settings of Table II: where the lowest SSE and the lowest average lie on one own table."""
    for name, found in results.items():
        if name.startswith("11x"):
            continue
        sse = found.response("SSE")
        levels = {factor.name: factor.levels for factor in found.design.factors}
        setting = found.design.trial(int(np.argmin(sse))).settings
        pair = min(pair_means(found, "SSE"), key=lambda row: float(row["mean"]))
        why = f"where the one lowest of {len(sse)} runs on one own table lies is chance"
        for column, factor in (("Mr", "mutation_rate"), ("Cr", "crossover_rate"), ("pop.size", "population")):
            report.choice("Table II minimum", name, column, [setting[factor]], levels[factor], why=why)
        why = "the means of neighbouring pairs hardly differ; one own table"
        report.choice("Table II average", name, "Mr", [pair["M_r"]], levels["mutation_rate"], why=why)
        report.choice("Table II average", name, "Cr", [pair["C_r"]], levels["crossover_rate"], why=why)


def grid_means(report: Report, results: dict[str, Results]) -> None:
    """Table II as the paper made it, on one own table: the lowest SSE of all runs, the lowest average of a pair."""
    for name, found in results.items():
        if name.startswith("11x") or found.design.combinations < 1_210:
            continue
        sse = found.response("SSE")
        pairs = sorted(pair_means(found, "SSE"), key=lambda row: float(row["mean"]))
        runs = sse.reshape(-1, len(sse) // len(pairs))
        first = runs[next(i for i, row in enumerate(pair_means(found, "SSE")) if row == pairs[0])]
        error = float(first.std(ddof=1) / len(first) ** 0.5)
        told = [report.printed[f"Table II {what}", name, "GA"].value for what in ("minimum", "average")]
        row = {
            "table": name,
            "runs of each setting": str(found.design.replicates),
            "MDAV": f"{mdav(drawn(*found.subject['shape'])):.2f}",
            "lowest SSE (printed)": f"{sse.min():.2f} ({told[0]})",
            "lowest average of a pair (printed)": f"{pairs[0]['mean']:.2f} ± {2 * error:.2f} ({told[1]})",
            "that pair M_r, C_r": f"{pairs[0]['M_r']:g}, {pairs[0]['C_r']:g}",
        }
        report.reading("Table II on the paper's 1 210 settings, one own table each", row)


def longer(report: Report) -> None:
    """What more epochs than those of n = 50 give on 100 records, whose epochs are not printed."""
    mutation, crossover = PAIR[100]
    for epochs, tables in ((EPOCHS[100], 2), (300_000, 2), (1_000_000, 1)):

        def run(epochs: int = epochs, tables: int = tables) -> list[float]:
            ways = [
                Genetic(population=size, epochs=epochs, mutation_rate=mutation, crossover_rate=crossover)
                for size in POPULATIONS
            ]
            return [
                way.run(drawn(100, 2, table), K, np.random.default_rng(0)).sse
                for way in ways
                for table in range(tables)
            ]

        found = report.kept.run(f"100x2: {epochs} epochs at the printed pair, {tables} tables", run)
        told = [report.printed[f"Table II {what}", "100x2", "GA"].value for what in ("minimum", "average")]
        row = {"epochs": f"{epochs}", "tables": str(tables), "runs": str(len(found))}
        row |= {
            "lowest (printed)": f"{min(found):.2f} ({told[0]})",
            "mean (printed)": f"{np.mean(found):.2f} ({told[1]})",
        }
        report.reading("epochs on 100 records, M_r 0.1 and C_r 0 as printed, populations 10 … 100", row)


def convergence(report: Report, results: dict[str, Results]) -> None:
    """Table III: mean convergence epoch of the trials that yield the lowest SSE of their table."""
    found: dict[int, float] = {}
    for n, name in ((11, "11x2"), (20, "20x2"), (35, "35x2"), (50, "50x2")):
        if name not in results:
            continue
        sse, epoch = results[name].response("SSE"), results[name].response("convergence epoch")
        best = sse <= sse.min() * (1 + 1e-9)
        found[n] = float(epoch[best].mean())
        report.ratio(
            "Table III", n, "Av.Conv.E.", found[n], factor=WORK,
            why=f"one own table; {int(best.sum())} of {len(sse)} runs of {EPOCHS[n]} epochs yield its best partition; "
            f"which epoch the paper counts is not said",
        )  # fmt: skip
    order = [found[n] for n in sorted(found)]
    report.claim(
        "the convergence epoch grows with n",
        order == sorted(order) if len(order) == 4 else None,
        ", ".join(f"n = {n}: {found[n]:.0f}" for n in sorted(found)),
    )


def costs(report: Report, results: dict[str, Results]) -> None:
    for name, found in results.items():
        factors = found.design.factors
        settings = " × ".join(str(len(factor.levels)) for factor in factors)
        whole = "a part of the paper's 1 210"
        if found.design.combinations == 1_210:
            whole = "the paper's own" + ("" if found.design.replicates == 10 else ", which ran each 10 times")
        epochs = found.subject["fixed"]["epochs"]
        minutes = float(found.seconds.sum()) / 60
        report.note(
            f"{name}: {settings} settings ({whole}) × {found.design.replicates} runs of {epochs} epochs, in "
            f"{minutes:.1f} minutes of one core"
        )


def main(arguments: Sequence[str] | None = None) -> None:
    report, asked = begin(
        __file__,
        "GA (2006): genetic microaggregation, redone",
        arguments,
        grid=("slice", "paper", "kept"),
        upto=("100", "50", "35", "20", "11"),
        passes=tuple(map(str, range(10, 0, -1))),
    )
    report.conventions += [
        "k = 3 (the paper does not say; MDAV's printed SSE fits no other k); z-scores by the population deviation",
        "the best chromosome so far keeps a place in the population: the paper does not say so. At n = 11 the optimum "
        "is found without as well; at n = 35 and more the printed SSE are not",
        "an invalid chromosome has the constant fitness 1/(1+SST)/1000; the convergence epoch is the first one with "
        "the returned SSE",
        "data: uniform on [−10000, 10000], drawn here, so no SSE of Tables II to IV can be met digit by digit",
        "epochs as printed: 10⁴ up to n = 35, 10⁵ at n = 50; those of n = 100 are not printed, 10⁵ are taken",
    ]
    counts(report)
    small(report, asked.quick)
    names = ("11x2", "20x2", "35x2") if asked.quick else NAMES
    passes = 0 if asked.grid == "kept" else int(asked.passes)
    results: dict[str, Results] = {}
    for name in names:
        whole = asked.grid == "paper" and int(name.partition("x")[0]) <= int(asked.upto)
        size = "quick" if asked.quick else "paper" if whole else "slice"
        sizes = ("paper", "slice") if asked.grid == "kept" else (size,)
        found = [trials(report, of_grid(name, wanted), asked.workers, passes) for wanted in sizes]
        there = [each for each in found if each is not None]
        if there:
            results[name] = max(there, key=lambda each: each.design.size)
    unkept = {}
    if not asked.quick:
        tried = {
            name: trials(report, of_grid(name, "slice", elitist=False), asked.workers, passes) for name in NAMES[:5]
        }
        unkept = {name: each for name, each in tried.items() if each is not None}
    table_two(report, asked, 0 if asked.quick else 10)
    averaged(report, {} if asked.quick else results, unkept)
    if not asked.quick:
        chosen(report, results)
        grid_means(report, results)
        longer(report)
        convergence(report, results)
    several = {name: each for name, each in results.items() if len(each.design.factors[0].levels) > 2}
    findings = {
        name: analyse(each) for name, each in several.items() if ("Table V", name, "Pop. size") in report.printed
    }
    conclude(report, findings, {name for name in findings if several[name].design.size == 12_100})
    draw(report, results, findings)
    why = "not in the quick run" if asked.quick else "its trials are not complete here; run the command again to go on"
    for table in dict.fromkeys(key[0] for key in report.printed):
        report.skip(table, why)
    costs(report, results)
    report.note(
        "runs end early where none of their numbers can change any more: at the optimum where it is known (n ≤ 20), "
        "and without mutation once all chromosomes are the same; a test compares them with runs that go on"
    )
    report.finish()


if __name__ == "__main__":
    main()
