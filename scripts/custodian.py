"""What a custodian reads from `init` to a verified release, and what an intruder finds in the released file.

    python scripts/custodian.py --data FOLDER [--budget 10s] [--only example-suggested] [--page FILE]

Three tables, each with the roles that `init` suggests, answered as a custodian would, and with `--cautious`: the
built-in example, and adult.csv and testdata.csv from FOLDER (`python experiments/data.py fetch adult`; testdata comes
with sdcMicro).
Prints every command and what it says, as a page. Where a release is refused, the answer that the refusal asks for is
written into the plan, and the steps are repeated. At the end `scripts/intruder.py` looks for people in the released
rows, put back into their order by the run; that they are the released ones is checked. Exit 1 if a walk ends without
a release that `verify` calls sound, or if the intruder finds too many.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

import crypsis
from crypsis.run import Run
from crypsis.table.files import write_table

SCRIPTS = Path(__file__).resolve().parent
HEAD = """# From init to a verified release: what a custodian reads

Made by `python scripts/custodian.py --page FILE`: every command and what it prints. The built-in example, testdata.csv
of sdcMicro and Adult, each with the roles that `init` suggests, answered as a custodian would, and with `--cautious`,
which asks nothing. At the end of each walk an intruder (`scripts/intruder.py`, which shares no code with the package)
looks for 200 people by true values of any one, two or three published columns: exactly, and by the nearest record.

Where a confidential column would single people out together with two others, the custodian says why nobody outside
knows it, which the reports state as an assumption, or makes it `quasi`; `--cautious` makes it `quasi`. What happens if
a stated column is known after all is printed too: whoever knows an amount and two more columns finds many.
"""
LONGEST = 60
"""Lines of one answer that are shown."""
WIDTH = 200
"""Characters of a printed line that are shown."""
ROUNDS = 4
"""How often a refused release is answered."""


@dataclass(frozen=True)
class Case:
    """A table and how the custodian reads it.

    answers  column that is undecided → role, as the custodian decides at once
    later  column that a refusal names → role
    stated  confidential column → why nobody outside knows it
    """

    title: str
    file: str
    cautious: bool
    answers: dict[str, str] = field(default_factory=dict)
    later: dict[str, str] = field(default_factory=dict)
    stated: dict[str, str] = field(default_factory=dict)


DWELLING = dict.fromkeys(("urbrur", "roof", "walls", "water", "electcon", "relat", "hhcivil"), "quasi")
"""What a neighbour sees of a household."""
CASES = {
    "example-suggested": Case(
        "The built-in example, suggested roles",
        "example.csv",
        False,
        stated={"income": "invented amounts that nobody knows", "diagnosis": "invented people have no doctor"},
    ),
    "example-cautious": Case("The built-in example, --cautious", "example.csv", True),
    "testdata-suggested": Case(
        "testdata.csv, suggested roles",
        "testdata.csv",
        False,
        DWELLING,
        {"household_weights": "quasi"},
        dict.fromkeys(("income", "expend", "savings"), "no register holds the money of households"),
    ),
    "testdata-cautious": Case("testdata.csv, --cautious", "testdata.csv", True),
    "adult-suggested": Case(
        "adult.csv, suggested roles",
        "adult.csv",
        False,
        {"relationship": "quasi"},
        dict.fromkeys(("fnlwgt", "salary-class", "capital-gain"), "quasi"),
        {"capital-gain": "tax returns are secret", "capital-loss": "tax returns are secret"},
    ),
    "adult-cautious": Case("adult.csv, --cautious", "adult.csv", True),
}


class Walk:
    """The steps of one case in a folder of its own, and the page they make."""

    def __init__(self, case: Case, home: Path, budget: str) -> None:
        self.case, self.home, self.budget, self.lines = case, home, budget, list[str]()

    def say(self, text: str = "") -> None:
        self.lines.append(text)

    def step(self, *words: str) -> int:
        """Carry out a command of Crypsis, and show it with what it prints."""
        surroundings = {**os.environ, "CRYPSIS_LEDGER": str(self.home / "releases.json"), "COLUMNS": "140"}
        command = [os.environ.get("CRYPSIS", "crypsis"), *words]
        done = subprocess.run(command, cwd=self.home, env=surroundings, capture_output=True, text=True, check=False)
        shown = [line.rstrip() for line in (done.stdout + done.stderr).splitlines() if not _progress(line)]
        more = [f"… {len(shown) - LONGEST} more lines"] if len(shown) > LONGEST else []
        self.say("```text")
        self.say(f"$ crypsis {' '.join(words)}")
        self.lines += [_shorten(line) for line in shown[:LONGEST]] + more
        self.say(f"(exit {done.returncode})")
        self.say("```")
        self.said = done.stdout + done.stderr
        return done.returncode

    def answer(self, roles: dict[str, str], because: str) -> list[str]:
        """Write roles into the plan; returns the columns that had another one."""
        plan = self.home / "plan.toml"
        text, changed = plan.read_text(encoding="utf-8"), list[str]()
        for column, role in roles.items():
            line = re.compile(rf'^("?{re.escape(column)}"? = \{{ role = ")\w+"', re.MULTILINE)
            new = line.sub(rf'\g<1>{role}"', text)
            if role == "quasi":  # a lattice needs a hierarchy of every quasi-identifier
                bare = re.compile(rf'^("?{re.escape(column)}"? = \{{(?:(?! hierarchy = )[^}}])*?) \}}', re.MULTILINE)
                new = bare.sub(_with_hierarchy, new)
            changed += [column] * (new != text)
            text = _without_mask(new, column) if role == "quasi" else new
        plan.write_text(text, encoding="utf-8")
        if changed:
            self.say(
                f"The custodian writes into the plan: {', '.join(f'{c} is {roles[c]}' for c in changed)}. {because}"
            )
            self.say()
        return changed

    def state(self, reasons: dict[str, str]) -> None:
        """Write into the plan why nobody outside knows confidential columns."""
        plan = self.home / "plan.toml"
        text = plan.read_text(encoding="utf-8")
        for column, reason in reasons.items():
            line = re.compile(rf'^("?{re.escape(column)}"? = \{{ role = "confidential")', re.MULTILINE)
            text = line.sub(rf'\g<1>, because = "{reason}"', text)
            self.say(f"The custodian writes into the plan why nobody outside knows {column}: {reason}.")
            self.say()
        plan.write_text(text, encoding="utf-8")

    def walk(self) -> bool:
        case = self.case
        self.say(f"## {case.title}")
        self.say()
        cautious = ("--cautious",) if case.cautious else ()
        if self.step("init", case.file, "-o", "plan.toml", *cautious):
            return False
        self.answer(case.answers, "A neighbour or another file may know them.")
        self.state(case.stated)
        self.step("check", "plan.toml", "--no-estimate")
        for number in range(1, ROUNDS + 1):
            run, out = f"run{number}", "release"
            if self.step("run", "plan.toml", "--budget", self.budget, "--out", run, "--quiet"):
                return False
            if self.step("release", run, "-o", out) == 0:
                return self.step("verify", out) == 0 and self.attacked(run, out)
            named = {column: role for column, role in case.later.items() if column in self.said}
            if not self.answer(named, "The release was refused because of it."):
                return False
        return False

    def attacked(self, run: str, out: str) -> bool:
        """The intruder, on the released rows in the order of the original."""
        with Run.open(self.home / run) as opened:
            table = opened.decode(opened.choose())
            unknown = set(table.confidential) - set(opened.plan.list_unstated())
            rows = [place for place, kept in enumerate(table.kept) if kept]
            shown = pl.DataFrame(crypsis.to_frame(table))[rows]
        released = pl.read_csv(self.home / out / "public" / "data.csv", infer_schema=False)
        shown = shown.select(released.columns)
        shown.write_csv(self.home / "in-order.csv")
        texts = pl.read_csv(self.home / "in-order.csv", infer_schema=False)
        if not _same_rows(texts, released):
            self.say("The decoded rows are not the released ones.")
            return False
        pl.read_csv(self.home / self.case.file, infer_schema=False)[rows].write_csv(self.home / "original.csv")
        hidden = [name for name in released.columns if name in unknown]
        words = [sys.executable, str(SCRIPTS / "intruder.py"), "original.csv", "in-order.csv", "--people", "200"]
        words += ["--unknown", ",".join(hidden)]
        done = subprocess.run(words, cwd=self.home, capture_output=True, text=True, check=False)
        self.say(f"An intruder (stated to be unknown: {', '.join(hidden) or 'none'}):")
        self.say()
        self.say("```text")
        self.lines += (done.stdout + done.stderr).splitlines()
        self.say("```")
        return done.returncode == 0


def _progress(line: str) -> bool:
    """Lines that tell what is being done, and warnings, which name a path of this machine."""
    told = line.startswith(("reading ", "judging,", "decoding,", "checking", "verifying ", "["))
    return told or "RuntimeWarning" in line or not line.strip()


def _shorten(line: str) -> str:
    """A line that fits, cut between words."""
    return line if len(line) <= WIDTH else f"{line[:WIDTH].rpartition(' ')[0]} …"


def _with_hierarchy(found: re.Match[str]) -> str:
    """The entry of a column with a hierarchy of its kind, and without a reason why nobody knows it."""
    numeric = 'kind = "numeric"' in found[1]
    entry = re.sub(r', because = "[^"]*"', "", found[1])
    return f'{entry}, hierarchy = "{"intervals:5000,10000,20000,40000" if numeric else "merge:1"}" }}'


def _without_mask(text: str, column: str) -> str:
    """The plan without the averages of one column: what is quasi is masked by the searches."""

    def kept(block: re.Match[str]) -> str:
        names = [name for name in re.findall(r'"([^"]+)"', block[2]) if name != column]
        listed = ", ".join(json.dumps(name) for name in names)
        return f"{block[1]}{listed}{block[3]}" if names else ""

    return re.sub(r'(\[\[mask\]\]\nmethod = "\w+"\ncolumns = \[)([^\]]*)(\]\nk = \d+\n)', kept, text)


def _same_rows(left: pl.DataFrame, right: pl.DataFrame) -> bool:
    """Whether two files hold the same records in whatever order; numbers may be written differently."""

    def plain(frame: pl.DataFrame) -> list[tuple[object, ...]]:
        read = [frame[name].cast(pl.Float64, strict=False) for name in frame.columns]
        kept = [
            n if n.null_count() == frame[s].null_count() else frame[s] for n, s in zip(read, frame.columns, strict=True)
        ]
        return sorted(pl.DataFrame(kept).rows(), key=repr)

    return plain(left) == plain(right)


def main() -> int:
    given = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    given.add_argument("--data", type=Path, default=Path(os.environ.get("CRYPSIS_DATA", "data")))
    given.add_argument("--budget", default="10s")
    given.add_argument("--only", default="", help=f"one of {', '.join(CASES)}, or several with commas")
    given.add_argument("--page", type=Path, help="write the page here")
    options = given.parse_args()
    pages, failed = list[str](), list[str]()
    for name in options.only.split(",") if options.only else CASES:
        case = CASES[name]
        with tempfile.TemporaryDirectory() as folder:
            home = Path(folder)
            if case.file == "example.csv":
                write_table(crypsis.example(1000), home / case.file)
            else:
                (home / case.file).write_bytes((options.data / case.file).read_bytes())
            walk = Walk(case, home, options.budget)
            failed += [] if walk.walk() else [name]
            pages += [*walk.lines, ""]
            sys.stdout.write("\n".join(walk.lines) + "\n\n")
            sys.stdout.flush()
    if options.page:
        options.page.write_text("\n".join([HEAD, *pages]), encoding="utf-8")
    sys.stdout.write(f"{'FAILED: ' + ', '.join(failed) if failed else 'every walk ends with a sound release'}\n")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
