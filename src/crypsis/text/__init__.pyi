"""Public names of `crypsis.text`, for type checkers and for `crypsis.lazy_imports`."""

# ruff: noqa: I001 - in the order in which they are listed for people

from crypsis.text.attacks import (
    attack_text as attack_text,
    attacker_text as attacker_text,
    audited_text as audited_text,
    confidential_text as confidential_text,
    decisions_text as decisions_text,
    finding_text as finding_text,
    intruder_text as intruder_text,
    measured_attack_text as measured_attack_text,
    remedies as remedies,
    singled_out_text as singled_out_text,
)
from crypsis.text.cards import (
    analyses_text as analyses_text,
    card_facts as card_facts,
    opening_text as opening_text,
)
from crypsis.text.maskings import (
    blanked_text as blanked_text,
    burden_text as burden_text,
    class_size_text as class_size_text,
    column_text as column_text,
    exchange_text as exchange_text,
    given_up_text as given_up_text,
    grouping_text as grouping_text,
    level_text as level_text,
    missing_text as missing_text,
    node_text as node_text,
    representatives_text as representatives_text,
    treatments_text as treatments_text,
)
from crypsis.text.offers import (
    offer_text as offer_text,
    reason_text as reason_text,
    ruin_text as ruin_text,
    rule_text as rule_text,
)
from crypsis.text.reports import (
    assumptions_text as assumptions_text,
    complaint_text as complaint_text,
    omission_text as omission_text,
    over_all_text as over_all_text,
    treatment_text as treatment_text,
    uncovered_text as uncovered_text,
    unknown_text as unknown_text,
)
