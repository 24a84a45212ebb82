"""The clock: wall time of budgets, time of first points, hypervolume over time, threads against serial, deadlines.

Every part stands alone; --json FILE keeps its figures beside those of other parts, e.g. benchmarks/results/clock.json.

Usage: python benchmarks/clock.py PART …

imports                  CPU and wall seconds of commands that do little (20 s)
budgets FILE [SECONDS …] wall time of runs of 2, 5, 10, 30 s with the plans that init writes (2½ min)
front FILE [SECONDS]     first releasable point, first of each search, hypervolume over time (2½ min)
growth [ROWS …]          budgets of 10 and 30 s (60 s from 10⁶ rows on) on invented people (6 min)
against OLD FILE         an older version and this one on one plan: hypervolume by budget (5 min)
longer FILE …            whether a run of 12 s is no worse than one of 4 s, for three seeds (1½ min a file)
threads FILE             seconds of the same quanta by threads and by the serial engine (2 min)
breeding                 share of the quanta of every search that goes into drawing parents and making children (1 min)
release FILE [OLD]       CPU seconds of releases beside none to five earlier ones; OLD for a comparison (5 min)
release ROWS [OLD]       the same on so many invented people, beside none and one (10⁶: 15 min)
phases FILE [SECONDS …]  seconds of imports, reading, baselines, measuring, search, closing (1 min)
partition                partition(values, k=5, seconds) on 200 000 rows, and on an empty cache (1 min)

Times are rough, by the budgets, on a quiet machine with compiled kernels.

OLD is a checkout of the older version, e.g. git worktree add --detach FOLDER 6e408ed (0.1).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

BUDGETS = (2, 5, 10, 30)
MOMENTS = (2, 5, 10, 30, 120)
ROWS = (1_000, 10_000, 120_000, 1_000_000)
GENERATIONS = 3
"""Generations of every search by each engine."""
OLD_BUDGET = 20
"""Seconds of the older version, which it counts in CPU and exceeds: 205 s for Adult."""
CHILDREN = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""The environment of commands: an installed package has its byte code, so that theirs is kept too."""

_figures: list[dict[str, Any]] = []


def note(part: str, text: str, **figures: Any) -> None:
    """Print a line, and keep its figures."""
    print(text, flush=True)
    _figures.append({"part": part, **figures})


def crypsis(*words: object, source: Path | None = None) -> float:
    """Wall seconds of a command, of this version or of another one."""
    environment = CHILDREN if source is None else {**CHILDREN, "PYTHONPATH": str(source)}
    started = time.monotonic()
    done = subprocess.run([sys.executable, "-m", "crypsis", *map(str, words)], capture_output=True, env=environment)
    if done.returncode:
        sys.exit(done.stderr.decode())
    return time.monotonic() - started


def imports() -> None:
    """Commands that do little: the least of five turns, since the first one makes byte code."""
    for words in (["--version"], ["init", "--help"], ["check", "--help"], ["check", "--schema"]):
        best: tuple[float, float] = (float("inf"), float("inf"))
        for _ in range(5):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            wall = crypsis(*words)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            best = min(best, (cpu, wall))
        title = " ".join(words)
        note(
            "imports",
            f"{title:16} {best[0]:5.2f} s CPU  {best[1]:5.2f} s wall",
            command=title,
            cpu=best[0],
            wall=best[1],
        )


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
            kept = took <= 1.05 * seconds + 0.3
            points = front_of(run)
            note(
                "budgets",
                f"{plan.stem:24} budget {seconds:3} s  wall {took:7.2f} s  {'kept' if kept else 'NOT KEPT'}; "
                f"{len(points):3} on the front, hypervolume {volume(points):.4f}",
                plan=plan.stem,
                budget=seconds,
                wall=took,
                kept=kept,
                points=len(points),
                hypervolume=volume(points),
            )


def front_of(run: Path, source: Path | None = None) -> list[tuple[float, float]]:
    """Loss and risk of what the front command of a version prints; ours by default."""
    command = [sys.executable, "-m", "crypsis", "front", str(run), "--json"]
    environment = CHILDREN if source is None else {**CHILDREN, "PYTHONPATH": str(source)}
    said = json.loads(subprocess.run(command, check=True, capture_output=True, env=environment).stdout)
    return [(each["figures"]["loss"], each["figures"]["risk"]) for each in said["front"]]


def volume(points: list[tuple[float, float]]) -> float:
    """Hypervolume of points by loss and risk, 0 to 1."""
    from crypsis.run.search_state import Outlook

    outlook = Outlook()
    for loss, risk in points:
        outlook.add(loss, risk, 0.0)
    return outlook.volume


def against(old: Path, file: Path, folder: Path) -> None:
    """Both versions on the plan that the older one writes, each by its own figures of loss and risk."""
    source, plan = old.resolve() / "src", folder / "old.toml"
    crypsis("init", file.resolve(), "-o", plan, source=source)
    crypsis("run", plan, "--budget", "5s", "-o", folder / "warm", "--quiet")
    for seconds in BUDGETS:
        run = folder / f"ours {seconds}"
        took = crypsis("run", plan, "--budget", f"{seconds}s", "-o", run, "--seed", 1, "--quiet")
        _beside("this version", seconds, took, volume(front_of(run)))
    took = crypsis("run", plan, "--budget", f"{OLD_BUDGET}s", "-o", folder / "theirs", "--seed", 1, source=source)
    _beside("the older version", OLD_BUDGET, took, volume(front_of(folder / "theirs", source)))


def _beside(version: str, budget: int, wall: float, found: float) -> None:
    text = f"{version:18} budget {budget:3} s  wall {wall:7.1f} s  hypervolume {found:.4f}"
    note("against", text, version=version, budget=budget, wall=wall, hypervolume=found)


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
            note(
                "longer",
                f"{file.stem:20} seed {seed}: hypervolume {less:.4f} -> {more:.4f}, "
                f"least loss {loss:.3f} -> {least:.3f}  {better}",
                file=file.stem,
                seed=seed,
                hypervolumes=[less, more],
                losses=[loss, least],
            )


def front(file: Path, seconds: float, folder: Path) -> None:
    """When the first points come, and the hypervolume over time: seconds after imports, without compiling."""
    from crypsis.engines import engine
    from crypsis.plan import Plan
    from crypsis.run import Run

    plan, seen, moments = planned(file, folder), set[str](), list(MOMENTS)
    crypsis("run", plan, "--budget", "5s", "-o", folder / "warm", "--quiet")
    with engine() as place:
        run = Run.start(Plan.read(plan), folder / "front", place, home=folder, seed=1, budget=f"{seconds:g}s")
        found = 0.0
        for step in run.proceed():
            while moments and step.seconds > moments[0]:
                moment = moments.pop(0)
                note("front", f"hypervolume at {moment:4} s: {found:.4f}", seconds=moment, hypervolume=found)
            news = ["releasable point"] if step.found.points else []
            news += [f"point of {step.title}"] if step.what in ("measured", "baseline") else []
            for each in news:
                if each not in seen:
                    note("front", f"first {each} after {step.seconds:.2f} s", first=each, seconds=step.seconds)
            seen.update(news)
            found = step.found.hypervolume
        text = f"hypervolume at the end: {found:.4f}; compiling not charged: {step.compiling:.1f} s"
        note("front", text, seconds=step.seconds, hypervolume=found, compiling=step.compiling)
        run.close()


def growth(rows: tuple[int, ...], folder: Path) -> None:
    """The budgets on tables of growing length."""
    for each in rows:
        file = people(each, folder)
        budgets(file, Path(tempfile.mkdtemp(dir=folder)), (10, 30) if each < 10**6 else (60,), plain=False)


def threads(file: Path, folder: Path) -> None:
    """The same generations by the serial engine and by threads, and the sum of both over the searches."""
    from crypsis.engines import engine
    from crypsis.plan import Plan
    from crypsis.run import Run

    plan, total = Plan.read(planned(file, folder)), {"serial": 0.0, "threads": 0.0}
    for number, choice in enumerate(plan.search):
        part = plan.model_copy(update={"search": (choice,)})
        took = {}
        for turn, (name, budget) in enumerate((("threads", 1), ("serial", GENERATIONS), ("threads", GENERATIONS))):
            with engine(name) as place:  # the first turn compiles and loads
                words = f"{budget} generations"
                run = Run.start(part, folder / f"{turn}{number}", place, home=folder, seed=1, budget=words)
                started = time.monotonic()
                for _ in run.proceed():
                    pass
                took[name] = time.monotonic() - started
                run.close()
        total = {name: total[name] + took[name] for name in total}
        _side_by_side(choice.name, took)
    _side_by_side("whole run", total)


def _side_by_side(title: str, took: dict[str, float]) -> None:
    ratio = took["serial"] / took["threads"]
    text = f"{title:16} serial {took['serial']:7.2f} s  threads {took['threads']:7.2f} s  {ratio:.2f} times"
    note("threads", text, search=title, **took)


def breeding() -> None:
    """CPU seconds of thirty quanta of every search on 1 000 people, and those of proposing children within them."""
    import numpy as np

    from crypsis.engines import Serial
    from crypsis.evolution.strategies import Elitist
    from crypsis.searches import searches
    from crypsis.table.example import example

    table, spent, propose = example(1000, seed=1), [0.0], Elitist.propose

    def timed(*given: Any) -> Any:
        began = time.process_time()
        children = propose(*given)
        spent[0] += time.process_time() - began
        return children

    Elitist.propose = timed  # type: ignore[method-assign, assignment]
    for name in searches:
        search = searches.build(name, **searches[name].first_settings(table, 5))
        if search.obstacle(table):
            continue
        problem = search.problem(search.encoding(table), None, np.random.default_rng(0))
        state = problem.strategy.begin(problem, np.random.default_rng(0), Serial())
        spent[0], began = 0.0, time.process_time()
        for _ in range(30):
            state = problem.strategy.advance(problem, state, Serial())
        took = time.process_time() - began
        text = f"{name:16} quanta {took:6.2f} s CPU, breeding {spent[0]:6.3f} s, {100 * spent[0] / took:5.1f} %"
        note("breeding", text, search=name, quanta=took, breeding=spent[0])


def people(rows: int, folder: Path) -> Path:
    """A file of so many invented people."""
    from crypsis.table.example import example
    from crypsis.table.files import write_table

    file = folder / f"people-{rows}.csv"
    write_table(example(rows), file)
    return file


def release(given: str, folder: Path, old: Path | None = None) -> None:
    """Solutions of two runs in turn, beside all earlier ones: seconds of either version, and whether files agree."""
    file, most = (people(int(given), folder), 2) if given.isdigit() else (Path(given), 6)
    plan = planned(file, folder)
    versions = {"this version": None} if old is None else {"the older one": old.resolve() / "src", "this version": None}
    files: dict[int, set[str]] = {}
    for version, source in versions.items():
        environment = {**CHILDREN, "CRYPSIS_HOME": str(folder / f"home {version}")}
        environment |= {} if source is None else {"PYTHONPATH": str(source)}
        runs = [folder / f"{version} {seed}.run" for seed in (1, 2)]
        for seed, run in enumerate(runs, start=1):
            crypsis("run", plan, "--budget", "2 generations", "-o", run, "--seed", seed, "--quiet", source=source)
        for earlier in range(most):
            out = folder / f"{version} {earlier}"
            cpu = _release(runs[earlier % 2], out, environment)
            [written] = out.glob("public/data.*")
            records = b"\n".join(sorted(written.read_bytes().splitlines()))  # they are published in a drawn order
            files.setdefault(earlier, set()).add(hashlib.sha256(records).hexdigest())
            same = "" if old is None or len(files[earlier]) == 1 else "; OTHER RECORDS"
            text = f"{version:14} beside {earlier} earlier releases {cpu:7.2f} s CPU{same}"
            note("release", text, version=version, earlier=earlier, cpu=cpu, file=file.stem, same=not same)


def _release(run: Path, out: Path, environment: dict[str, str]) -> float:
    """CPU seconds of the release that is written, after one that is refused has told what must be waived."""
    waivers = out.with_suffix(".toml")
    command = [sys.executable, "-m", "crypsis", "release", str(run), "-o", str(out)]
    for words in (["--propose", str(waivers)], ["--waivers", str(waivers)]):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([*command, *words], capture_output=True, text=True, env=environment)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode == 0:
            return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        if not waivers.exists():
            break
        reasons = waivers.read_text(encoding="utf-8").replace('because = ""', 'because = "released to be timed alone"')
        waivers.write_text(reasons, encoding="utf-8")
    sys.exit(done.stderr)


PHASES = ("imports", "reading", "baselines", "measuring", "search", "closing")
"""Parts of a run, in the order in which they begin."""


def phases(file: Path, folder: Path, seconds_of_runs: tuple[int, ...] = (2, 10)) -> None:
    """Wall seconds of each part of a run, plain and cautious plan, in a process of its own that began with imports."""
    for words in ((), ("--cautious",)):
        plan = planned(file, folder, *words)
        crypsis("run", plan, "--budget", "5s", "-o", folder / f"warm{len(words)}", "--quiet")
        for seconds in seconds_of_runs:
            out = folder / f"phases {seconds}{''.join(words)}"
            command = [sys.executable, __file__, "phases-of", str(plan), str(seconds), str(out)]
            spent = json.loads(subprocess.run(command, check=True, capture_output=True, env=CHILDREN).stdout)
            parts = ", ".join(f"{phase} {spent[phase]:.2f}" for phase in PHASES)
            text = f"{plan.stem:18} {seconds:3} s: {parts}; {spent['searched']} points of searches"
            note("phases", text, plan=plan.stem, budget=seconds, **spent)


def phases_of(plan: Path, seconds: float, out: Path) -> None:
    """Print the parts of one run; the clock of the run begins with the process."""
    from crypsis.engines import engine
    from crypsis.plan import Plan
    from crypsis.run import Run
    from crypsis.run.clock import Clock, command_start

    spent = dict.fromkeys(PHASES, 0.0)
    kinds = {"baseline": "baselines", "making": "baselines", "measured": "measuring", "measuring": "measuring"}
    clock = Clock(began=command_start())
    with engine() as place:
        spent["imports"] = clock.elapsed
        run = Run.start(Plan.read(plan), out, place, home=plan.parent, seed=1, budget=f"{seconds:g}s")
        run.began, last, compiling = command_start(), clock.elapsed, 0.0
        spent["reading"] = last - spent["imports"]
        for step in run.proceed():
            spent[kinds.get(step.what, "search")] += step.seconds - last
            last, compiling = step.seconds, step.compiling
        searched = sum(not each.baseline for each in run.front.everything)
        run.close()
    spent["closing"] = clock.elapsed - last
    print(json.dumps({**spent, "searched": searched, "compiling": compiling}))


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
        _said([sys.executable, "-c", code.format(n=n, s=s)], CHILDREN)
    with tempfile.TemporaryDirectory() as empty:
        print("with an empty cache (compiling is not counted):", flush=True)
        _said([sys.executable, "-c", code.format(n=4_000, s=5)], {**CHILDREN, "NUMBA_CACHE_DIR": empty})


def _said(command: list[str], environment: dict[str, str]) -> None:
    line = subprocess.run(command, check=True, env=environment, capture_output=True, text=True).stdout.strip()
    note("partition", line, line=line)


def main() -> None:
    """Run the part that is named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = ["imports", "budgets", "front", "growth", "against", "longer", "threads", "breeding", "partition"]
    names += ["release", "phases", "phases-of"]
    parser.add_argument("part", choices=names)
    parser.add_argument("given", nargs="*", help="files, seconds or rows, as above")
    parser.add_argument("--json", type=Path, help="keeps the figures of the part, beside those of others")
    asked = parser.parse_args()
    given = asked.given
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        parts = {
            "imports": imports,
            "budgets": lambda: budgets(Path(given[0]), folder, tuple(int(each) for each in given[1:]) or BUDGETS),
            "front": lambda: front(Path(given[0]), float(given[1]) if len(given) > 1 else MOMENTS[-1], folder),
            "growth": lambda: growth(tuple(int(each) for each in given) or ROWS, folder),
            "against": lambda: against(Path(given[0]), Path(given[1]), folder),
            "longer": lambda: longer([Path(each) for each in given], folder),
            "threads": lambda: threads(Path(given[0]), folder),
            "breeding": breeding,
            "partition": partition,
            "release": lambda: release(given[0], folder, *(Path(each) for each in given[1:2])),
            "phases": lambda: phases(Path(given[0]), folder, tuple(int(each) for each in given[1:]) or (2, 10)),
            "phases-of": lambda: phases_of(Path(given[0]), float(given[1]), Path(given[2])),
        }
        parts[asked.part]()
    if asked.json:
        kept = json.loads(asked.json.read_text(encoding="utf-8")) if asked.json.exists() else []
        kept = [each for each in kept if each["part"] != asked.part] + _figures
        asked.json.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
