"""Every node of a lattice at once, and the best node for a demand."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from crypsis.errors import PlanError, SearchError
from crypsis.kernels.nodes import BY_SIZE, DEMANDED, STRICTEST, NodeReadings
from crypsis.searches.lattices.lattice_preparation import LatticeContext, prepare
from crypsis.table.counts import Counts
from crypsis.table.frames import Frame, as_table
from crypsis.table.lattice import Lattice, Levels
from crypsis.table.suppression import Rule, allowed, rule_code, share_for
from crypsis.table.table import Table
from crypsis.text import node_text


def evaluate_lattice(
    table: Table | Counts | Frame,
    suppression: float = 0.01,
    rule: Rule = "failing-class",
    *,
    k: int | None = None,
    l: int | None = None,  # noqa: E741 (the letter of l-diversity)
    columns: tuple[str, ...] = (),
    confidential: str | None = None,
    label: str | None = None,
    value_spread: bool = True,
    prune: int = 0,
) -> pl.DataFrame:
    """Every node of the lattice: its levels, what it protects, what it loses and how many records it suppresses.

    Parameters
    ----------
    table : Table, Counts or frame
        The table, with roles and hierarchies.
    suppression : float
        Share of the records that may be suppressed, 0 … 1.
    rule : str
        "by-size": the smallest classes go, as many sizes as the limit allows, so that k is the largest the node can
        reach (the rule of PBG); l is what the survivors happen to have. "failing-class" with k or l demanded: exactly
        the classes that fail go, and `feasible` says whether that stayed within the limit. Without a demand: the
        largest k the limit allows and, with what is left of it, the largest l.
    k, l : int, optional
        What is demanded of every class.
    columns : tuple of str
        Quasi-identifiers; all of them unless named. Each needs a hierarchy.
    confidential : str, optional
        Column whose values l counts; the first confidential one unless named.
    label : str, optional
        Column whose majority the classification metric wants; the confidential one unless named.
    value_spread : bool
        Also sum how often each record's confidential value occurs in its class (s_l).
    prune : int
        Leave out nodes that cannot reach this k within the limit.

    Returns
    -------
    polars.DataFrame
        One row per node: a level per column, then k, l (of the surviving classes; 0 if none survives), glm (mean cell
        loss, 0 … 1), glm_sum (over records and attributes), cm, s_k, s_l (Σ over records of class size and of value
        count, the suppressed being one class of their own), classes, suppressed, feasible.

    Raises
    ------
    PlanError
        If l is demanded and no column is confidential, or the rule cannot keep it.

    Notes
    -----
    A cell that stands for a set of leaves loses (|set| − 1)/(|domain| − 1), a suppressed one 1. A missing value is a
    category of its own at every level and loses nothing until its record is suppressed.

    Examples
    --------
    >>> import crypsis
    >>> nodes = crypsis.evaluate_lattice(crypsis.example(200), suppression=0.1, k=5)
    >>> nodes.filter(nodes["feasible"])["k"].min()
    5
    """
    table = table if isinstance(table, Counts) else as_table(table)
    lattice = _lattice(table, columns)
    confidential = confidential or _first_confidential(table)
    if l is not None and confidential is None:
        raise PlanError(
            "l-diversity was demanded but no column is confidential; give one the role 'confidential' or name it"
        )
    if rule == "by-size" and l is not None:
        raise PlanError("rule 'by-size' suppresses by class size alone; to demand l use rule 'failing-class'")
    context = prepare(table, lattice, confidential, label or confidential, value_spread)
    allowance = allowed(suppression, context.total)
    code = rule_code(rule, demanded=k is not None or l is not None)
    read = context.readings(code, allowance, k or 1, l or 0, prune)
    frame = _frame(context, read, confidential, label or confidential, value_spread)
    feasible = (pl.col("suppressed") <= allowance) & (pl.col("k") >= (k or 1))
    if l is not None:
        feasible &= pl.col("l") >= l
    frame = frame.with_columns(feasible=feasible)
    return frame.filter(pl.Series(read.classes >= 0)) if prune else frame


@dataclass(frozen=True)
class Node:
    """A node of a lattice with what it protects and loses.

    levels  level of each column
    message  the node in words
    rule  which classes are suppressed
    k, l  of the surviving classes; l is None where nothing is confidential
    glm  mean cell loss, 0 … 1
    suppressed, allowance  records suppressed, and how many may be
    """

    levels: Levels
    message: str
    rule: Rule
    k: int
    l: int | None  # noqa: E741
    glm: float
    suppressed: int
    allowance: int


def optimum(
    table: Table | Counts,
    k: int,
    suppression: float = 0.01,
    rule: Rule = "failing-class",
    *,
    l: int | None = None,  # noqa: E741
    columns: tuple[str, ...] = (),
    confidential: str | None = None,
) -> Node:
    """The node of least mean cell loss that meets a demand within the suppression limit; ties: lower node number.

    Parameters
    ----------
    table : Table or Counts
        The table, with roles and hierarchies.
    k : int
        Smallest class size.
    suppression : float
        Share of the records that may be suppressed, 0 … 1.
    rule : str
        As for `evaluate_lattice`.
    l : int, optional
        Confidential values per class.
    columns : tuple of str
        Quasi-identifiers; all of them unless named.
    confidential : str, optional
        Column whose values l counts.

    Returns
    -------
    Node

    Raises
    ------
    SearchError
        If no node meets the demand: with what comes closest and the limit to relax.

    Examples
    --------
    >>> import crypsis
    >>> optimum(crypsis.example(200), k=5, suppression=0.1).k >= 5
    True
    """
    frame = evaluate_lattice(
        table, suppression, rule, k=k, l=l, columns=columns, confidential=confidential, value_spread=False, prune=k
    )
    lattice = _lattice(table, columns)
    total = table.total if isinstance(table, Counts) else int(table.kept.sum())
    allowance = allowed(suppression, total)
    feasible = frame.filter(pl.col("feasible"))
    if feasible.is_empty():
        counted = (confidential or _first_confidential(table)) if l else None
        raise SearchError(out_of_reach(prepare(table, lattice, counted, None, False), allowance, k, l or 0))
    best = feasible.row(int(feasible["glm_sum"].arg_min() or 0), named=True)
    levels = tuple(int(best[name]) for name in lattice.names)
    return Node(
        levels, node_text(lattice, levels), rule, best["k"], best.get("l"), best["glm"], best["suppressed"], allowance
    )


def _lattice(table: Table | Counts, columns: tuple[str, ...]) -> Lattice:
    if isinstance(table, Table):
        return Lattice.of(table, columns)
    chosen = columns or tuple(a.name for a in table.attributes if a.role == "quasi")
    return Lattice(tuple(table.attributes[table.place(name)] for name in chosen))


def _first_confidential(table: Table | Counts) -> str | None:
    return next((attribute.name for attribute in table.attributes if attribute.role == "confidential"), None)


def _frame(
    context: LatticeContext, read: NodeReadings, confidential: str | None, label: str | None, value_spread: bool
) -> pl.DataFrame:
    nodes = context.lattice.nodes()
    data: dict[str, object] = {name: nodes[:, place] for place, name in enumerate(context.lattice.names)}
    data["k"] = read.k
    if confidential:
        data["l"] = read.l
    cells = max(context.total * len(context.lattice.names), 1)
    data["glm"], data["glm_sum"] = read.loss / cells, read.loss
    if label:
        data["cm"] = read.misfits
    data["s_k"] = read.size_sum
    if confidential and value_spread:
        data["s_l"] = read.value_sum
    data["classes"], data["suppressed"] = read.classes, read.suppressed
    return pl.DataFrame(data)


def out_of_reach(context: LatticeContext, allowance: int, k: int, l: int = 0) -> str:  # noqa: E741
    """Why no node meets a demand: what comes closest, and what to relax; empty if one does.

    Classes only grow towards the highest node, so that it is the closest to any k and l.
    """
    top, total = context.lattice.top, context.total
    highest = context.reading(top, DEMANDED, allowance, k, l)
    need = int(highest.suppressed[0])
    if need <= allowance and int(highest.classes[0]):
        return ""
    wanted = " and ".join(f"{name} = {value}" for name, value in (("k", k), ("l", l)) if value > 1)
    found = f"no node reaches {wanted} while suppressing at most {allowance} of {total} records"
    reached = context.reading(top, STRICTEST if l else BY_SIZE, allowance)
    within = f"k = {int(reached.k[0])}" + (f" with l = {int(reached.l[0])}" if l else "")
    if need >= total:
        return f"{found}; with every column at its highest level {within} is the most; lower the demand to that"
    return (
        f"{found}; the closest, every column at its highest level, would suppress {need} ({100 * need / total:.2f} %); "
        f"raise the suppression limit to {share_for(need, total):g}, or lower the demand: {within} is within reach"
    )
