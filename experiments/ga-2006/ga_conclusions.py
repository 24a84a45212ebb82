"""Table V of the genetic paper, and what it concludes from the sensitivity analysis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from variance import SensitivityFindings
from verdicts import Report


def _span(values: Sequence[Any]) -> str:
    return f"{values[0]:g}" if len(values) == 1 else f"{min(values):g} - {max(values):g}"


def ruled(right: dict[str, bool], whole: set[str]) -> bool | None:
    """Whether a conclusion holds for every table; only one with the paper's whole grid of runs can refute it."""
    wrong = {name for name, holds in right.items() if not holds}
    return True if not wrong else False if wrong & whole else None


def conclude(report: Report, findings: dict[str, SensitivityFindings], whole: set[str]) -> None:
    """Table V and the conclusions drawn from it.

    whole  tables on which all of the paper's 12 100 runs were made
    """
    columns = {"Mut. rate": "mutation_rate", "Cross. rate": "crossover_rate", "Pop. size": "population"}
    met = [0, 0]
    for name, found in findings.items():
        for column, setting in columns.items():
            printed = report.printed["Table V", name, column].value
            best, by_result = found.best[setting], found.result.best[setting]
            met[0] += _span(by_result) == printed
            met[1] += _span(best) == printed
            why = f"one own table; after steps 1 and 2 (SSE alone): {_span(by_result)}"
            tried = found.result.comparisons[setting]["tukey"].levels
            report.choice("Table V", name, column, best, tried, why=why)
    report.note(
        f"Table V: {met[1]} of {3 * len(findings)} ranges are the printed ones after all four steps, {met[0]} after "
        f"steps 1 and 2; its wide mutation ranges look like those of step 2, though the text says all four"
    )
    rates = {name: f.result.best["mutation_rate"] for name, f in findings.items()}
    report.claim(
        "Result 2: mutation matters; a rate near 0.1 is a good choice",
        ruled(
            {n: "mutation_rate" in f.result.significant() and 0.1 in rates[n] for n, f in findings.items()},
            whole,
        ),
        "; ".join(f"{name}: {_p(f, 'mutation_rate')}, best {_span(rates[name])}" for name, f in findings.items()),
    )
    among = [name for name, f in findings.items() if 0.3 in f.result.best["crossover_rate"]]
    crossing = {name: f.result.anova.effect("crossover_rate").p < 0.05 for name, f in findings.items()}
    report.claim(
        "Result 3: crossover matters for SSE, little for the convergence epoch; 0.3 works well",
        ruled({name: crossing[name] and name in among for name in findings}, whole),
        f"it matters for {', '.join(name for name in crossing if crossing[name]) or 'none'}; 0.3 is among the best for "
        f"{', '.join(among)}; on SSE and on the epoch "
        + "; ".join(f"{name}: {_p(f, 'crossover_rate')}" for name, f in findings.items()),
    )
    sizes = {name: f.result.best["population"] for name, f in findings.items()}
    report.claim(
        "Result 4: the population size matters; a large one is reasonable",
        ruled(
            {
                name: "population" in f.result.significant()
                and max(f.result.comparisons["population"]["tukey"].levels) in sizes[name]
                for name, f in findings.items()
            },
            whole,
        ),
        "; ".join(f"{name}: {_p(f, 'population')}, best {_span(sizes[name])}" for name, f in findings.items()),
    )


def _p(found: SensitivityFindings, factor: str) -> str:
    """The p on SSE and, where the factor still varies among the best, on the convergence epoch."""
    words = f"p = {found.result.anova.effect(factor).p:.2g}"
    if found.speed is not None and factor in {effect.factor for effect in found.speed.anova.effects}:
        words += f" and {found.speed.anova.effect(factor).p:.2g}"
    return words
