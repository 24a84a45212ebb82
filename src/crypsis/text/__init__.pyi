"""Public names of `crypsis.text`, for type checkers and for `crypsis.lazy_imports`."""

# ruff: noqa: I001 - in the order in which they are listed for people

from crypsis.text.attacks import (
    attack_text as attack_text,
    attacker_text as attacker_text,
    audited_text as audited_text,
    confidential_text as confidential_text,
    attack_decisions_text as attack_decisions_text,
    proposed_waivers_text as proposed_waivers_text,
    attack_finding_text as attack_finding_text,
    intruder_text as intruder_text,
    measured_attack_text as measured_attack_text,
    attack_remedies as attack_remedies,
    replacement_text as replacement_text,
)
from crypsis.text.reports import singled_out_text as singled_out_text
from crypsis.text.cards import (
    analyses_text as analyses_text,
    utility_card_facts as utility_card_facts,
    opening_text as opening_text,
)
from crypsis.text.maskings import (
    blanked_text as blanked_text,
    column_text as column_text,
    exchange_text as exchange_text,
    given_up_text as given_up_text,
    groups_text as groups_text,
    household_groups_text as household_groups_text,
    grouping_text as grouping_text,
    level_text as level_text,
    masking_missing_text as masking_missing_text,
    node_text as node_text,
    representatives_text as representatives_text,
    treatments_text as treatments_text,
)
from crypsis.text.cards import burden_text_of_card as burden_text_of_card
from crypsis.text.reports import class_size_text as class_size_text
from crypsis.text.cards import ruin_text as ruin_text, card_rule_text as card_rule_text
from crypsis.text.reports import role_reason_text as role_reason_text
from crypsis.text.cards import offer_text_on_card as offer_text_on_card
from crypsis.text.reports import (
    assumptions_text as assumptions_text,
    complaint_text as complaint_text,
    over_all_text as over_all_text,
    readings_text as readings_text,
)
from crypsis.text.attacks import unknown_to_attackers_text as unknown_to_attackers_text
from crypsis.text.maskings import masking_treatment_text as masking_treatment_text
from crypsis.text.maskings import published_weight_text as published_weight_text
from crypsis.text.maskings import recomputed_text as recomputed_text
from crypsis.text.cards import omission_text_on_card as omission_text_on_card
from crypsis.text.attacks import uncovered_attackers_text as uncovered_attackers_text
