"""Seeds of a run: solutions of an earlier run of another plan, measured anew before anything is searched.

Those that keep the new plan's demands enter the front first, and searches that can begin from them. The seeds stand in
a file of the run's folder, whose digest is in the store: the run does not need its parent any more.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from crypsis.errors import CrypsisError, SearchError
from crypsis.evolution import Genome
from crypsis.plan import Plan
from crypsis.run.choosing import BASELINE
from crypsis.run.store import Store, digest_of
from crypsis.table.files import write_atomically
from crypsis.tasks import Tasks

if TYPE_CHECKING:
    from crypsis.encodings.encoding import Description
    from crypsis.measures.objective import Evaluation
    from crypsis.run.search_state import Measuring
    from crypsis.run.session import Run

SEEDS = "seeds.npz"
"""The file of the seeds, in the folder of a run."""


@dataclass(frozen=True, eq=False)
class Seed:
    """A solution of an earlier run."""

    search: int  # place of the search that takes it
    key: bytes  # key of the candidate
    genome: Genome


def choose_seeds(parent: Run, plan: Plan) -> list[Seed]:
    """The front of an earlier run, for the searches of a plan that have the same name; least loss first."""
    theirs, mine = ([each.name for each in of.search] for of in (parent.plan, plan))
    places = {}
    for place, name in enumerate(theirs):
        same, nth = [at for at, other in enumerate(mine) if other == name], theirs[:place].count(name)
        if same:
            places[place] = same[min(nth, len(same) - 1)]
    front = sorted(parent.front, key=lambda each: (each.figure("loss") or 0.0, each.number))
    rows = [parent.store.solution(each.number) for each in front if each.search != BASELINE]
    return [Seed(places[row.search], row.key, row.genome) for row in rows if row.search in places]


def write_seeds(folder: Path, store: Store, seeds: Sequence[Seed]) -> None:
    """Write the seeds of a new run."""
    buffer = io.BytesIO()
    arrays = {f"{number}-{each.search}-{each.key.hex()}": each.genome for number, each in enumerate(seeds)}
    np.savez_compressed(buffer, **arrays)  # type: ignore[arg-type]
    write_atomically(folder / SEEDS, buffer.getvalue())
    with store.transaction():
        store.note("seeds", digest_of(buffer.getvalue()).hex())


def read_seeds(folder: Path, store: Store) -> list[Seed]:
    """The seeds of a run; none where it has no parent."""
    digest = store.read_note("seeds")
    if digest is None:
        return []
    try:
        content = (folder / SEEDS).read_bytes()
    except OSError:
        content = b""
    if digest_of(content).hex() != digest:
        raise SearchError(
            f"{folder / SEEDS}: changed since the run began, so the run cannot continue; put back a copy of the folder "
            f"from before, or start the run again in a new folder"
        )
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        return [*_read_arrays(arrays)]


def _read_arrays(arrays: np.lib.npyio.NpzFile) -> Iterator[Seed]:
    for name in arrays.files:
        _, search, key = name.split("-")
        yield Seed(int(search), bytes.fromhex(key), arrays[name])


def measure_seed_tasks(measuring: Measuring, genome: Genome) -> Tasks[tuple[Description, Evaluation] | None]:
    """What a seed is under the new plan, in tasks; None where its genome does not fit the new encoding."""
    try:
        return (yield from measuring.measure_tasks(genome))
    except (CrypsisError, ValueError, IndexError, TypeError):
        return None
