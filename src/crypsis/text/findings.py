"""Findings in words: what a file reveals, and the line that decides about it."""

from __future__ import annotations

import json
from collections.abc import Sequence

from crypsis.privacy.singling_out import Finding
from crypsis.table.profile import LARGEST_SHARE


def finding_text(finding: Finding) -> str:
    """What was found, without a full stop.

    Examples
    --------
    >>> finding_text(Finding("singling-out", ("weight",), 479, 0.479))
    'weight singles out 47.9 % of the records by itself: 479 hold a value that no other record holds'
    """
    (column,) = finding.columns
    return (
        f"{column} singles out {100 * finding.share:.3g} % of the records by itself: {finding.records} hold a value "
        f"that no other record holds"
    )


def decisions_text(findings: Sequence[Finding]) -> str:
    """Why a release was refused, and what to write into the plan about every column; one line each."""
    first = findings[0].columns[0]
    name = json.dumps(first, ensure_ascii=False)
    key = first if first.isascii() and first.isidentifier() else name
    most = f"more than {100 * LARGEST_SHARE:g} % of the records stand alone in"
    what = "a published column that nobody masked" if len(findings) == 1 else "published columns that nobody masked"
    return "\n".join(
        [
            f"nothing was released: {most} {what}",
            *(f"  {finding_text(each)}" for each in findings),
            "decide in the plan about each, here the first:",
            f'  [columns] {key} = {{ role = "quasi" }} masks it, {{ role = "identifier" }} leaves it out',
            f'  [[waive]] finding = "singling-out" column = {name} because = "…" releases it as it is, on record',
            f"or, for this release alone: --waive 'singling-out:{first}=…'",
        ]
    )
