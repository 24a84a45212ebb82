"""Public names of `crypsis.measures.utility`, for type checkers and for `crypsis.lazy_imports`."""

# ruff: noqa: I001 - in the order in which they are listed for people

from crypsis.measures.utility.associations import (
    AssociationChange as AssociationChange,
    AssociationLoss as AssociationLoss,
    association_changes as association_changes,
)
from crypsis.measures.utility.propensity import (
    Propensity as Propensity,
    PropensityScore as PropensityScore,
    propensity_score as propensity_score,
)
from crypsis.measures.utility.distributions import (
    DistributionDistance as DistributionDistance,
    TailChange as TailChange,
    VanishedValues as VanishedValues,
    ColumnHarm as ColumnHarm,
    Tail as Tail,
    Distributions as Distributions,
)
from crypsis.measures.utility.analyses import (
    Analyses as Analyses,
    AnalysesChanged as AnalysesChanged,
    AnalysesKept as AnalysesKept,
    EstimateChange as EstimateChange,
)
from crypsis.measures.utility.estimates import (
    ColumnEstimate as ColumnEstimate,
    ColumnEstimates as ColumnEstimates,
    column_estimates as column_estimates,
)
from crypsis.measures.utility.weighted_estimates import (
    WeightedComparison as WeightedComparison,
    weighted_estimates as weighted_estimates,
)
from crypsis.measures.utility.card import (
    Harm as Harm,
    RuleHarm as RuleHarm,
    UseResult as UseResult,
    UtilityCard as UtilityCard,
    general_utility_of_card as general_utility_of_card,
    utility_card as utility_card,
    Ruin as Ruin,
    Usefulness as Usefulness,
)
