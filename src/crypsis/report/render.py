"""The two reports as single HTML files that open offline, and their JSON twins."""

from __future__ import annotations

import json
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from crypsis.charts import bars_before_after, to_svg
from crypsis.report.dossier import Dossier, Histogram


def number(value: float | int) -> str:
    """Four significant digits at most, no noise: 15 · 0.4829 · 799.2."""
    return f"{value:.0f}" if abs(value) >= 1000 or float(value).is_integer() else f"{value:.4g}"


def sentence(text: str) -> str:
    """A capital first and a full stop last, unless there is nothing to say."""
    text = text.strip()
    return f"{text[0].upper()}{text[1:].rstrip('.')}." if text else ""


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("crypsis.report"), autoescape=select_autoescape(), undefined=StrictUndefined
    )
    environment.filters |= {"number": number, "sentence": sentence}
    return environment


def internal_html(dossier: Dossier) -> str:
    """For the person who signs: all risk figures, settings, pictures."""
    drawn = [*([dossier.class_sizes] if dossier.class_sizes else []), *dossier.distributions]
    facts = dossier.internal() | {"charts": [_chart(histogram) for histogram in drawn], "sort": "internal"}
    return _environment().get_template("internal.html").render(facts)


def external_html(dossier: Dossier) -> str:
    """For whoever uses the data: what was done and what was lost."""
    return _environment().get_template("external.html").render(dossier.external() | {"sort": "external"})


def internal_json(dossier: Dossier) -> str:
    return json.dumps(dossier.internal(), indent=2, default=_plain) + "\n"


def external_json(dossier: Dossier) -> str:
    return json.dumps(dossier.external(), indent=2, default=_plain) + "\n"


def _chart(histogram: Histogram) -> dict[str, Any]:
    spec = bars_before_after(histogram.name, histogram.labels, histogram.before, histogram.after, "records")
    rows = list(zip(histogram.labels, histogram.before, histogram.after, strict=True))
    return {"name": histogram.name, "svg": to_svg(spec), "rows": rows}


def _plain(value: Any) -> Any:
    """numpy scalars and tuples of them as JSON knows them."""
    return value.item() if hasattr(value, "item") else str(value)
