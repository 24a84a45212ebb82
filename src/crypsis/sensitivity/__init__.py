"""Sensitivity analysis: which settings of a partitioner or search matter, and which of their values are best."""

from typing import TYPE_CHECKING

from crypsis.rooms import load_when_used

if TYPE_CHECKING:
    from crypsis.sensitivity.comparison import Comparison, compare
    from crypsis.sensitivity.design import Design, Factor, Trial
    from crypsis.sensitivity.procedure import SensitivityFindings, Stage, analyse
    from crypsis.sensitivity.subjects import PartitionerSubject, SearchSubject, Subject
    from crypsis.sensitivity.trials import Results, run_design
    from crypsis.sensitivity.variance import Anova, Effect, anova

__all__ = [
    "Anova",
    "Comparison",
    "Design",
    "Effect",
    "Factor",
    "PartitionerSubject",
    "Results",
    "SearchSubject",
    "SensitivityFindings",
    "Stage",
    "Subject",
    "Trial",
    "analyse",
    "anova",
    "compare",
    "run_design",
]

load_when_used(__name__)
