"""`crypsis release`: publish a masked file, or a solution of a run, once its guarantees hold in the written bytes."""

from __future__ import annotations

import shlex
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crypsis.cli import options, rulebooks
from crypsis.cli.options import BundleOptions, Demands, Roles
from crypsis.cli.output import say, say_answers, say_json, say_released, show_spinner
from crypsis.errors import PlanError, ReleaseRefused

if TYPE_CHECKING:
    from crypsis.plan import Plan
    from crypsis.release import MeasuredLimit, Verification


def release(
    file: Annotated[Path, typer.Argument(help="the masked file, or the folder of a run", show_default=False)],
    bundle: BundleOptions,
    demands: Demands,
    columns: Roles,
    pick: Annotated[str, typer.Option(help=f"which solution of a run: {options.PICKS}")] = options.DEFAULT_PICK,
    original: Annotated[
        Path | None, typer.Option(help="the file before masking, same rows; for losses and risks", show_default=False)
    ] = None,
    json: options.Json = False,
) -> None:
    """Publish a masked file, or a solution of a run.

    The file is judged, written to a temporary folder, read back and judged again, and then renamed atomically; it is
    published whole or not at all (exit 1).
    """
    if demands.propose is not None and demands.propose.exists():
        raise PlanError(f"--propose {demands.propose}: already exists; name a new file")
    try:
        if file.is_dir():
            _release_from_run(file, pick, bundle, demands, json)
            return
        _release_file(file, bundle, demands, columns, original, json)
    except ReleaseRefused as refusal:
        if not refusal.proposal:
            raise
        if demands.propose is not None:
            raise ReleaseRefused(f"{refusal.reasons}\n{_propose(refusal, demands.propose)}") from None
        refusal.reasons += "\nto decide about all in one file: --propose FILE writes a [[waive]] table for each finding"
        raise


def _propose(refusal: ReleaseRefused, proposed: Path) -> str:
    """Write the tables that would let a refused file pass, and say how to release it then."""
    from crypsis.table.atomic_files import write_atomically

    write_atomically(proposed, refusal.proposal.encode())
    words = [word for word in sys.argv[1:] if not word.startswith("--propose=")]
    if "--propose" in words:
        at = words.index("--propose")
        del words[at : at + 2]
    words += ["--waivers", str(proposed)]
    words += [word for rule in refusal.rules for word in ("--waive", f"{rule}=…")]
    then = "once what no waiver helps against is mended" if refusal.final else "then"
    return (
        f"{proposed} has a [[waive]] table for each finding: delete those that you decide otherwise, write a reason "
        f"into every because\n{then}: {shlex.join(['crypsis', *words])}"
    )


def _waivers(document: Plan | None, demands: Demands) -> dict[str, str]:
    """Waivers of the plan, of a file and of the command, the last one said wins."""
    from crypsis.plan.document import read_waivers

    filed = {key: reason for path in demands.waivers or () for key, reason in read_waivers(path).items()}
    return {**(document.waivers() if document else {}), **filed, **rulebooks.waivers_of(demands.waive)}


def _release_file(
    file: Path, bundle: BundleOptions, demands: Demands, columns: Roles, original: Path | None, json: bool
) -> None:
    """Release a file that was masked before."""
    from crypsis.release import ReleaseDescription, ReleaseLedger, publish, verify
    from crypsis.table.aligning import read_aligned
    from crypsis.table.readers.formats import format_returned

    format = options.written_format(bundle.format)
    document = options.read_plan(columns.plan)
    before = columns.read(original) if original else None
    masked = read_aligned(before, file) if before is not None else columns.read(file, masked=True)
    with show_spinner("judging, writing, reading back, judging again"):
        publish(
            masked,
            bundle.out,
            models=options.requirements(demands.require, document),
            original=before,
            description=ReleaseDescription(title=bundle.title, method=bundle.method, family=bundle.family),
            format=format or format_returned(file),
            order="kept" if bundle.keep_order else "shuffled",
            limits=_limits(demands.limit),
            rulebook=rulebooks.book_of(demands.rulebook),
            waivers=_waivers(document, demands),
            unstated=document.list_unstated() if document else (),
            sign=bundle.sign,
            ledger=ReleaseLedger.usual(
                original or "", document.release.ledger if document else "", replaces=bundle.replaces or ()
            ),
        )
        checked = verify(bundle.out)
    _report_released(bundle.out, checked, json)


def _limits(texts: list[str] | None) -> list[MeasuredLimit]:
    """['record-linkage=5'] → limits on registered measures."""
    from crypsis.measures import measures
    from crypsis.release import MeasuredLimit

    limits = []
    for name, text in options.pairs(texts, "--limit").items():
        try:
            limits.append(MeasuredLimit(measures.build(name), float(text), name))
        except ValueError:
            raise PlanError(f"--limit {name}={text}: {text!r} is not a number; write e.g. {name}=5") from None
    return limits


def _release_from_run(folder: Path, pick: str, bundle: BundleOptions, demands: Demands, json: bool) -> None:
    """Release a solution of a run under all demands of its plan."""
    from crypsis.release import verify
    from crypsis.run import Run
    from crypsis.text import ruin_text

    with show_spinner("decoding, judging, writing, reading back, judging again"):
        with Run.open(folder) as opened:
            book = rulebooks.book_of(demands.rulebook)
            picked = opened.choose(pick)
            ruins = opened.front.ruins(picked)
            solution = opened.release(
                picked, bundle.out, title=bundle.title, rulebook=book, waivers=_waivers(opened.plan, demands),
                sign=bundle.sign, format=options.written_format(bundle.format), replaces=bundle.replaces or (),
            )  # fmt: skip
        checked = verify(bundle.out)
    if not json:
        say(f"solution {solution.number} of {folder}: {solution.message}")
        if ruins:
            say(f"warning: {ruin_text(ruins)}")
    _report_released(bundle.out, checked, json)


def _report_released(out: Path, checked: Verification, json: bool) -> None:
    if json:
        smallest = checked.smallest_class and asdict(checked.smallest_class)
        verdicts = [asdict(v) for v in checked.verdicts]
        say_json({"release": str(out), "verdicts": verdicts, "smallest_class": smallest})
        return
    say_released(out, checked)
    say_answers(out)
