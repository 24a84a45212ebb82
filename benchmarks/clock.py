"""The clock: wall time of budgets, time of first points, hypervolume over time, threads against serial, deadlines.

python benchmarks/clock.py budgets FILE [S …]    wall time of runs of 2, 5, 10 and 30 s with the plans that init writes
python benchmarks/clock.py front FILE SECONDS    first releasable point, first of each search, hypervolume over time
python benchmarks/clock.py growth                budgets on 1 000, 10 000, 120 000 and 1 000 000 invented people
python benchmarks/clock.py against OLD FILE      hypervolume of an older version after a budget of 20 s, beside ours
python benchmarks/clock.py longer FILE...        whether a run of 12 s is no worse than one of 4 s, for three seeds
python benchmarks/clock.py threads FILE          seconds of the same quanta by threads and by the serial engine
python benchmarks/clock.py partition             partition(values, k=5, seconds) on 200 000 rows, and on an empty cache
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

BUDGETS = (2, 5, 10, 30)
MOMENTS = (2, 5, 10, 30, 120)
ROWS = (1_000, 10_000, 120_000, 1_000_000)


def crypsis(*words: object, **environment: str) -> float:
    """Wall seconds of a command."""
    command = [sys.executable, "-c", "from crypsis.cli import main; main()", *map(str, words)]
    started = time.monotonic()
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, **environment})
    return time.monotonic() - started


def planned(file: Path, folder: Path, *words: str) -> Path:
    """The plan that init writes for a file."""
    plan = folder / f"{file.stem}{''.join(words)}.toml"
    crypsis("init", file.resolve(), *words, "-o", plan)
    return plan


def budgets(file: Path, folder: Path, seconds_of_runs: tuple[int, ...] = BUDGETS, plain: bool = True) -> None:
    """Wall time of each budget, plain and cautious plan, after one run of each that compiles; and what it found."""
    for words in ((), ("--cautious",)) if plain else (("--cautious",),):
        plan = planned(file, folder, *words)
        crypsis("run", plan, "--budget", "5s", "-o", folder / f"warm{len(words)}", "--quiet")
        for seconds in seconds_of_runs:
            run = folder / f"run {seconds}{''.join(words)}"
            took = crypsis("run", plan, "--budget", f"{seconds}s", "-o", run, "--quiet")
            kept = "kept" if took <= 1.05 * seconds + 0.3 else "NOT KEPT"
            points = front_of(run)
            found = f"{len(points):3} on the front, hypervolume {volume(points):.4f}"
            print(f"{plan.stem:24} budget {seconds:3} s  wall {took:7.2f} s  {kept}; {found}", flush=True)


def front_of(run: Path, source: Path | None = None) -> list[tuple[float, float]]:
    """Loss and risk of what the front command of a version prints; ours by default."""
    command = [sys.executable, "-c", "from crypsis.cli import main; main()", "front", str(run), "--json"]
    environment = os.environ if source is None else {**os.environ, "PYTHONPATH": str(source)}
    said = json.loads(subprocess.run(command, check=True, capture_output=True, env=environment).stdout)
    return [(each["figures"]["loss"], each["figures"]["risk"]) for each in said["front"]]


def volume(points: list[tuple[float, float]]) -> float:
    """Hypervolume of points by loss and risk, 0 to 1."""
    from crypsis.run.gain import Outlook

    outlook = Outlook()
    for loss, risk in points:
        outlook.add(loss, risk, 0.0)
    return outlook.volume


def against(old: Path, file: Path, folder: Path) -> None:
    """The front of an older version under its own plan, and ours with the same columns and no limit of risk."""
    source, theirs = old / "src", folder / "old.toml"
    crypsis("init", file.resolve(), "-o", theirs, PYTHONPATH=str(source))
    same_columns(file, theirs, folder)
    took = crypsis("run", theirs, "--budget", "20s", "-o", folder / "old", "--seed", 1, PYTHONPATH=str(source))
    before = volume(front_of(folder / "old", source))
    print(f"the older version: budget 20 s, wall {took:.1f} s, hypervolume {before:.4f}", flush=True)


def same_columns(file: Path, theirs: Path, folder: Path) -> None:
    """Hypervolume of ours after each budget, with the columns of another plan."""
    plan = planned(file, folder)
    ours, given = plan.read_text(), theirs.read_text()
    columns = given[given.index("[columns]") : given.index("[[require]]")]
    ours = ours[: ours.index("[columns]")] + columns + ours[ours.index("[[require]]") :]
    plan.write_text(re.sub(r"\[\[limit\]\]\n(?:\w+ = .*\n)+", "", ours))
    crypsis("run", plan, "--budget", "5s", "-o", folder / "warm", "--quiet")
    for seconds in BUDGETS:
        run = folder / f"ours {seconds}"
        took = crypsis("run", plan, "--budget", f"{seconds}s", "-o", run, "--seed", 1, "--quiet")
        print(f"ours: budget {seconds} s, wall {took:.1f} s, hypervolume {volume(front_of(run)):.4f}", flush=True)


def longer(files: list[Path], folder: Path) -> None:
    """Separate runs of one seed: whether the longer one dominates as much, and how much the shorter one had."""
    for file in files:
        plan = planned(file, folder, "--cautious")
        crypsis("run", plan, "--budget", "4s", "-o", folder / f"warm {file.stem}", "--quiet")
        for seed in (1, 2, 3):
            found = []
            for seconds in (4, 12):
                run = folder / f"{file.stem} {seed} {seconds}"
                crypsis("run", plan, "--budget", f"{seconds}s", "-o", run, "--seed", seed, "--quiet")
                points = front_of(run)
                found.append((volume(points), min((loss for loss, _ in points), default=100.0)))
            (less, loss), (more, least) = found
            better = "not worse" if more >= less and least <= loss else "WORSE"
            print(
                f"{file.stem:20} seed {seed}: hypervolume {less:.4f} -> {more:.4f}, "
                f"least loss {loss:.3f} -> {least:.3f}  {better}",
                flush=True,
            )


def front(file: Path, seconds: float, folder: Path) -> None:
    """When the first points come, and the hypervolume over time."""
    from crypsis.engines import engine
    from crypsis.plan import Plan
    from crypsis.run import Run

    plan, seen, moments = planned(file, folder), set[str](), list(MOMENTS)
    with engine() as place:
        run = Run.start(Plan.read(plan), folder / "front", place, home=folder, seed=1, budget=f"{seconds:g}s")
        volume = 0.0
        for step in run.proceed():
            while moments and step.seconds > moments[0]:
                print(f"hypervolume at {moments.pop(0):4} s: {volume:.4f}", flush=True)
            if step.found.points and "any" not in seen:
                seen.add("any")
                print(f"first releasable point after {step.seconds:.2f} s")
            if step.what == "measured" and step.title not in seen:
                seen.add(step.title)
                print(f"first point of {step.title} after {step.seconds:.2f} s")
            volume = step.found.hypervolume
        print(f"hypervolume at the end: {volume:.4f}; compiling not charged: {step.compiling:.1f} s")
        run.close()


def growth(folder: Path) -> None:
    """The budgets on tables of growing length."""
    from crypsis.table.example import example
    from crypsis.table.files import write_table

    for rows in ROWS:
        file = folder / f"people-{rows}.csv"
        write_table(example(rows), file)
        budgets(file, Path(tempfile.mkdtemp(dir=folder)), (5, 30), plain=False)


def threads(file: Path, folder: Path) -> None:
    """The same generations by the serial engine and by threads."""
    from crypsis.engines import engine
    from crypsis.plan import Plan
    from crypsis.run import Run

    plan = Plan.read(planned(file, folder))
    for number, choice in [*enumerate(plan.search), (-1, None)]:
        part = plan if choice is None else plan.model_copy(update={"search": (choice,)})
        took = {}
        for turn, name in enumerate(("threads", "serial", "threads")):  # the first turn compiles and loads
            with engine(name) as place:
                run = Run.start(part, folder / f"{turn}{number}", place, home=folder, seed=1, budget="6 generations")
                started = time.monotonic()
                for _ in run.proceed():
                    pass
                took[name] = time.monotonic() - started
                run.close()
        title = "whole run" if choice is None else choice.name
        ratio = took["serial"] / took["threads"]
        print(
            f"{title:16} serial {took['serial']:7.2f} s  threads {took['threads']:7.2f} s  {ratio:.2f} times",
            flush=True,
        )


def partition() -> None:
    """Deadlines of partition, and what a cold cache costs."""
    code = (
        "import time, numpy as np, crypsis; x = np.random.default_rng(0).standard_normal(({n}, 8));"
        "a = time.monotonic();"
        "found = crypsis.partition(x, k=5, seconds={s}, seed=1); took = time.monotonic() - a;"
        "mdav = crypsis.partition(x[:20000], k=5, method='mdav').sse if {n} <= 20000 else float('nan');"
        "print(f'{n} rows, {s} s: took {{took:.2f}} s, SSE {{found.sse:.1f}}, MDAV {{mdav:.1f}}')"
    )
    for n, s in ((200_000, 2), (200_000, 2), (200_000, 5), (4_000, 5)):
        subprocess.run([sys.executable, "-c", code.format(n=n, s=s)], check=True)
    with tempfile.TemporaryDirectory() as empty:
        print("with an empty cache (compiling is not counted):", flush=True)
        cold = {**os.environ, "NUMBA_CACHE_DIR": empty}
        subprocess.run([sys.executable, "-c", code.format(n=4_000, s=5)], check=True, env=cold)


def main() -> None:
    """Run the part that is named."""
    part, given = sys.argv[1], sys.argv[2:]
    np.set_printoptions(precision=4)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if part == "budgets":
            budgets(Path(given[0]), folder, tuple(int(each) for each in given[1:]) or BUDGETS)
        elif part == "front":
            front(Path(given[0]), float(given[1]), folder)
        elif part == "growth":
            growth(folder)
        elif part == "against":
            against(Path(given[0]), Path(given[1]), folder)
        elif part == "longer":
            longer([Path(each) for each in given], folder)
        elif part == "threads":
            threads(Path(given[0]), folder)
        elif part == "partition":
            partition()
        else:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
