"""Boosted trees of scikit-learn, which attackers learn by."""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor


def boost_classifier(trees: int, leaves: int, seed: int, rate: float = 0.1) -> HistGradientBoostingClassifier:
    """Trees that tell how likely each category is."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    _say_cores()
    return HistGradientBoostingClassifier(
        max_iter=trees, max_leaf_nodes=leaves, learning_rate=rate, early_stopping=False, random_state=seed
    )


def boost_regressor(trees: int, leaves: int, seed: int) -> HistGradientBoostingRegressor:
    """Trees that tell a number."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    _say_cores()
    return HistGradientBoostingRegressor(max_iter=trees, max_leaf_nodes=leaves, early_stopping=False, random_state=seed)


def _say_cores() -> None:
    """Say how many cores there are: joblib asks the command `lscpu`, and prints a traceback where it is missing."""
    asked: Any = import_module("joblib.externals.loky.backend.context")
    if getattr(asked, "physical_cores_cache", 0) is None:
        asked.physical_cores_cache = os.cpu_count() or 1
