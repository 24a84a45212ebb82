from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import joblib
import numpy as np
import pytest
from distributed import LocalCluster

from crypsis.engines import Dask, Joblib, Processes, Serial, engine
from crypsis.errors import EngineError
from crypsis.evolution import Budget, evolve
from evolution.puzzle import problem
from workers import Learner, ask, die


@pytest.fixture(scope="module")
def two():
    with engine("processes", workers=2) as processes:
        yield processes


def test_results_come_back_in_order_and_workers_keep_what_they_were_sent(two):
    values = np.arange(40.0)
    learner = Learner(values)
    here = Serial().map(ask, range(40), Learner(values))
    first, second = two.map(ask, range(40), learner), two.map(ask, range(40), learner)
    assert [row[0] for row in here] == [row[0] for row in first] == [row[0] for row in second]
    assert os.getpid() not in {row[2] for row in first}
    assert max(row[1] for row in second) > max(row[1] for row in first), "the second call found the same objects"
    assert learner.asked == 0, "workers have copies"
    assert two.map(ask, [], learner) == []


def test_a_search_gives_the_same_bits_on_one_and_two_processes(two):
    runs = [
        [s.to_bytes() for s in evolve(problem("elitist"), np.random.default_rng(5), Budget(generations=4), where)]
        for where in (None, Serial(), two)
    ]
    assert runs[0] == runs[1] == runs[2]


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_what_joblib_was_told_to_use_gives_the_same_bits(backend):
    here = [s.to_bytes() for s in evolve(problem("elitist"), np.random.default_rng(5), Budget(generations=2))]
    with joblib.parallel_config(backend, n_jobs=2), Joblib() as place:
        assert place.workers == 2
        there = evolve(problem("elitist"), np.random.default_rng(5), Budget(generations=2), place)
        assert [s.to_bytes() for s in there] == here


def test_a_killed_worker_is_an_error_with_a_remedy():
    with Processes(2) as processes, pytest.raises(EngineError, match="resume"):
        processes.map(die, [1, 2])


def test_dask_by_address_gives_the_same_bits():
    with (
        LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None) as cluster,
        engine("dask", address=cluster.scheduler_address) as dask,
    ):
        assert isinstance(dask, Dask)
        assert dask.workers == 2
        there = evolve(problem("elitist"), np.random.default_rng(5), Budget(generations=2), dask)
        here = evolve(problem("elitist"), np.random.default_rng(5), Budget(generations=2))
        assert [s.to_bytes() for s in there] == [s.to_bytes() for s in here]
        assert dask.map(ask, [], None) == []


def test_engines_that_cannot_be_had_say_what_to_do(monkeypatch):
    with pytest.raises(EngineError, match="did you mean 'processes'"):
        engine("proceses")
    with pytest.raises(EngineError, match="cannot have -1 workers"):
        engine("processes", workers=-1)
    with pytest.raises(EngineError, match="needs the address"):
        engine("dask")
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(EngineError, match="pip install"):
        engine("dask", address="tcp://127.0.0.1:1")


def test_names_and_workers():
    assert engine("serial").name == "serial"
    assert engine().name == ("threads" if (os.cpu_count() or 1) > 1 else "serial")
    assert engine("processes").workers >= 1


def test_what_a_killed_engine_left_is_swept_by_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    job = (
        "import os, signal\n"
        "from crypsis.engines import Processes\n"
        "killed = Processes(1)\n"
        "killed._place([1, 2, 3])\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", job], env={**os.environ, "TMPDIR": str(tmp_path)}, check=False)
    (left,) = tmp_path.glob("crypsis-engine-*")
    assert stat.S_IMODE(left.stat().st_mode) == 0o700
    with engine("processes", 1) as other:
        other.map(ask, range(2), Learner(np.arange(2.0)))
        assert not left.exists()
        assert len(list(tmp_path.glob("crypsis-engine-*"))) == 1
    assert not list(tmp_path.glob("crypsis-engine-*"))
