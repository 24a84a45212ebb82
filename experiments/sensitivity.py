"""Sensitivity analysis: which settings of a partitioner or search matter, and which of their values are best.

    python experiments/sensitivity.py NAME DATA --vary SETTING=VALUES … --out FOLDER

Every combination of the settings is run several times (`trials.py`) and the results are analysed by variance
(`variance.py`). The same command continues a study that was stopped. Exit codes are those of `crypsis`.
"""

from __future__ import annotations

import json as json_format
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
import vl_convert

sys.path.insert(0, str(Path(__file__).resolve().parent))

from pictures import sensitivity_picture
from trials import Design, PartitionerSubject, Results, SearchSubject, Subject, run_design
from variance import SensitivityFindings, Stage, analyse

from crypsis.cli import main, options
from crypsis.cli.options import Roles
from crypsis.cli.output import figure, say, say_json, show_spinner
from crypsis.engines import engine
from crypsis.errors import PlanError
from crypsis.masking.partitioning import partitioners
from crypsis.masking.scaling import embed
from crypsis.plan.sections import searches
from crypsis.small_tables import table
from crypsis.table.files import write_atomically
from crypsis.table.table import Table


@dataclass(frozen=True)
class Factorial:
    """The design of a study, and how its results are judged."""

    vary: Annotated[
        list[str],
        typer.Option("--vary", "-v", help="SETTING=A,B,C or SETTING=FIRST:LAST:STEP; repeat", show_default=False),
    ]
    replicates: Annotated[int, typer.Option(help="runs of every combination", min=1)] = 10
    seed: Annotated[int, typer.Option(help="first seed of the design; same seed, same trials")] = 0
    alpha: Annotated[float, typer.Option(help="level of significance", min=1e-6, max=0.5)] = 0.05


@dataclass(frozen=True)
class Fixed:
    """What does not vary in a study."""

    set_: Annotated[
        list[str] | None, typer.Option("--set", "-s", help="NAME=VALUE setting that does not vary; may be repeated")
    ] = None
    k: Annotated[int, typer.Option(help="smallest group, for partitioners", min=1)] = 3
    generations: Annotated[int, typer.Option(help="length of a search's runs; 0: its own", min=0)] = 0


@dataclass(frozen=True)
class Effort:
    """How much of a study is done now, and by whom."""

    most: Annotated[
        int | None, typer.Option(help="stop after so many new trials and say how long the rest takes", min=1)
    ] = None
    workers: Annotated[int, typer.Option(help="processes; 1 runs here, 0 means one per core", min=0)] = 1


def sensitivity(
    name: Annotated[str, typer.Argument(help="a partitioner or search, e.g. genetic or grouping", show_default=False)],
    data: Annotated[
        str, typer.Argument(help="a file, or uniform:NxP for N random records of P attributes", show_default=False)
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="folder; one that exists is continued", show_default=False)],
    factors: Factorial,
    fixed: Fixed,
    columns: Roles,
    effort: Effort,
    json: options.Json = False,
) -> None:
    """Find which settings matter, and their best values.

    Runs every combination of some settings and analyses the results by variance.

    Example: python experiments/sensitivity.py genetic uniform:11x2 -v mutation_rate=0:1:0.1 -v population=10:100:10
    -s epochs=1000 --out study. The same command continues a study that was stopped.
    """
    design = Design.of(levels(factors.vary), factors.replicates, factors.seed)
    subject = _subject(name, data, fixed, columns)
    path = out / "trials.jsonl"
    with (
        show_spinner(f"{design.combinations} combinations × {factors.replicates} runs of {name}"),
        engine("serial" if effort.workers == 1 else "processes", effort.workers) as place,
    ):
        results = run_design(design, subject, path, place, most=effort.most)
    if not results.complete:
        _report_unfinished(results, json)
        raise typer.Exit(3)
    findings = analyse(results, factors.alpha)
    picture = sensitivity_picture(findings, f"{name} on {data}: {design.size} trials")
    write_atomically(out / "analysis.json", json_format.dumps(findings.to_dict(), indent=1).encode(), replace=True)
    _draw(picture, out / "sensitivity")
    if json:
        say_json(findings.to_dict())
        return
    say(findings_text(findings))
    say(f"\ntrials, analysis and picture: {out}")


def levels(texts: list[str]) -> dict[str, list[Any]]:
    """['rate=0:1:0.5', 'name=a,b'] → {'rate': [0.0, 0.5, 1.0], 'name': ['a', 'b']}."""
    found: dict[str, list[Any]] = {}
    for given in texts:
        setting, equals, text = (part.strip() for part in given.partition("="))
        if not (setting and equals and text):
            raise PlanError(f"--vary {given!r}: write SETTING=VALUES, for example --vary 'k=3,5,10'")
        if text.count(":") == 2:
            found[setting] = _steps(setting, text)
        else:
            found[setting] = [options.settings([f"value={part}"])["value"] for part in options.split([text])]
    return found


def _steps(setting: str, text: str) -> list[Any]:
    try:
        first, last, step = map(float, text.split(":"))
        count = round((last - first) / step) + 1
    except (ValueError, ZeroDivisionError):
        count = 0
    if not 1 <= count <= 1000:
        raise PlanError(f"--vary {setting}={text}: write FIRST:LAST:STEP with up to 1000 steps, e.g. {setting}=0:1:0.1")
    whole = all(number.is_integer() for number in (first, last, step))
    values = [round(first + place * step, 10) for place in range(count)]
    return [int(value) for value in values] if whole else values


def _subject(name: str, data: str, fixed: Fixed, columns: Roles) -> Subject:
    if name not in partitioners and name not in searches:
        raise PlanError(
            f"there is no partitioner or search called {name!r}; partitioners: {', '.join(partitioners)}; "
            f"searches: {', '.join(searches)}"
        )
    if data.startswith("uniform:"):
        rows, _, width = data.removeprefix("uniform:").partition("x")
        if not rows.isdigit() or not width.isdigit() or not int(rows) or not int(width):
            raise PlanError(f"{data!r}: write uniform:RECORDSxATTRIBUTES, e.g. uniform:11x2")
        values = np.random.default_rng(int(rows)).uniform(-1e4, 1e4, (int(rows), int(width)))
        names = [f"a{place + 1}" for place in range(int(width))]
        held = Table.from_columns(
            {a: values[:, place].tolist() for place, a in enumerate(names)}, dict.fromkeys(names, "quasi")
        )
    else:
        held = columns.read(Path(data))
    settings = options.settings(fixed.set_)
    if name in searches:
        return SearchSubject(name, held, settings, fixed.generations)
    if not held.quasi_identifiers:
        raise PlanError("no column is named to be partitioned by; name the quasi-identifiers with --quasi (or '*')")
    return PartitionerSubject(name, embed(held, held.quasi_identifiers, "z"), fixed.k, settings)


def _report_unfinished(results: Results, as_json: bool) -> None:
    left = results.design.size - results.done
    pace = float(np.nanmean(results.seconds))
    if as_json:
        say_json({"done": results.done, "left": left, "seconds per trial": pace, "seconds left": pace * left})
        return
    say(
        f"{results.done} of {results.design.size} trials done, {figure(pace)} s of one core each; the rest takes about "
        f"{figure(pace * left / 60)} minutes of one core: run the same command without --most to continue"
    )


def findings_text(findings: SensitivityFindings) -> str:
    """The findings as tables."""
    parts = []
    for number, stage in enumerate((findings.result, findings.speed)):
        if stage is not None:
            parts.append(_stage(2 * number + 1, stage, findings.alpha))
    best = [(setting, span(values)) for setting, values in findings.best.items()]
    parts.append("best values\n" + table(("setting", "values"), best))
    return "\n\n".join(parts)


def _stage(number: int, stage: Stage, alpha: float) -> str:
    rows = []
    for effect in stage.anova.effects:
        tests = stage.comparisons[effect.factor]
        significant = effect.significant(alpha)
        rows.append(
            (
                effect.factor,
                str(effect.df),
                figure(effect.F),
                f"{effect.p:.3g}",
                f"{stage.anova.share(effect.factor):.1f}",
                "yes" if significant else "no",
                span(tests["tukey"].best) if significant else "all",
                span(tests["scheffe"].best) if significant else "all",
            )
        )
    head = ("setting", "df", "F", "p", "explains %", "matters", "best by Tukey", "best by Scheffé")
    among = "" if number == 1 else ", among the best values so far"
    title = f"steps {number} and {number + 1}: {stage.anova.response}{among}"
    if not rows:
        return f"{title}\nnothing varies any more"
    return f"{title}\n{table(head, rows, right=[1, 2, 3, 4])}"


def span(values: tuple[Any, ...]) -> str:
    """Values in one line."""
    return ", ".join(map(str, values))


def _draw(picture: dict[str, Any], path: Path) -> None:
    text = json_format.dumps(picture)
    write_atomically(path.with_suffix(".vl.json"), text.encode(), replace=True)
    write_atomically(path.with_suffix(".svg"), vl_convert.vegalite_to_svg(text).encode(), replace=True)


app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
app.command()(options.flatten_groups(sensitivity))

if __name__ == "__main__":
    main(app)
