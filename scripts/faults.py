"""Kill runs, resumed runs, releases, block processing and the studio at random moments, and fill a small disk.

    python scripts/faults.py [--only KIND …] [--run 60] [--resume 60] [--release 60] [--blocks 60] [--studio 40]
                             [--disk 30] [--seconds 840] [--tally FILE]

Every number says how often; `--only` leaves the other kinds out; no fault is begun after `--seconds`. With `--tally`
the counts are added to those of earlier parts in a file, and the table is of all of them.

Children are forked from a process that has imported everything. A kill waits until its child has begun to write, then
for a random share of the time that writing is known to take; one in seven falls anywhere. What it met is counted. After
each: no half-written release or file under its name, a store SQLite calls sound, no generation gone that somebody had
read, no choice gone that the studio had acknowledged, and, once resumed or repeated, the bits of a run that was never
disturbed. A disk of a few kilobytes needs the right to mount one; without it that part says so.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
from killing import Pace, aside, child, content, digest, done, ended, further, generations, slain, sound
from visiting import lines, serve_silently, visit

from crypsis.masking.out_of_core import microaggregate_files
from crypsis.plan import Plan
from crypsis.release import verify
from crypsis.run import Run
from crypsis.table.builders import build_hierarchy
from crypsis.table.example import example
from crypsis.table.files import write_table
from crypsis.table.table import Table

KINDS = {"run": 60, "resume": 60, "release": 60, "blocks": 60, "studio": 40, "disk": 30}
INJECTED, MET, LOST = "injected", "met work", "lost"

PLAN = """
require = [{ model = "k-anonymity", k = 3 }]
search = [
    { name = "memetic", k = 3, k_values = 4, steps = 20 },
    { name = "gomm", k = 3, population = 10, missing = "mean", memory = 8 },
    { name = "local-recoding", k = 3, k_values = 2, nodes = 64 },
]
data = { source = "people.csv" }
waive = [{ finding = "singling-out", column = "income", because = "invented amounts" }]
run = { budget = "12 generations", seed = 11, points = 6 }
[columns]
person = { role = "identifier" }
age = { role = "quasi", kind = "numeric", hierarchy = "intervals:5,10,20" }
hours = { role = "quasi", kind = "numeric", hierarchy = "intervals:10,20" }
sex = { role = "quasi", hierarchy = "merge:1" }
income = { role = "confidential", because = "invented people" }
diagnosis = { role = "confidential", because = "invented people" }
district = { role = "other", because = "invented people" }
education = { role = "other", because = "invented people" }
marital = { role = "other", because = "invented people" }
occupation = { role = "other", because = "invented people" }
"""


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

    def __init__(self, folder: Path, seed: int, seconds: float) -> None:
        self.folder, self.seed, self.until = folder, seed, time.monotonic() + seconds
        self.counts: dict[str, Counter[str]] = {}
        self.kind, self.chance = "", random.Random(seed)
        self.plan = folder / "plan.toml"
        self.plan.write_text(PLAN)
        done(lambda: write_table(example(150, seed=4), folder / "people.csv"))
        done(lambda: self._parquet(folder / "many.parquet"))
        warm(self.plan, folder / "warm")
        self.pace = Pace()
        for name in ("first", "whole"):
            number = child(self.go, folder / name)
            self.pace.whole(number, (folder / name).exists)
            self.expect(ended(number) == 0, "a run ends by itself")
        self.whole, self.generations = content(folder / "whole"), len(generations(folder / "whole"))

    def _parquet(self, path: Path) -> None:
        import polars as pl

        rng = np.random.default_rng(1)
        pl.DataFrame({name: rng.normal(size=20_000) for name in "abcd"}).write_parquet(path)

    # -- counting --

    def go_through(self, kind: str, times: int) -> None:
        """Inject faults of one kind; chance of its own, so that parts are the same alone and together."""
        self.kind, self.chance = kind, random.Random(f"{self.seed} {kind}")
        self.counts.setdefault(kind, Counter())
        getattr(self, kind)(times)

    def numbers(self, times: int) -> Iterator[int]:
        """0, 1, … as long as there is time."""
        for number in range(times):
            if time.monotonic() > self.until:
                self.count("left out, the time was over", times - number)
                return
            yield number

    def count(self, what: str, times: int = 1) -> None:
        self.counts[self.kind][what] += times

    def struck(self, hit: bool) -> None:
        self.count(INJECTED)
        self.count(MET, hit)

    def expect(self, held: bool, what: str) -> None:
        if not held:
            self.counts.setdefault(self.kind, Counter()).update([LOST, f"BROKEN: {what}"])

    # -- runs --

    def go(self, folder: Path) -> None:
        """Start or resume a run and carry it to its end."""
        begun = (folder / "run.db").exists()
        run = Run.resume(folder) if begun else Run.start(
            Plan.read(self.plan), folder, home=self.folder, text=self.plan.read_text()
        )  # fmt: skip
        for _ in run.proceed():
            pass

    def run(self, times: int) -> None:
        """Kill a run, then let it end."""
        for number in self.numbers(times):
            folder = self.folder / f"run-{number}"
            process = child(self.go, folder)
            self.pace.moment(process, folder.exists, self.chance)
            self._kill(process, folder)
            self._carry_to_its_end(folder)

    def resume(self, times: int) -> None:
        """Kill a run, and its resumption twice more, each time in what is left of it; then let it end."""
        for number in self.numbers(-(-times // 3)):
            folder = self.folder / f"resume-{number}"
            for more in (3, 2, 1):
                before = len(generations(folder))
                process = child(self.go, folder)
                share = max(1 - before / self.generations, 0.05) / more
                self.pace.moment(process, partial(further, folder, before), self.chance, share)
                self._kill(process, folder)
            self._carry_to_its_end(folder)

    def _kill(self, process: int, folder: Path) -> None:
        seen = generations(folder)
        self.struck(slain(process))
        self.expect(sound(folder), "the store is sound")
        self.expect(seen <= generations(folder), "no generation that was read is gone")
        self.count("generations read before the kill and still there", len(seen))

    def _carry_to_its_end(self, folder: Path) -> None:
        self.expect(done(self.go, folder) == 0, "a killed run can be resumed")
        same = content(folder) == self.whole
        self.count("same bits in the end", same)
        self.expect(same, "the same bits")

    # -- releases and blocks --

    def release(self, times: int) -> None:
        for number in self._written(times, "release", self.publish):
            out = self.folder / f"release-{number}"
            if out.exists():
                self.count("whole although killed")
                self.expect(done(demand_sound, out) == 0, "a release that has its name is sound")
            elif number % 8 == 0:  # publishing again costs as much as the kill
                again = done(self.publish, out) + done(demand_sound, out)
                self.count("made again and sound", again == 0)
                self.expect(again == 0, "a killed release can be made again")

    def publish(self, out: Path) -> None:
        Run.open(self.folder / "whole").release(folder=out)

    def blocks(self, times: int) -> None:
        for number in self._written(times, "blocks", self.microaggregate):
            out = self.folder / f"blocks-{number}"
            if out.exists():
                self.count("whole although killed")
            elif number % 4 == 0:
                self.expect(done(self.microaggregate, out) == 0, "killed blocks can be made again")
                self.count("made again")
            same = not out.exists() or digest(out) == digest(self.folder / "blocks-whole")
            self.expect(same, "blocks are whole and the same bits")

    def microaggregate(self, out: Path) -> None:
        source = self.folder / "many.parquet"
        microaggregate_files(source, list("abcd"), 5, out, np.random.default_rng(3), block=2_500)

    def _written(self, times: int, kind: str, make: Callable[[Path], None]) -> Iterator[int]:
        """Kill something that writes a folder, once it has begun to; the number of each."""
        pace = Pace()
        for name in ("first", "whole"):
            out = self.folder / f"{kind}-{name}"
            process = child(make, out)
            pace.whole(process, partial(aside, out))
            self.expect(ended(process) == 0, "undisturbed work ends by itself")
        for number in self.numbers(times):
            out = self.folder / f"{kind}-{number}"
            process = child(make, out)
            pace.moment(process, partial(aside, out), self.chance)
            self.count("killed while something lay aside", aside(out))
            self.struck(slain(process))
            yield number

    # -- the studio --

    def studio(self, times: int) -> None:
        """Kill the server while it saves choices and publishes; what it had acknowledged is there."""
        home = self.folder / "home"
        home.mkdir(mode=0o700)
        os.environ["CRYPSIS_STUDIO_HOME"] = str(home)
        lasts = 3.0
        for number in self.numbers(times):
            reader, writer = os.pipe()
            server = child(serve_silently, self.folder / "whole", writer)
            os.close(writer)
            with os.fdopen(reader) as told:
                address = re.search(r"http://127.0.0.1:(\d+)(/s/\w+)/\?token=(\S+)", told.readline())
            if address is None:
                self.expect(False, "the studio starts again after a kill")
                ended(server)
                continue
            diary = self.folder / f"diary-{number}"
            visitor = child(visit, int(address[1]), address[2], address[3], diary)
            began = time.monotonic()
            if number == 0:  # how long until a release is published
                while not any("release" in line for line in lines(diary)) and time.monotonic() < began + 60:
                    time.sleep(0.05)
                lasts = time.monotonic() - began
            else:
                while not lines(diary) and time.monotonic() < began + 60:
                    time.sleep(0.005)
                time.sleep(self.chance.uniform(0.0, 1.2 * lasts))
            self._kill_studio(server, visitor, diary)

    def _kill_studio(self, server: int, visitor: int, diary: Path) -> None:
        slain(server)
        self.struck(ended(visitor) == 0)  # its request was not answered
        kept = [json.loads(line) for line in lines(diary)]
        self.count("saves acknowledged and still there", len(kept))
        desk = self.folder / "whole"
        self.expect(sound(desk) and content(desk) == self.whole, "the run behind a killed studio is as it was")
        for plan in self.folder.glob("*plan.toml"):
            Plan.read(plan)
        for path in self.folder.glob(".*-studio.json"):
            choices = json.loads(path.read_text())
            for line in kept:
                if "limits" in line:
                    self.expect(choices["limits"]["loss"] >= line["limits"], "limits acknowledged are kept")
                if "chosen" in line:
                    self.expect(choices["chosen"].get("whole") == line["chosen"], "a choice acknowledged is kept")
        for line in kept:
            if "release" in line:
                self.expect((self.folder / line["release"]).is_dir(), "a release acknowledged is there")
        for out in self.folder.glob("studio-release-*"):
            self.count("releases that appeared, all sound")
            self.expect(done(demand_sound, out) == 0, "a release of a killed studio is sound")
            shutil.rmtree(out)

    # -- full disks --

    def disk(self, times: int) -> None:
        """Run, release and microaggregate on a disk that fills up at some point."""
        small = self.folder / "small"
        small.mkdir()
        for number in self.numbers(times):
            size = int(2 ** self.chance.uniform(4, 9.5))  # 16 to about 700 kB
            mounted = subprocess.run(
                ["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", str(small)], capture_output=True, check=False
            )
            if mounted.returncode:
                self.count("not tried, a disk may not be mounted here")
                return
            try:
                self._on_small_disk(small, number % 3)
            finally:
                subprocess.run(["umount", str(small)], check=True)

    def _on_small_disk(self, small: Path, kind: int) -> None:
        works: tuple[Callable[[Path], None], ...] = (self.go, self.publish, self.microaggregate)
        out = small / "made"
        code = done(works[kind], out)
        self.struck(code == 3)
        self.expect(code in (0, 3), f"a full disk ends in a sentence, work {kind}, not in exit {code}")
        if kind == 0 and out.exists():
            self.expect(sound(out), "the store on a full disk is sound")
            if subprocess.run(["mount", "-o", "remount,size=8m", str(small)], check=False).returncode == 0:
                self._carry_to_its_end(out)
        elif kind == 1 and out.exists():
            self.expect(done(demand_sound, out) == 0, "a release on a full disk is sound")
        if code == 3 and kind:
            self.expect(not any(small.iterdir()), "nothing is left on the full disk")


def demand_sound(out: Path) -> None:
    if not verify(out).sound:
        raise ValueError("not sound")


def _table(counts: dict[str, Counter[str]]) -> str:
    rows = [(kind, *(counts[kind][what] for what in (INJECTED, MET, LOST))) for kind in KINDS if kind in counts]
    rows.append(("all", *(sum(column) for column in list(zip(*rows, strict=True))[1:])))
    head = f"{'kind':8} {INJECTED:>8} {MET:>8} {LOST:>5}"
    return "\n".join([head, *(f"{kind:8} {a:8} {b:8} {c:5}" for kind, a, b, c in rows)])


def _added(counts: dict[str, Counter[str]], path: Path | None) -> dict[str, Counter[str]]:
    """Counts together with those of earlier parts."""
    if path is None:
        return counts
    earlier = json.loads(path.read_text()) if path.exists() else {}
    both = {kind: Counter(earlier.get(kind, {})) + counts.get(kind, Counter()) for kind in {**earlier, **counts}}
    path.write_text(json.dumps(both, indent=1) + "\n")
    return both


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for kind, times in KINDS.items():
        parser.add_argument(f"--{kind}", type=int, default=times)
    parser.add_argument("--only", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--seconds", type=float, default=840.0)
    parser.add_argument("--tally", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        bench = Bench(Path(name), asked.seed, asked.seconds)
        sys.stdout.write(f"a run never disturbed: {bench.pace.after:.1f} s, {len(bench.whole)} solutions\n")
        for kind in asked.only:
            if times := getattr(asked, kind):
                began = time.monotonic()
                bench.go_through(kind, times)
                detail = ", ".join(f"{count} {what}" for what, count in bench.counts[kind].items())
                sys.stdout.write(f"{kind}: {detail} ({time.monotonic() - began:.0f} s)\n")
                sys.stdout.flush()
    counts = _added(bench.counts, asked.tally)
    sys.stdout.write(_table(counts) + "\n")
    return 1 if any(kinds[LOST] for kinds in counts.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
