"""From `init` to `verify` on a survey: weighted poverty and inequality, published weights, derived columns.

An invented survey of households (strata, weights, income components, their sum, its logarithm, a flag) or a file with a
weight is drafted, searched, released and verified by the command line, once as `init` proposes and once for each way to
publish the weight. The released data.csv is read by pandas alone. Intervals of the original are by 200 bootstraps
of households within strata; those that `release` prints, by linearisation, are near them. What the weight restores is
counted by the audit of the package, released or not.

usage: weights.py [--file FILE --income COLUMN --weight COLUMN [--role COLUMN=ROLE …]] [--seconds 12] [--seed 1]
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

import numpy as np
import pandas as pd

import crypsis

WAYS = ("", "rounded:10", "noise:0.2", "raked")
SAMPLES = 200


def invent_survey(seed: int, homes: int = 1500) -> pd.DataFrame:
    """Households drawn in strata by region and kind of town, with weights and income components."""
    rng = np.random.default_rng(seed)
    region = rng.choice(["North", "South", "East", "West"], homes, p=[0.4, 0.3, 0.2, 0.1])
    size = rng.integers(1, 6, homes)
    home = np.repeat(np.arange(homes), size)
    people = len(home)
    first = np.r_[True, home[1:] != home[:-1]]
    age = np.where(first, rng.integers(20, 95, people), rng.integers(0, 90, people))
    education = rng.choice(["low", "mid", "high"], people, p=[0.3, 0.5, 0.2])
    works = (age >= 16) & (age < 65) & (rng.random(people) < 0.75)
    skill = 0.35 * (education == "high") - 0.2 * (education == "low")
    wage = np.round(works * rng.lognormal(9.6 + skill, 0.6, people)).astype(int)
    pension = np.round(((age >= 65) | (rng.random(people) < 0.03)) * rng.lognormal(9.3, 0.4, people)).astype(int)
    capital = np.round((rng.random(people) < 0.3) * rng.lognormal(6, 1.5, people)).astype(int)
    share = {"North": 0.01, "South": 0.05, "East": 0.02, "West": 0.03}
    weight = np.round(np.array([1 / share[each] for each in region]) * rng.lognormal(0, 0.2, homes), 3)
    total = wage + pension + capital
    return pd.DataFrame(
        {
            "hid": home, "stratum": np.char.add(region, rng.choice(["-u", "-r"], homes))[home], "region": region[home],
            "age": age, "sex": rng.choice(["f", "m"], people), "education": education, "hsize": size[home],
            "wage": wage, "pension": pension, "capital": capital, "total_income": total,
            "log_income": np.round(np.log(total + 1), 4), "senior": (age >= 65) * 1, "pweight": weight[home],
        }
    )  # fmt: skip


def poverty(values: np.ndarray, weights: np.ndarray) -> float:
    """Per cent of the weight below 60 % of the weighted median."""
    order = np.argsort(values)
    passed = np.cumsum(weights[order])
    median = values[order][np.searchsorted(passed, passed[-1] / 2)]
    return float(100 * weights[values < 0.6 * median].sum() / weights.sum())


def gini(values: np.ndarray, weights: np.ndarray) -> float:
    """Weighted Gini coefficient, per cent."""
    order = np.argsort(values)
    y, w = values[order], weights[order]
    return float(100 * ((2 * (w * y) @ np.cumsum(w) - w**2 @ y) / (w.sum() * (w @ y)) - 1))


def bootstrap(frame: pd.DataFrame, income: str, weight: str, home: str, stratum: str) -> dict[str, tuple[float, float]]:
    """95 % intervals by drawing households with replacement within strata."""
    rng, found = np.random.default_rng(0), {"poverty": list[float](), "Gini": list[float]()}
    y, w = frame[income].to_numpy(float), frame[weight].to_numpy(float)
    homes, of = np.unique(frame[home], return_inverse=True)
    strata = frame.groupby(home)[stratum].first().loc[homes].to_numpy() if stratum else np.zeros(len(homes))
    for _ in range(SAMPLES):
        times = np.zeros(len(homes))
        for each in np.unique(strata):
            inside = np.flatnonzero(strata == each)
            np.add.at(times, rng.choice(inside, len(inside)), 1)
        held = w * times[of]
        found["poverty"].append(poverty(y[held > 0], held[held > 0]))
        found["Gini"].append(gini(y[held > 0], held[held > 0]))
    return {name: tuple(np.quantile(values, [0.025, 0.975])) for name, values in found.items()}


def call(folder: Path, *words: str) -> str:
    """Run a command of the package; what it printed."""
    place = {**os.environ, "CRYPSIS_LEDGER": str(folder / "ledger")}
    done = subprocess.run(
        [sys.executable, "-m", "crypsis", *words], cwd=folder, env=place, capture_output=True, text=True
    )
    return done.stdout if done.returncode == 0 else f"REFUSED: {(done.stderr or done.stdout).strip()}"


def agreement(data: pd.DataFrame, plan: str) -> dict[str, float]:
    """Share of the released records in which each derived column of the invented survey agrees, by pandas alone."""
    checks = {
        "total_income": lambda d: (d.wage + d.pension + d.capital - d.total_income).abs() <= 0.5,
        "log_income": lambda d: (np.log(d.total_income + 1) - d.log_income).abs() <= 0.5e-4 + 1e-9,
        "senior": lambda d: d.senior == (d.age >= 65) * 1,
    }
    derived = re.findall(r"^(\w+) = \{.*derived = ", plan, re.MULTILINE)
    return {name: float(checks[name](data).mean()) for name in derived if name in checks}


def main() -> None:
    options = argparse.ArgumentParser()
    for name, kind, usual in (("--file", str, ""), ("--income", str, "total_income"), ("--weight", str, "pweight")):
        options.add_argument(name, type=kind, default=usual)
    options.add_argument("--home", default="hid")
    options.add_argument("--stratum", default="stratum")
    options.add_argument("--role", action="append", default=[])
    options.add_argument("--seconds", type=float, default=12)
    options.add_argument("--seed", type=int, default=1)
    chosen = options.parse_args()
    frame = pd.read_csv(chosen.file) if chosen.file else invent_survey(chosen.seed)
    y, w = frame[chosen.income].to_numpy(float), frame[chosen.weight].to_numpy(float)
    spans = bootstrap(frame, chosen.income, chosen.weight, chosen.home, chosen.stratum)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        frame.to_csv(folder / "survey.csv", index=False)
        roles = [word for each in chosen.role for word in ("--role", each)]
        said = call(folder, "init", "survey.csv", "--cautious", *roles)
        if said.startswith("REFUSED"):
            sys.exit(said)
        plan = (folder / "plan.toml").read_text()
        print(
            "\n".join(
                line
                for line in plan.splitlines()
                if re.match(r"# The weight|#   (as col|round|raked|noise|none)|\w+ = \{.*(derived|publish) =", line)
            )
        )
        proposed = re.search(r'publish = "([^"]*)"', plan)
        line = re.search(rf"^{chosen.weight} = \{{.*$", plan, re.MULTILINE)
        assert line is not None
        for way in (proposed[1] if proposed else "", *WAYS):
            other = re.sub(r', publish = "[^"]*"', "", line[0])
            other = re.sub(r'role = "\w+"', 'role = "weight"', other)
            other = re.sub(r', hierarchy = "[^"]*"', "", other)
            other = other.replace(" }", f', publish = "{way}" }}', 1) if way else other
            (folder / "way.toml").write_text(plan.replace(line[0], other))
            run = f"run{len(list(folder.glob('run*')))}"
            call(folder, "run", "way.toml", "--budget", f"{chosen.seconds:g}s", "--out", run, "--seed", "1")
            said = call(folder, "release", run, "-o", f"{run}-out")
            print(f"\npublish = {way or 'as collected'}")
            with crypsis.Run.open(folder / run) as opened:
                masked, original = opened.decode(), opened.original
            for each in crypsis.weight_restoring(masked, original):
                if each.collected or each.published:
                    print(f"  {each.column}: {each.collected:.1%} of the masked cells restored → {each.published:.1%}")
            for name, figure in (("poverty", poverty), ("Gini", gini)):
                value, (low, high) = figure(masked.column(chosen.income), masked.column(chosen.weight)), spans[name]
                told = "inside" if low <= value <= high else "OUTSIDE"
                print(f"  {name:8s}{figure(y, w):7.2f} [{low:.2f}, {high:.2f}] → {value:.2f} ({told})")
            if said.startswith("REFUSED"):
                print(f"  {' '.join(said.split())[:420]}")
                continue
            data = pd.read_csv(folder / f"{run}-out" / "public" / "data.csv")
            after = data[chosen.weight].to_numpy(float), data[chosen.income].to_numpy(float)
            assert round(poverty(after[1], after[0]), 6) == round(
                poverty(masked.column(chosen.income), masked.column(chosen.weight)), 6
            )
            card = json.loads((folder / f"{run}-out" / "internal" / "report.json").read_text())["card"]["weighted"]
            shown = [
                f for c in card["columns"] if c["numeric"] for f in c["figures"] if f["figure"] in ("mean", "total")
            ]
            print(f"  weighted means and totals inside: {sum(f['inside'] is True for f in shown)} of {len(shown)}")
            totals = [
                100 * abs((after[0] @ data[n].to_numpy(float)) / (w @ frame[n].to_numpy(float)) - 1)
                for n in frame
                if n in data
                and n != chosen.weight
                and pd.api.types.is_numeric_dtype(data[n])
                and frame[n].notna().all()
                and data[n].notna().all()
            ]
            print(f"  weighted totals: largest change {max(totals):.3f} %")
            print(f"  derived columns agree in: {agreement(data, plan)}")
            print(f"  {call(folder, 'verify', f'{run}-out').strip().splitlines()[-1]}")


if __name__ == "__main__":
    main()
