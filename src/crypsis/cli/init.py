"""`crypsis init`: write a commented plan from the profile of a file."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crypsis.cli import options
from crypsis.cli.options import Roles
from crypsis.cli.output import say, warn
from crypsis.errors import CrypsisError, PlanError, TableError, listing

if TYPE_CHECKING:
    from crypsis.measures.estimate_use import EstimateUse
    from crypsis.plan.foreign_settings import ForeignSettings
    from crypsis.table.attribute import Kind
    from crypsis.table.profile import Profile
    from crypsis.table.role_questions import RoleQuestion
    from crypsis.table.table import Table

LATER, EACH = "later", "each"
"""Answers that leave columns undecided, and that ask about each column of a question by itself."""
KEYS = {
    "q": "quasi", "c": "confidential", "i": "identifier", "o": "other", "w": "weight", "h": "household",
    "s": "stratum", "e": EACH, "?": LATER,
}  # fmt: skip
"""One key for every answer; the word is understood too."""
NOBODY = "said when the plan was drafted: nobody outside knows it"
"""Why nobody outside knows a column that the custodian answered to be confidential."""


def init(
    file: options.File,
    out: Annotated[Path, typer.Option("--out", "-o", help="plan to write; must not exist")] = Path("plan.toml"),
    k: options.SmallestClass = 5,
    quasi: options.Quasi = None,
    identifier: options.Identifier = None,
    confidential: options.Confidential = None,
    kind: options.Kinds = None,
    role: Annotated[
        list[str] | None,
        typer.Option(
            "--role", help="COLUMN=weight, household, stratum, other or any role; may be repeated", show_default=False
        ),
    ] = None,
    form: options.FileForm = options.FileForm(),  # noqa: B008 - frozen
    cautious: Annotated[
        bool, typer.Option("--cautious", help="settle undecided columns by the safest reading and ask nothing")
    ] = False,
    from_: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="settings of another tool: a script of sdcMicro (.R) or a project of ARX (.deid); nothing is executed",
            show_default=False,
        ),
    ] = None,
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
    asked, what exposes most first, alike columns together; --cautious settles them all: it drops identifiers, keeps
    confidential what is about health, money, opinions, crimes and results, and masks the rest. A confidential column by
    which people would be found needs a reason why nobody outside knows it.
    """
    from crypsis.audits.default_roles import assign_default_roles as settle
    from crypsis.plan import draft, draft_uses
    from crypsis.plan.draft import WIDE, sets_known_together
    from crypsis.plan.foreign_settings import read_foreign_settings
    from crypsis.table.attribute import Role
    from crypsis.table.files import write_atomically
    from crypsis.table.profile import Clue
    from crypsis.table.profile import profile as profile_table

    if out.exists():
        raise TableError(f"{out}: already exists; choose another name with --out, or remove it first")
    given = Roles(**asdict(form), quasi=quasi, identifier=identifier, confidential=confidential, kind=kind)
    read = given.read(file)
    foreign = None if from_ is None else read_foreign_settings(from_, read)
    read = _with_roles(_with_foreign_roles(read, foreign), role)
    for note in read.notes:
        warn(note)
    kinds = _foreign_kinds(foreign) | _declared_kinds(kind, read)
    seen, because = profile_table(read, kinds), dict[str, str]()
    uses = {text: _read_use(text, read) for text in use or ()}
    if cautious:
        seen = settle(seen, read)
    elif sys.stdin.isatty() and sys.stdout.isatty():
        seen, because = _ask_roles(seen, read)
        seen = _asked_who_knows(seen, read, because)
        uses = uses or _asked_uses(read)
    _refuse_unpublished(uses, seen)
    k = foreign.k if foreign is not None and foreign.k is not None else k
    apart, diverse = cautious and foreign is None, cautious and (foreign is None or not foreign.demands)
    with _written_hierarchies(foreign, out):
        drafted = draft(file, out, read, seen, k, because, diverse=diverse, apart=apart, foreign=foreign)
        write_atomically(out, (drafted + (f"\n{draft_uses(uses)}" if uses else "")).encode())
    for sentence in _explain_foreign(foreign):
        say(sentence)
    open_ = [column.name for column in seen.columns if column.role == Role.UNDECIDED]
    if open_ and any(column.role == Role.QUASI_IDENTIFIER for column in seen.columns):
        say(f"undecided: {listing(open_, most=40)}. Nothing is released before each has a role; see {out}")
    assumed = [column.name for column in seen.columns if column.reasons[0].clue is Clue.OUTCOME_NAME]
    if assumed:
        say(f"assumed: nobody outside knows {listing(assumed, most=40)}. May somebody? Make it quasi in {out}")
    for name, text in _find_exposing(seen, read, {**because, **dict.fromkeys(assumed, "")}).items():
        say(f'{text}. May somebody outside know {name}? Make it quasi. Otherwise say why not: because = "…"')
    masked = [column.name for column in seen.columns if column.role == Role.QUASI_IDENTIFIER]
    sets = sets_known_together(masked)
    if len(sets) > 1 and apart:
        say(
            f"assumed: nobody outside knows columns of two of these sets together: "
            f"{'; '.join(f'{name} ({listing(knows, most=3)})' for name, knows in sets.items())}. k = {k} holds in each "
            f"set, not over all {len(masked)} quasi-identifiers. May somebody know more? Change the scenarios in {out}"
        )
    elif len(masked) > WIDE:
        say(
            f"{len(masked)} quasi-identifiers are many: classes of {k} records equal in all of them lose much. Does no "
            f"intruder know them all? {out} proposes scenarios that say who knows what; they count once you say why"
        )
    say(f"{out} written. Read it, correct the roles, then: crypsis check {out}, and crypsis run {out}")


def _with_foreign_roles(table: Table, foreign: ForeignSettings | None) -> Table:
    """The table with the roles that the settings of another tool give; the command line's win."""
    from crypsis.table.attribute import Role, read_role

    if foreign is None:
        return table
    open_ = set(table.names_by_role(Role.UNDECIDED))
    return table.with_roles({name: read_role(role, name) for name, role in foreign.roles.items() if name in open_})


def _foreign_kinds(foreign: ForeignSettings | None) -> dict[str, Kind]:
    from crypsis.table.attribute import read_kind

    return {} if foreign is None else {name: read_kind(word, name) for name, word in foreign.kinds.items()}


@contextmanager
def _written_hierarchies(foreign: ForeignSettings | None, plan: Path) -> Iterator[None]:
    """Hierarchies of another tool as files beside the plan; removed again if no plan can be drafted."""
    import csv
    import io

    from crypsis.table.files import write_atomically

    if foreign is None or not foreign.hierarchies:
        yield
        return
    written, folder = list[Path](), plan.parent / f"{plan.stem}-hierarchies"
    if folder.exists():
        raise TableError(f"{folder}: already exists; choose another name with --out, or remove it first")
    folder.mkdir()
    try:
        for number, (name, rows) in enumerate(foreign.hierarchies.items(), 1):
            path = folder / f"{re.sub(r'[^A-Za-z0-9_-]', '_', name)}-{number}.csv"
            text = io.StringIO(newline="")
            csv.writer(text).writerows(rows)
            write_atomically(path, text.getvalue().encode())
            written.append(path)
            foreign.files[name] = f"{folder.name}/{path.name}"
        yield
    except CrypsisError:
        for path in written:
            path.unlink(missing_ok=True)
        folder.rmdir()
        raise


def _explain_foreign(foreign: ForeignSettings | None) -> list[str]:
    """What was taken over from the settings of another tool, and what was not."""
    if foreign is None:
        return []
    what = [f"{len(foreign.roles)} roles"]
    what += [f"k = {foreign.k}"] if foreign.k else []
    what += [f"{len(foreign.demands)} further demands"] if foreign.demands else []
    what += [f"{len(foreign.hierarchies)} hierarchies"] if foreign.hierarchies else []
    what += [f"{len(foreign.importance)} importances"] if foreign.importance else []
    what += [f"suppression of at most {100 * foreign.suppression:g} %"] if foreign.suppression is not None else []
    what += [f"{len(foreign.steps)} masking steps, as commands at the end of the plan"] if foreign.steps else []
    return [f"{foreign.source}: taken over: {listing(what, most=10)}", *foreign.notes]


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
    found: dict[str, EstimateUse] = {}
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
    from crypsis.text import attack_finding_text

    spoken = (Clue.DECLARED, Clue.FOLLOWING)  # what follows from others is recomputed, and they are spoken of
    stated = {column.name for column in seen.columns if column.reasons[0].clue in spoken} | set(because)
    roled = table.with_roles({column.name: Role(column.role) for column in seen.columns})
    return {each.columns[0]: attack_finding_text(each) for each in preview_findings(roled, stated=stated)}


def _with_roles(table: Table, given: list[str] | None) -> Table:
    """The table with roles as --role says, refused where it has no such column or a role has another name."""
    from crypsis.table.attribute import read_role

    roles = options.pairs(given, "--role")
    for name in roles:
        table.attribute(name)
    return table.with_roles({name: read_role(word, name) for name, word in roles.items()}) if roles else table


def _declared_kinds(given: list[str] | None, table: Table) -> dict[str, Kind]:
    """The kinds that --kind says; the reader refused those that the values cannot have."""
    from crypsis.table.attribute import read_kind

    return {name: read_kind(word, name) for name, word in options.pairs(given, "--kind").items() if name in table.names}


def _asked_who_knows(seen: Profile, table: Table, because: dict[str, str]) -> Profile:
    """Ask why nobody outside knows the confidential columns by which people would be found; no reason: masked."""
    from crypsis.table.attribute import Role

    found = _find_exposing(seen, table, because)
    if not found:
        return seen
    for text in found.values():
        say(f"  {text}, even where other columns are masked.")
    reason = _why_unknown(listing(found, most=10))
    if reason:
        because |= dict.fromkeys(found, reason)
    while found := _find_exposing(seen, table, because):
        name = next(iter(found))
        columns = (replace(c, role=Role.QUASI_IDENTIFIER.value) if c.name == name else c for c in seen.columns)
        seen = replace(seen, columns=tuple(columns))
    return seen


def _ask_roles(seen: Profile, table: Table) -> tuple[Profile, dict[str, str]]:
    """What the custodian says about every open column, the most exposing first, and the reasons given."""
    from crypsis.table.attribute import Role
    from crypsis.table.profile import Clue, Reason
    from crypsis.table.role_questions import role_questions, separate

    open_ = role_questions(seen, table)
    answers, because = dict[str, str](), dict[str, str]()
    if open_:
        say(f"Neither name nor values show what {sum(len(each.names) for each in open_)} columns are. One key answers:")
        say("  q quasi: somebody outside may know it      c confidential: nobody outside knows it, nor must learn it")
        say("  i identifier: leave it out                 o other: nobody could use it to find a person")
        say("  w weight   h household   s stratum         e ask about each   ? later, in the plan")
    while open_:
        question = open_.pop(0)
        answer = _ask_role(question, len(table))
        if answer == EACH:
            open_ = [*separate(question, seen, table), *open_]
            continue
        if answer == Role.OTHER:
            reason = typer.prompt(f"  why may {listing(question.names, most=10)} be published as it is?")
            because |= dict.fromkeys(question.names, reason)
        if answer == Role.CONFIDENTIAL:
            because |= dict.fromkeys(question.names, NOBODY)
        answers |= dict.fromkeys(question.names, answer)
    columns = tuple(
        replace(column, role=answers[column.name], reasons=(Reason(Clue.DECLARED), *column.reasons[1:]))
        if answers.get(column.name, LATER) != LATER
        else column
        for column in seen.columns
    )
    return replace(seen, columns=columns), because


SHORTEST = 5
"""Letters of a reason at least."""


def _why_unknown(name: str) -> str:
    """The reason why nobody outside knows some columns; empty where they are to be masked."""
    question = f"  why does nobody outside know {name}? (a reason; empty or q: masked as quasi)"
    while True:
        reason = str(typer.prompt(question, default="", show_default=False)).strip()
        if reason.lower() in ("", "q", "quasi"):
            return ""
        if len(reason) >= SHORTEST:
            return reason
        say(f"  {reason!r} is no reason: say in a few words why, for it stands in the plan and the report")


def _ask_role(question: RoleQuestion, records: int) -> str:
    """The answer to a question: a role, `later` or `each`."""
    several = len(question.names) > 1
    what = (
        f"these {len(question.names)} {question.alike}" if several else question.alike.replace("columns", "column", 1)
    )
    say(f"  {listing(question.names, most=10)}: {what}")
    if question.values:
        say(f"    common values: {', '.join(question.values)}")
    say(f"    known beside the other quasi-identifiers, {question.adds} more of {records} records are unique")
    default, keys = question.suggested or LATER, {key: word for key, word in KEYS.items() if several or word != EACH}
    while True:
        asked = f"    may somebody outside know {'them' if several else 'it'}? [{''.join(keys)}]"
        answer = str(typer.prompt(asked, default=default)).strip().lower()
        if (answer := keys.get(answer, answer)) in keys.values():
            return answer
        say(
            f"    {answer!r} is no answer; one of {listing((f'{key} ({word})' for key, word in keys.items()), most=10)}"
        )
