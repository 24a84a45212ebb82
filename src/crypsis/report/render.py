"""The two reports and the codebook as HTML pages that open offline, and as JSON.

A page is rendered from the JSON content alone, so that the page can be rendered again from the JSON file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from crypsis.attacks.confidential_knowledge import ConfidentialKnowledge
from crypsis.attacks.linkage import Attacker, MeasuredAttack, choose_worst_linkage
from crypsis.audits.published import Finding, FindingKind
from crypsis.charts import bars_svg, draw_front_svg, draw_interval_svg, heat_map_svg
from crypsis.errors import listing
from crypsis.evolution.frontier import rank_frontier_contributions
from crypsis.measures.measure import measures
from crypsis.measures.utility.estimates import NORMAL
from crypsis.privacy.anonymity import SmallestClass
from crypsis.privacy.model import Assumption
from crypsis.report.content import (
    EVERYTHING,
    ReportContent,
    guaranteed_columns_for_reports,
    round_figure_for_reports,
)
from crypsis.text import (
    assumptions_text,
    attacker_text,
    confidential_text,
    measured_attack_text,
    over_all_text,
    unknown_to_attackers_text,
)
from crypsis.text.attacks import OF_ONE_COLUMN, alike_findings_text, attacked_share_text
from crypsis.text.cards import estimate_text, interval_text_on_card
from crypsis.text.reports import (
    ended_text,
    families_text,
    front_text,
    number_text,
    report_summary_text,
    sentence_text,
    short_number_text,
    shortened_text,
)

ROWS, FEWER = 16, 12
"""Columns of the table on the first page of the external report; of a file with more, so many that lost most."""
OVERALL = "overall risk"
"""Measure of a limit on the risk of the whole plan."""
LOST = 50.0
"""Per cent of the information of a column, beyond which users are told not to rely on it."""


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("crypsis.report"),
        autoescape=select_autoescape(),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "number": number_text,
        "short": short_number_text,
        "estimate": lambda value, figure, dates: estimate_text(value, figure, dates, short_number_text),
        "margin": lambda value, dates: estimate_text(value, "error", dates, partial(short_number_text, digits=2)),
        "listing": listing,
        "quoted": quote_in_style,
        "sentence": sentence_text,
        "ended": ended_text,
        "interval": interval_text_on_card,
        "share": attacked_share_text,
        "attacker": lambda reading: attacker_text(reading["measure"], reading["scope"]),
    }
    return environment


def quote_in_style(text: str) -> str:
    """A text as a string of a style sheet, without what would end it or the sheet.

    >>> print(quote_in_style('Wages of "5" < 6'))
    "Wages of '5'   6"
    """
    plain = "".join(" " if c in "\\<>&" or not c.isprintable() else "'" if c == '"' else c for c in text)
    return f'"{plain}"'


def internal_html(facts: Mapping[str, Any]) -> str:
    """Render the internal report: all risk figures, settings and charts, for the person who signs."""
    drawn = [*([facts["class_sizes"]] if facts["class_sizes"] else []), *facts["distributions"]]
    more = {
        "charts": [_bars(histogram) for histogram in drawn],
        "ties_chart": _ties(facts["card"]),
        "front_chart": _front(facts["front"]) if facts["front"] else None,
        "release_summary": report_summary_text(facts),
        "over_all": _over_all({**facts, "promised": guaranteed_columns_for_reports(facts)}),
        "covered": _covers_everything(facts),
        "unknown": unknown_to_attackers_text(facts["assumed"]),
        "assumed": assumptions_text(Assumption(a) for v in facts["verdicts"] for a in v["assumptions"]),
        **_attacks(facts),
        "guarantees": list(_guarantees(facts)),
        "revealed": list(_list_revealed(facts["findings"])),
        "intruders": sorted(_intruders(facts), key=lambda each: bool(each["scenario"])),
        "unread": _unread(facts),
        "sort": "internal",
    }
    return _environment().get_template("internal.html").render({**facts, **more})


def external_html(facts: Mapping[str, Any]) -> str:
    """Render the external report: what was done and what was lost, for users of the data."""
    columns = [{**column, "estimate": _estimate(column["name"], facts)} for column in facts["columns"]]
    more = {
        "first": _first_columns(columns),
        "outside": _outside(facts),
        "ruined": [column["name"] for column in columns if (column["loss"] or 0.0) >= LOST],
        "over_all": _over_all(facts),
        "unknown": unknown_to_attackers_text(facts["assumed"]),
        **_attacks(facts),
        "sort": "external",
    }
    return _environment().get_template("external.html").render({**facts, **more})


def codebook_html(facts: Mapping[str, Any]) -> str:
    """Render the codebook: what every column and label means, for users of the data."""
    return _environment().get_template("codebook.html").render({**facts, "sort": "codebook"})


def internal_json(content: ReportContent) -> str:
    """The internal report as JSON."""
    return json.dumps(content.internal(), indent=2, ensure_ascii=False, default=_plain) + "\n"


def external_json(content: ReportContent) -> str:
    """The external report as JSON."""
    return json.dumps(content.external(), indent=2, ensure_ascii=False, default=_plain) + "\n"


def codebook_json(facts: Mapping[str, Any]) -> str:
    """The codebook as JSON."""
    return json.dumps(facts, indent=2, ensure_ascii=False, default=_plain) + "\n"


def _over_all(facts: Mapping[str, Any]) -> str:
    found = facts["smallest_class"]
    smallest = found and SmallestClass(tuple(found["columns"]), found["size"])
    return over_all_text(smallest, facts["family"], facts["promised"])


def _attacks(facts: Mapping[str, Any]) -> dict[str, Any]:
    """What attackers find, in sentences, and the most successful one; None where none was measured."""
    tried = [MeasuredAttack(**each) for each in facts["attacks"] or ()]
    known = [ConfidentialKnowledge(**each) for each in facts["confidential"] or ()]
    return {
        "attacked": [f"{each.intruder}{': ' if each.intruder else ''}{measured_attack_text(each)}" for each in tried],
        "known": list(filter(None, [confidential_text(known)])),
        "worst": max(choose_worst_linkage(tried), key=lambda each: each.found or 0.0, default=None),
    }


def _first_columns(columns: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The columns that the first page shows, in the order of the file: all, or those that lost most."""
    most = ROWS if len(columns) <= ROWS else FEWER
    worst = sorted(range(len(columns)), key=lambda at: -(columns[at]["loss"] or 0.0))[:most]
    return [columns[at] for at in sorted(worst)]


def _estimate(name: str, facts: Mapping[str, Any]) -> dict[str, Any] | None:
    """The mean of a column, or the share of its commonest value, before and after; None where none is open."""
    weighted = facts.get("weighted") or {"columns": []}
    for column in (*weighted["columns"], *facts.get("estimates", ())):
        found = [each for each in column["figures"] if column["name"] == name and each.get("error")]
        found = [each for each in found if each["after"] is not None and (not column["numeric"] or _is_mean(each))]
        if found:
            each = max(found, key=lambda figure: 0.0 if column["numeric"] else figure["before"])
            half = NORMAL * each["error"]
            picture = draw_interval_svg(each["before"], each["after"], each["error"])
            low, high = (each["before"] + sign * half for sign in (-1, 1))
            if not column["dates"]:
                low, high = map(round_figure_for_reports, (low, high))
            told = {"low": low, "high": high, "numeric": column["numeric"], "dates": column["dates"]}
            return {**each, **told, "svg": picture}
    return None


def _is_mean(figure: Mapping[str, Any]) -> bool:
    return bool(figure["figure"] == "mean")


def _outside(facts: Mapping[str, Any]) -> list[str]:
    """The columns with open figures that left the 95 % interval of the original, and how many did."""
    weighted = facts.get("weighted") or {"columns": []}
    away: dict[str, int] = {}
    for column in (*weighted["columns"], *facts.get("estimates", ())):
        away[column["name"]] = away.get(column["name"], 0) + sum(f["inside"] is False for f in column["figures"])
    return [f"{name} ({count})" for name, count in away.items() if count]


def _guarantees(facts: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Every demand and binding limit: what was demanded and found, whether it holds, and for how many records."""
    for verdict in facts["verdicts"]:
        sense, records = verdict["sense"], verdict["records"]
        yield {
            "demand": sentence_text(shortened_text(verdict["demand"], verdict["columns"])),
            "demanded": f"{sense} {number_text(verdict['required'])}",
            "found": number_text(verdict["attained"]),
            "holds": verdict["holds"],
            "records": f"{records - verdict['offending']} of {records}",
        }
    for limit in facts["demands"]:
        if limit["binding"]:
            reading = limit["reading"]
            unit = reading["unit"].partition(" ")[0]
            who = "people found by the intruder of the plan" if reading["measure"] == OVERALL else ""
            if reading["aim"] == "risk" and not who:
                who = shortened_text(attacker_text(reading["measure"], reading["scope"]), reading["scope"])
            yield {
                "demand": f"{limit['name']}: {who}" if who else limit["name"],
                "demanded": f"at most {number_text(limit['at_most'])} {unit}",
                "found": f"{number_text(reading['value'])} {unit}",
                "holds": limit["holds"],
                "records": "",
            }


def _list_revealed(findings: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """What the file reveals, a sentence for findings of one kind that one reason answers."""
    apart = dict[tuple[Any, ...], list[Finding]]()
    for place, each in enumerate(findings):
        finding = Finding(**{**each["finding"], "kind": FindingKind(each["finding"]["kind"])})
        alone = -1 if finding.kind in OF_ONE_COLUMN else place
        apart.setdefault((each["waived"], finding.kind, finding.refuses, alone), []).append(finding)
    for (waived, _, refuses, _), some in apart.items():
        yield {"found": alike_findings_text(some), "waived": waived, "refuses": refuses}


def _intruders(facts: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Who was let loose on the written file, what each knows and does, and how many people each finds."""
    attacks = [MeasuredAttack(**each) for each in facts["attacks"]]
    for each in facts["scenarios"]:
        everything = each["name"] == EVERYTHING
        known = {"scenario": "" if everything else each["name"]}
        known |= {"knows": "all quasi-identifiers" if everything else listing(each["knows"], 6)}
        own = [attack for attack in attacks if attack.intruder == each["name"]]
        bound = max((attack.class_risk for attack in own if attack.class_risk is not None), default=None)
        if bound is not None:
            yield {**known, "does": "guesses within the class", **_found(bound)}
        before, after = each["before"], each["after"]
        yield {
            **known,
            "does": "takes the nearest record",
            **_found(after["value"], after["interval"], before["value"]),
        }
        for attack in choose_worst_linkage(own):
            learned = "" if attack.attacker == Attacker.ONE_TO_ONE else ", learned on a similar file"
            done = f"assigns people to records one-to-one{learned}"
            yield {**known, "does": done, **_found(attack.found or 0.0, attack.interval)}
    for figure, what in (("exact", "{}"), ("rough", "in which tenth of all values {} lies")):
        some = [each for each in facts["confidential"] if each["numeric"] or figure == "exact"]
        if some:
            most = max(some, key=lambda each: each[figure])
            of = f", of {len(some)} the one that finds most" if len(some) > 1 else ""
            knows = f"all quasi-identifiers, and {what.format(most['column'])} (confidential{of})"
            yield {"scenario": "", "knows": knows, "does": "guesses within the class", **_found(most[figure])}


def _found(found: float, interval: Sequence[float] | None = None, before: float | None = None) -> dict[str, str]:
    """Shares of the people as the table of intruders writes them."""
    texts = {"found": f"{attacked_share_text(found)} %", "interval": _shares(interval)}
    return {**texts, "before": "–" if before is None else f"{attacked_share_text(before)} %"}


def _shares(interval: Sequence[float] | None) -> str:
    return f"{attacked_share_text(interval[0])}–{attacked_share_text(interval[1])}" if interval else "–"


def _unread(facts: Mapping[str, Any]) -> list[str]:
    """Risks that were not measured on this file, each with its reason."""
    risky = [name for name in facts["skipped"] if name in measures and measures[name].aim == "risk"]
    return [f"{name}: {facts['skipped'][name]}" for name in risky]


def _covers_everything(facts: Mapping[str, Any]) -> bool:
    """Whether a promise speaks of every quasi-identifier already."""
    found = facts["smallest_class"]
    return bool(found) and any(set(v["columns"]) >= set(found["columns"]) for v in facts["verdicts"])


def _bars(histogram: Mapping[str, Any]) -> dict[str, Any]:
    labels, before, after = histogram["labels"], histogram["before"], histogram["after"]
    picture = bars_svg(histogram["title"], labels, before, after, "records")
    return {**histogram, "svg": picture, "rows": list(zip(labels, before, after, strict=True))}


def _front(points: list[Mapping[str, Any]]) -> dict[str, Any]:
    picture = draw_front_svg(points, "information loss, %", "people found by the intruder named below, %")
    own = [point for point in points if point["kind"] != "baseline"]
    scores = np.array([[point["loss"], point["risk"]] for point in own], dtype=np.float64).reshape(len(own), 2)
    families = rank_frontier_contributions([str(point["family"]) for point in own], scores)
    summary = f"{front_text(points)} {families_text(families)}"
    return {"svg": picture, "summary": summary, "points": points, "families": families}


def _ties(card: Mapping[str, Any] | None) -> dict[str, str] | None:
    """The heat map of a card; None where no tie moved by a hundredth."""
    pairs = card["pairs"] if card else []
    moved = any(abs(pair["after"] - pair["before"]) >= 0.01 for pair in pairs)
    return {"svg": heat_map_svg(pairs)} if moved else None


def _plain(value: Any) -> Any:
    """A numpy scalar as a Python number, anything else as text."""
    return value.item() if hasattr(value, "item") else str(value)
