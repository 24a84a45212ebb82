"""A run on a Dask cluster whose scheduler is killed: one sentence, exit 3, and a resume that gives the same bits."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cli.test_commands import crypsis
from cli.test_run import COMMAND, wait_for
from crypsis.run import Run
from dask_cluster import Cluster
from run.runs import PLAN, begun, bits, finished, folder_with


def test_a_lost_scheduler_ends_a_run_with_exit_3_and_it_resumes_to_the_same_bits(tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="dask is absent: pip install 'crypsis[dask]'")
    plan = folder_with(tmp_path / "job", PLAN.replace("4 generations", "30 generations"), rows=80)
    whole = bits(finished(begun(plan, tmp_path / "whole")))
    (tmp_path / "cluster").mkdir()
    cluster = Cluster(tmp_path / "cluster", workers=1)
    try:
        process = subprocess.Popen(
            [*COMMAND, "run", str(plan), "-o", str(tmp_path / "run"), "--quiet", *("--scheduler", cluster.address)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        wait_for(tmp_path / "run", 5)
        cluster.scheduler.kill()
        said = process.communicate(timeout=120)[1].decode()
    finally:
        cluster.close()
    assert process.returncode == 3, said
    assert "the Dask cluster" in said
    assert "Traceback" not in said
    assert f"crypsis resume {tmp_path / 'run'}" in said
    answer = crypsis("resume", tmp_path / "run", "--quiet")
    assert answer.returncode == 0, answer.stderr
    assert bits(Run.open(tmp_path / "run")) == whole
