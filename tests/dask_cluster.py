"""A Dask cluster of separate processes on loopback, whose members a test may end by their ids."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

TESTS = Path(__file__).parent


class Cluster:
    """One scheduler and some workers of one thread each, without nannies: a worker that is killed stays dead."""

    def __init__(self, folder: Path, workers: int = 2, certificates: tuple[object, ...] = ()):
        """certificates  options of `dask` that name them; without any, the traffic is in clear"""
        self.folder, self.file, self.certificates = folder, folder / "scheduler.json", certificates
        protocol = ("--protocol", "tls") if certificates else ()
        self.scheduler = self._start(
            "scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", self.file, *protocol
        )
        for _ in range(1200):
            if self.file.exists() and self.file.read_text().strip():
                break
            assert self.scheduler.poll() is None, "the scheduler ended; see scheduler.log"
            time.sleep(0.1)
        self.address = json.loads(self.file.read_text())["address"]
        self.workers = [self.worker() for _ in range(workers)]

    def _start(self, role: str, *options) -> subprocess.Popen[bytes]:
        log = (self.folder / f"{role}.log").open("ab")
        module = f"distributed.cli.dask_{role}"
        quiet = () if role == "worker" else ("--no-dashboard",)
        command = [sys.executable, "-m", module, *quiet, *map(str, (*options, *self.certificates))]
        environment = os.environ | {"PYTHONPATH": str(TESTS), "DASK_DISTRIBUTED__WORKER__DAEMON": "False"}
        return subprocess.Popen(command, stdout=log, stderr=log, env=environment, cwd=self.folder)

    def worker(self) -> subprocess.Popen[bytes]:
        return self._start("worker", self.address, "--no-nanny", "--nthreads", "1", "--no-dashboard")

    def wait(self, client, count: int) -> None:
        client.wait_for_workers(count, timeout=120)

    def close(self) -> None:
        for process in [*self.workers, self.scheduler]:
            process.kill()
            process.wait()
