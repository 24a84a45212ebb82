"""`crypsis mask`: one masking method, without a search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from crypsis.cli import options
from crypsis.cli.options import BlockEngine, MaskedFile, Roles
from crypsis.cli.output import figure, say, say_json, show_spinner, warn
from crypsis.errors import PlanError, TableError
from crypsis.small_tables import table

if TYPE_CHECKING:
    from numpy.random import Generator

    from crypsis.masking.method import MaskingMethod
    from crypsis.table.table import Table


def mask(
    file: options.File,
    method: Annotated[str, typer.Argument(help="a masking method, e.g. microaggregation", show_default=False)],
    target: MaskedFile,
    columns: Roles,
    place: BlockEngine,
    set_: options.Settings = None,
    json: options.Json = False,
) -> None:
    """Mask a file with one method, without a search; the plan may mask further columns on their own.

    Identifiers are left out, the rows are shuffled, and only the owner may read the file. Prints loss and risk.

    Example: crypsis mask people.csv microaggregation --set k=5 --quasi age,income -o masked.csv
    """
    from crypsis.masking import methods
    from crypsis.measures import assess
    from crypsis.plan import Plan
    from crypsis.release.published import flatten, order_published_rows
    from crypsis.table.attribute import UNPUBLISHED
    from crypsis.table.files import write_table

    out = target.out
    if out.exists():
        raise TableError(f"{out}: already exists; choose another name or remove it first")
    chosen = methods.build(method, **options.settings(set_))
    original = columns.read(file)
    for note in original.notes:
        warn(note)
    if not original.quasi_identifiers and not chosen.columns:
        raise PlanError(
            "no column is named to be masked; name the quasi-identifiers with --quasi age,region "
            "(or --quasi '*'), or see what `crypsis profile` suggests"
        )
    rng = options.randomness(target.seed)
    with show_spinner(f"masking {len(original)} records by {method}"):
        apart = (
            original
            if columns.plan is None
            else Plan.read(columns.plan).masked_beforehand(original, int(rng.integers(2**62)))
        )
        masked = _mask(chosen, apart, rng, place)
    with show_spinner("measuring loss and risk"):
        assessment = assess(original, masked, family=chosen.family)
    order, left_out = "kept" if target.keep_order else "shuffled", original.names_by_role(*UNPUBLISHED)
    written = flatten(masked, order_published_rows(masked, order, rng))
    write_table(written, out, spreadsheet_safe=target.spreadsheet_safe, private=True)
    if json:
        facts = {"out": str(out), "rows": len(written), "method": method, "order": order, "left_out": left_out}
        say_json({**facts, **assessment.to_dict()})
        return
    say(f"{file}: {len(written)} of {len(original)} records masked by {method}, written to {out}")
    say(f"row order: {order}; identifiers left out: {', '.join(left_out) or 'none was named'}")
    say()
    rows = [(r.measure, figure(r.value), r.unit, r.aim, f"{r.better} is better") for r in assessment.readings]
    say(table(("measure", "value", "unit", "", ""), rows, right=[1]))


def _mask(chosen: MaskingMethod, original: Table, rng: Generator, place: BlockEngine) -> Table:
    """The masked table, its blocks computed on an engine."""
    from crypsis.engines import engine as engine_of
    from crypsis.masking.microaggregation import Microaggregation

    name = "dask" if place.scheduler else place.engine
    if not isinstance(chosen, Microaggregation) or chosen.partitioner != "blocks":
        if name in ("serial", "threads"):
            return chosen.mask(original, rng)
        raise PlanError(
            f"--engine {name} spreads the blocks of a microaggregation, and there are none; add "
            f"--set partitioner=blocks to microaggregation, or leave --engine out"
        )
    with engine_of(name, place.workers, place.scheduler) as opened:
        return chosen.mask(original, rng, opened)
