"""The two reports as single HTML files that open offline, and their JSON twins.

The pages are rendered from the JSON content alone, so that whoever holds the twin can render the page again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from crypsis.charts import Spec, bars_before_after, front, to_svg
from crypsis.privacy.anonymity import SmallestClass
from crypsis.report.dossier import Dossier
from crypsis.report.words import front_in_words, judgement, number, sentence, span
from crypsis.text import over_all_text


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("crypsis.report"),
        autoescape=select_autoescape(),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"number": number, "sentence": sentence, "span": span}
    return environment


def internal_html(facts: Mapping[str, Any], draw: Callable[[Spec], str] = to_svg) -> str:
    """For the person who signs: all risk figures, settings, pictures."""
    drawn = [*([facts["class_sizes"]] if facts["class_sizes"] else []), *facts["distributions"]]
    more = {
        "charts": [_bars(histogram, draw) for histogram in drawn],
        "front_chart": _front(facts["front"], draw) if facts["front"] else None,
        "judgement": judgement(facts),
        "over_all": _over_all(facts),
        "sort": "internal",
    }
    return _environment().get_template("internal.html").render({**facts, **more})


def external_html(facts: Mapping[str, Any]) -> str:
    """For whoever uses the data: what was done and what was lost."""
    more = {"over_all": _over_all(facts), "sort": "external"}
    return _environment().get_template("external.html").render({**facts, **more})


def internal_json(dossier: Dossier) -> str:
    return json.dumps(dossier.internal(), indent=2, ensure_ascii=False, default=_plain) + "\n"


def external_json(dossier: Dossier) -> str:
    return json.dumps(dossier.external(), indent=2, ensure_ascii=False, default=_plain) + "\n"


def vocabulary() -> str:
    """The fixed words of the pages: what stands in a report whatever the data are."""
    folder = files("crypsis.report").joinpath("templates")
    return "\n".join(page.read_text(encoding="utf-8") for page in folder.iterdir() if page.name.endswith(".html"))


def _over_all(facts: Mapping[str, Any]) -> str:
    found = facts["smallest_class"]
    return over_all_text(found and SmallestClass(tuple(found["columns"]), found["size"]), facts["family"])


def _bars(histogram: Mapping[str, Any], draw: Callable[[Spec], str]) -> dict[str, Any]:
    labels, before, after = histogram["labels"], histogram["before"], histogram["after"]
    spec = bars_before_after(histogram["title"], labels, before, after, "records")
    return {**histogram, "svg": draw(spec), "rows": list(zip(labels, before, after, strict=True))}


def _front(points: list[Mapping[str, Any]], draw: Callable[[Spec], str]) -> dict[str, Any]:
    spec = front(points, "information loss, %", "disclosure risk, %")
    return {"svg": draw(spec), "summary": front_in_words(points), "points": points}


def _plain(value: Any) -> Any:
    """numpy scalars and tuples of them as JSON knows them."""
    return value.item() if hasattr(value, "item") else str(value)
