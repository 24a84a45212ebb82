"""Kill runs, resumed runs, releases, block processing and the studio at random moments, and fill a small disk.

    python scripts/faults.py [--run 60] [--resume 60] [--release 60] [--blocks 60] [--studio 40] [--disk 30]

Every number says how often. Children are forked from a process that has imported everything, so that the moments fall
into the work; what a kill met is counted. After each kill: no half-written release or file under its name, a store
SQLite calls sound, no generation gone that somebody had read, and, once resumed or repeated, the bits of a run that
was never disturbed. A disk of a few megabytes needs the right to mount one; without it that part says so.
"""

from __future__ import annotations

import argparse
import hashlib
import http.client
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import numpy as np

from crypsis.cli.publishing import release_solution
from crypsis.errors import CrypsisError
from crypsis.masking.partitioned import microaggregate_files
from crypsis.plan import Plan
from crypsis.release import verify
from crypsis.run import Run
from crypsis.run.store import Store
from crypsis.studio.serving import serve
from crypsis.table.builders import build_hierarchy
from crypsis.table.example import example
from crypsis.table.files import write_table
from crypsis.table.table import Table

PLAN = """
require = [{ model = "k-anonymity", k = 3 }]
search = [
    { name = "partition", k = 3, rungs = 4, steps = 20 },
    { name = "grouping", k = 3, population = 10, missing = "mean", memory = 8 },
    { name = "local-recoding", k = 3, rungs = 2, nodes = 64 },
]
data = { source = "people.csv" }
run = { budget = "12 generations", seed = 11, points = 6 }
[columns]
person = { role = "identifier" }
age = { role = "quasi", kind = "numeric", hierarchy = "intervals:5,10,20" }
hours = { role = "quasi", kind = "numeric", hierarchy = "intervals:10,20" }
sex = { role = "quasi", hierarchy = "merge:1" }
income = { role = "confidential" }
"""


# -- children --


def child(work: Callable[..., object], *given: object) -> int:
    """Carry something out in a forked process, silently; its number. Exit 0 done, 3 a sentence, 4 a crash."""
    number = os.fork()
    if number:
        return number
    code = 4
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        work(*given)
        code = 0
    except CrypsisError:
        code = 3
    finally:
        os._exit(code)


def ended(number: int) -> int:
    """How a child ended: its exit code, or minus the signal."""
    return os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])


def done(work: Callable[..., object], *given: object) -> int:
    return ended(child(work, *given))


def killed(after: float, work: Callable[..., object], *given: object) -> bool:
    """Kill a child after some seconds; whether it was still at work."""
    number = child(work, *given)
    time.sleep(after)
    os.kill(number, signal.SIGKILL)
    return ended(number) == -signal.SIGKILL


# -- what must be true afterwards --


def content(folder: Path) -> list[tuple[int, bytes, bytes, str]]:
    """Everything a run found, to the last bit."""
    with Store(folder / "run.db") as store:
        rows = [store.solution(number) for number, _, _ in store.contents()]
    return [(row.id, row.key, row.genome.tobytes(), repr(sorted(row.content.items()))) for row in rows]


def generations(folder: Path) -> set[tuple[int, int]]:
    """(search, generation) that anybody can read in the store now."""
    if not (folder / "run.db").exists():
        return set()
    with Store(folder / "run.db") as store:
        return {(step.search, step.generation) for step in store.history()}


def sound(folder: Path) -> bool:
    """Whether a run's folder is absent or whole: SQLite finds nothing wrong and plan and lock can be read."""
    if not folder.exists():
        return True
    with sqlite3.connect(folder / "run.db") as connection:
        if connection.execute("PRAGMA integrity_check").fetchone()[0] != "ok":
            return False
    Run.open(folder).close()
    return True


def digest(folder: Path) -> str:
    total = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        total.update(path.name.encode() + path.read_bytes())
    return total.hexdigest()


def warm(plan: Path, folder: Path) -> None:
    """Load every kernel a run needs into this process, whose children then have it: by a run on a table from memory.

    No frame library is touched: its threads would not survive the fork.
    """
    rng = np.random.default_rng(0)
    cells = {name: rng.integers(18, 80, 150).astype(float).tolist() for name in ("age", "hours", "income")}
    roles = {"age": "quasi", "hours": "quasi", "sex": "quasi", "income": "confidential", "person": "identifier"}
    words = {"sex": rng.choice(["f", "m"], 150).tolist(), "person": [f"p{number}" for number in range(150)]}
    table = Table.from_columns({**cells, **words}, roles=roles)
    for name, spec in (("age", "intervals:5,10,20"), ("hours", "intervals:10,20"), ("sex", "merge:1")):
        attribute = table.attribute(name)
        hierarchy = build_hierarchy(spec, attribute, table.column(name))
        table = table.with_columns({}, attributes={name: attribute.but(hierarchy=hierarchy)})
    run = Run.start(Plan.read(plan), folder, table=table, text=plan.read_text())
    for _ in run.proceed():
        pass
    run.close()


class Bench:
    """A folder with people, a run never disturbed, and counts of what happened."""

    def __init__(self, folder: Path, chance: random.Random) -> None:
        self.folder, self.chance, self.counts = folder, chance, Counter[str]()
        self.plan = folder / "plan.toml"
        self.plan.write_text(PLAN)
        done(lambda: write_table(example(150, seed=4), folder / "people.csv"))
        done(lambda: self._parquet(folder / "many.parquet"))
        warm(self.plan, folder / "warm")
        for name in ("first", "whole"):
            began = time.monotonic()
            self.expect(done(self.go, folder / name) == 0, "a run ends by itself")
            self.took = time.monotonic() - began
        self.whole = content(folder / "whole")

    def _parquet(self, path: Path) -> None:
        import polars as pl

        rng = np.random.default_rng(1)
        pl.DataFrame({name: rng.normal(size=20_000) for name in "abcd"}).write_parquet(path)

    def go(self, folder: Path) -> None:
        """Start or resume a run and carry it to its end."""
        begun = (folder / "run.db").exists()
        run = Run.resume(folder) if begun else Run.start(
            Plan.read(self.plan), folder, home=self.folder, text=self.plan.read_text()
        )  # fmt: skip
        for _ in run.proceed():
            pass

    def expect(self, held: bool, what: str) -> None:
        if not held:
            self.counts[f"BROKEN: {what}"] += 1

    def timed(self, work: Callable[[], object]) -> float:
        began = time.monotonic()
        self.expect(done(work) == 0, "undisturbed work ends by itself")
        return time.monotonic() - began

    def run(self, times: int, again: int, kind: str) -> None:
        """Kill a run, and its resumption `again` times more, then let it end."""
        for number in range(times):
            folder = self.folder / f"{kind}-{number}"
            for _ in range(1 + again):
                process = child(self.go, folder)
                time.sleep(self.chance.uniform(0.05, self.took))
                seen = generations(folder)
                os.kill(process, signal.SIGKILL)
                self.counts[f"{kind}: kills"] += 1
                self.counts[f"{kind}: met a process at work"] += ended(process) == -signal.SIGKILL
                self.expect(sound(folder), "the store is sound")
                self.expect(seen <= generations(folder), "no generation that was read is gone")
            self.expect(done(self.go, folder) == 0, "a killed run can be resumed")
            same = content(folder) == self.whole
            self.counts[f"{kind}: same bits in the end"] += same
            self.expect(same, "the same bits")

    def release(self, times: int) -> None:
        def publish(out: Path) -> None:
            release_solution(Run.open(self.folder / "whole"), "knee", out)

        took = self.timed(lambda: publish(self.folder / "released"))
        for number in range(times):
            out = self.folder / f"release-{number}"
            hit = killed(self.chance.uniform(0.0, took), publish, out)
            self.counts["release: kills"] += 1
            self.counts["release: met a process at work"] += hit
            if out.exists():
                self.counts["release: whole although killed"] += 1
                self.expect(done(self._demand_sound, out) == 0, "a release that has its name is sound")
            elif number % 8 == 0:  # publishing again costs as much as the kill
                again = done(publish, out) + done(self._demand_sound, out)
                self.counts["release: made again and sound"] += again == 0
                self.expect(again == 0, "a killed release can be made again")

    def _demand_sound(self, out: Path) -> None:
        if not verify(out).sound:
            raise ValueError("not sound")

    def blocks(self, times: int) -> None:
        def make(out: Path) -> None:
            microaggregate_files(
                self.folder / "many.parquet", list("abcd"), 5, out, np.random.default_rng(3), block=2_500
            )

        took = self.timed(lambda: make(self.folder / "blocks"))
        took = min(took, self.timed(lambda: make(self.folder / "blocks-again")))
        whole = digest(self.folder / "blocks")
        for number in range(times):
            out = self.folder / f"blocks-{number}"
            hit = killed(self.chance.uniform(0.0, took), make, out)
            self.counts["blocks: kills"] += 1
            self.counts["blocks: met a process at work"] += hit
            if out.exists():
                self.counts["blocks: whole although killed"] += 1
            elif number % 4 == 0:
                self.expect(done(make, out) == 0, "killed blocks can be made again")
                self.counts["blocks: made again"] += 1
            self.expect(not out.exists() or digest(out) == whole, "blocks are whole and the same bits")

    def studio(self, times: int) -> None:
        """Kill the server while it saves choices and publishes; the plan, the run and the choices stay readable."""
        home = self.folder / "home"
        home.mkdir(mode=0o700)
        os.environ["CRYPSIS_STUDIO_HOME"] = str(home)
        (home / f"vega-{version('vl-convert-python')}.js").write_text("// no browser looks\n")
        desk = self.folder / "whole"
        for _ in range(times):
            reader, writer = os.pipe()
            number = child(_serve, desk, writer)
            os.close(writer)
            with os.fdopen(reader) as told:
                line = told.readline()
            address = re.search(r"http://127.0.0.1:(\d+)/\?token=(\S+)", line)
            if address is None:
                self.expect(False, "the studio starts again after a kill")
                ended(number)
                continue
            visitor = child(_visit, int(address[1]), address[2])
            time.sleep(self.chance.uniform(0.1, 2 * self.took))
            os.kill(number, signal.SIGKILL)
            self.counts["studio: kills"] += 1
            self.counts["studio: met a process at work"] += ended(number) == -signal.SIGKILL
            ended(visitor)
            self.expect(sound(desk) and content(desk) == self.whole, "the run behind a killed studio is as it was")
            for plan in self.folder.glob("*plan.toml"):
                Plan.read(plan)
            for choices in self.folder.glob(".*-studio.json"):
                self.expect(isinstance(json.loads(choices.read_text()), dict), "the choices can be read")
            for out in self.folder.glob("studio-release-*"):
                self.counts["studio: releases that appeared"] += 1
                self.expect(done(self._demand_sound, out) == 0, "a release of a killed studio is sound")
                shutil.rmtree(out)

    def disk(self, times: int) -> None:
        """Run, release and microaggregate on a disk that fills up at some point."""
        small = self.folder / "small"
        small.mkdir()
        for number in range(times):
            size = int(2 ** self.chance.uniform(4, 9.5))  # 16 to about 700 kB
            mounted = subprocess.run(
                ["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", str(small)], capture_output=True, check=False
            )
            if mounted.returncode:
                self.counts["disk: not tried, a disk may not be mounted here"] += 1
                return
            try:
                self._on_small_disk(small, number)
            finally:
                subprocess.run(["umount", str(small)], check=True)

    def _on_small_disk(self, small: Path, number: int) -> None:
        works: list[Callable[[], object]] = [
            lambda: self.go(small / "run"),
            lambda: release_solution(Run.open(self.folder / "whole"), "knee", small / "release"),
            lambda: microaggregate_files(
                self.folder / "many.parquet", list("abcd"), 5, small / "blocks", np.random.default_rng(3), block=2_500
            ),
        ]
        kind = number % 3
        code = done(works[kind])
        self.counts["disk: tried"] += 1
        self.counts["disk: refused in a sentence"] += code == 3
        self.expect(code in (0, 3), f"a full disk ends in a sentence, work {kind}, not in exit {code}")
        if kind == 0:
            if (small / "run").exists():
                self.expect(sound(small / "run"), "the store on a full disk is sound")
                if subprocess.run(["mount", "-o", "remount,size=8m", str(small)], check=False).returncode == 0:
                    self.expect(done(works[0]) == 0, "a run goes on when there is room again")
                    self.expect(content(small / "run") == self.whole, "the same bits after a full disk")
                    self.counts["disk: runs that went on to the same bits"] += 1
        elif kind == 1 and (small / "release").exists():
            self.expect(done(lambda: self._demand_sound(small / "release")) == 0, "a release on a full disk is sound")
        if code == 3 and kind:
            self.expect(not any(small.iterdir()), "nothing is left on the full disk")


def _serve(desk: Path, told: int) -> None:
    serve(desk, 0, lambda text: os.write(told, f"{text}\n".encode()), browser=False)


def _visit(port: int, token: str) -> None:
    """Save choices and publish, as fast as the server answers, until it is gone."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", f"/?token={token}")
    answer = connection.getresponse()
    answer.read()
    cookie = (answer.getheader("set-cookie") or "").split(";")[0]
    headers = {
        "Cookie": cookie,
        "Origin": f"http://127.0.0.1:{port}",
        "Content-Type": "application/x-www-form-urlencoded",
    }
    try:
        connection.request("GET", "/front.json", headers=headers)
        knee = json.loads(connection.getresponse().read())["knee"]
        for turn in range(10_000):
            save = (f"/choose/{knee}", f"/pin/{knee}", "/limits", f"/unpin/{knee}")
            path = "/release/export" if turn % 12 == 4 else save[turn % 4]
            body = {"/limits": "loss=90&risk=90", "/release/export": f"folder=studio-release-{port}-{turn}&title=T"}
            connection.request("POST", path, body=body.get(path, ""), headers=headers)
            connection.getresponse().read()
    except (OSError, http.client.HTTPException):
        return


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = {"run": 60, "resume": 60, "release": 60, "blocks": 60, "studio": 40, "disk": 30}
    for kind, times in kinds.items():
        parser.add_argument(f"--{kind}", type=int, default=times)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        bench = Bench(Path(name), random.Random(asked.seed))
        sys.stdout.write(f"a run never disturbed: {bench.took:.1f} s, {len(bench.whole)} solutions\n")
        works: list[tuple[int, Callable[[], None]]] = [
            (asked.run, lambda: bench.run(asked.run, 0, "run")),
            (asked.resume, lambda: bench.run(-(-asked.resume // 3), 2, "resume")),
            (asked.release, lambda: bench.release(asked.release)),
            (asked.blocks, lambda: bench.blocks(asked.blocks)),
            (asked.studio, lambda: bench.studio(asked.studio)),
            (asked.disk, lambda: bench.disk(asked.disk)),
        ]
        for times, work in works:
            if times:
                before, began = Counter(bench.counts), time.monotonic()
                work()
                for what, count in (bench.counts - before).items():
                    sys.stdout.write(f"  {what}: {count}\n")
                sys.stdout.write(f"  ({time.monotonic() - began:.0f} s)\n")
                sys.stdout.flush()
    kills, hits, broken = (
        sum(count for what, count in bench.counts.items() if word in what) for word in (": kills", "at work", "BROKEN")
    )
    sys.stdout.write(f"{kills} kills, {hits} met a process at work; {broken} broken promises\n")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
