"""`crypsis init`: write a commented plan from the profile of a file."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crypsis.cli import options
from crypsis.cli.options import Roles
from crypsis.cli.output import say
from crypsis.errors import CrypsisError, PlanError, TableError, listing

if TYPE_CHECKING:
    from crypsis.measures.estimate_use import EstimateUse
    from crypsis.table.profile import ColumnProfile, Profile
    from crypsis.table.table import Table

LATER = "later"
"""Answer that leaves a column undecided."""


def init(
    file: options.File,
    out: Annotated[Path, typer.Option("--out", "-o", help="plan to write; must not exist")] = Path("plan.toml"),
    k: options.SmallestClass = 5,
    quasi: options.Quasi = None,
    identifier: options.Identifier = None,
    confidential: options.Confidential = None,
    kind: options.Kinds = None,
    cautious: Annotated[
        bool, typer.Option("--cautious", help="settle undecided columns by the safest reading and ask nothing")
    ] = False,
    use: Annotated[
        list[str] | None,
        typer.Option(
            "--use",
            help="an analysis that matters, such as 'wage ~ age + education', 'mean wage by sex', 'total wage weight "
            "w' or 'share sex + region'; repeatable",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Write a commented plan.toml for a file.

    The plan is drafted from the profile of the file; it can be checked and run as it is. Where neither name nor values
    show what a column is, it is undecided, and nothing is released before somebody decides. On a terminal you are
    asked, the column that exposes most first; --cautious settles them all. A confidential column by which people would
    be found needs a reason why nobody outside knows it; without one, --cautious masks it.
    """
    from crypsis.audits.default_roles import cautious as settle
    from crypsis.plan import draft, draft_uses
    from crypsis.table.attribute import Role
    from crypsis.table.files import write_atomically
    from crypsis.table.profile import profile as profile_table

    if out.exists():
        raise TableError(f"{out}: already exists; choose another name with --out, or remove it first")
    read = Roles(quasi, identifier, confidential, kind).read(file)
    seen, because = profile_table(read), dict[str, str]()
    uses = {text: _read_use(text, read) for text in use or ()}
    if cautious:
        seen = settle(seen, read)
    elif sys.stdin.isatty() and sys.stdout.isatty():
        seen, because = _ask_roles(seen)
        seen = _asked_who_knows(seen, read, because)
        uses = uses or _asked_uses(read)
    _refuse_unpublished(uses, seen)
    written = draft(file, out, read, seen, k, because) + (f"\n{draft_uses(uses)}" if uses else "")
    write_atomically(out, written.encode())
    open_ = [column.name for column in seen.columns if column.role == Role.UNDECIDED]
    if open_ and any(column.role == Role.QUASI_IDENTIFIER for column in seen.columns):
        say(f"undecided: {listing(open_, most=40)}. Nothing is released before each has a role; see {out}")
    for name, text in _find_exposing(seen, read, because).items():
        say(f'{text}. May somebody outside know {name}? Make it quasi. Otherwise say why not: because = "…"')
    say(f"{out} written. Read it, correct the roles, then: crypsis check {out}, and crypsis run {out}")


def _read_use(text: str, table: Table) -> EstimateUse:
    """A use from one line, refused where the table cannot serve it."""
    from crypsis.measures.estimate_use import EstimateUse

    found = EstimateUse.read(text)
    obstacle = found.obstacle(table)
    if obstacle:
        raise PlanError(f"--use {text!r}: {obstacle}")
    found.against(table)
    return found


def _refuse_unpublished(uses: Mapping[str, EstimateUse], seen: Profile) -> None:
    """Refuse a use of a column that no release has."""
    from crypsis.table.attribute import UNPUBLISHED

    hidden = {column.name for column in seen.columns if column.role in UNPUBLISHED}
    for text, use in uses.items():
        if found := [name for name in use.scope() if name in hidden]:
            raise PlanError(
                f"--use {text!r}: column {found[0]!r} identifies people and is not released; choose another, or give "
                f"it a role that is released, e.g. --quasi {found[0]}"
            )


def _asked_uses(table: Table) -> dict[str, EstimateUse]:
    """The analyses that matter to the custodian; none where nothing is answered."""
    say("Which analyses matter? E.g. wage ~ age + education, mean wage by sex, total wage, share sex + region.")
    found = dict[str, EstimateUse]()
    while text := str(typer.prompt("  analysis (empty: no more)", default="", show_default=False)).strip():
        try:
            found[text] = _read_use(text, table)
        except CrypsisError as error:
            say(f"  {error}")
    return found


def _find_exposing(seen: Profile, table: Table, because: Mapping[str, str]) -> dict[str, str]:
    """Confidential columns by which people would be found, the most exposing first, with the finding in words."""
    from crypsis.audits.preview import preview_findings
    from crypsis.table.attribute import Role
    from crypsis.table.profile import Clue
    from crypsis.text import finding_text

    stated = {column.name for column in seen.columns if column.reasons[0].clue is Clue.DECLARED} | set(because)
    roled = table.with_roles({column.name: Role(column.role) for column in seen.columns})
    return {each.columns[0]: finding_text(each) for each in preview_findings(roled, stated=stated)}


def _asked_who_knows(seen: Profile, table: Table, because: dict[str, str]) -> Profile:
    """Ask why nobody outside knows each confidential column by which people would be found; no reason: it is masked.

    because  gets the reasons
    """
    from crypsis.table.attribute import Role

    while found := _find_exposing(seen, table, because):
        name, text = next(iter(found.items()))
        say(f"  {text}, even where other columns are masked.")
        reason = _why_unknown(name)
        if reason:
            because[name] = reason
            continue
        columns = (replace(c, role=Role.QUASI_IDENTIFIER.value) if c.name == name else c for c in seen.columns)
        seen = replace(seen, columns=tuple(columns))
    return seen


def _ask_roles(seen: Profile) -> tuple[Profile, dict[str, str]]:
    """What the custodian says about every undecided column, the most exposing first, and the reasons given."""
    from crypsis.table.attribute import Role
    from crypsis.table.profile import Clue, Reason

    open_ = sorted((c for c in seen.columns if c.role == Role.UNDECIDED), key=lambda column: -column.unique)
    answers, because = dict[str, str](), dict[str, str]()
    if open_:
        say(f"{len(open_)} columns are undecided. quasi: somebody outside may know it. confidential: must not be")
        say("learnt. identifier: leave it out. other: nobody could use it to find a person. later: decide in the plan.")
    for column in open_:
        answers[column.name] = _role_of(column)
        if answers[column.name] == Role.OTHER:
            because[column.name] = typer.prompt(f"  why may {column.name} be published as it is?")
        if answers[column.name] == Role.CONFIDENTIAL:
            reason = _why_unknown(column.name)
            answers[column.name] = Role.CONFIDENTIAL if reason else Role.QUASI_IDENTIFIER
            because |= {column.name: reason} if reason else {}
    columns = tuple(
        replace(column, role=answers[column.name], reasons=(Reason(Clue.DECLARED),))
        if answers.get(column.name, LATER) != LATER
        else column
        for column in seen.columns
    )
    return replace(seen, columns=columns), because


def _why_unknown(name: str) -> str:
    question = f"  why does nobody outside know {name}? (empty: it is masked)"
    return str(typer.prompt(question, default="", show_default=False)).strip()


def _role_of(column: ColumnProfile) -> str:
    roles = ["quasi", "confidential", "identifier", "weight", "household", "stratum", "other", LATER]
    counts = f"{column.distinct} values, {column.unique} of them in one record only"
    while True:
        answer = str(typer.prompt(f"  {column.name} ({counts})", default=LATER)).strip().lower()
        if answer in roles:
            return answer
        say(f"  {answer!r} is not one of {listing(roles, most=10)}")
