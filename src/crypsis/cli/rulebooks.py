"""`crypsis rulebooks`, and how other commands read a rulebook, its waivers and its results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from crypsis.cli import options
from crypsis.cli.output import say, say_json
from crypsis.small_tables import table

if TYPE_CHECKING:
    from crypsis.rulebook import Rulebook, RuleResult


def book_of(name: str | None) -> Rulebook | None:
    """The rulebook of a name or path, if one is given."""
    from crypsis.rulebook import read_rulebook

    return read_rulebook(name) if name else None


def waivers_of(values: Sequence[str] | None) -> dict[str, str]:
    """['rows=agreed with the board'] → {'rows': 'agreed with the board'}."""
    return options.pairs(values, "--waive")


def rule_waivers(values: Sequence[str] | None) -> dict[str, str]:
    """The waivers that name a rule and not a finding on a column."""
    from crypsis.release.findings import split_waivers

    return split_waivers(waivers_of(values))[0]


def results_text(results: Sequence[RuleResult]) -> str:
    """Rules and their results as a table."""
    rows = [(r.id, r.statement, r.found, outcome(r)) for r in results]
    return table(("rule", "demand", "found", "verdict"), rows)


def outcome(result: RuleResult) -> str:
    """Whether a rule is kept, waived or broken, in words."""
    if result.holds:
        return "kept"
    return f"waived: {result.waived}" if result.waived else "BROKEN"


def rulebooks(
    name: Annotated[str | None, typer.Argument(help="show the rules of one", show_default=False)] = None,
    json: options.Json = False,
) -> None:
    """List the shipped rulebooks, or the rules of one."""
    from crypsis.rulebook import read_rulebook, shipped_names

    books = [read_rulebook(each) for each in ([name] if name else shipped_names())]
    if json:
        say_json([book.model_dump(mode="json") for book in books])
        return
    if name is None:
        say(table(("rulebook", "for", "rules"), [(b.name, b.title, str(len(b.rule))) for b in books], right=[2]))
        say()
        say("Rules of one: crypsis rulebooks NAME. Use it: crypsis verify FOLDER --rulebook NAME")
        return
    (book,) = books
    say(f"{book.title}. {book.about}")
    say()
    rows = [(r.id, r.statement(), ", ".join(r.families) or "any", "yes" if r.waivable else "no") for r in book.rule]
    say(table(("rule", "demand", "after", "may be waived"), rows))
