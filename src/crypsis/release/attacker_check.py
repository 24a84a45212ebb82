"""What a release says about attackers, against its data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from crypsis.attacks.confidential_knowledge import ConfidentialKnowledge, known_value
from crypsis.attacks.measured_attack import MeasuredAttack
from crypsis.audits import Audit
from crypsis.audits.finding import FindingKind
from crypsis.errors import CrypsisError
from crypsis.measures.class_risk import class_risk
from crypsis.release.page_check import MALFORMED
from crypsis.table.provenance import PERTURBATION
from crypsis.table.table import Table
from crypsis.text import confidential_text, finding_text, measured_attack_text
from crypsis.text.attacks import share_text


def check_attackers(table: Table, manifest: Mapping[str, Any], problems: list[str]) -> list[str]:
    """What a manifest says about attackers and about who knows a confidential column, as far as the data agree."""
    sentences = []
    try:
        for each in manifest["attacks"] or ():
            attack = MeasuredAttack(**each)
            most = None if manifest["family"] == PERTURBATION else class_risk(table, attack.knows)
            if not _same_shares([most], [attack.class_risk]):
                problems.append("public/manifest.json has another class risk than the data")
            sentences.append(measured_attack_text(attack))
        for each in manifest["confidential"] or ():
            known = ConfidentialKnowledge(**each)
            if not _same_shares(known_value(table, known.column), [known.class_risk, known.exact, known.rough]):
                problems.append("public/manifest.json counts other confidential values in the classes than the data")
            sentences.append(confidential_text(known))
    except CrypsisError as error:
        problems.append(f"public/manifest.json speaks of attackers that cannot be judged: {error}")
    except MALFORMED:
        problems.append("public/manifest.json cannot be read: what attackers find is missing or of another type")
    return sentences


def _same_shares(first: Sequence[float | None], second: Sequence[float | None]) -> bool:
    """Whether figures are the same as reports round them."""
    return [x if x is None else share_text(x) for x in first] == [x if x is None else share_text(x) for x in second]


def homogeneity_texts(audit: Audit | None) -> list[str]:
    """Classes that fix a confidential value, counted again in the data."""
    found = () if audit is None else audit.findings
    return [finding_text(each) for each in found if each.kind is FindingKind.HOMOGENEOUS]
