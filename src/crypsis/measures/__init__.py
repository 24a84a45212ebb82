"""(original, masked) → number. Importing registers the measures."""

from crypsis.measures import (
    categorical_loss,
    categorical_risk,
    cell_loss,
    generalisation_loss,
    interval_disclosure,
    moments,
    numeric_loss,
    probabilistic_loss,
    record_linkage,
    regression_use,
    uses,
)
from crypsis.measures.assess import Assessment, assess
from crypsis.measures.measure import Measure, Panel, Reading, max_score, mean_score, measures

__all__ = [
    "Assessment",
    "Measure",
    "Panel",
    "Reading",
    "assess",
    "categorical_loss",
    "categorical_risk",
    "cell_loss",
    "generalisation_loss",
    "interval_disclosure",
    "max_score",
    "mean_score",
    "measures",
    "moments",
    "numeric_loss",
    "probabilistic_loss",
    "record_linkage",
    "regression_use",
    "uses",
]
