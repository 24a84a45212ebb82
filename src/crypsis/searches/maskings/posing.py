"""The problem of masked files posed to the loop: what is read of them, and by which means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.random import Generator

from crypsis.encodings.masked_file import MaskedFileEncoding, masked_file_key
from crypsis.errors import SearchError
from crypsis.evolution.problem import Genome, Problem, Scores
from crypsis.kernels.trials import halves
from crypsis.masking.method import Family
from crypsis.measures.categorical_ledger import Seven, Stack
from crypsis.measures.categories import Pairing
from crypsis.measures.measure import measures
from crypsis.measures.objective import Objective
from crypsis.privacy.model import PrivacyModel
from crypsis.searches.maskings.constraints import Allowed, Constraints
from crypsis.searches.maskings.first_files import FirstFiles, GivenFiles
from crypsis.searches.maskings.full_readings import FullReadings
from crypsis.searches.maskings.ledgers import Ledgers
from crypsis.searches.maskings.strategy import MaskingStrategy
from crypsis.searches.maskings.trials import Trials
from crypsis.searches.search import ObjectiveScores
from crypsis.table.table import Table

if TYPE_CHECKING:
    from crypsis.searches.maskings.masking_search import MaskingSearch


@dataclass(frozen=True, eq=False)
class FreshCounts:
    """Loss and risk of a file, counted afresh."""

    pairing: Pairing = field(repr=False)
    measured: Seven

    def __call__(self, genome: Genome) -> Scores:
        """Mean of the losses, mean of the risks."""
        stack = Stack(self.pairing, self.measured, 1)
        stack.fill(0, np.ascontiguousarray(genome, dtype=np.int32))
        loss, risk = halves(stack.read(0), stack.frame.chosen)
        return float(loss), float(risk)


def pose(
    settings: MaskingSearch,
    pairing: Pairing,
    constraints: Constraints,
    first: FirstFiles,
    objective: Objective | None,
    rng: Generator,
) -> Problem:
    """Loss and risk minimised; followed by tallies where all measures have some, else read in full.

    Parameters
    ----------
    settings : MaskingSearch
        How files are bred.
    pairing : Pairing
        The original, and the numbering of all files.
    constraints : Constraints
        What every file keeps.
    first : FirstFiles
        The first population; made when the search begins.
    objective : Objective or None
        What is minimised; without one, every measure of categories that has tallies.
    rng : Generator
        Chance of the first population.
    """
    encoding = constraints.encoding
    measured = own_measures(encoding) if objective is None else tallied(objective, encoding)
    trials: Trials
    if measured is not None:
        trials = Ledgers(pairing, measured, constraints, len(first) + 2, settings.neutral)
        evaluate: FreshCounts | ObjectiveScores = FreshCounts(pairing, measured)
    else:
        assert objective is not None
        evaluate = ObjectiveScores(encoding, objective, family=Family.PERTURBATION)
        trials = FullReadings(
            evaluate, constraints, settings.neutral, Ledgers(pairing, Seven(), constraints, 2, settings.neutral)
        )
    strategy = MaskingStrategy(settings, first, constraints, trials, dict(rng.bit_generator.state))
    return Problem(
        key=masked_file_key,
        strategy=strategy,
        start=strategy.files,
        evaluate=evaluate,
        objectives=("loss", "risk"),
    )


def own_measures(encoding: MaskedFileEncoding) -> Seven:
    """Every registered measure of categories that has tallies and can read the columns."""
    chosen = [measures[name](columns=encoding.context.names) for name in measures if measures[name].tally]
    return Seven.of(*(measure for measure in chosen if not measure.obstacle(encoding.table)))


def tallied(objective: Objective, encoding: MaskedFileEncoding) -> Seven | None:
    """The objective's measures, if tallies follow each of them over exactly the columns that change; else None."""
    readers = [*objective.losses, *objective.risks]
    chosen = [reader.measure for reader in readers]
    bound = [cast(Any, each) for reader in readers for each in reader.bound.values()]
    if not all(each.follows for each in chosen) or len(bound) > len({each.tally for each in chosen}):
        return None
    same = all(each.context.names == encoding.context.names for each in bound)
    return Seven.of(*chosen) if same else None


@dataclass(frozen=True)
class Aims:
    """What a search among given files minimises and keeps.

    objective  what is minimised; by default every measure of categories that has tallies
    models  privacy models every file must keep satisfying
    allowed  which combinations of labels a record may hold, beside `settings.forbidden`
    """

    objective: Objective | None = None
    models: Sequence[PrivacyModel] = ()
    allowed: Allowed | None = None


def pose_maskings(
    original: Table,
    population: Sequence[Table],
    settings: MaskingSearch,
    rng: Generator,
    aims: Aims | None = None,
) -> Problem:
    """The problem of improving given masked files; as `evolve_maskings`, for a loop of one's own."""
    if not population:
        raise SearchError("the population is empty; give the search at least one masked file")
    if any(not file.kept.all() for file in population):
        raise SearchError("a suppressed record has no cells to evolve; give files without suppression")
    aims = aims or Aims()
    encoding, pairings = settings.encoding(original).joined(population)
    constraints = Constraints.of(encoding, settings.forbidden, aims.allowed, aims.models)
    first = GivenFiles([pairing.codes.astype(encoding.dtype) for pairing in pairings])
    return pose(settings, pairings[0], constraints, first, aims.objective, rng)
