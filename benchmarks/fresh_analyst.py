"""What an analyst learns who has the folder public/ alone, and what misleads them: one script for three tables.

The analyses were written from data.csv, schema.json and report.json of a release, not from the originals; the original
is read only to say which answers were right.

usage: fresh_analyst.py NAME PUBLIC ORIGINAL      NAME: HMDA, CollegeDistance or acs12; the folder public/; a CSV file
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import statsmodels.formula.api as models

Spans = pd.DataFrame
"""Index: the question; columns: value, low, high."""


def regression(kind: str, formula: str) -> Callable[[pd.DataFrame], Spans]:
    """Coefficients with their 95 % intervals."""

    def ask(data: pd.DataFrame) -> Spans:
        fit = getattr(models, kind)(formula, data).fit(**({} if kind == "ols" else {"disp": 0}))
        spans = fit.conf_int().set_axis(["low", "high"], axis=1).assign(value=fit.params).drop(index="Intercept")
        return spans.set_axis([f"{formula.split('~')[0].strip()} ~ … {name}" for name in spans.index])

    return ask


def means(value: str, by: list[str]) -> Callable[[pd.DataFrame], Spans]:
    """Means in groups of at least 20 with their 95 % intervals."""

    def ask(data: pd.DataFrame) -> Spans:
        found = data.groupby(by)[value].agg(["mean", "sem", "count"]).query("count >= 20")
        index = [
            f"mean {value} | {' '.join(map(str, key if isinstance(key, tuple) else (key,)))}" for key in found.index
        ]
        half = 1.96 * found["sem"].to_numpy()
        middle = found["mean"].to_numpy()
        return pd.DataFrame({"value": middle, "low": middle - half, "high": middle + half}, index=index)

    return ask


def yes(data: pd.DataFrame, name: str, value: str = "yes") -> pd.Series:
    """1 where a column has a value, 0 where another."""
    return (data[name] == value).astype(float).where(data[name].notna())


QUESTIONS: dict[str, dict[str, list[Callable[[pd.DataFrame], Spans]]]] = {
    "HMDA": {
        "as in any course": [
            regression("logit", "refused ~ afam + pirat + lvrat + C(phist) + C(selfemp)"),
            regression("ols", "lvrat ~ pirat + C(single) + C(insurance)"),
            means("refused", ["afam"]),
            means("pirat", ["condomin"]),
        ],
        "three columns at once": [
            means("refused", ["afam", "single", "hschool"]),
            regression("logit", "refused ~ C(afam) * C(single) + C(afam) * pirat"),
        ],
        "one column made of two": [regression("ols", "rest ~ C(afam) + C(single)")],
    },
    "CollegeDistance": {
        "as in any course": [
            regression("ols", "education ~ score + distance + C(ethnicity) + C(fcollege) + tuition"),
            regression("ols", "score ~ C(ethnicity) + C(gender) + C(home) + C(urban)"),
            means("education", ["ethnicity"]),
            means("wage", ["region"]),
        ],
        "three columns at once": [
            means("score", ["ethnicity", "gender", "urban"]),
            regression("ols", "education ~ distance * C(urban) * C(fcollege)"),
        ],
        "one column made of two": [regression("ols", "rest ~ C(region) + C(urban)")],
    },
    "acs12": {
        "as in any course": [
            regression("ols", "np.log1p(income) ~ age + C(gender) + C(edu) + hrs_work"),
            regression("logit", "working ~ age + C(gender) + C(married) + C(edu)"),
            means("income", ["edu"]),
            means("hrs_work", ["gender"]),
        ],
        "three columns at once": [
            means("income", ["gender", "married", "edu"]),
            regression("ols", "income ~ C(gender) * age * C(married)"),
        ],
        "one column made of two": [regression("ols", "rest ~ C(gender) + C(edu)")],
    },
}


def derive(name: str, data: pd.DataFrame) -> pd.DataFrame:
    """Columns that the analyst makes."""
    if name == "HMDA":
        return data.assign(refused=yes(data, "deny"), rest=data.pirat - data.hirat)
    if name == "CollegeDistance":
        return data.assign(rest=data.wage * data.unemp)
    per_hour = data.income / (52 * data.hrs_work.where(data.hrs_work > 0))
    return data.assign(working=yes(data, "employment", "employed"), rest=per_hour)


def main() -> None:
    """Ask, and say which answers were right."""
    name, public, original = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    files = [
        derive(name, pd.read_csv(path, keep_default_na=False, na_values=["", "NA"]))
        for path in (public / "data.csv", original)
    ]
    print(f"{name}: {len(files[0])} records")
    for kind, questions in QUESTIONS[name].items():
        released, true = (pd.concat([ask(data) for ask in questions]) for data in files)
        found = true.join(released, rsuffix="_released")
        inside = (found.low <= found.value_released) & (found.value_released <= found.high)
        wide = (found.high_released - found.low_released) / (found.high - found.low)
        told = f"  {kind}: {int(inside.sum())} of {len(found)} answers inside the original's interval"
        print(f"{told}; intervals {wide.median():.2f} times as wide in the median")
        for question, row in found[~inside].iterrows():
            print(f"    {question}: {row.value_released:.4g} for {row.value:.4g} [{row.low:.4g}, {row.high:.4g}]")
    extremes = []
    for column in files[1].select_dtypes("number"):
        values = [data[column].dropna() for data in files]
        if values[1].nunique() > 30:
            extremes.append(values[0].max() / values[1].max() if values[1].max() else np.nan)
    same = files[0].duplicated(keep=False).mean()
    print(f"  largest values are {np.nanmedian(extremes):.2f} of the original's in the median; "
          f"{100 * same:.0f} % of the records equal another in every column")  # fmt: skip


if __name__ == "__main__":
    main()
