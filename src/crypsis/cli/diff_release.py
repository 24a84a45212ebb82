"""`crypsis diff-release`: what changed between two releases, and what both together reveal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crypsis.cli import options
from crypsis.cli.options import Roles
from crypsis.cli.output import figure, say, say_json, table, working

if TYPE_CHECKING:
    from crypsis.release import Differences
    from crypsis.release.differences import Change, Pair


def diff_release(
    old: Annotated[Path, typer.Argument(help="the release that was approved before", show_default=False)],
    new: Annotated[Path, typer.Argument(help="the release to approve", show_default=False)],
    columns: Roles,
    original: Annotated[
        Path | None,
        typer.Option(help="the file before masking: people are then counted by their true values", show_default=False),
    ] = None,
    json: options.Json = False,
) -> None:
    """Compare two releases.

    What changed, and whether both together reveal more than each alone; exit 1 if they do.
    """
    from crypsis.release import diff_release as compare

    with working(f"comparing {old} and {new}"):
        found = compare(old, new, columns.read(original) if original else None)
    if json:
        say_json({**asdict(found), "reveals_more": found.reveals_more})
    else:
        _report(found)
    if found.reveals_more:
        raise typer.Exit(1)


def _report(found: Differences) -> None:
    """Print columns, figures, distributions, and what the pair reveals."""
    if found.same_data:
        say("Both releases hold the same data.")
    for label, names in (("new columns", found.columns_added), ("columns gone", found.columns_removed)):
        if names:
            say(f"{label}: {', '.join(names)}")
    for name, change in found.columns_changed.items():
        say(f"column {name}: {change}")
    moved = [found.rows, found.suppressed, *found.verdicts, *found.losses]
    changed = [change for change in moved if change.old != change.new]
    say()
    if changed:
        say(_changes(changed))
    else:
        say("Records, guarantees and losses are the same.")
    shifted = sorted((c for c in found.distributions if c.new), key=lambda c: -(c.new or 0.0))
    if shifted:
        say()
        rows = [(c.name, figure(c.new)) for c in shifted]
        say(table(("column", "distance of the distributions, %"), rows, right=[1]))
    say()
    _pair(found.pair)
    _together(found)
    say("Not known from the files: " + "; ".join(found.unknown) + ".")


def _changes(changes: Sequence[Change]) -> str:
    return table(("", "old", "new"), [(c.name, figure(c.old), figure(c.new)) for c in changes], right=[1, 2])


def _pair(pair: Pair) -> None:
    if not pair.joined_by:
        say("Together: no column is left unmasked by both, so their records cannot be joined by equal values.")
        return
    least = min(pair.smallest_class)
    say(
        f"Together: {pair.linked} records can be joined by {', '.join(pair.joined_by)}; {pair.alone} of them are "
        f"unique in the pair and {pair.below} share both their classes with fewer than {least} records "
        f"(smallest class: {pair.smallest_class[0]} old, {pair.smallest_class[1]} new)."
    )


def _together(found: Differences) -> None:
    """Print what both reveal and neither alone."""
    both = found.together
    for name, number in both.fixed.items():
        say(f"Together they fix the {name} of {_share(number, both.people)}, which neither fixes alone.")
    say(
        f"Together they leave {_share(both.below, both.people)} with fewer than {both.k} records, which neither does "
        f"alone."
    )
    say(
        "Together they reveal MORE than each alone: withdraw the old file, or publish the new one by the same classes."
        if found.reveals_more
        else "Together they reveal no more than the weaker of them, as far as their values show."
    )


def _share(number: float, people: int) -> str:
    return f"{100 * number / max(people, 1):.1f} % of the people ({number:.0f} of {people})"
