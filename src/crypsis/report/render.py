"""The two reports and the codebook as HTML pages that open offline, and as JSON.

A page is rendered from the JSON content alone, so that the page can be rendered again from the JSON file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from crypsis.attacks.confidential_knowledge import ConfidentialKnowledge
from crypsis.attacks.linkage import MeasuredAttack, choose_worst_linkage
from crypsis.charts import bars_svg, draw_front_svg, heat_map_svg
from crypsis.evolution.frontier import rank_frontier_contributions
from crypsis.privacy.anonymity import SmallestClass
from crypsis.privacy.model import Assumption
from crypsis.report.content import ReportContent, guaranteed_columns_for_reports
from crypsis.text import (
    assumptions_text,
    attacker_text,
    confidential_text,
    measured_attack_text,
    over_all_text,
    unknown_to_attackers_text,
)
from crypsis.text.attacks import attacked_share_text
from crypsis.text.cards import interval_text_on_card
from crypsis.text.reports import ended_text, families_text, front_text, number_text, report_summary_text, sentence_text


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
        "number": number_text, "sentence": sentence_text, "ended": ended_text, "interval": interval_text_on_card,
        "share": attacked_share_text, "attacker": lambda reading: attacker_text(reading["measure"], reading["scope"]),
    }  # fmt: skip
    return environment


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
        "sort": "internal",
    }
    return _environment().get_template("internal.html").render({**facts, **more})


def external_html(facts: Mapping[str, Any]) -> str:
    """Render the external report: what was done and what was lost, for users of the data."""
    more = {
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
    return {
        "attacked": [f"{each.intruder}{': ' if each.intruder else ''}{measured_attack_text(each)}" for each in tried],
        "known": [confidential_text(ConfidentialKnowledge(**each)) for each in facts["confidential"] or ()],
        "worst": max(choose_worst_linkage(tried), key=lambda each: each.found or 0.0, default=None),
    }


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
