"""A Dask cluster of separate processes: the same bits, also when a worker dies; a sentence when the scheduler does."""

from __future__ import annotations

import os
import shlex
import subprocess
import threading
import time

import numpy as np
import pytest
from dask import config as dask_config

from crypsis.engines import Dask, Serial
from crypsis.errors import EngineError, EngineLost
from crypsis.evolution import Budget, evolve
from crypsis.masking.partitioning import Blocks
from crypsis.searches.gomm import GommSearch
from crypsis.table.table import Table
from dask_cluster import Cluster
from test_deployment import SHELL
from workers import slowly

BLOCKS = Blocks(size=500, mending=2)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    pytest.importorskip("distributed", reason="dask is absent: pip install 'crypsis[dask]'")
    cluster = Cluster(tmp_path_factory.mktemp("cluster"))
    yield cluster
    cluster.close()


@pytest.fixture
def dask(cluster):
    with Dask(cluster.address) as engine:
        cluster.wait(engine._client, 2)
        engine.workers = 2
        yield engine


def killing(cluster: Cluster, engine: Dask) -> threading.Thread:
    """End, by its id, the worker that is at work first; another takes its place."""

    pids = {process.pid: process for process in cluster.workers}
    ids = engine._client.run(os.getpid)

    def watch() -> None:
        for _ in range(3000):
            busy = [address for address, tasks in engine._client.processing().items() if tasks]
            if busy:
                victim = pids[ids[busy[0]]]
                victim.kill()
                victim.wait()
                cluster.workers.remove(victim)
                cluster.killed = victim.pid
                cluster.workers.append(cluster.worker())
                return
            time.sleep(0.01)

    cluster.killed = 0
    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    return thread


def test_blocks_give_the_same_bits_though_a_worker_is_killed(cluster, dask):
    points = np.random.default_rng(1).standard_normal((6_000, 4))
    here = BLOCKS.run(points, 5, np.random.default_rng(2), Serial())
    assert (here == BLOCKS.partition(points, 5, np.random.default_rng(2))).all()
    thread = killing(cluster, dask)
    there = BLOCKS.run(points, 5, np.random.default_rng(2), dask)
    thread.join()
    assert cluster.killed
    assert (here == there).all()
    assert np.bincount(there).min() >= 5


def test_groupings_give_the_same_bits_though_a_worker_is_killed(cluster, dask):
    values = np.random.default_rng(3).standard_normal((150, 5))
    table = Table.from_columns(
        {f"x{j}": values[:, j] for j in range(5)}, roles=dict.fromkeys([f"x{j}" for j in range(5)], "quasi")
    )
    search = GommSearch(k=3)

    def run(engine):
        rng = np.random.default_rng(4)
        return [s.to_bytes() for s in evolve(search.pose(table, None, rng), rng, Budget(generations=3), engine)]

    here = run(None)
    thread = killing(cluster, dask)
    there = run(dask)
    thread.join()
    assert cluster.killed
    assert here == there


def test_a_cluster_with_the_certificates_of_the_page_gives_the_same_bits_and_needs_them(tmp_path):
    for line in (line for line in SHELL if line.startswith("openssl ")):
        subprocess.run(shlex.split(line), cwd=tmp_path, check=True, capture_output=True)
    files = {"ca-file": "ca.pem", "client.cert": "cert.pem", "client.key": "key.pem"}
    options = (
        "--tls-ca-file",
        tmp_path / "ca.pem",
        "--tls-cert",
        tmp_path / "cert.pem",
        "--tls-key",
        tmp_path / "key.pem",
    )
    cluster = Cluster(tmp_path, 1, options)
    try:
        assert cluster.address.startswith("tls://")
        with pytest.raises(EngineError, match="asks for certificates"):
            Dask(cluster.address)
        with (
            dask_config.set({f"distributed.comm.tls.{name}": str(tmp_path / file) for name, file in files.items()}),
            Dask(cluster.address) as engine,
        ):
            assert engine.map(slowly, [1, 2], 10) == [10, 20]
        with pytest.raises(EngineError, match="no Dask scheduler answered"):
            Dask(cluster.address.replace("tls://", "tcp://"), patience="2s")
    finally:
        cluster.close()


def test_a_lost_scheduler_is_a_sentence_and_work_can_be_resumed_elsewhere(tmp_path):
    cluster = Cluster(tmp_path, workers=1)
    engine = Dask(cluster.address)
    try:
        cluster.wait(engine._client, 1)
        assert engine.map(slowly, [1, 2], 10) == [10, 20]
        ending = threading.Timer(1.0, cluster.scheduler.kill)
        ending.start()
        with pytest.raises(EngineLost, match="resume the run"):
            engine.map(slowly, list(range(100)), 10)
        ending.join()
    finally:
        cluster.close()
        engine.close()
    assert Serial().map(slowly, [1, 2], 10) == [10, 20]
