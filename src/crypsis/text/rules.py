"""Edit rules in words."""

from __future__ import annotations

from crypsis.table.rules import RuleCounts


def rule_text(title: str, counts: RuleCounts) -> str:
    """How the published records keep a rule.

    title   name of the rule
    counts  records by how they keep it before and after

    Examples
    --------
    >>> rule_text("rule start <= end", RuleCounts(100, 0, 2, 1, 5))
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
