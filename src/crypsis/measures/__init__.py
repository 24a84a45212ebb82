"""(original, masked) → number."""

# ruff: noqa: I001 - in the order in which they are listed for people

from typing import TYPE_CHECKING

from crypsis.rooms import load_when_used

if TYPE_CHECKING:
    from crypsis.measures.information_loss import InformationLoss
    from crypsis.measures.cell_loss import CellLoss
    from crypsis.measures.class_risk import ClassRisk
    from crypsis.measures.record_linkage import RecordLinkage
    from crypsis.measures.one_to_one_linkage import OneToOneLinkage
    from crypsis.measures.categorical_loss import ContingencyLoss, DistanceLoss, EntropyLoss
    from crypsis.measures.categorical_risk import CategoryDisclosure, CategoryLinkage, RankLinkage
    from crypsis.measures.numeric_loss import ScaledAbsoluteError, SquaredError, SquaredErrorRatio
    from crypsis.measures.moments import CorrelationLoss, CovarianceLoss, EigenvalueLoss, GammaLoss, MomentLoss
    from crypsis.measures.uses import CorrelationUse, MeansUse, TableUse
    from crypsis.measures.regression_use import RegressionUse
    from crypsis.measures.estimate_use import EstimateUse
    from crypsis.measures.utility import (
        Analyses,
        AnalysesChanged,
        AnalysesKept,
        AssociationChange,
        AssociationLoss,
        ColumnEstimate,
        ColumnEstimates,
        ColumnHarm,
        DistributionDistance,
        Distributions,
        EstimateChange,
        Propensity,
        PropensityScore,
        Ruin,
        TailChange,
        Usefulness,
        UtilityCard,
        VanishedValues,
        association_changes,
        column_estimates,
        propensity_score,
        utility_card,
    )
    from crypsis.measures.classifier_use import ClassifierUse
    from crypsis.measures.generalisation_loss import (
        AverageClassSize,
        ClassificationMetric,
        Discernibility,
        GeneralLoss,
        NonUniformEntropy,
        Precision,
    )
    from crypsis.measures.held_out_linkage import HeldOutLinkage
    from crypsis.measures.interval_disclosure import IntervalDisclosure
    from crypsis.measures.mixed_levels import MixedLevels
    from crypsis.measures.probabilistic_linkage import ProbabilisticLinkage
    from crypsis.measures.probabilistic_loss import ProbabilisticLoss
    from crypsis.measures.rule_violations import RuleViolations
    from crypsis.measures.assess import Assessment, assess
    from crypsis.measures.evaluation import Complaint, Evaluation, Omission
    from crypsis.measures.measure import Measure, Reading, measures
    from crypsis.measures.objective import Objective
    from crypsis.measures.score import max_score, mean_score

__all__ = [
    "Analyses",
    "AnalysesChanged",
    "AnalysesKept",
    "Assessment",
    "AssociationChange",
    "AssociationLoss",
    "AverageClassSize",
    "CategoryDisclosure",
    "CategoryLinkage",
    "CellLoss",
    "ClassRisk",
    "ClassificationMetric",
    "ClassifierUse",
    "ColumnEstimate",
    "ColumnEstimates",
    "ColumnHarm",
    "Complaint",
    "ContingencyLoss",
    "CorrelationLoss",
    "CorrelationUse",
    "CovarianceLoss",
    "Discernibility",
    "DistanceLoss",
    "DistributionDistance",
    "Distributions",
    "EigenvalueLoss",
    "EntropyLoss",
    "EstimateChange",
    "EstimateUse",
    "Evaluation",
    "GammaLoss",
    "GeneralLoss",
    "HeldOutLinkage",
    "InformationLoss",
    "IntervalDisclosure",
    "MeansUse",
    "Measure",
    "MixedLevels",
    "MomentLoss",
    "NonUniformEntropy",
    "Objective",
    "Omission",
    "OneToOneLinkage",
    "Precision",
    "ProbabilisticLinkage",
    "ProbabilisticLoss",
    "Propensity",
    "PropensityScore",
    "RankLinkage",
    "Reading",
    "RecordLinkage",
    "RegressionUse",
    "Ruin",
    "RuleViolations",
    "ScaledAbsoluteError",
    "SquaredError",
    "SquaredErrorRatio",
    "TableUse",
    "TailChange",
    "Usefulness",
    "UtilityCard",
    "VanishedValues",
    "assess",
    "association_changes",
    "column_estimates",
    "max_score",
    "mean_score",
    "measures",
    "propensity_score",
    "utility_card",
]

load_when_used(__name__)
