"""Utility cards, offers and ruined columns in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from crypsis.audits.published_weights import WeightRestoring
from crypsis.errors import listing
from crypsis.measures.masking_description import MaskingDescription
from crypsis.measures.objective import Omission, keeps_objective_limit
from crypsis.measures.utility.analyses import AnalysesKept, EstimateChange
from crypsis.measures.utility.card import Harm, Ruin, RuleHarm, Usefulness, UseResult, UtilityCard, ruined_columns
from crypsis.measures.utility.distributions import ColumnHarm
from crypsis.measures.utility.estimates import NORMAL, PRESENT, SPREADS, ColumnEstimate, ColumnEstimates
from crypsis.measures.utility.propensity import PropensityScore
from crypsis.measures.utility.weighted_estimates import WEIGHTED_FIGURES, WeightedComparison
from crypsis.table.attribute import Dates, date_text, one_day
from crypsis.table.rules import RuleCounts
from crypsis.text.attacks import intruder_text
from crypsis.text.reports import NO_CLASSES, number_text, sentence_text

# -- A utility card in words.

WORST = 5
"""Analyses that are named, those that moved farthest first."""
FIGURES = ("mean", "sd", "total", "above 0, %", "lowest 20", "highest 20")
"""Figures of a number that a table shows; more are in the internal report."""
COLUMN_NAMES_ONLY = ("above zero", "total", "quantile", "correlation", "regression")
"""Kinds of analyses whose titles hold names of columns but of no category."""
OUTSIDE = "*"
"""Mark of a figure that left the 95 % interval of the original."""


def analyses_text(kept: AnalysesKept, beside: Mapping[str, AnalysesKept] | None = None) -> str:
    """How many analyses drawn at random keep their answer, beside other files.

    >>> people = crypsis.example(200)
    >>> found = crypsis.Analyses(people, count=30).compare(people)
    >>> analyses_text(found, {"plain MDAV": found})
    'of 30 analyses drawn at random 30 keep their answer; plain MDAV: 30'
    """
    text = f"of {kept.analyses} analyses drawn at random {_kept_count(kept)} keep their answer"
    return "; ".join([text, *(f"{name}: {_kept_count(each)}" for name, each in (beside or {}).items())])


def _kept_count(kept: AnalysesKept) -> int:
    """Analyses that keep their answer as a whole number, never more than there are."""
    return int(kept.kept + 1e-9)


def kept_text(kept: AnalysesKept) -> str:
    """What it means that analyses keep their answer, and the shares behind it."""
    sampled = f"; models are fitted to {kept.sampled} records at equal distances" if kept.sampled else ""
    return (
        f"an answer is kept where the released estimate lies inside the 95 % interval of the original, a regression "
        f"counts by the share of its coefficients: {kept.inside:.1f} % of {kept.estimates} estimates, mean overlap of "
        f"the intervals {kept.overlap:.2f}{sampled}"
    )


def change_text(row: EstimateChange, *, figures: bool = True) -> str:
    """An estimate that moved, in a sentence.

    `figures`: whether the estimates themselves are named.

    >>> from crypsis.measures.utility import EstimateChange
    >>> change_text(EstimateChange("total", "total of pay", "", 5120.0, 4700.0, 3.2, False, 0.1))
    'total of pay: 5120 → 4700 (3.2 standard errors)'
    """
    title = f"{row.analysis}, coefficient of {row.term}" if row.term else row.analysis
    if row.released is None:
        return f"{title}: cannot be computed any more"
    away = "more than 100" if row.off > 100 else f"{row.off:.1f}"
    values = f"{number_text(row.original)} → {number_text(row.released)} " if figures else ""
    return f"{title}: {values}({away} standard errors)" if figures else f"{title}: {away} standard errors away"


def _analyses_facts(kept: AnalysesKept | None, beside: Mapping[str, AnalysesKept]) -> dict[str, Any] | None:
    """Analyses as plain data for reports and JSON; "public" is what users of the file may read."""
    if kept is None:
        return None
    worst = kept.worst(WORST)
    open_ = [row for row in kept.worst(kept.analyses) if row.kind in COLUMN_NAMES_ONLY and "=" not in row.term]
    return {
        "drawn": kept.analyses,
        "kept": _kept_count(kept),
        "kept_whole": kept.kept_whole,
        "estimates": kept.estimates,
        "inside": kept.inside,
        "overlap": kept.overlap,
        "sampled": kept.sampled,
        "text": analyses_text(kept, beside),
        "meaning": kept_text(kept),
        "beside": {
            name: {"kept": _kept_count(each), "inside": each.inside, "overlap": each.overlap}
            for name, each in beside.items()
        },
        "worst": [
            {**asdict(row), "off": None if row.released is None else row.off, "text": change_text(row)} for row in worst
        ],
        "public": [change_text(row, figures=False) for row in open_[:WORST]],
    }


def _estimates_facts(estimates: Iterable[ColumnEstimates]) -> list[dict[str, Any]]:
    """Estimates before and after as plain data, by the name of the figure, or of the value of a category."""
    return [
        {
            "name": each.name,
            "numeric": each.numeric,
            "dates": each.dates,
            "figures": [{**asdict(figure), "inside": figure.inside} for figure in each.figures],
            "vanished": list(each.vanished),
            "vanished_rare": int(each.vanished_rare),
            "grouped": each.grouped,
        }
        for each in estimates
    ]


def _weighted_facts(weighted: WeightedComparison) -> dict[str, Any]:
    """Weighted estimates before and after as plain data."""
    return {"text": weighted_text(weighted), "columns": _estimates_facts(weighted.columns)}


def weighted_text(weighted: WeightedComparison) -> str:
    """By what records are weighed, and whence the standard errors come.

    >>> weighted_text(WeightedComparison("w", ("region",), "home", 0, ()))
    'weighted by w; standard errors of the sample design: strata region, every household a unit, drawn with replacement'
    """
    strata = f"strata {', '.join(weighted.strata)}" if weighted.strata else "one stratum"
    units = "every household a unit" if weighted.units else "every record a unit"
    text = f"weighted by {weighted.weights}; standard errors of the sample design: {strata}, {units}, drawn with"
    single = (
        f"; {weighted.single} strata have one unit, whose variance is read against the mean of all units"
        if weighted.single
        else ""
    )
    return f"{text} replacement{single}"


def restoring_text(restored: Sequence[WeightRestoring]) -> str:
    """What a weight restores of the masked columns, as collected and as published.

    >>> restoring_text([WeightRestoring("region", 0.87, 0.0)])
    'of the masked cells of region the weight restores 87 % as collected and 0 % as published'
    """
    worst = [each for each in restored if each.collected or each.published] or list(restored[:1])
    if not worst:
        return "no cell is masked that the weight could restore"
    shares = ", ".join(
        f"{each.column} the weight restores {number_text(round(100 * each.collected, 1))} % as collected and "
        f"{number_text(round(100 * each.published, 1))} % as published"
        for each in worst
    )
    return f"of the masked cells of {shares}"


def weighted_answers_texts(card: Mapping[str, Any]) -> list[str]:
    """Weighted figures of incomes before and after, and what the weight reveals, from the card of a release."""
    weighted = card.get("weighted") or {}
    found = [weighted["reveals"]] if weighted.get("reveals") else []
    for column in weighted.get("columns", ()):
        figures = {each["figure"]: each for each in column["figures"]}
        for title in ("at risk of poverty, %", "Gini, %") if "at risk of poverty, %" in figures else ():
            each = figures.get(title)
            if each and each["before"] is not None and each["after"] is not None and each["error"] is not None:
                low, high = (each["before"] + sign * NORMAL * each["error"] for sign in (-1, 1))
                place = "inside" if each["inside"] else "outside"
                found.append(
                    f"weighted, {column['name']}, {title}: {each['before']:.4g} → {each['after']:.4g}, {place} the "
                    f"95 % interval of the design, {low:.4g} to {high:.4g}"
                )
    return found


def weighted_rows(weighted: WeightedComparison) -> list[tuple[str, ...]]:
    """For every number: its weighted figures before and after, with the standard error of the original."""
    return [
        (each.name, *(_pair_with_error_text(each.figure(figure), each.dates) for figure in WEIGHTED_FIGURES))
        for each in weighted.columns
        if each.numeric
    ]


def _pair_with_error_text(figure: ColumnEstimate | None, dates: Dates) -> str:
    if figure is None or figure.before is None:
        return "–"
    error = "" if figure.error is None else f" ± {estimate_text(NORMAL * figure.error, 'error', dates)}"
    mark = OUTSIDE if figure.inside is False else ""
    return f"{number_text(figure.before)}{error} → {number_text(figure.after)}{mark}"


def pair_text(figure: ColumnEstimate | None, dates: Dates = "") -> str:
    """A figure before and after; marked where it left the 95 % interval of the original.

    `dates`: what the numbers count, if they are dates.

    >>> from crypsis.measures.utility import ColumnEstimate
    >>> pair_text(ColumnEstimate("mean", 5.8, 3.1, 0.2)), pair_text(None)
    ('5.8 → 3.1*', '–')
    >>> pair_text(ColumnEstimate("mean", 17831.4, 17833.0), "date")
    '2018-10-27 → 2018-10-29'
    >>> pair_text(ColumnEstimate("sd", 40.41, 40.4), "date")
    '40.41 days → 40.4 days'
    """
    if figure is None:
        return "–"
    before, after = (estimate_text(value, figure.figure, dates) for value in (figure.before, figure.after))
    return f"{before} → {after}{OUTSIDE if figure.inside is False else ''}"


def estimate_text(
    value: float | None, figure: str, dates: Dates, number: Callable[[float | None], str] = number_text
) -> str:
    """One figure of a column: of dates a date, and days where it is a spread; `number`: how any other is written.

    >>> estimate_text(17831.4, "mean", "date"), estimate_text(17831.4, "mean", ""), estimate_text(2.5, "sd", "date")
    ('2018-10-27', '17831', '2.5 days')
    """
    if not dates or value is None or figure == PRESENT:
        return number(value)
    return f"{number(value / one_day(dates))} days" if figure in SPREADS else date_text(value, dates)


def number_rows(estimates: Sequence[ColumnEstimates], figures: Sequence[str] = FIGURES) -> list[tuple[str, ...]]:
    """A row of figures before and after for every column of numbers."""
    return [
        (each.name, *(pair_text(each.figure(figure), each.dates) for figure in figures))
        for each in estimates
        if each.numeric
    ]


def category_rows(estimates: Sequence[ColumnEstimates], most: int = 3) -> list[tuple[str, str, str]]:
    """For every category: the shares that moved most, and what vanished or is published within groups."""
    rows = []
    for each in estimates:
        if each.numeric or not each.figures:
            continue
        moved = sorted(each.figures, key=lambda f: -abs((f.after or 0.0) - (f.before or 0.0)))[:most]
        shares = ", ".join(f"{f.figure} {pair_text(f)}" for f in moved if f.before != f.after)
        rows.append((each.name, shares or "as collected", _gone_text(each)))
    return rows


def _gone_text(column: ColumnEstimates) -> str:
    """Values of a category that vanished, and the share that is published within groups; a dash where there is none."""
    parts = [f"{', '.join(column.vanished)} vanished"] if column.vanished else []
    parts += [f"{column.vanished_rare} rarer vanished"] if column.vanished_rare else []
    parts += [f"{number_text(round(column.grouped, 1))} % within groups"] if column.grouped else []
    return "; ".join(parts) or "–"


# -- A utility card in words.

TIES = {"pearson": "correlation", "cramer": "Cramér's V", "ratio": "correlation ratio"}
PUBLIC = ("loss", "distance", "constant", "association")
"""Harms whose sentences hold no count of records, so that users of the file may read them."""
MISSED = 25.0
"""Part of the values of a column, or of the records at one of its ends, whose loss the opening of a card names."""
FEW = 10
"""Records at the end of a number below which nothing is said of them."""
MODELS = {
    "main": "a logistic regression",
    "pairs": "a logistic regression with squares and pairs",
    "cart": "a classification tree",
}


def card_harm_text(harm: Harm, card: UtilityCard) -> str:
    """One harm on a utility card in a sentence.

    >>> original, masked = crypsis.example_pair("categories")
    >>> card = crypsis.utility_card(original, masked)
    >>> card_harm_text(card.harms[0], card)
    "town and illness: association strengthened, Cramér's V 0.00 → 0.51"
    """
    if harm.kind == "association":
        pair = next(p for p in card.pairs if (p.first, p.second) == harm.columns)
        how = "strengthened" if abs(pair.after) > abs(pair.before) else "weakened"
        ties = f"{TIES[pair.tie]} {pair.before:.2f} → {pair.after:.2f}"
        return f"{pair.first} and {pair.second}: association {how}, {ties}"
    if harm.kind == "rule":
        return card_rule_harm_text(next(each for each in card.rules if each.title == harm.columns[0]))
    if harm.kind == "use":
        return use_text(next(each for each in card.uses if each.title == harm.columns[0]))
    column = next(each for each in card.columns if each.name == harm.columns[0])
    return f"{column.name}: {_of_column(harm, column)}"


def _of_column(harm: Harm, column: ColumnHarm) -> str:
    size = number_text(round(harm.size, 1))
    if harm.kind == "loss":
        return f"{size} % of its information is lost"
    if harm.kind == "distance":
        how = "small shifts forgiven" if column.shifted is not None else "total variation"
        return f"its distribution moved by {size} % ({how})"
    if harm.kind == "vanished":
        return _vanished_text(column)
    if harm.kind == "tail":
        low, high = (next(t for t in column.tails if t.point == point) for point in (5.0, 95.0))
        return f"beyond its 5 % and 95 % points {low.before} and {high.before} records → {low.after} and {high.after}"
    if harm.kind == "constant":
        return "one value is left of it"
    if harm.kind == "total":
        return f"its total changed by {size} %"
    many = column.filled if harm.kind == "filled" else column.blanked
    return f"{many} missing cells were filled" if harm.kind == "filled" else f"{many} cells were blanked"


def _vanished_text(column: ColumnHarm) -> str:
    """How many values of a column vanished or are released only within groups; empty if none did."""
    parts = []
    for many, records, what in (
        (column.vanished, column.vanished_records, "vanished"),
        (column.merged, column.merged_records, "are released only within groups"),
    ):
        if many:
            share = number_text(round(100.0 * records / max(column.records, 1), 1))
            parts.append(f"{many} of {column.values} values {what}, held by {records} records ({share} %)")
    return "; ".join(parts)


def card_rule_harm_text(rule: RuleHarm) -> str:
    """One harm to a rule on a utility card, in a sentence: the violations that the masking made.

    >>> from crypsis.measures.utility import RuleHarm
    >>> card_rule_harm_text(RuleHarm("rule start <= end", 3, 200))
    'rule start <= end: 3 records break it that kept it (1.5 %)'
    """
    if not rule.created:
        return f"{rule.title}: no record breaks it that kept it"
    one = rule.created == 1
    return (
        f"{rule.title}: {rule.created} record{'' if one else 's'} break{'s' if one else ''} it that kept it "
        f"({number_text(round(rule.share, 2))} %)"
    )


def use_text(use: UseResult) -> str:
    """How well a declared use is served, in a sentence, with what the analysis gave where that says more.

    >>> from crypsis.measures.utility import UseResult
    >>> use_text(UseResult("wages", 12.5, 20.0, "regression-use", {"slopes": 4, "mean overlap": 0.75}))
    'use wages: changed by 12.5 %, at most 20 % wanted (95 % intervals of 4 slopes overlap by 0.75 on average)'
    """
    if use.value is None:
        return f"use {use.title}: could not be measured"
    beyond = "" if keeps_objective_limit(use.value, use.tolerance) else ", which is exceeded"
    head = f"use {use.title}: changed by {number_text(use.value)} %, at most {number_text(use.tolerance)} % wanted"
    details = _analysis_text(use.measure, use.counts)
    return f"{head}{beyond}{f' ({details})' if details else ''}"


def _analysis_text(measure: str, counts: Mapping[str, float]) -> str:
    """What a declared analysis gave before and after; empty where its figure says all."""
    if measure == "regression-use" and "mean overlap" in counts:
        slopes, apart = int(counts["slopes"]), int(counts.get("slopes with disjoint intervals", 0))
        text = (
            f"95 % intervals of {slopes} slope{'s'[: slopes != 1]} overlap by {counts['mean overlap']:.2f} on average"
        )
        return f"{text}, {apart} {'is' if apart == 1 else 'are'} disjoint" if apart else text
    if measure == "estimate-use" and "mean overlap" in counts:
        many, inside = int(counts["estimates"]), int(counts["estimates inside"])
        return (
            f"95 % intervals of {many} estimate{'s'[: many != 1]} overlap by {counts['mean overlap']:.2f} on average, "
            f"{inside} of {many} lie inside the interval of the original"
        )
    if measure == "classifier-use":
        return (
            f"area under the ROC curve {counts['area under the curve before']:.3f} → "
            f"{counts['area under the curve after']:.3f}, accuracy {counts['accuracy before, %']:.1f} % → "
            f"{counts['accuracy after, %']:.1f} % on held-out original records, commonest class "
            f"{counts['commonest class, %']:.1f} %"
        )
    return ""


def propensity_text(score: PropensityScore) -> str:
    """General utility in a sentence."""
    away = score.standardised
    if away is None:
        verdict = ""
    elif away <= 2:
        verdict = ", not distinguishable from chance"
    else:
        verdict = f", {number_text(round(away, 1))} standard deviations above chance"
    return (
        f"{MODELS[score.model]} tells released from original records: pMSE {score.value:.4g} of at most "
        f"{score.largest:.4g} (expected by chance {score.null_mean:.4g}, sd {score.null_deviation:.2g}){verdict}"
    )


def general_text(score: PropensityScore) -> str:
    """General utility in a sentence that needs no statistics.

    >>> original, masked = crypsis.example_pair("numbers")
    >>> general_text(crypsis.propensity_score(original, masked, ("x", "y"), "main"))
    'a model cannot tell released from original records better than by chance'
    """
    away, part = score.standardised, 100.0 * score.value / score.largest if score.largest > 0 else 0.0
    if part < 0.1 or (away is not None and away <= 2):
        return "a model cannot tell released from original records better than by chance"
    chance = 100.0 * score.null_mean / score.largest
    return (
        f"a model tells released from original records: {number_text(round(part, 1))} % of what would be possible, "
        f"{number_text(round(chance, 1))} % by chance"
    )


def column_rows(columns: Sequence[ColumnHarm]) -> list[dict[str, Any]]:
    """What a table of a card shows of each column, worst first."""
    return [
        {
            "name": each.name,
            "loss": f"{each.loss:.1f}",
            "distance": f"{each.moved:.1f}",
            "variation": f"{each.distance:.1f}",
            "vanished": _gone(each),
            "vanished_records": str(each.vanished_records + each.merged_records) if _gone(each) != "–" else "–",
            "tails": " · ".join(f"{t.before} → {t.after}" for t in each.tails) or "–",
            "cells": _cells(each),
        }
        for each in columns
    ]


def _gone(column: ColumnHarm) -> str:
    """Values that vanished, and those that only groups stand for."""
    if column.vanished:
        return f"{column.vanished} of {column.values}" + (f", {column.merged} grouped" if column.merged else "")
    return f"{column.merged} of {column.values} grouped" if column.merged else "–"


def _cells(column: ColumnHarm) -> str:
    parts = {"changed": column.changed, "blanked": column.blanked, "filled": column.filled}
    return ", ".join(f"{count} {what}" for what, count in parts.items() if count) or "–"


def opening_text(card: UtilityCard, most: int = 5, kinds: Sequence[str] | None = None) -> list[str]:
    """What was harmed most, one sentence each; a column or pair is named at most once.

    >>> people = crypsis.example(60)
    >>> opening_text(crypsis.utility_card(people, people, general=()))
    ['Nothing was harmed by one per cent or more.']
    """
    seen: dict[tuple[str, ...], str] = {}
    for harm in (each for each in card.harms if kinds is None or each.kind in kinds):
        seen.setdefault(harm.columns, card_harm_text(harm, card))
    rest = [] if kinds is not None else [text for text in _hidden_harms(card) if text not in seen.values()]
    found = [*list(seen.values())[: most - len(rest)], *rest] or ["Nothing was harmed by one per cent or more."]
    drawn = f"Compared on {card.records} records at equal distances, of {card.drawn_from}; a release compares all."
    return [*found, *([drawn] if card.drawn_from else [])]


def _hidden_harms(card: UtilityCard) -> list[str]:
    """What few records suffer and people miss at once: values that are gone, and an end of a number that is emptied."""
    texts = []
    gone = max((c for c in card.columns if c.lost_values >= MISSED), key=lambda c: c.lost_values, default=None)
    if gone is not None:
        texts.append(f"{gone.name}: {_vanished_text(gone)}")
    ends = [(tail, column) for column in card.columns if (tail := column.emptied) is not None and tail.before >= FEW]
    tail, column = min(ends, key=lambda each: each[0].after / each[0].before, default=(None, None))
    if tail is not None and column is not None and tail.after <= (1 - MISSED / 100) * tail.before:
        side = "below its 5 %" if tail.point < 50 else "above its 95 %"
        texts.append(f"{column.name}: of {tail.before} records {side} point {tail.after} are left")
    return texts


def utility_card_facts(card: UtilityCard) -> Mapping[str, Any]:
    """A utility card in words: its sentences and rows as plain data for reports and JSON."""
    return {
        "opening": opening_text(card),
        "public": opening_text(card, kinds=PUBLIC),
        "columns": column_rows(card.columns),
        "pairs": [
            {"first": p.first, "second": p.second, "tie": TIES[p.tie], "before": p.before, "after": p.after}
            for p in card.pairs
        ],
        "general": [propensity_text(each) for each in card.general],
        "whole": sentence_text(general_text(card.general[0])) if card.general else "",
        "uses": [
            {**asdict(use), "text": use_text(use), "analysis": _analysis_text(use.measure, use.counts)}
            for use in card.uses
        ],
        "rules": [{**asdict(rule), "text": card_rule_harm_text(rule)} for rule in card.rules],
        "ruined": list(dict.fromkeys(ruin.column for ruin in card.ruins)),
        "estimates": _estimates_facts(card.estimates),
        "weighted": None if card.weighted is None else _weighted_facts(card.weighted),
        "analyses": _analyses_facts(card.analyses, card.beside),
    }


# -- Offers and ruined columns in words.


def ruin_text(ruins: Sequence[Ruin]) -> str:
    """Ruined columns in one sentence; empty if there is none.

    >>> ruin_text([crypsis.Ruin("town", "vanished", 22.0, 10.0)])
    'ruined: town (the values of 22 % of the records vanished, at most 10 % allowed)'
    >>> ruin_text([crypsis.Ruin(name, "constant", 100.0, 0.0) for name in ("sex", "age")])
    'ruined: sex, age (one value left)'
    """
    constant = [ruin.column for ruin in ruins if ruin.harm == "constant"]  # what else is wrong with it follows
    parts = [f"{listing(constant)} (one value left)"] if constant else []
    for column in [each for each in ruined_columns(ruins) if each not in constant]:
        own = "; ".join(_one(ruin) for ruin in ruins if ruin.column == column)
        parts.append(f"{column} ({own})")
    return f"ruined: {'; '.join(parts)}" if parts else ""


def _one(ruin: Ruin) -> str:
    found, most = number_text(round(ruin.found, 2)), f"at most {number_text(ruin.at_most)} % allowed"
    if ruin.harm == "total":
        return f"its total changed by {found} %, {most}"
    if ruin.harm == "loss":
        return f"more than {number_text(ruin.at_most)} % of its information is lost"
    if ruin.harm == "distance":
        return f"its distribution moved by {found} % of the records, {most}"
    if ruin.harm == "tail":
        return f"{found} % of the records at its low or high end are gone from there, {most}"
    return f"the values of {found} % of the records vanished, {most}"


# -- Edit rules in words.


def card_rule_text(title: str, counts: RuleCounts) -> str:
    """In words, as on a utility card: how many published records keep, break or no longer break a rule.

    >>> card_rule_text("rule start <= end", RuleCounts(100, 0, 2, 1, 5))
    'rule start <= end: no record breaks it that kept it; 2 no longer break it, 1 still breaks it, 5 undecided'
    """
    made = counts.created
    made_text = f"{made} record{'s' * (made != 1)} that kept it break{'s' * (made == 1)} it"
    head = made_text if made else "no record breaks it that kept it"
    healed, kept = counts.healed, counts.kept
    parts = [
        f"{healed} no longer break{'s' * (healed == 1)} it" if healed else "",
        f"{kept} still break{'s' * (kept == 1)} it" if kept else "",
        f"{counts.undecided} undecided" if counts.undecided else "",
    ]
    rest = ", ".join(filter(None, parts))
    return f"{title}: {head}" + (f"; {rest}" if rest else "")


# -- Reasons for suggested roles and kinds in words.


def burden_text_of_card(description: MaskingDescription) -> list[str]:
    """For a utility card: which records bear the loss, and which are still re-identified, one sentence each."""
    sentences = []
    if description.hardest is not None:
        hardest = description.hardest
        sentences.append(
            f"the {hardest.records} records with the greatest loss ({hardest.share:.0f} %) bear "
            f"{hardest.loss_share:.0f} % of the loss; {hardest.unique} of them are unique in the original, "
            f"{hardest.suppressed} are suppressed"
        )
    if description.reidentified is not None:
        found = description.reidentified
        sentences.append(
            f"an intruder who knows all {found.columns} quasi-identifiers re-identifies {found.certain} records for "
            f"certain and {found.likely} more with probability 1/2 or more"
        )
    return sentences


def omission_text_on_card(omission: Omission | None) -> str:
    """Why a figure is not given on a utility card, in words.

    >>> omission_text_on_card(Omission("family", "perturbation"))
    'the number has no meaning after perturbation'
    """
    if omission is None:
        return "a part of it cannot be read"
    if omission.reason == "classes":
        return NO_CLASSES
    if omission.reason == "family":
        return f"the number has no meaning after {omission.detail}"
    return omission.detail


def interval_text_on_card(interval: Sequence[float] | None) -> str:
    """An interval on a utility card, or a dash where there is none.

    >>> interval_text_on_card((1, 2.5))
    '1–2.5'
    """
    return "–" if not interval else f"{number_text(interval[0])}–{number_text(interval[1])}"


def offer_text_on_card(
    name: str,
    figures: Mapping[str, float | None],
    interval: tuple[float, float] | None,
    useful: Usefulness,
    ruins: Sequence[Ruin] = (),
    baselines: Mapping[str, float] | None = None,
    less: str = "",
) -> str:
    """An offer in words, as on a card: why a solution is offered, in three sentences.

    `baselines`: per cent of the estimates of the same analyses that each baseline keeps. `less`: why the solution of
    least loss on the front is not it; empty where it is.

    >>> print(offer_text_on_card("faithful", {"loss": 4.0, "risk": 9.0, "class-risk": 9.0}, (8.0, 10.5), crypsis.Usefulness()))
    The least loss on the front, where all keep every demand: 4 %. The risk is 9 % (95 % interval 8 to 10.5): so many people are found by an intruder who knows the quasi-identifiers of everybody, reaches the class of each person and guesses in it; less risk would cost more loss.
    """  # noqa: E501
    kept = figures.get("analyses")
    words = _words(name, figures, interval, useful, bool(ruins), less) + _describe_kept(kept, baselines or {})
    wrong = [f"{listing(ruined_columns(ruins))} ruined"] if ruins else []
    if (figures.get("loss") or 0.0) > useful.loss:
        wrong.append(f"more than {number_text(useful.loss)} % lost")
    if kept is not None and kept < useful.analyses:
        wrong.append(f"fewer than {number_text(useful.analyses)} % of the answers kept")
    if wrong:
        words += f" Warning: {'; '.join(wrong)}; no file worth choosing is without a warning."
    return words


def _describe_kept(kept: float | None, baselines: Mapping[str, float]) -> str:
    """How many answers of analyses drawn at random are kept, beside the baselines."""
    if kept is None:
        return ""
    beside = "".join(f"; {name}: {number_text(round(value, 1))} %" for name, value in baselines.items())
    return f" Of the estimates of analyses drawn at random {number_text(round(kept, 1))} % keep their answer{beside}."


def _words(
    name: str,
    figures: Mapping[str, float | None],
    interval: tuple[float, float] | None,
    useful: Usefulness,
    ruined: bool,
    less: str,
) -> str:
    loss, risk, who = number_text(figures.get("loss")), number_text(figures.get("risk")), intruder_text(figures)
    span = f" (95 % interval {number_text(interval[0])} to {number_text(interval[1])})" if interval else ""
    if name == "faithful":
        among = "of the files most worth choosing" if less else "on the front, where all keep every demand"
        price = "a file of less risk loses more or keeps fewer answers" if less else "less risk would cost more loss"
        return (
            f"The least loss {among}: {loss} %{f' ({less})' if less else ''}. The risk is {risk} %{span}: so "
            f"many people are found by {who}; {price}."
        )
    if name == "balanced":
        return (
            f"The least sum of loss and risk: {loss} % and {risk} %{span}; so many people are found by {who}. From "
            f"here on, a point less risk costs more than a point of loss, or lies inside the interval of the risk."
        )
    little, kept = (figures.get("loss") or 0.0) <= useful.loss, figures.get("analyses")
    if little and not ruined and (kept is None or kept >= useful.analyses):
        among = f"files that are still useful (no ruined column, at most {number_text(useful.loss)} % loss)"
    else:
        among = f"files of at most {number_text(useful.loss)} % loss" if little else "files that may be released"
    return (
        f"The least risk of the {among}: {risk} %{span}, at {loss} % loss; so many "
        f"people are found by {who}. No loss was paid for a lower risk that lies inside the interval."
    )
