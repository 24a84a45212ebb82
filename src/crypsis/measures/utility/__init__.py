"""What a masked file is still good for: distributions, associations, general utility, and when a column is ruined."""

# ruff: noqa: I001 - in the order in which they are listed for people

from typing import TYPE_CHECKING

from crypsis.rooms import load_when_used

if TYPE_CHECKING:
    from crypsis.measures.utility.associations import AssociationChange, AssociationLoss, association_changes
    from crypsis.measures.utility.propensity import Propensity, PropensityScore, propensity_score
    from crypsis.measures.utility.distribution_measures import DistributionDistance, TailChange, VanishedValues
    from crypsis.measures.utility.analyses import Analyses, AnalysesChanged, AnalysesKept, EstimateChange
    from crypsis.measures.utility.estimates import ColumnEstimate, ColumnEstimates, column_estimates
    from crypsis.measures.utility.card import Harm, RuleHarm, UseResult, UtilityCard, general_utility, utility_card
    from crypsis.measures.utility.column_harm import ColumnHarm, Tail
    from crypsis.measures.utility.distributions import Distributions
    from crypsis.measures.utility.usefulness import Ruin, Usefulness

__all__ = [
    "Analyses",
    "AnalysesChanged",
    "AnalysesKept",
    "AssociationChange",
    "AssociationLoss",
    "ColumnEstimate",
    "ColumnEstimates",
    "ColumnHarm",
    "DistributionDistance",
    "Distributions",
    "EstimateChange",
    "Harm",
    "Propensity",
    "PropensityScore",
    "Ruin",
    "RuleHarm",
    "Tail",
    "TailChange",
    "UseResult",
    "Usefulness",
    "UtilityCard",
    "VanishedValues",
    "association_changes",
    "column_estimates",
    "general_utility",
    "propensity_score",
    "utility_card",
]

load_when_used(__name__)
