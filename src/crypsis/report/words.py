"""How figures and verdicts are said in the reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

NOTHING = 1e-9
"""What rounding leaves of a zero."""


def number(value: float | int | None) -> str:
    """Four significant digits at most, no noise: 15 · 0.4829 · 799.2; a dash where there is none."""
    if value is None:
        return "–"
    if abs(value) < NOTHING:
        return "0"
    return f"{value:.0f}" if abs(value) >= 1000 or float(value).is_integer() else f"{value:.4g}"


def sentence(text: str) -> str:
    """A capital first and a full stop last, unless there is nothing to say."""
    text = text.strip()
    return f"{text[0].upper()}{text[1:].rstrip('.')}." if text else ""


def span(interval: Sequence[float] | None) -> str:
    return "–" if not interval else f"{number(interval[0])}–{number(interval[1])}"


def judgement(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The one line a signatory reads first."""
    demands = [d for d in facts["demands"] if d["binding"]]
    kept = [v["holds"] for v in facts["verdicts"]] + [d["holds"] for d in demands]
    waived = [r for r in facts["rules"] if not r["holds"] and r["waived"]]
    failed = [r for r in facts["rules"] if not r["holds"] and not r["waived"]]
    words = f"{sum(kept)} of {len(kept)} guarantees hold"
    if facts["rules"]:
        words += f"; {len(facts['rules']) - len(waived) - len(failed)} of {len(facts['rules'])} rules are kept"
        words += f", {len(waived)} waived" if waived else ""
    return {"words": f"{words}.", "good": all(kept) and not failed, "waived": len(waived)}


def front_in_words(points: Sequence[Mapping[str, Any]]) -> str:
    """One sentence about the front and the chosen point."""
    solutions = [p for p in points if p["kind"] != "baseline"]
    families = sorted({str(p["family"]) for p in solutions})
    words = f"{_many(len(solutions), 'solution')} of {_many(len(families), 'family')} ({', '.join(families)})"
    chosen = next((p for p in points if p["kind"] == "chosen"), None)
    if chosen is None:
        return f"{words}; none is marked as chosen."
    words += f"; the chosen one loses {number(chosen['loss'])} % at a risk of {number(chosen['risk'])} %"
    baselines = [p for p in points if p["kind"] == "baseline"]
    beaten = sum(p["loss"] >= chosen["loss"] and p["risk"] >= chosen["risk"] for p in baselines)
    return f"{words}, no worse in both than {beaten} of {len(baselines)} baselines." if baselines else f"{words}."


def _many(count: int, noun: str) -> str:
    """1 family, 3 families."""
    plural = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{count} {noun if count == 1 else plural}"
