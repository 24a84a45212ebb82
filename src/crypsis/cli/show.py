"""`crypsis show`: one solution of a run in words, or two side by side."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crypsis.cli import options
from crypsis.cli.output import figure, say, say_json, show_spinner
from crypsis.small_tables import table

if TYPE_CHECKING:
    from crypsis.measures.utility import UtilityCard
    from crypsis.run import Solution

PAIRS_SHOWN = 5
"""Pairs of columns in a card."""
PAIR_SHOWN = 0.02
"""A smaller change of a tie is not listed."""


def show(
    folder: options.RunFolder,
    pick: Annotated[str, typer.Argument(help=options.PICKS)] = options.DEFAULT_PICK,
    other: Annotated[str | None, typer.Argument(help="another solution, to compare both", show_default=False)] = None,
    json: options.Json = False,
) -> None:
    """Describe one solution in words, or compare two.

    One: what happens to each column, its figures, class sizes, and which records bear the loss. Two: their figures,
    and what each does to every column.
    """
    if other is None:
        _describe(folder, pick, json)
    else:
        _compare(folder, (pick, other), json)


def _describe(folder: Path, pick: str, json: bool) -> None:
    """Print one solution."""
    from crypsis.run import Run
    from crypsis.text import (
        burden_text_of_card,
        card_rule_text,
        class_size_text,
        column_text,
        ruin_text,
        uncovered_attackers_text,
        utility_card_facts,
    )

    with Run.open(folder) as opened:
        solution = opened.choose(pick)
        with show_spinner(f"decoding solution {solution.number}"):
            description, rules = opened.describe(solution), opened.rules(solution)
            card = opened.card(solution)
        ruins = opened.front.ruins(solution)
    if json:
        more = {
            "card": utility_card_facts(card),
            "ruins": [asdict(ruin) for ruin in ruins],
            "rules": {title: asdict(counts) for title, counts in rules.items()},
        }
        say_json({**solution.to_dict(), **more, "description": asdict(description)})
        return
    say(f"solution {solution.number}, by {solution.title} ({solution.family})")
    say(solution.message)
    say()
    columns = [(column.name, figure(column.loss), column_text(column)) for column in description.columns]
    say(table(("column", "loss, %", "what happened"), columns, right=[1]))
    say()
    _show_figures(solution, without=rules)
    if uncovered := uncovered_attackers_text(solution.evaluation.figures):
        say(uncovered)
    if description.classes:
        sizes = ", ".join(f"{class_size_text(count)}: {count.classes}" for count in description.classes)
        say(f"equivalence classes by size (records in a class: how many classes): {sizes}")
    if description.suppressed:
        say(f"{description.suppressed} records are suppressed")
    for sentence in (*(card_rule_text(*each) for each in rules.items()), *burden_text_of_card(description)):
        say(sentence)
    say()
    _show_card(card)
    if ruins:
        say(f"{ruin_text(ruins)}")
    for complaint in solution.complaints:
        say(f"may not be released: {complaint}")
    if solution.feasible:
        say(f"may be released: crypsis release {folder} --pick {solution.number} -o release")


def _compare(folder: Path, picks: Sequence[str], json: bool) -> None:
    """Print two solutions side by side."""
    from crypsis.run import Run
    from crypsis.text import column_text

    with Run.open(folder) as opened:
        pair = [opened.choose(pick) for pick in picks]
        with show_spinner("decoding both"):
            described = [opened.describe(solution) for solution in pair]
    if json:
        both = [{**s.to_dict(), "description": asdict(d)} for s, d in zip(pair, described, strict=True)]
        say_json({"solutions": both})
        return
    head = ("", *(f"{s.number} ({s.title})" for s in pair), "better")
    names = list(dict.fromkeys(name for s in pair for name in s.evaluation.figures))
    rows = [(name, *(figure(s.figure(name)) for s in pair), _better(name, pair)) for name in names]
    rows.append(("may be released", *("yes" if s.feasible else "no" for s in pair), ""))
    say(table(head, rows, right=[1, 2]))
    say()
    texts = [{column.name: column_text(column) for column in each.columns} for each in described]
    columns = [(name, *(text.get(name, "as collected") for text in texts)) for name in texts[0] | texts[1]]
    say(table(("column", str(pair[0].number), str(pair[1].number)), columns))


def _better(name: str, pair: Sequence[Solution]) -> str:
    """The number of the solution with the better figure; empty where neither is better."""
    a, b = (solution.figure(name) for solution in pair)
    if a is None or b is None or a == b:
        return ""
    lower = a < b
    return str(pair[0 if lower != (name == "k") else 1].number)


def _show_card(card: UtilityCard) -> None:
    """The utility card: what was harmed most, then columns, pairs and the whole file."""
    from crypsis.text.cards import TIES, column_rows, opening_text, propensity_text, use_text

    say("what was harmed most")
    for sentence in opening_text(card):
        say(f"  {sentence}")
    say()
    if card.columns:
        head = ("column", "loss, %", "moved, %", "values gone", "records", "beyond 1 · 5 · 95 · 99 %", "cells")
        names = ("name", "loss", "distance", "vanished", "vanished_records", "tails", "cells")
        rows = [tuple(row[name] for name in names) for row in column_rows(card.columns)]
        say(table(head, rows, right=[1, 2, 3, 4]))
        say()
    moved = [pair for pair in card.pairs if pair.change >= PAIR_SHOWN][:PAIRS_SHOWN]
    if moved:
        pairs = [(f"{p.first}, {p.second}", TIES[p.tie], f"{p.before:.2f}", f"{p.after:.2f}") for p in moved]
        say(table(("pair", "tie", "before", "after"), pairs, right=[2, 3]))
        say()
    _show_estimates(card)
    for score in card.general:
        say(propensity_text(score))
    for use in card.uses:
        say(use_text(use))
    say()


def _show_estimates(card: UtilityCard) -> None:
    """What an analyst keeps: estimates before and after, and analyses drawn at random."""
    from crypsis.measures.utility.weighted_estimates import WEIGHTED_FIGURES
    from crypsis.text.cards import (
        FIGURES,
        analyses_text,
        category_rows,
        change_text,
        kept_text,
        number_rows,
        weighted_rows,
        weighted_text,
    )

    numbers, categories = number_rows(card.estimates), category_rows(card.estimates)
    if numbers:
        say(table(("before → after", *FIGURES), numbers, right=range(1, len(FIGURES) + 1)))
        say("* left the 95 % interval of the original")
        say()
    if card.weighted is not None and (rows := weighted_rows(card.weighted)):
        say(weighted_text(card.weighted))
        say(table(("before ± 1.96 errors → after", *WEIGHTED_FIGURES), rows, right=range(1, len(WEIGHTED_FIGURES) + 1)))
        shares = category_rows(card.weighted.columns)
        say(table(("category", "weighted shares that moved most, %"), [row[:2] for row in shares]))
        say()
    if categories:
        say(table(("category", "shares that moved most, %", "values gone"), categories))
        say()
    if card.analyses is not None:
        say(analyses_text(card.analyses, card.beside))
        say(f"({kept_text(card.analyses)})")
        for row in card.analyses.worst():
            say(f"  {change_text(row)}")
        say()


def _found_by(name: str, figures: Mapping[str, float | None]) -> str:
    """Whose success a risk is; empty for any other figure."""
    from crypsis.measures.measure import measures
    from crypsis.text.attacks import attacker_text, intruder_text

    if name == "risk":
        return f" % of the people, found by {intruder_text(figures)}"
    first, _, intruder = name.partition(".")
    knows = (f"the columns of scenario {intruder}",) if intruder else ()
    known = first == "learned-linkage" or (first in measures and measures[first].aim == "risk")
    if first == "risk" or known:
        return f" % of the people, found by {attacker_text('overall risk' if first == 'risk' else first, knows)}"
    return ""


def _show_figures(solution: Solution, without: Container[str]) -> None:
    from crypsis.text import omission_text_on_card

    evaluation = solution.evaluation
    for name, value in evaluation.figures.items():
        if name in without:
            continue
        if value is None:
            say(f"{name}: not given ({omission_text_on_card(evaluation.omissions.get(name))})")
            continue
        span = evaluation.intervals.get(name)
        interval = f", 95 % interval {figure(span[0])} to {figure(span[1])}" if span else ""
        guess = f", blind guessing {figure(evaluation.baselines[name])}" if name in evaluation.baselines else ""
        say(f"{name}: {figure(value)}{interval}{guess}{_found_by(name, evaluation.figures)}")
    for note in evaluation.notes:
        say(f"note: {note}")
