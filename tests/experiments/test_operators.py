from __future__ import annotations

import json

import numpy as np
import pytest
import vl_convert
from pictures import MUTATIONS, PANELS, average_runs, operator_picture, time_picture

from crypsis.evolution import Tally


def tally(generations, seed):
    rng = np.random.default_rng(seed)
    names = ("crossover", *MUTATIONS)
    made = Tally.empty(names)
    for generation in range(1, generations + 1):
        makers = np.repeat(np.arange(len(names)), 2)
        made = made.born(generation, makers, rng.normal(size=len(makers)), rng.random(len(makers)) < 0.5)
    return made


def test_runs_are_averaged_generation_by_generation():
    first, second = tally(3, 0), tally(3, 1)
    rows = average_runs([first, second])
    assert len(rows) == 3 * 6
    expected = (first.table()[7]["best_gain"] + second.table()[7]["best_gain"]) / 2
    assert rows[7]["best_gain"] == pytest.approx(expected)
    with pytest.raises(ValueError, match="different lengths"):
        average_runs([first, tally(2, 0)])


def test_figures_are_valid_vega_lite():
    rows = average_runs([tally(3, 0)])
    mutations = operator_picture(rows, MUTATIONS, "mutations")
    assert len(mutations["vconcat"]) == len(PANELS) == 4
    bars = [{"k": k, "algorithm": a, "seconds": 1.0} for k in (5, 10) for a in ("GOMM", "D-GOMM")]
    for spec in (mutations, operator_picture(rows, ("crossover",), "crossover"), time_picture(bars, "time")):
        assert "<svg" in vl_convert.vegalite_to_svg(json.dumps(spec))
