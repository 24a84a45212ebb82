"""From a chosen solution to a release: the same bundle for the preview and for the export."""

from __future__ import annotations

import re
import secrets
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crypsis.measures.measure import Reading, measures
from crypsis.plan import Plan
from crypsis.release import Account, Limit, publish
from crypsis.release.published import flatten
from crypsis.rulebook import Evidence, Rulebook, RuleResult, check_rulebook, read_rulebook
from crypsis.run import Front, Run, Solution
from crypsis.table.table import Table

STYLE = re.compile(r'\sstyle="([^"]*)"')
SHEET = re.compile(r"<style>(.*?)</style>", re.DOTALL)
META = re.compile(r"<meta http-equiv=\"Content-Security-Policy\"[^>]*>")


@dataclass(frozen=True)
class Signed:
    """What a custodian decided about a release."""

    title: str
    rulebook: str = ""
    waivers: Mapping[str, str] | None = None

    def book(self) -> Rulebook | None:
        return read_rulebook(self.rulebook) if self.rulebook else None


def publish_solution(run: Run, masked: Table, solution: Solution, folder: Path, signed: Signed) -> Path:
    """Judge, write, read back and judge again a solution of a run, into a folder that must not exist."""
    plan = run.plan
    return publish(
        masked,
        folder,
        models=plan.models(),
        original=run.original,
        account=Account(signed.title, solution.words, solution.family, {"found by": solution.title}),
        format=plan.release.format,
        order=plan.release.order,
        limits=limits_of(plan),
        scenarios={each.name: each.knows for each in plan.scenario} or None,
        rulebook=signed.book(),
        waivers=signed.waivers,
        front=points(run.front, solution.number),
        seed=run.lock.seed,
    )


def limits_of(plan: Plan) -> list[Limit]:
    """Limits on measures, and uses; limits on an axis were judged when the solution was measured."""
    found = []
    for limit in plan.limit:
        measure = limit.build()
        if measure is not None:
            found.append(Limit(measure, limit.at_most, limit.measure))
    return found + [Limit(use.build(), use.tolerance, use.title, use.treated_as == "limit") for use in plan.use]


def points(front: Front, chosen: int) -> list[dict[str, Any]]:
    shown = {s.number: s for s in (*front.solutions, *front.baselines)}
    return [
        {
            "name": f"{s.number} {s.title}" if not s.baseline else s.title,
            "family": s.family,
            "kind": "chosen" if s.number == chosen else "baseline" if s.baseline else "solution",
            "loss": s.figure("loss"),
            "risk": s.figure("risk"),
        }
        for s in shown.values()
        if None not in (s.figure("loss"), s.figure("risk"))
    ]


def rules(plan: Plan, masked: Table, original: Table, solution: Solution, signed: Signed) -> list[RuleResult]:
    """Every rule of the rulebook on the file as the public would see it."""
    book = signed.book()
    if book is None:
        return []
    published = flatten(masked, masked.kept.nonzero()[0])
    wanted = {str(getattr(rule, "measure", "")) for rule in book.rule} - {""}
    risks: list[Reading] = []
    for name in sorted(wanted):
        measure = measures.build(name)
        if not measure.obstacle(original) and solution.family in measure.valid_for:
            risks.append(measure.against(original).explain(masked))
    suppressed = int((~masked.kept).sum())
    evidence = Evidence(published, solution.family, plan.release.order, suppressed, risks)
    return check_rulebook(book, evidence, signed.waivers)


def fresh_preview(home: Path) -> Path:
    """A new name in a private folder; earlier previews go."""
    folder = home / "previews"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    return folder / secrets.token_hex(8)


def framed(html: str) -> tuple[str, str]:
    """A report that keeps its looks under a policy without unsafe-inline: (page, nonce of its style sheet)."""
    nonce = secrets.token_urlsafe(16)
    styles: dict[str, str] = {}

    def named(found: re.Match[str]) -> str:
        key = styles.setdefault(found[1], f"s{len(styles)}")
        return f' data-style="{key}"'

    page = STYLE.sub(named, META.sub("", html))
    more = "".join(f'[data-style="{key}"]{{{text}}}' for text, key in styles.items())
    page = SHEET.sub(lambda found: f'<style nonce="{nonce}">{found[1]}{more}</style>', page, count=1)
    return page, nonce
