"""`crypsis demo`: everything on a built-in table of invented people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crypsis.cli import options
from crypsis.cli.front import show_front
from crypsis.cli.output import Watch, figure, say, show_spinner
from crypsis.cli.run import free

if TYPE_CHECKING:
    from crypsis.table.table import Table

SHOWN = 8
"""Number of solutions in the outline of the front."""


def demo(
    folder: Annotated[
        Path, typer.Option("--folder", help="folder of the example; if it exists, a new name is chosen")
    ] = Path("crypsis-demo"),
    rows: Annotated[int, typer.Option(min=100, max=100_000, help="number of invented people")] = 1000,
    k: options.SmallestClass = 5,
    seconds: Annotated[int, typer.Option(min=1, help="budget of the search")] = 6,
) -> None:
    """Protect a built-in example from table to release.

    Writes a table of invented people, a plan, a run with its front, a verified release and its reports.
    """
    from crypsis.engines import engine
    from crypsis.plan import Plan, draft
    from crypsis.release import verify
    from crypsis.run import Run
    from crypsis.run.warm_up import compile_ahead
    from crypsis.table.atomic_files import private_folder, write_atomically
    from crypsis.table.example import INVENTED, example
    from crypsis.table.files import read_table, write_table
    from crypsis.table.profile import profile
    from crypsis.text import unknown_to_attackers_text

    compile_ahead(walk=False)
    folder = free(folder)
    original = example(rows)
    private_folder(folder)
    people, plan, release = folder / "people.csv", folder / "plan.toml", folder / "release"
    write_table(original, people)
    _show_table(original, people, k)
    collected = read_table(people)
    invented = dict.fromkeys(original.confidential, INVENTED)
    text = draft(people, plan, collected, profile(collected), k, invented)
    write_atomically(plan, text.encode())
    say(f"2. A plan, every line explained: {plan}")
    say()
    with engine("threads") as place:
        with show_spinner("reading the table, measuring the baselines"):
            run = Run.start(Plan.read(plan), folder / "run", place, home=folder, text=text, budget=f"{seconds}s")
        Watch().follow(run.proceed(), quiet=False)
    front = run.front
    say(f"3. A search of {seconds} s: {len(front)} solutions with k ≥ {k} that no other one beats.")
    say("   loss: information loss, %; risk: people found by the intruder who is named below the table, %.")
    say()
    show_front(front, front.outline(SHOWN))
    say()
    with show_spinner("writing the chosen solution, reading it back, judging it again"):
        # Invented people are in no ledger but one of their own folder: earlier demos are no earlier releases, and
        # whoever goes on with the file releases it for the first time.
        own = folder / "releases.json"
        chosen = run.release(folder=release, title="Example release", preview=True, ledger=own)
        checked = verify(release)
        verdict = checked.verdicts[0]
    run.close()
    say(f"4. The least loss within the limits, no. {chosen.number}: {chosen.message}.")
    say(f"   Released, and verified from the written files: {verdict.model} {figure(verdict.attained)} ({k} required)")
    say(f"   over {', '.join(verdict.columns)}.")
    say(f"   {checked.singled_out}")
    say(f"   {unknown_to_attackers_text(checked.assumed)}")
    say(f"   data to publish   {release / 'public' / 'data.csv'}")
    say(f"   report to sign    {release / 'internal' / 'report.html'}")
    say(f"   report to publish {release / 'public' / 'report.html'}")
    say(f"   what labels mean  {release / 'public' / 'codebook.html'}")
    say()
    say(f"Look closer: crypsis show {folder / 'run'}, or crypsis studio {folder / 'run'}")
    say("Now your own file: crypsis profile FILE, crypsis init FILE, crypsis run plan.toml")


def _show_table(original: Table, people: Path, k: int) -> None:
    from crypsis.privacy import KAnonymity

    exposed = KAnonymity(k=k).judge(original).offending
    say(f"1. A table of {len(original)} invented people: {people}")
    say(f"   An intruder may know {', '.join(original.quasi_identifiers)};")
    say(f"   {', '.join(original.confidential)} must not be learnt, and nobody outside knows them.")
    say(f"   As it stands, {exposed} of {len(original)} people are in an equivalence class of fewer than {k}.")
    say()
