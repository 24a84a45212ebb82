"""Every risk that a person reads names the intruder whose success it is: terminal, both reports, studio."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import crypsis
from crypsis.cli.front import show_front
from crypsis.cli.show import _show_figures
from crypsis.release.verification import verify
from crypsis.run import Run
from crypsis.run.releasing import reason_for_releasing
from crypsis.studio.pages.explore import _name_intruder, _offers

INTRUDER = r"\bintruder|\battacker|\bwho (also )?(knows|predicts|takes)|\bfound by\b"
FIGURE = r"(?i)\brisks?\b[^.;]*\d(\.\d+)? %|\d (%|per cent) (of )?(disclosure )?risk"


def sentences(text: str) -> Iterator[str]:
    """Sentences, rows of tables and paragraphs of a text or a page, without marks."""
    plain = re.sub(r"<(svg|style|script).*?</\1>", "", text, flags=re.DOTALL)
    plain = re.sub(r"</(p|li|tr|dd|div|h\d|caption|figcaption|small)>", "\n", plain)
    for line in re.sub(r"<[^>]+>", " ", plain).splitlines():
        yield from re.split(r"(?<=[.!?]) (?=[A-Z])", line)


def nameless(text: str) -> list[str]:
    """Sentences with a figure of risk and no intruder."""
    known = text.replace("MDAV within the limit of risk", "MDAV")  # the name of a baseline
    return [s for s in sentences(known) if re.search(FIGURE, s) and not re.search(INTRUDER, s)]


@pytest.fixture(scope="module")
def run() -> Iterator[Run]:
    table = crypsis.example(150).drop(["income"])
    limit = [{"measure": "risk", "at_most": 20.0}]
    with crypsis.evolve(
        table, "memetic", [crypsis.KAnonymity(k=3)], budget="2 generations", seed=1, limit=limit
    ) as found:
        yield found


def test_a_figure_without_its_intruder_is_noticed() -> None:
    assert nameless("The risk is 8 %.")
    assert nameless("<p>4 % loss at 9.1 % risk</p>")
    assert not nameless("The risk is 8 %: so many people are found by an intruder who knows age.")


def test_offers_front_and_show_name_the_intruder(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    class_risk = "an intruder who knows the quasi-identifiers of everybody, reaches the class of each person"
    for offer in run.front.offers:
        assert class_risk in run.front.why(offer)
        assert not nameless(run.front.why(offer))
    show_front(run.front, run.front.solutions)
    printed = capsys.readouterr().out
    assert f"risk: per cent of the people found by {class_risk}" in printed
    assert not nameless(printed)
    _show_figures(run.front.default(), without=())
    shown = capsys.readouterr().out
    assert len(re.findall(r"^risk: .*found by an intruder", shown, flags=re.MULTILINE)) == 1
    assert len(re.findall(r"^class-risk: .*found by an intruder", shown, flags=re.MULTILINE)) == 1


def test_a_solution_beyond_a_limit_names_the_intruder(run: Run) -> None:
    beyond = [s for s in run.front.everything if any("risk is" in why for why in s.complaints)]
    assert beyond
    assert all("found by" in why for s in beyond for why in s.complaints if "risk is" in why)


def test_reports_and_verify_name_the_intruder(run: Run, tmp_path: Path) -> None:
    solution = run.release(folder=tmp_path / "out", preview=True)
    for page in ("public/report.html", "internal/report.html"):
        assert not nameless((tmp_path / "out" / page).read_text(encoding="utf-8")), page
    internal = (tmp_path / "out" / "internal" / "report.html").read_text(encoding="utf-8")
    assert "people found by an intruder who knows the quasi-identifiers" in internal
    found = verify(tmp_path / "out")
    assert found.sound, found.problems
    assert any("an intruder who knows all quasi-identifiers" in each for each in found.statements)
    assert not nameless("\n".join(found.statements))
    other = next(s for s in run.front.everything if s.number not in {o.solution.number for o in run.front.offers})
    for each in (solution, other):
        assert not nameless(reason_for_releasing(run.front, each))


def test_the_studio_names_the_intruder(run: Run) -> None:
    assert "an intruder who knows the quasi-identifiers" in _name_intruder(run.front)
    assert all("found by an intruder" in offer["why"] for offer in _offers(run.front))
    for template in ("panel.html", "release.html"):
        source = (Path(crypsis.__file__).parent / "studio" / "templates" / template).read_text(encoding="utf-8")
        figures = source.count('figure("risk")|percent')
        assert figures
        assert source.count("evaluation.figures|intruder") == figures, template
