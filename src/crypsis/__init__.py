"""Crypsis: anonymise microdata by evolution.

The public names are loaded when first used, so that `import crypsis` and `crypsis --help` stay light. The
registries of measures and searches are `crypsis.measures.measures` and `crypsis.searches.searches`; those of methods,
partitioners and models stand here.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from crypsis.rooms import listed
from crypsis.version import __version__

if TYPE_CHECKING:
    from crypsis.attacks import Findings, Intruder, attack
    from crypsis.audits import Audit, Finding, audit
    from crypsis.charts import Chart
    from crypsis.errors import CrypsisError, EngineError, PlanError, ReleaseRefused, SearchError, TableError
    from crypsis.masking import (
        BottomCoding,
        Generalisation,
        GlobalRecoding,
        LocalRecoding,
        MaskingMethod,
        Microaggregation,
        Noise,
        Partitioner,
        Pram,
        RankSwapping,
        TopCoding,
        methods,
        partitioners,
    )
    from crypsis.measures import (
        Analyses,
        AnalysesChanged,
        AnalysesKept,
        Assessment,
        AssociationChange,
        AssociationLoss,
        AverageClassSize,
        CategoryDisclosure,
        CategoryLinkage,
        CellLoss,
        ClassificationMetric,
        ClassifierUse,
        ClassRisk,
        ColumnEstimate,
        ColumnEstimates,
        ColumnHarm,
        ContingencyLoss,
        CorrelationLoss,
        CorrelationUse,
        CovarianceLoss,
        Discernibility,
        DistanceLoss,
        DistributionDistance,
        Distributions,
        EigenvalueLoss,
        EntropyLoss,
        EstimateChange,
        EstimateUse,
        Evaluation,
        GammaLoss,
        GeneralLoss,
        HeldOutLinkage,
        InformationLoss,
        IntervalDisclosure,
        MeansUse,
        Measure,
        MixedLevels,
        MomentLoss,
        NonUniformEntropy,
        Objective,
        OneToOneLinkage,
        Precision,
        ProbabilisticLinkage,
        ProbabilisticLoss,
        Propensity,
        PropensityScore,
        RankLinkage,
        Reading,
        RecordLinkage,
        RegressionUse,
        Ruin,
        RuleViolations,
        ScaledAbsoluteError,
        SquaredError,
        SquaredErrorRatio,
        TableUse,
        TailChange,
        Usefulness,
        UtilityCard,
        VanishedValues,
        assess,
        association_changes,
        column_estimates,
        propensity_score,
        utility_card,
    )
    from crypsis.plan import Plan
    from crypsis.privacy import (
        AlphaKAnonymity,
        BetaLikeness,
        DeltaPresence,
        KAnonymity,
        LDiversity,
        PrivacyModel,
        TCloseness,
        Verdict,
        models,
    )
    from crypsis.release import new_keys, publish, verify
    from crypsis.run import Front, Run, Solution, evolve, protect
    from crypsis.searches import (
        CompositeSearch,
        GroupingSearch,
        LatticeSearch,
        LocalRecodingSearch,
        MaskingSearch,
        MixedMaskingSearch,
        PartitionResult,
        PartitionSearch,
        Search,
        evaluate_lattice,
        partition,
    )
    from crypsis.table import (
        Attribute,
        Hierarchy,
        Kind,
        Role,
        Table,
        build_hierarchy,
        example,
        example_pair,
        profile,
        read_hierarchy,
        read_table,
        to_frame,
        wrap,
        write_table,
    )

_REGISTRIES = (
    ("crypsis.masking", "methods"),
    ("crypsis.masking", "partitioners"),
    ("crypsis.measures", "measures"),
    ("crypsis.privacy", "models"),
    ("crypsis.searches", "searches"),
)
"""Room and registry: whatever is registered, by this package or by another, is public under the name of its class."""

__all__ = ["__version__", *listed(__name__)]


def __getattr__(name: str) -> Any:
    if name in (public := listed(__name__)):
        return getattr(import_module(public[name]), name)
    for room, registry in _REGISTRIES if name[:1].isupper() else ():
        known = getattr(import_module(room), registry)
        for cls in (known[each] for each in known):
            if cls.__name__ == name:
                return cls
    raise AttributeError(f"module 'crypsis' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
