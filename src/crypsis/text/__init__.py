"""Typed results in words; no other room words them."""

from typing import TYPE_CHECKING

from crypsis.rooms import load_when_used

if TYPE_CHECKING:
    from crypsis.text.attacks import attack_text, attacker_text, confidential_text, intruder_text, measured_attack_text
    from crypsis.text.cards import card_facts, opening_text
    from crypsis.text.estimates import analyses_text
    from crypsis.text.evaluations import complaint_text, omission_text
    from crypsis.text.findings import audited_text, decisions_text, finding_text, remedies, singled_out_text
    from crypsis.text.groupings import grouping_text, representatives_text
    from crypsis.text.guarantees import assumptions_text, over_all_text, uncovered_text, unknown_text
    from crypsis.text.levels import level_text, node_text
    from crypsis.text.maskings import blanked_text, burden_text, class_size_text, column_text, missing_text
    from crypsis.text.offers import offer_text, ruin_text
    from crypsis.text.profiles import reason_text
    from crypsis.text.reports import treatment_text
    from crypsis.text.rules import rule_text
    from crypsis.text.treatments import exchange_text, given_up_text, treatments_text

__all__ = [
    "analyses_text",
    "assumptions_text",
    "attack_text",
    "attacker_text",
    "audited_text",
    "blanked_text",
    "burden_text",
    "card_facts",
    "class_size_text",
    "column_text",
    "complaint_text",
    "confidential_text",
    "decisions_text",
    "exchange_text",
    "finding_text",
    "given_up_text",
    "grouping_text",
    "intruder_text",
    "level_text",
    "measured_attack_text",
    "missing_text",
    "node_text",
    "offer_text",
    "omission_text",
    "opening_text",
    "over_all_text",
    "reason_text",
    "remedies",
    "representatives_text",
    "ruin_text",
    "rule_text",
    "singled_out_text",
    "treatment_text",
    "treatments_text",
    "uncovered_text",
    "unknown_text",
]

load_when_used(__name__)
