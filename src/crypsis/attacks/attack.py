"""Try every attack on a release and report what each achieves."""

from __future__ import annotations

import numpy as np

from crypsis.attacks.attack_context import AttackContext, Findings, Intruder, Outcome, Untried, held_out
from crypsis.attacks.linkage import infer_by_linkage, linkability, nearest_record
from crypsis.attacks.reversal import undo_microaggregation, undo_rank_swapping
from crypsis.attacks.several_releases import ATTACK, intersection
from crypsis.attacks.singling_out import single_out_by_few, singling_out
from crypsis.errors import TableError, listing, word
from crypsis.table.aligning import in_terms_of
from crypsis.table.frames import Frame, as_table
from crypsis.table.hierarchy import MISSING
from crypsis.table.table import Table


def attack(
    release: Table | Frame,
    original: Table | Frame,
    *,
    control: Table | Frame | None = None,
    second: Table | Frame | None = None,
    intruder: Intruder | None = None,
    rows_correspond: bool = False,
) -> Findings:
    """Attack a release as an intruder who knows the quasi-identifiers of people, or a few of the published columns.

    Parameters
    ----------
    release : Table or frame
        The published records; a table in the columns and codes of the original (`crypsis.table.aligning.in_terms_of`).
    original : Table or frame
        The people in the release.
    control : Table or frame, optional
        People of the same kind who are not in it. Without them the records of the original that the release leaves
        out are the control, where it shows which these are and they are like the others; else no attack is a finding.
    second : Table or frame, optional
        Another release of the same people.
    intruder : Intruder, optional
        What the intruder knows, and how many attempts are made.
    rows_correspond : bool
        Row i of the release is row i of the original; needed only if no other column identifies a person.

    Returns
    -------
    Findings

    Raises
    ------
    TableError
        If the intruder knows no published column, or a table has no records.

    Notes
    -----
    Singling out, linkability and inference follow Giomi et al. (2023), "A unified framework for quantifying privacy
    risk in synthetic data". A rate is a finding only if it exceeds baseline and control at the unfavourable ends of all
    intervals.

    Examples
    --------
    >>> table = crypsis.example(80)
    >>> found = crypsis.attack(table, table, intruder=crypsis.Intruder(attempts=20))
    >>> found.outcome("nearest record").rate.value
    100.0
    """
    original, intruder, notes = as_table(original), intruder or Intruder(), []
    release = _in_terms_of(original, release)
    second = None if second is None else _in_terms_of(original, second)
    if control is not None:
        control, lost = _comparable(as_table(control), original, (release,) if second is None else (release, second))
        if lost:
            notes.append(f"{lost} control records have values that are not in the hierarchies and are left out")
    elif (held := held_out(release, original, intruder, rows_correspond)) is not None:
        members, outsiders = held
        notes.append(
            f"no control is given: the {len(outsiders)} records of the original that are not in the release are the "
            f"control"
        )
        if rows_correspond and len(release) == len(original):
            release = release.take(members)
        original, control = original.take(members), original.take(outsiders)
    else:
        notes.append(
            "no control is given: a success may come from knowledge about people in general, so that no attack is a "
            "finding; keep some records back before masking and give them with "
            + word(python="control=", command="--control", studio="the command line")
        )
    context = AttackContext(release, original, control, intruder, rows_correspond)
    found: list[Outcome | Untried] = [*singling_out(context), linkability(context), *infer_by_linkage(context)]
    found += [nearest_record(context), undo_microaggregation(context), undo_rank_swapping(context)]
    found += single_out_by_few(context)
    if second is not None:
        found.append(intersection(context, second))
    else:
        found.append(Untried(ATTACK, "only one release is given"))
    return Findings(
        tuple(each for each in found if isinstance(each, Outcome)),
        tuple(each for each in found if isinstance(each, Untried)),
        tuple(notes),
    )


def _in_terms_of(original: Table, release: Table | Frame) -> Table:
    """A release given as a table is in the original's terms already; a frame is read in them."""
    return release if isinstance(release, Table) else in_terms_of(original, as_table(release), "the release")


def _comparable(control: Table, original: Table, releases: tuple[Table, ...]) -> tuple[Table, int]:
    """Control records whose values are all in the hierarchies of the releases, and the number of others."""
    absent = [name for name in original.quasi_identifiers if name not in control.names]
    if absent:
        raise TableError(f"the control lacks the columns {listing(absent)}; give a file with the original's columns")
    usable = np.ones(len(control), dtype=np.bool_)
    raised = [
        (n, r.attribute(n).hierarchy) for r in releases for n in r.names if r.level(n) != 0 and n in control.names
    ]
    for name, hierarchy in raised:
        if hierarchy is None:
            continue
        column = control.column(name)
        if control.attribute(name).numeric:
            usable &= np.isnan(column) | np.isin(column, hierarchy.values)
        else:
            leaves = set(hierarchy.labels[0])
            usable &= np.array([*(label in leaves for label in control.labels(name)), True])[column]
    kept = control.take(np.flatnonzero(usable))
    for name in {name for name, _ in raised if not control.attribute(name).numeric}:
        codes, labels = kept.column(name), kept.labels(name)
        kept = kept.with_categories(name, [labels[code] for code in np.unique(codes[codes != MISSING])])
    return kept, int((~usable).sum())
