"""Many requests to the studio while a search runs, and many runs in one process: latencies, memory, descriptors.

    python benchmarks/soak.py [--rate 200] [--seconds 120] [--runs 50] [--json]

Requests leave on a fixed timetable whatever the answers do, and a latency counts from the moment a request was due:
a server that falls behind cannot hide it. Memory and open descriptors are the server's own, read every second.
"""

from __future__ import annotations

import argparse
import gc
import http.client
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from crypsis.plan import Plan
from crypsis.plan.document import as_toml
from crypsis.run import Run
from crypsis.studio import jobs, session
from crypsis.table.example import example
from crypsis.table.files import write_table

PROGRAM = (sys.executable, "-c", "from crypsis.cli import main; main()")
TIMETABLE = (
    "/head", "/explore.json", "/static/studio.css", "/head", "/explore.json",
    "/solution/1", "/head", "/static/studio.js", "/explore.json", "/explore",
    "/head", "/explore.json", "/static/explore.js", "/head", "/solution/2",
    "/data/rows", "/head", "/explore.json", "/goal/form", "/data",
)  # fmt: skip
"""What a page that is open asks for most often comes most often; whole pages are one in ten."""
WORKERS = 24
RUN_PLAN = """
[data]
source = "people.csv"
[columns]
person = { role = "identifier" }
age = { role = "quasi", kind = "numeric", hierarchy = "intervals:5,10,20" }
hours = { role = "quasi", kind = "numeric", hierarchy = "intervals:10,20" }
income = { role = "confidential", because = "invented people" }
[[require]]
model = "k-anonymity"
k = 3
[[search]]
name = "memetic"
k = 3
k_values = 4
steps = 20
[run]
budget = "4 generations"
points = 6
"""


# -- the studio --


class Server:
    """A studio on the built-in example, its memory and its descriptors."""

    def __init__(self, home: Path, seconds: float) -> None:
        plan = home / "example" / "people-plan.toml"
        session.write_example_for_session(home / "example", plan, rows=1000)
        document = tomllib.loads(plan.read_text(encoding="utf-8"))
        document["run"] = {"budget": f"{seconds:.0f}s", "points": 12}
        plan.write_text(as_toml(Plan.parse(document)), encoding="utf-8")
        self.run = home / "example" / "people-plan-run"
        environment = {**os.environ, "CRYPSIS_STUDIO_HOME": str(home)}
        self.process = subprocess.Popen(
            [*PROGRAM, "studio", str(plan), "--no-browser", "--no-own-name"],
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        address = re.search(r"http://127.0.0.1:(\d+)(/s/\w+)/(\?token=\S+)", self.process.stdout.readline())
        assert address is not None
        self.port, self.base = int(address[1]), address[2]
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", f"{self.base}/{address[3]}")
        answer = connection.getresponse()
        answer.read()
        self.headers = {"Cookie": (answer.getheader("set-cookie") or "").split(";")[0]}

    def ask(self, path: str, method: str = "GET") -> int:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        where = path if path.startswith("/static/") else f"{self.base}{path}"
        connection.request(method, where, headers={**self.headers, "Origin": f"http://127.0.0.1:{self.port}"})
        answer = connection.getresponse()
        answer.read()
        connection.close()
        return answer.status

    def close(self) -> None:
        self.process.terminate()
        self.process.wait()
        jobs.stop(self.run)


def state(pid: int) -> tuple[float, int]:
    """Resident megabytes and open descriptors of a process."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6, len(os.listdir(f"/proc/{pid}/fd"))


def used(pid: int) -> float:
    """CPU seconds a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Load:
    """Requests on a timetable, shared by a few workers with lasting connections."""

    def __init__(self, server: Server, rate: float, seconds: float) -> None:
        self.server, self.rate, self.total = server, rate, int(rate * seconds)
        self.latencies: dict[str, list[float]] = defaultdict(list)
        self.answers: Counter[str] = Counter()
        self._next, self._lock = 0, threading.Lock()

    def carry_out(self) -> float:
        self.began = time.monotonic()
        workers = [threading.Thread(target=self._work) for _ in range(WORKERS)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        return time.monotonic() - self.began

    def _work(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        while True:
            with self._lock:
                number, self._next = self._next, self._next + 1
            if number >= self.total:
                connection.close()
                return
            due = self.began + number / self.rate
            time.sleep(max(0.0, due - time.monotonic()))
            path = TIMETABLE[number % len(TIMETABLE)]
            try:
                connection.request("GET", path, headers=self.server.headers)
                answer = connection.getresponse()
                answer.read()
                message = str(answer.status)
            except (OSError, http.client.HTTPException) as error:
                message = type(error).__name__
                connection.close()
            with self._lock:
                self.latencies[path].append(time.monotonic() - due)
                self.answers[message] += 1


def watched(pid: int, stop: threading.Event, seen: list[tuple[float, int]]) -> None:
    while not stop.wait(1.0):
        seen.append(state(pid))


def soak_studio(rate: float, seconds: float) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        server = Server(Path(name), seconds + 60)
        try:
            await_(lambda: server.ask("/explore.json") == 200 and "Reading" not in _words(server))
            server.ask("/search/start", "POST")
            await_(lambda: (server.run / "run.db").exists() and server.ask("/solution/2") == 200)
            for path in TIMETABLE:
                server.ask(path)
            seen: list[tuple[float, int]] = [state(server.process.pid)]
            stop = threading.Event()
            watcher = threading.Thread(target=watched, args=(server.process.pid, stop, seen))
            watcher.start()
            load, before = Load(server, rate, seconds), used(server.process.pid)
            took = load.carry_out()
            busy = used(server.process.pid) - before
            searching = jobs.is_running(server.run)
            during = len(seen)
            jobs.stop(server.run)
            Load(server, rate, seconds / 2).carry_out()
            stop.set()
            watcher.join()
            time.sleep(3)
            after = state(server.process.pid)
        finally:
            server.close()
    every = np.sort(np.concatenate([np.array(each) for each in load.latencies.values()])) * 1000
    memory, resting = [megabytes for megabytes, _ in seen[:during]], [megabytes for megabytes, _ in seen[during:]]
    quarter, half = len(memory) // 4, len(resting) // 2
    return {
        "asked per second": rate,
        "answered per second": round(load.total / took, 1),
        "requests": load.total,
        "CPU of the server, ms a request": round(1000 * busy / load.total, 2),
        "answers": dict(load.answers),
        "a search ran to the end of it": searching,
        "ms": {f"p{p}": round(float(np.percentile(every, p)), 1) for p in (50, 95, 99)}
        | {"worst": round(float(every[-1]), 1)},
        "p95 by path, ms": {p: round(float(np.percentile(each, 95)) * 1000, 1) for p, each in load.latencies.items()},
        "MB": {
            "before": round(memory[0], 1),
            "second quarter": round(float(np.median(memory[quarter : 2 * quarter])), 1),
            "last quarter": round(float(np.median(memory[-quarter:])), 1),
        },
        "MB, the search ended and half as many requests more": {
            "first half": round(float(np.median(resting[:half])), 1),
            "second half": round(float(np.median(resting[half:])), 1),
        },
        "descriptors": {"before": seen[0][1], "most": max(count for _, count in seen), "after": after[1]},
    }


def await_(ready: Callable[[], bool], patience: float = 120.0) -> None:
    until = time.monotonic() + patience
    while not ready():
        if time.monotonic() > until:
            raise SystemExit("the studio or its search did not get going; see `crypsis doctor`")
        time.sleep(0.2)


def _words(server: Server) -> str:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("GET", f"{server.base}/head", headers=server.headers)
    return connection.getresponse().read().decode()


# -- runs --


def soak_runs(runs: int) -> dict[str, Any]:
    """Runs one after the other in this process; memory and descriptors after each."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_table(example(150, seed=4), folder / "people.csv")
        (folder / "plan.toml").write_text(RUN_PLAN)
        seen, seconds = [], []
        for number in range(runs):
            began = time.process_time()
            text = (folder / "plan.toml").read_text()
            run = Run.start(
                Plan.read(folder / "plan.toml"), folder / f"run-{number}", home=folder, text=text, seed=number
            )
            for _ in run.proceed():
                pass
            run.close()
            seconds.append(time.process_time() - began)
            gc.collect()
            seen.append(state(os.getpid()))
    fifth = max(1, runs // 5)
    return {
        "runs": runs,
        "CPU seconds, median": round(float(np.median(seconds)), 3),
        "MB": {
            "after the first": round(seen[0][0], 1),
            "second fifth": round(float(np.median([m for m, _ in seen[fifth : 2 * fifth]])), 1),
            "last fifth": round(float(np.median([m for m, _ in seen[-fifth:]])), 1),
        },
        "descriptors": {"after the first": seen[0][1], "after the last": seen[-1][1]},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rate", type=float, default=200.0)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    found: dict[str, Any] = {"load of the machine": os.getloadavg()[0], "cores": os.cpu_count()}
    if asked.runs:
        found["runs"] = soak_runs(asked.runs)
    if asked.rate and asked.seconds:
        found["studio"] = soak_studio(asked.rate, asked.seconds)
    if asked.json:
        print(json.dumps(found, indent=2))
        return
    print(f"load of the machine {found['load of the machine']:.1f} on {found['cores']} cores")
    for part in ("runs", "studio"):
        for key, value in found.get(part, {}).items():
            message = ", ".join(f"{k} {v}" for k, v in value.items()) if isinstance(value, dict) else value
            print(f"{part}: {key}: {message}")


if __name__ == "__main__":
    main()
