"""What all experiments share: the printed numbers, a verdict on each, figures, and the page that tells it all.

A number is *same* if it rounds (or truncates) to what is printed, *close* within a stated band, *better* where a
search ended below a printed loss, *different* otherwise, *input* where it is given and not computed, and *not
reproduced* where nothing of ours can stand beside it. Everything but *same* needs a reason.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import vl_convert

Spec = dict[str, Any]
SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
CONFIG = {"font": "system-ui, sans-serif", "view": {"stroke": "#dddddd"}, "axis": {"grid": False}}


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
    started: float = field(default_factory=time.process_time)

    def __post_init__(self) -> None:
        with (self.folder / "expected.csv").open(encoding="utf-8") as file:
            rows = [Printed(**row) for row in csv.DictReader(file)]
        self.printed = {row.key: row for row in rows}
        if len(self.printed) < len(rows):
            raise ValueError(f"{self.folder.name}/expected.csv holds a cell twice")

    def value(self, table: str, row: Any, column: Any) -> float:
        return float(self.printed[table, str(row), str(column)].value)

    def cell(
        self, table: str, row: Any, column: Any, ours: float, *, close: float = 0.0, factor: float = 1.0,
        why: str = "", digits: int = 2, truncated: bool = False, lower_is_better: bool = False,
    ) -> str:  # fmt: skip
        """Judge a number; close: at most this far from the printed value, or within this factor either way.

        truncated  the paper cuts digits off instead of rounding: one whole unit above the printed value is the same
        """
        printed = self.printed[table, str(row), str(column)]
        distance = abs(ours - float(printed.value))
        cut = truncated and 0 <= ours - float(printed.value) < printed.step * (1 - 1e-9)
        if distance <= printed.step / 2 * (1 + 1e-9) or cut:
            verdict, why = "same", ""
        elif lower_is_better and ours < float(printed.value):
            verdict = "better"
        elif distance <= close or 1 / factor < ours / (float(printed.value) or 1.0) < factor:
            verdict = "close"
        else:
            verdict = "different"
        if verdict != "same" and not why:
            raise ValueError(f"{printed.key}: {ours} is {verdict} and no reason is given")
        shown = f"{ours:.{digits}f}" if isinstance(ours, float) and abs(ours) < 1e6 and digits >= 0 else f"{ours:.4g}"
        if isinstance(ours, int):
            shown = str(ours)
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

    def claim(self, sentence: str, holds: bool | None, found: str) -> None:
        """A statement of the paper's text."""
        self.claims.append((sentence, {True: "holds", False: "does not hold", None: "not tested"}[holds], found))

    def figure(self, name: str, spec: Spec, printed: str, ours: str) -> None:
        """Draw a figure and describe the printed one beside it."""
        path = self.out / f"{name.lower().replace(' ', '-')}.svg"
        self.out.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"$schema": SCHEMA, "config": CONFIG, **spec})
        path.with_suffix(".vl.json").write_text(text, encoding="utf-8")
        path.write_text(vl_convert.vegalite_to_svg(text), encoding="utf-8")
        self.figures.append((name, path.name, printed, ours))

    def note(self, text: str) -> None:
        self.notes.append(text)

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
        print(f"{self.folder.name}: {counts}; {time.process_time() - self.started:.0f} s of CPU; {path}")
        return path

    def _page(self) -> str:
        seconds = time.process_time() - self.started
        lines = [f"# {self.title}", ""]
        if self.quick:
            lines += ["**Only the quick run was made: fewer runs, shorter ones, fewer data sets than the paper.**", ""]
        counts = ", ".join(f"{self.counts[v]} *{v}*" for v in VERDICTS if self.counts[v])
        lines += [
            f"Made by `crypsis experiment {self.folder.name}{' --quick' if self.quick else ''}` in {seconds:.0f} s of "
            f"one core. {len(self.printed)} printed numbers: {counts}.",
            "",
            "*same*: equal in every printed digit (rounded or truncated) · *close*: within the band named in the "
            "reason · *better*: a search ended below the printed loss · *different*: outside the band · *input*: "
            "given, not computed · *not reproduced*: nothing of ours can stand beside it.",
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
        if self.figures:
            lines += ["", "## Figures", "", "Drawn into the output folder (SVG and Vega-Lite).", ""]
            lines += ["| figure | file | as printed | as redrawn |", "|---|---|---|---|"]
            lines += [_line(name, file, printed, ours) for name, file, printed, ours in self.figures]
        if self.notes:
            lines += ["", "## Notes", "", *(f"- {text}" for text in self.notes)]
        return "\n".join(lines) + "\n"


VERDICTS = ("same", "close", "better", "different", "input", "not reproduced")


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
    return Report(folder, title, asked.quick, asked.out), asked
