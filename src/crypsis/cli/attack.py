"""`crypsis attack`: attacks on a release, each with its control and baseline."""

from __future__ import annotations

import json as documents
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crypsis.cli import options
from crypsis.cli.options import AttackFiles, IntruderOptions, Roles
from crypsis.cli.output import figure, say, say_json, show_spinner
from crypsis.errors import PlanError, TableError, listing, suggestion
from crypsis.small_tables import table

if TYPE_CHECKING:
    from crypsis.attacks import Findings, Outcome, Rate
    from crypsis.table.table import Table


def attack(
    release: Annotated[
        str,
        typer.Argument(
            help="a release, a masked file, or the name of a masking method: then half of the original is masked by it "
            "and the other half is the control",
            show_default=False,
        ),
    ],
    files: AttackFiles,
    knowledge: IntruderOptions,
    columns: Roles,
    set_: options.Settings = None,
    definitions: options.Definitions = False,
    json: options.Json = False,
) -> None:
    """Attack a release as an intruder would.

    The original gives the truth; exit 1 if an attack beats its control by more than the margin. Without a control no
    attack is a finding: one that succeeds is undetermined.
    """
    from crypsis.attacks import Intruder
    from crypsis.attacks import attack as try_attacks
    from crypsis.masking import methods

    intruder = _intruder(Intruder, {**asdict(knowledge), "knows": options.split(knowledge.knows)})
    people, outsiders = columns.read(files.original), columns.read(files.control) if files.control else None
    if Path(release).exists():
        if set_:
            raise PlanError(f"--set is for a masking method and {release} is a file; leave it out")
        published, kept = _read_published(Path(release), people)
        together = (kept or files.rows_correspond) and len(published) == len(people)
    elif release in methods:
        if outsiders is not None:
            raise PlanError(f"{release} masks one half of the original and keeps the other as control; omit --control")
        people, outsiders, published = _split(people, methods.build(release, **options.settings(set_)), knowledge.seed)
        together = True
    else:
        known = list(methods)
        raise PlanError(
            f"{release}: no release, no file and no masking method{suggestion(release, known)}; give a path, or one of "
            f"{listing(known)}"
        )
    other = _read_published(files.second, people)[0] if files.second else None
    with show_spinner(f"attacking {release}"):
        found = try_attacks(
            published, people, control=outsiders, second=other, intruder=intruder, rows_correspond=together
        )
    if json:
        say_json(_content(release, found))
    else:
        _report(release, found, definitions)
    if found.caught:
        raise typer.Exit(1)


def _intruder(kind: Any, settings: dict[str, Any]) -> Any:
    from pydantic import ValidationError

    try:
        return kind(**settings)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        raise PlanError(f"--{problem['loc'][0]}: {problem['msg'].lower()}; see crypsis attack --help") from None


def _read_published(path: Path, people: Table) -> tuple[Table, bool]:
    """A release, or a file, in the original's terms; and whether it says itself that its rows kept their order."""
    from crypsis.release.evidence import public_part_as_evidence
    from crypsis.release.published import read_published
    from crypsis.table.aligning import in_terms_of
    from crypsis.table.files import read_table

    if path.is_dir():
        public = public_part_as_evidence(path)
        try:
            schema, manifest = (
                documents.loads((public / name).read_text(encoding="utf-8"))
                for name in ("schema.json", "manifest.json")
            )
        except (OSError, ValueError):
            raise TableError(f"{path}: its schema or manifest cannot be read; see `crypsis verify {path}`") from None
        shown = read_published(public, schema)
        return in_terms_of(people, shown, str(path)), manifest.get("order") == "kept"
    present = read_table(path, masked=True).names
    kinds = {a.name: a.kind.value for a in people.attributes if not a.numeric and a.name in present}
    shown = read_table(path, kinds=kinds, masked=True)
    return in_terms_of(people, shown, str(path)), False


def _split(people: Table, method: Any, seed: int) -> tuple[Table, Table, Table]:
    """One half of the people, the other half, and the first half masked."""
    import numpy as np

    rng = np.random.default_rng(seed)
    order = rng.permutation(len(people))
    half = len(people) // 2
    inside, outside = people.take(np.sort(order[:half])), people.take(np.sort(order[half:]))
    return inside, outside, method.mask(inside, rng)


def _content(release: str, found: Findings) -> dict[str, Any]:
    from crypsis.text import attack_text

    listed = [
        {
            **asdict(each),
            "excess": each.excess,
            "caught": each.caught,
            "verdict": each.verdict,
            "text": attack_text(each),
        }
        for each in found.outcomes
    ]
    return {
        "release": release,
        "caught": [each.attack for each in found.caught],
        "undetermined": [each.attack for each in found.undetermined],
        "attacks": listed,
        "untried": [asdict(each) for each in found.untried],
        "notes": list(found.notes),
    }


def _report(release: str, found: Findings, definitions: bool) -> None:
    from crypsis.text import attack_text

    head = ("attack", "succeeds, %", "95 % interval", "outside, %", "95 % interval", "without, %", "tries", "")
    say(table(head, [_row(each) for each in found.outcomes], right=range(1, 7)))
    say()
    for each in found.outcomes:
        say(f"{each.attack}: {attack_text(each)}")
    for untried in found.untried:
        say(f"not tried: {untried.attack} ({untried.why})")
    for note in found.notes:
        say(f"note: {note}")
    if definitions:
        for each in found.outcomes:
            say(f"\n{each.attack} ({', '.join(each.scope)}): {each.definition}")
    say()
    hint = " with --control" if found.undetermined and not found.caught else ""
    say(f"{release}: {found.conclusion}{hint}")


def _row(outcome: Outcome) -> tuple[str, ...]:
    outside = outcome.control
    return (
        outcome.attack,
        figure(outcome.rate.value),
        _span(outcome.rate),
        "–" if outside is None else figure(outside.value),
        "–" if outside is None else _span(outside),
        figure(outcome.baseline.value),
        str(outcome.rate.trials),
        "" if outcome.verdict == "nothing found" else outcome.verdict.upper(),
    )


def _span(rate: Rate) -> str:
    return f"{rate.interval[0]:.1f} – {rate.interval[1]:.1f}"
