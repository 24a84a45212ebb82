"""What all experiments share: the printed numbers, one rule for verdicts, figures, and the page that tells it all.

The rule (`RULE`) is the same for all papers and was written down before any run, but for *undecided*, which came later
and is stricter; `exact`, `chance`, `ratio` and
`choice` carry it out. Everything but *same* needs a reason.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import vl_convert

Spec = dict[str, Any]
SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
CONFIG = {"font": "system-ui, sans-serif", "view": {"stroke": "#dddddd"}, "axis": {"grid": False}}


SIGMAS = 3.0
"""Standard errors by which a mean over runs may miss a printed figure and still be close."""
WORK = 2.0
"""Ratio by which amounts of work (epochs, evaluations, seconds) and distances from a truth may miss."""
VARIANCES = 4.0
"""Ratio by which variances over runs may miss: what two variances of 20 runs each exceed once in 300 times."""
ALWAYS = ("0", "0.0", "1.0")
"""Printed figures that claim *never* or *always*."""
RULE = (
    "without chance (counts, formulas, a heuristic on a public file): *same* in every printed digit, else *different*",
    f"with chance: ours is the mean of r runs (or draws of the data) with deviation s, the printed figure a mean of m "
    f"(1 where the paper does not say); *close* within {SIGMAS:g} s √(1/r + 1/m)",
    "with one printed run (m = 1) that band is wide: *close* only where the printed figure also lies between the "
    "lowest and the highest of our runs, else *undecided* (added after the runs; it can only take *close* away)",
    "a printed 0, 0.0 or 1.0 says never or always: *same* if every run of ours is exactly there, else *different*",
    f"amounts of work (epochs, evaluations, seconds) and distances from a truth: *close* within a factor of {WORK:g}; "
    f"variances over runs: {VARIANCES:g}",
    "a chosen level of a grid, or a range of levels, is *close* if no end is off by more than one level",
    "*better*: the loss of a search lies below the printed one by more than the band",
    "a statement *does not hold* only where the budget was the paper's; below it, it is *not tested*",
)
"""One rule for all papers; no band is chosen by looking at a result of ours."""


@dataclass(frozen=True)
class Printed:
    """A number (or word) of the paper and where it stands."""

    table: str
    row: str
    column: str
    value: str
    note: str

    @property
    def key(self) -> tuple[str, str, str]:
        return self.table, self.row, self.column

    @property
    def step(self) -> float:
        """One unit of the last printed digit."""
        digits = self.value.lower().partition("e")
        decimals = len(digits[0].partition(".")[2])
        return 10.0 ** (int(digits[2] or 0) - decimals)


@dataclass(frozen=True)
class Judged:
    printed: Printed
    ours: str
    verdict: str
    why: str


class Kept:
    """Finished runs on disk, one JSON line each with its CPU seconds: what was run once is not run again."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.found: dict[str, dict[str, Any]] = {}
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        self.torn = bool(text) and not text.endswith("\n")
        for line in text.splitlines():
            try:
                row = json.loads(line)
            except ValueError:
                continue  # the line a stopped run was writing
            self.found[row["run"]] = row
        self.before = float(sum(row["seconds"] for row in self.found.values()))

    def run(self, name: str, what: Callable[[], Any]) -> Any:
        """The result under this name, computed if it is not there; it must be plain data."""
        if name not in self.found:
            started = time.process_time()
            result = what()
            row = {"run": name, "seconds": round(time.process_time() - started, 6), "result": result}
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8") as file:
                file.write("\n" * self.torn + json.dumps(row) + "\n")
            self.torn = False
            self.found[name] = json.loads(json.dumps(row))
        return self.found[name]["result"]


@dataclass
class Report:
    """A verdict in the making."""

    folder: Path
    title: str
    quick: bool
    out: Path
    conventions: list[str] = field(default_factory=list)
    judged: dict[tuple[str, str, str], Judged] = field(default_factory=dict)
    claims: list[tuple[str, str, str]] = field(default_factory=list)
    figures: list[tuple[str, str, str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    readings: dict[str, list[dict[str, str]]] = field(default_factory=dict)
    started: float = field(default_factory=time.process_time)
    command: str = ""

    def __post_init__(self) -> None:
        with (self.folder / "expected.csv").open(encoding="utf-8") as file:
            rows = [Printed(**row) for row in csv.DictReader(file)]
        self.printed = {row.key: row for row in rows}
        self.kept = Kept(self.out / "runs.jsonl")
        if len(self.printed) < len(rows):
            raise ValueError(f"{self.folder.name}/expected.csv holds a cell twice")

    def value(self, table: str, row: Any, column: Any) -> float:
        return float(self.printed[table, str(row), str(column)].value)

    def exact(
        self, table: str, row: Any, column: Any, ours: float, *, why: str = "", digits: int = 2, truncated: bool = False
    ) -> str:
        """Judge a number without chance: same in every printed digit, or different.

        truncated  the paper cuts digits off instead of rounding: one whole unit above the printed value is the same
        """
        printed = self.printed[table, str(row), str(column)]
        verdict = "same" if _equal(printed, ours, truncated) else "different"
        return self._note(printed, _shown(ours, digits), verdict, why)

    def chance(
        self, table: str, row: Any, column: Any, runs: Sequence[float] | Any, *, of: int = 1, why: str, digits: int = 2,
        lower_is_better: bool = False, truncated: bool = False,
    ) -> str:  # fmt: skip
        """Judge the mean of our runs (or of our draws of the data) against a printed mean of `of` of them.

        of  1 where the paper made one run, drew one table, or does not say how many
        """
        printed, values = self.printed[table, str(row), str(column)], np.asarray(runs, dtype=np.float64)
        if len(values) < 2:
            raise ValueError(f"{printed.key}: a band needs two runs or more")
        ours, told = float(values.mean()), float(printed.value)
        spread = float(values.std(ddof=1))
        band = SIGMAS * spread * (1 / len(values) + 1 / of) ** 0.5
        if printed.value in ALWAYS:
            verdict = "same" if bool((np.abs(values - told) < 1e-12).all()) else "different"
        elif _equal(printed, ours, truncated):
            verdict = "same"
        elif abs(ours - told) <= band + printed.step / 2:
            # The chance of one printed run widens the band: it must also be what some run of ours could give.
            among = values.min() - printed.step / 2 <= told <= values.max() + printed.step / 2
            verdict = "close" if of > 1 or among else "undecided"
        else:
            verdict = "better" if lower_is_better and ours < told else "different"
        places = max(digits, 0)
        exactly = "; a printed 0 or 1.0 must be met by every run" if printed.value in ALWAYS else ""
        how = (
            f"mean of {len(values)}, {_shown(float(values.min()), digits)} to {_shown(float(values.max()), digits)}; "
            f"band ± {band:.{places + 1 if digits >= 0 else 1}{'f' if digits >= 0 else 'e'}}{exactly}"
        )
        return self._note(printed, _shown(ours, digits), verdict, f"{why}; {how}", always=verdict != "same")

    def between(
        self, table: str, row: Any, column: Any, runs: Sequence[float] | Any, *, why: str, digits: int = 1
    ) -> str:
        """Judge the mean of our runs against a printed range "a - b": same inside, close within the band of an end."""
        printed, values = self.printed[table, str(row), str(column)], np.asarray(runs, dtype=np.float64)
        low, high = (float(part) for part in printed.value.split(" - "))
        ours, band = float(values.mean()), SIGMAS * float(values.std(ddof=1)) * (1 / len(values) + 1) ** 0.5
        inside = low <= ours <= high
        verdict = "same" if inside else "close" if low - band <= ours <= high + band else "different"
        spread = f"{values.min():.{digits}f} to {values.max():.{digits}f}"
        return self._note(
            printed, f"{ours:.{digits}f}", verdict, f"{why}; mean of {len(values)}, {spread}; band ± {band:.1f}"
        )

    def ratio(self, table: str, row: Any, column: Any, ours: float, *, factor: float, why: str, digits: int = 0) -> str:
        """Judge by a ratio: durations, amounts of work, variances."""
        printed = self.printed[table, str(row), str(column)]
        told = float(printed.value)
        if printed.value in ALWAYS:
            verdict = "same" if abs(ours - told) < 1e-12 else "different"
        elif _equal(printed, ours):
            verdict = "same"
        else:
            verdict = "close" if ours > 0 and 1 / factor <= ours / told <= factor else "different"
        return self._note(printed, _shown(ours, digits), verdict, f"{why}; band: factor {factor:g}")

    def choice(
        self, table: str, row: Any, column: Any, ours: Sequence[Any], levels: Sequence[Any], *, why: str
    ) -> str:  # fmt: skip
        """Judge a chosen level of a grid, or the range between two: close if no end is off by more than one level."""
        printed = self.printed[table, str(row), str(column)]
        told = [float(part) for part in printed.value.split(" - ")]
        mine = [min(map(float, ours)), max(map(float, ours))]
        steps = [abs(_place(levels, a) - _place(levels, b)) for a, b in ((told[0], mine[0]), (told[-1], mine[1]))]
        equal = abs(told[0] - mine[0]) < 1e-9 and abs(told[-1] - mine[1]) < 1e-9
        verdict = "same" if equal else "close" if max(steps) <= 1 else "different"
        shown = f"{mine[0]:g}" if mine[0] == mine[1] else f"{mine[0]:g} - {mine[1]:g}"
        return self._note(printed, shown, verdict, f"{why}; band: one level of the grid")

    def _note(self, printed: Printed, shown: str, verdict: str, why: str, always: bool = False) -> str:
        if verdict == "same" and not always:
            why = ""
        if verdict != "same" and not why:
            raise ValueError(f"{printed.key}: {shown} is {verdict} and no reason is given")
        self.judged[printed.key] = Judged(printed, shown, verdict, why)
        return verdict

    def word(self, table: str, row: Any, column: Any, ours: str, verdict: str, why: str) -> None:
        """Judge what is no single number, by hand."""
        printed = self.printed[table, str(row), str(column)]
        self.judged[printed.key] = Judged(printed, ours, verdict, why)

    def skip(self, table: str, why: str, row: Any = None) -> None:
        """What is left of a table (or a row) is not reproduced."""
        for key, printed in self.printed.items():
            if key[0] == table and (row is None or key[1] == str(row)) and key not in self.judged:
                self.judged[key] = Judged(printed, "–", "not reproduced", why)

    def claim(self, sentence: str, holds: bool | None, found: str, certain: bool = False) -> None:
        """A statement of the paper's text.

        holds    None where it was not tested; a quick run cannot refute what needs the paper's budget
        certain  needs no run: it can be refuted anywhere
        """
        if self.quick and not certain and holds is False:
            holds = None
        self.claims.append((sentence, {True: "holds", False: "does not hold", None: "not tested"}[holds], found))

    def figure(self, name: str, spec: Spec, printed: str, ours: str) -> None:
        """Draw a figure and describe the printed one beside it."""
        path = self.out / f"{name.lower().replace(' ', '-')}.svg"
        self.out.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"$schema": SCHEMA, "config": CONFIG, **spec})
        path.with_suffix(".vl.json").write_text(text, encoding="utf-8")
        path.write_text(vl_convert.vegalite_to_svg(text), encoding="utf-8")
        self.figures.append((name, path.name, printed, ours))

    def reading(self, title: str, row: dict[str, str]) -> None:
        """A row of a table of readings tried where the paper leaves something open; the first row is the printed."""
        self.readings.setdefault(title, []).append(row)

    def note(self, text: str) -> None:
        self.notes.append(text)

    @property
    def seconds(self) -> float:
        """CPU seconds of everything in this verdict, also of runs that were kept from before."""
        return time.process_time() - self.started + self.kept.before

    @property
    def counts(self) -> Counter[str]:
        return Counter(judged.verdict for judged in self.judged.values())

    def finish(self) -> Path:
        """Write verdict.md; a printed number nobody judged is an error of the experiment."""
        left = [key for key in self.printed if key not in self.judged]
        if left:
            raise ValueError(f"{len(left)} printed numbers have no verdict, the first is {left[0]}")
        self.out.mkdir(parents=True, exist_ok=True)
        path = self.out / "verdict.md"
        path.write_text(self._page(), encoding="utf-8")
        counts = ", ".join(f"{self.counts[v]} {v}" for v in VERDICTS if self.counts[v])
        print(f"{self.folder.name}: {counts}; {self.seconds:.0f} s of CPU; {path}")
        return path

    def _page(self) -> str:
        lines = [f"# {self.title}", ""]
        if self.quick:
            lines += ["**Only the quick run was made: fewer runs, shorter ones, fewer data sets than the paper.**", ""]
        counts = ", ".join(f"{self.counts[v]} *{v}*" for v in VERDICTS if self.counts[v])
        lines += [
            f"Made by `{self.command}` in "
            f"{self.seconds:.0f} s of one core. {len(self.printed)} printed numbers: {counts}.",
            "",
            "*input*: given, not computed · *not reproduced*: nothing of ours can stand beside it. The rule for the "
            "other verdicts is that of `experiments/README.md`.",
            "",
            "## Conventions",
            "",
            *(f"- {text}" for text in self.conventions),
        ]
        for table in dict.fromkeys(key[0] for key in self.printed):
            lines += [
                "",
                f"## {table}",
                "",
                "| row | column | printed | ours | verdict | why |",
                "|---|---|---|---|---|---|",
            ]
            lines += [
                _line(j.printed.row, j.printed.column, j.printed.value, j.ours, j.verdict, j.why)
                for key, j in sorted(self.judged.items(), key=lambda item: list(self.printed).index(item[0]))
                if key[0] == table
            ]
        if self.claims:
            lines += ["", "## Statements", "", "| the paper says | here | found |", "|---|---|---|"]
            lines += [_line(sentence, holds, found) for sentence, holds, found in self.claims]
        for title, rows in self.readings.items():
            lines += ["", f"## Readings tried: {title}", "", _line(*rows[0]), "|" + "---|" * len(rows[0])]
            lines += [_line(*row.values()) for row in rows]
        if self.figures:
            lines += ["", "## Figures", "", "Drawn into the output folder (SVG and Vega-Lite).", ""]
            lines += ["| figure | file | as printed | as redrawn |", "|---|---|---|---|"]
            lines += [_line(name, file, printed, ours) for name, file, printed, ours in self.figures]
        if self.notes:
            lines += ["", "## Notes", "", *(f"- {text}" for text in self.notes)]
        return "\n".join(lines) + "\n"


VERDICTS = ("same", "close", "undecided", "better", "different", "input", "not reproduced")


def _equal(printed: Printed, ours: float, truncated: bool = False) -> bool:
    """Whether a number is the printed one in every digit."""
    told = float(printed.value)
    if printed.value in ALWAYS:
        return abs(ours - told) < 1e-12
    cut = truncated and 0 <= ours - told < printed.step * (1 - 1e-9)
    return abs(ours - told) <= printed.step / 2 * (1 + 1e-9) or cut


def _shown(ours: float, digits: int) -> str:
    if isinstance(ours, int):
        return str(ours)
    return f"{ours:.{digits}f}" if abs(ours) < 1e6 and digits >= 0 else f"{ours:.3g}"


def _place(levels: Sequence[Any], value: float) -> int:
    """The place of the level nearest to a value."""
    return int(np.argmin([abs(float(level) - value) for level in levels]))


def _line(*cells: str) -> str:
    """A row of a Markdown table."""
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def begin(
    script: str, title: str, arguments: Sequence[str] | None, **choices: tuple[str, ...]
) -> tuple[Report, argparse.Namespace]:
    """Read the command line of an experiment and open its report; choices: further options, the default first."""
    folder = Path(script).resolve().parent
    parser = argparse.ArgumentParser(prog=f"{folder.name}/reproduce.py", description=title)
    parser.add_argument("--quick", action="store_true", help="a few seconds: fewer runs, smaller claims")
    parser.add_argument("--out", type=Path, default=Path(f"{folder.name}-out"), help="folder for verdict and figures")
    parser.add_argument("--workers", type=int, default=1, help="processes for the long parts")
    for name, values in choices.items():
        parser.add_argument(f"--{name}", choices=values, default=values[0], help=f"{' or '.join(values)}")
    asked = parser.parse_args(sys.argv[1:] if arguments is None else list(arguments))
    chosen = [
        f" --{name} {getattr(asked, name)}" for name, values in choices.items() if getattr(asked, name) != values[0]
    ]
    quick = " --quick" if asked.quick else ""
    command = f"python experiments/{folder.name}/reproduce.py{quick}{''.join(chosen)}"
    return Report(folder, title, asked.quick, asked.out, command=command), asked
