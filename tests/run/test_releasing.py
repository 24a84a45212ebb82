"""Limits are measured again on the written file: what a solution says of itself does not help it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from crypsis.errors import ReleaseRefused
from crypsis.measures import measures
from crypsis.plan import Plan
from crypsis.run import Run, Solution
from crypsis.run.releasing import ReleaseTerms, release_solution
from crypsis.table.precision import at_source_precision
from run.runs import PLAN, begun, finished, folder_with


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    plan = folder_with(tmp_path_factory.mktemp("job"), rows=150)
    with finished(begun(plan, plan.parent / "run", budget="1 generations")) as run:
        yield run


def limited(measure: str, at_most: float) -> Plan:
    return Plan.parse(tomllib.loads(f'{PLAN}[[limit]]\nmeasure = "{measure}"\nat_most = {at_most}\n'))


def forged(solution: Solution) -> Solution:
    """The solution as a row edited by hand gives it: every figure 0, nothing to complain of, another family."""
    figures = dict.fromkeys(solution.evaluation.figures, 0.0)
    return replace(solution, family="recoding", evaluation=replace(solution.evaluation, figures=figures, complaints=()))


def release(run: Run, plan: Plan, solution: Solution, folder: Path) -> None:
    masked, terms = run.decode(solution), ReleaseTerms("People", None, None, None)
    release_solution(plan, run.original, masked, solution, folder, front=run.front, seed=1, terms=terms)


@pytest.mark.parametrize("figure", ["loss", "risk"])
def test_a_forged_figure_does_not_help(run: Run, tmp_path: Path, figure: str) -> None:
    solution = next(s for s in run.front.solutions if s.feasible and (s.figure(figure) or 0.0) > 1.0)
    written = at_source_precision(run.decode(solution), run.original)
    measure = measures.build({"loss": "information-loss", "risk": "class-risk"}[figure])
    value = measure.against(run.original).read(written)
    with pytest.raises(ReleaseRefused, match=f"{figure} may be at most .* and is {value:.4g}"):
        release(run, limited(figure, value / 2), forged(solution), tmp_path / "refused")
    assert not (tmp_path / "refused").exists()
    release(run, limited(figure, value), solution, tmp_path / "released")
    assert (tmp_path / "released" / "public" / "manifest.json").is_file()


@pytest.mark.parametrize("allowed", ["limit", "suppression"])
def test_suppressed_records_are_counted_again(run: Run, tmp_path: Path, allowed: str) -> None:
    solution = next(s for s in run.front.solutions if s.feasible)
    masked, few = run.decode(solution), run.original
    suppression = Plan.parse(tomllib.loads(f'{PLAN}[release]\nsuppression = "5 %"\n'))
    plan = limited("suppressed", 0.5) if allowed == "limit" else suppression
    gone = masked.without(masked.missing("age") | (masked.codes(["sex"])[:, 0] == masked.codes(["sex"])[0, 0]))
    share = 100.0 * float((~gone.kept).mean())
    assert share > 5.0
    most = "0.5" if allowed == "limit" else "5"
    with pytest.raises(ReleaseRefused, match=f"suppressed.* may be at most {most} and is {share:.4g}"):
        release_solution(
            plan, few, gone, forged(solution), tmp_path / "out",
            front=run.front, seed=1, terms=ReleaseTerms("People", None, None, None),
        )  # fmt: skip


def test_the_family_of_a_decoded_table_is_that_of_its_search(run: Run) -> None:
    solution = next(s for s in run.front.everything if s.title == "memetic")
    run._decoded_tables._tables.clear()
    assert (provenance := run.decode(forged(solution)).provenance) is not None
    assert provenance.family == "aggregation"
