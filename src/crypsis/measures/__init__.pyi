"""Public names of `crypsis.measures`, for type checkers and for `crypsis.lazy_imports`."""

# ruff: noqa: I001 - in the order in which they are listed for people

from crypsis.measures.information_loss import (
    InformationLoss as InformationLoss,
    CellLoss as CellLoss,
)
from crypsis.measures.class_risk import ClassRisk as ClassRisk
from crypsis.measures.individual_risk import (
    IndividualRisk as IndividualRisk,
    HouseholdRisk as HouseholdRisk,
)
from crypsis.measures.population_uniqueness import PopulationUniqueness as PopulationUniqueness
from crypsis.measures.attacker_risk import (
    ProsecutorRisk as ProsecutorRisk,
    JournalistRisk as JournalistRisk,
    MarketerRisk as MarketerRisk,
)
from crypsis.measures.special_uniques import Suda as Suda
from crypsis.measures.record_linkage import RecordLinkage as RecordLinkage
from crypsis.measures.one_to_one_linkage import OneToOneLinkage as OneToOneLinkage
from crypsis.measures.categorical_loss import (
    ContingencyLoss as ContingencyLoss,
    DistanceLoss as DistanceLoss,
    EntropyLoss as EntropyLoss,
)
from crypsis.measures.categorical_risk import (
    CategoryDisclosure as CategoryDisclosure,
    CategoryLinkage as CategoryLinkage,
    RankLinkage as RankLinkage,
)
from crypsis.measures.numeric_loss import (
    ScaledAbsoluteError as ScaledAbsoluteError,
    SquaredError as SquaredError,
    SquaredErrorRatio as SquaredErrorRatio,
    CorrelationLoss as CorrelationLoss,
    CovarianceLoss as CovarianceLoss,
    EigenvalueLoss as EigenvalueLoss,
    GammaLoss as GammaLoss,
    MomentLoss as MomentLoss,
    ProbabilisticLoss as ProbabilisticLoss,
)
from crypsis.measures.uses import (
    CorrelationUse as CorrelationUse,
    MeansUse as MeansUse,
    TableUse as TableUse,
)
from crypsis.measures.estimate_use import (
    RegressionUse as RegressionUse,
    EstimateUse as EstimateUse,
)
from crypsis.measures.utility import (
    Analyses as Analyses,
    AnalysesChanged as AnalysesChanged,
    AnalysesKept as AnalysesKept,
    AssociationChange as AssociationChange,
    AssociationLoss as AssociationLoss,
    ColumnEstimate as ColumnEstimate,
    ColumnEstimates as ColumnEstimates,
    ColumnHarm as ColumnHarm,
    DistributionDistance as DistributionDistance,
    Distributions as Distributions,
    EstimateChange as EstimateChange,
    Propensity as Propensity,
    PropensityScore as PropensityScore,
    Ruin as Ruin,
    TailChange as TailChange,
    Usefulness as Usefulness,
    UtilityCard as UtilityCard,
    VanishedValues as VanishedValues,
    association_changes as association_changes,
    column_estimates as column_estimates,
    WeightedComparison as WeightedComparison,
    weighted_estimates as weighted_estimates,
    propensity_score as propensity_score,
    utility_card as utility_card,
)
from crypsis.measures.classifier_use import ClassifierUse as ClassifierUse
from crypsis.measures.generalisation_loss import (
    AverageClassSize as AverageClassSize,
    ClassificationMetric as ClassificationMetric,
    Discernibility as Discernibility,
    GeneralLoss as GeneralLoss,
    NonUniformEntropy as NonUniformEntropy,
    Precision as Precision,
)
from crypsis.measures.linkage_attacks import HeldOutLinkage as HeldOutLinkage
from crypsis.measures.interval_disclosure import IntervalDisclosure as IntervalDisclosure
from crypsis.measures.masking_description import MixedLevels as MixedLevels
from crypsis.measures.record_linkage import ProbabilisticLinkage as ProbabilisticLinkage
from crypsis.measures.rule_violations import RuleViolations as RuleViolations
from crypsis.measures.household_contradictions import HouseholdContradictions as HouseholdContradictions
from crypsis.measures.assess import (
    Assessment as Assessment,
    assess as assess,
)
from crypsis.measures.objective import (
    Complaint as Complaint,
    Evaluation as Evaluation,
    Omission as Omission,
    Objective as Objective,
)
from crypsis.measures.measure import (
    Measure as Measure,
    Reading as Reading,
    measures as measures,
    max_score_of_measures as max_score_of_measures,
    mean_score_of_measures as mean_score_of_measures,
)
