"""What a masked file is still good for: distributions, associations, general utility, and when a column is ruined."""

from crypsis.measures.utility.associations import AssociationChange, AssociationLoss, association_changes
from crypsis.measures.utility.card import Harm, UseResult, UtilityCard, utility_card
from crypsis.measures.utility.distributions import ColumnHarm, Distributions, Tail
from crypsis.measures.utility.propensity import Propensity, PropensityScore, propensity_score
from crypsis.measures.utility.usefulness import Ruin, Usefulness

__all__ = [
    "AssociationChange",
    "AssociationLoss",
    "ColumnHarm",
    "Distributions",
    "Harm",
    "Propensity",
    "PropensityScore",
    "Ruin",
    "Tail",
    "UseResult",
    "Usefulness",
    "UtilityCard",
    "association_changes",
    "propensity_score",
    "utility_card",
]
