"""`crypsis demo`: the whole job on a built-in table of invented people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crypsis.cli import inputs
from crypsis.cli.output import figure, say, table, working

if TYPE_CHECKING:
    from crypsis.measures import Assessment


def demo(
    folder: Annotated[
        Path, typer.Option("--folder", help="where to put the example; a new name is chosen if taken")
    ] = Path("crypsis-demo"),
    rows: Annotated[int, typer.Option(min=100, max=100_000, help="how many invented people")] = 1000,
    k: Annotated[int, typer.Option(min=2, help="smallest class that may be released")] = 5,
) -> None:
    """Protect a built-in example end to end: table, masking, loss and risk, verified release, report."""
    from crypsis.masking import Microaggregation
    from crypsis.measures import assess
    from crypsis.privacy import KAnonymity
    from crypsis.release import Account, publish, verify
    from crypsis.table.example import example
    from crypsis.table.files import write_table

    folder = _free(folder)
    original = example(rows)
    folder.mkdir(parents=True)
    write_table(original, folder / "people.csv")
    model = KAnonymity(k=k)
    say(f"1. A table of {rows} invented people: {folder / 'people.csv'}")
    say(f"   An intruder may know {', '.join(original.quasi_identifiers)};")
    say(f"   {', '.join(original.confidential)} must not be learnt.")
    raw = model.judge(original)
    say(f"   As it stands, {raw.offending} of {rows} people stand in a class of fewer than {k}.")
    say()
    method = Microaggregation(k=k, missing="aggregate")
    with working(f"masking (microaggregation, k = {k})"):
        masked = method.mask(original, inputs.randomness(None))
    say(f"2. Microaggregation: people in groups of at least {k} alike, and each group shares one set of values.")
    say()
    with working("measuring loss and risk"):
        before = assess(original, original, chosen=SHOWN)
        after = assess(original, masked, chosen=SHOWN, family=method.family)
    say("3. Loss and risk, before and after (risks and losses: lower is better)")
    say(_comparison(before, after))
    say()
    words = f"Microaggregation of the quasi-identifiers in groups of at least {k}; numbers became group means."
    with working("writing, reading back and judging the release"):
        publish(
            masked,
            folder / "release",
            models=[model],
            original=original,
            account=Account("Example release", words, method.family, {"method": "microaggregation", "k": k}),
        )
        checked = verify(folder / "release")
    verdict = checked.verdicts[0]
    attained = f"{verdict.model} {verdict.attained:g} (at least {k} required)"
    say(f"4. Released and verified from the written files: {attained}.")
    say(f"   data to publish   {folder / 'release' / 'public' / 'data.csv'}")
    say(f"   report to sign    {folder / 'release' / 'internal' / 'report.html'}")
    say(f"   report to publish {folder / 'release' / 'public' / 'report.html'}")
    say()
    say(f"Now your own file: crypsis profile FILE. Check this one again: crypsis verify {folder / 'release'}")


def _free(folder: Path) -> Path:
    """The folder, or the first free name beside it."""
    candidate, number = folder, 2
    while candidate.exists():
        candidate = folder.with_name(f"{folder.name}-{number}")
        number += 1
    return candidate


SHOWN = ("cell-loss", "sse-ratio", "entropy-loss", "interval-disclosure", "category-disclosure", "record-linkage")
"""Enough figures for a first look; `crypsis assess` has them all."""


def _comparison(before: Assessment, after: Assessment) -> str:
    rows = [
        (after[name].aim, name, figure(before[name].value), figure(after[name].value), after[name].unit)
        for name in SHOWN
    ]
    return table(("", "measure", "original", "masked", "unit"), rows, right=[2, 3])
