"""The state of a search: what a resumed run needs, as arrays and plain data, never a pickle."""

from __future__ import annotations

import io
import json
import math
import zipfile
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import SearchError
from crypsis.evolution.frontier import Frontier
from crypsis.evolution.operators import Tally
from crypsis.evolution.problem import Child, Genome, Problem, Scores, Streams

_FORMAT = 4
_MEMORY = "memory/"
_EFFORT = 1
"""Of compression: a tenth of the usual time for a few per cent more bytes."""
_DAMAGE = (zipfile.BadZipFile, zlib.error)


@dataclass(frozen=True, eq=False)
class State:
    """The state of a search after a quantum."""

    generation: int  # number of the generation
    genomes: tuple[Genome, ...]  # the population: arrays, canonical keys, float64[n, m]
    keys: tuple[bytes, ...]
    scores: NDArray[np.float64]
    # of each member: generation of birth, operator that made it (−1 for the first population), whether it was a
    # parent
    born: NDArray[np.int64]
    origin: NDArray[np.int64]
    used: NDArray[np.bool_]
    frontier: Frontier  # Non-dominated candidates
    tally: Tally  # counts of the operators
    # the best genome so far by the fitness of the strategy, its scores, its fitness, and the evaluation that found it
    best: Genome
    best_scores: Scores
    best_fitness: float
    best_found: int
    evaluations: int  # candidates scored, and candidates whose scores were known
    hits: int
    idle: int = 0  # quanta in a row that tried nothing new
    muted: frozenset[str] = frozenset()  # disabled operators
    known: Mapping[bytes, Scores] = field(default_factory=dict)  # scores by key, oldest first
    rng: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # states of the random streams
    # what a strategy keeps between quanta beside its population
    memory: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    whole: bool = True  # whether the generation is complete; False between the quanta of one generation

    def settle_tally(self) -> Tally:
        """The tally as if the run ended here, for tables and charts."""
        return self.tally.count_removals(self.generation, self.origin, self.born, self.used)

    def to_bytes(self) -> bytes:
        """The state as an npz archive; equal states give equal bytes."""
        head = {
            "format": _FORMAT,
            "generation": self.generation,
            "boxes": list(self.frontier.boxes),
            "operators": list(self.tally.names),
            "step": self.tally.step,
            "best_found": self.best_found,
            "evaluations": self.evaluations,
            "hits": self.hits,
            "idle": self.idle,
            "muted": sorted(self.muted),
            "whole": self.whole,
            "rng": self.rng,
        }
        keys, lengths = _join(self.keys)
        known_keys, known_lengths = _join(self.known)
        parts = {
            "head": np.frombuffer(json.dumps(head, sort_keys=True).encode(), dtype=np.uint8),
            "genomes": _stack(self.genomes),
            "keys": keys,
            "key_lengths": lengths,
            "scores": self.scores,
            "born": self.born,
            "origin": self.origin,
            "used": self.used,
            "front": _stack(self.frontier.genomes),
            "front_scores": self.frontier.scores,
            "counts": self.tally.counts,
            "last_useful": self.tally.last_useful,
            "best": self.best,
            "best_scores": np.array(self.best_scores, dtype=np.float64),
            "best_fitness": np.array(self.best_fitness),
            "known_keys": known_keys,
            "known_lengths": known_lengths,
            "known_scores": np.array(list(self.known.values()), dtype=np.float64),
        }
        return _write_archive(parts | {f"{_MEMORY}{name}": array for name, array in sorted(self.memory.items())})

    @classmethod
    def from_bytes(cls, data: bytes) -> State:
        """Read a state."""
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as archive:
                part = {name: archive[name] for name in archive.files}
            head = json.loads(part["head"].tobytes())
            if head["format"] == _FORMAT:
                return cls._of(part, head)
        except (ValueError, TypeError, OSError, LookupError, EOFError, RuntimeError, MemoryError, *_DAMAGE) as error:
            raise SearchError(
                f"the checkpoint cannot be read ({type(error).__name__}: damaged or not a checkpoint); "
                f"resume from an earlier one or start the run again"
            ) from None
        raise SearchError(
            f"the checkpoint has format {head['format']} and this version reads {_FORMAT}; "
            f"resume with the version that wrote it or start the run again"
        )

    @classmethod
    def _of(cls, part: dict[str, NDArray[Any]], head: dict[str, Any]) -> State:
        known = zip(_split_bytes(part["known_keys"], part["known_lengths"]), part["known_scores"].tolist(), strict=True)
        return cls(
            generation=head["generation"],
            genomes=tuple(part["genomes"]),
            keys=tuple(_split_bytes(part["keys"], part["key_lengths"])),
            scores=part["scores"],
            born=part["born"],
            origin=part["origin"],
            used=part["used"],
            frontier=Frontier(tuple(part["front"]), part["front_scores"], tuple(head["boxes"])),
            tally=Tally(tuple(head["operators"]), part["counts"], part["last_useful"], head["step"]),
            best=part["best"],
            best_scores=tuple(part["best_scores"].tolist()),
            best_fitness=float(part["best_fitness"]),
            best_found=head["best_found"],
            evaluations=head["evaluations"],
            hits=head["hits"],
            idle=head["idle"],
            muted=frozenset(head["muted"]),
            known={key: tuple(scores) for key, scores in known},
            rng=head["rng"],
            whole=head["whole"],
            memory={name.removeprefix(_MEMORY): part[name] for name in part if name.startswith(_MEMORY)},
        )


def read_known_scores(data: bytes) -> dict[bytes, Scores]:
    """The scores of every candidate a checkpoint remembers, by key, oldest first; nothing else of it is unpacked."""
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as part:
            keys = _split_bytes(part["known_keys"], part["known_lengths"])
            return {key: tuple(scores) for key, scores in zip(keys, part["known_scores"].tolist(), strict=True)}
    except (ValueError, TypeError, OSError, LookupError, EOFError, *_DAMAGE) as error:
        raise SearchError(
            f"the checkpoint cannot be read ({type(error).__name__}: damaged or not a checkpoint); start the run again"
        ) from None


def _write_archive(parts: Mapping[str, NDArray[Any]]) -> bytes:
    """An npz archive, compressed lightly: a checkpoint is written often and seldom read."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=_EFFORT) as archive:
        for name, array in parts.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)
    return buffer.getvalue()


def _stack(genomes: tuple[Genome, ...]) -> NDArray[Any]:
    return np.stack(genomes) if genomes else np.empty(0)


def _join(keys: Iterable[bytes]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    parts = list(keys)
    lengths = np.array([len(part) for part in parts], dtype=np.int64)
    return np.frombuffer(b"".join(parts), dtype=np.uint8), lengths


def _split_bytes(joined: NDArray[np.uint8], lengths: NDArray[np.int64]) -> list[bytes]:
    whole, ends = joined.tobytes(), np.cumsum(lengths).tolist()
    return [whole[end - length : end] for end, length in zip(ends, lengths.tolist(), strict=True)]


def extend_search_state(state: State, children: Sequence[Child], scores: NDArray[np.float64]) -> State:
    """Extend the arrays of a search's state by members that no operator made."""
    n = len(children)
    return replace(
        state,
        genomes=(*state.genomes, *(child.genome for child in children)),
        keys=(*state.keys, *(child.key for child in children)),
        scores=np.vstack([state.scores, scores]),
        born=np.concatenate([state.born, np.zeros(n, dtype=np.int64)]),
        origin=np.concatenate([state.origin, np.full(n, -1, dtype=np.int64)]),
        used=np.concatenate([state.used, np.zeros(n, dtype=np.bool_)]),
    )


def empty_search_state(problem: Problem, streams: Streams) -> State:
    """The state of a search before its first candidate."""
    m, operators = len(problem.objectives), problem.strategy.operators
    return State(
        generation=0,
        genomes=(),
        keys=(),
        scores=np.empty((0, m)),
        born=np.empty(0, dtype=np.int64),
        origin=np.empty(0, dtype=np.int64),
        used=np.empty(0, dtype=np.bool_),
        frontier=Frontier(scores=np.empty((0, m)), boxes=problem.boxes),
        tally=Tally.empty(operators),
        best=np.empty(0),
        best_scores=(math.inf,) * m,
        best_fitness=math.inf,
        best_found=0,
        evaluations=0,
        hits=0,
        rng=streams.snapshot(),
    )
