"""Draw the animated front of the README: how the front of a search on the built-in example moved, as an SVG that loops.

python docs/replay.py [--rows 1000] [--budget 30s] [--out docs/images/replay.svg]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from front import evolved

from crypsis.run.choosing import Solution

HERE = Path(__file__).parent
WIDE, HIGH, LEFT, TOP, RIGHT, BOTTOM = 720, 400, 56, 18, 16, 46
LASTS = 12.0
"""Seconds of one turn; the last third shows the end."""
STAGES = 24
INK, SOFT, LINE, FOUND, BEATEN = "#1c2126", "#525d68", "#d5dbe0", "#0b6e4f", "#9aa4ad"


class Axes:
    """Where loss and risk lie in the picture; risk by its square root."""

    def __init__(self, solutions: Sequence[Solution]) -> None:
        losses, risks = ([s.figure(axis) or 0.0 for s in solutions] for axis in ("loss", "risk"))
        self.low, self.high, self.most = min(losses) - 2, max(losses) + 2, 1.1 * max(risks)

    def x(self, loss: float) -> float:
        return LEFT + (WIDE - LEFT - RIGHT) * (loss - self.low) / (self.high - self.low)

    def y(self, risk: float) -> float:
        return HIGH - BOTTOM - (HIGH - BOTTOM - TOP) * (risk / self.most) ** 0.5


def drawn(solutions: Sequence[Solution]) -> str:
    """The picture: solutions appear in the order in which they were measured, with the front as it was then."""
    axes, count = Axes(solutions), len(solutions)
    ends = sorted({max(1, round(count * stage / STAGES)) for stage in range(1, STAGES + 1)})
    times = [0.66 * (end - ends[0]) / count for end in ends]  # something is seen from the first moment on
    body = [*_axes(axes)]
    before = 0
    for end, time, after in zip(ends, times, [*times[1:], 1.0], strict=True):
        body += [_dot(axes, each, time) for each in solutions[before:end]]
        body.append(_line(axes, non_dominated(solutions[:end]), time, after))
        before = end
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} {HIGH}" font-family="system-ui, sans-serif" '
        f'font-size="13" role="img" aria-label="The front of loss and risk moves while the search runs">'
        f'<rect width="{WIDE}" height="{HIGH}" fill="#fff"/>{"".join(body)}</svg>\n'
    )


def non_dominated(solutions: Sequence[Solution]) -> list[Solution]:
    """Solutions that no other one beats in both figures, by rising loss."""
    kept = list[Solution]()
    for each in sorted(solutions, key=lambda s: (s.figure("loss") or 0.0, s.figure("risk") or 0.0)):
        if not kept or (each.figure("risk") or 0.0) < (kept[-1].figure("risk") or 0.0):
            kept.append(each)
    return kept


def _axes(axes: Axes) -> list[str]:
    made = []
    for loss in range(0, 101, 10):
        if axes.low <= loss <= axes.high:
            x = axes.x(loss)
            made.append(f'<path d="M{x:.1f},{TOP}V{HIGH - BOTTOM}" stroke="{LINE}"/>')
            made.append(f'<text x="{x:.1f}" y="{HIGH - 28}" text-anchor="middle" fill="{SOFT}">{loss}</text>')
    for risk in (1, 2, 5, 10, 20):
        if risk <= axes.most:
            y = axes.y(risk)
            made.append(f'<path d="M{LEFT},{y:.1f}H{WIDE - RIGHT}" stroke="{LINE}"/>')
            made.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end" fill="{SOFT}">{risk}</text>')
    middle = (LEFT + WIDE - RIGHT) / 2
    made.append(f'<text x="{middle}" y="{HIGH - 8}" text-anchor="middle" fill="{INK}">information lost, %</text>')
    made.append(
        f'<text transform="rotate(-90)" x="{-(HIGH - BOTTOM) / 2}" y="14" text-anchor="middle" fill="{INK}">'
        f"people found by the intruder, %</text>"
    )
    return made


def _shown(time: float, after: float = 1.0) -> str:
    """Seen from one moment of the turn to another."""
    if after >= 1.0:
        values, keys = "0;0;1;1", f"0;{time:.4f};{time:.4f};1"
    else:
        values, keys = "0;0;1;1;0;0", f"0;{time:.4f};{time:.4f};{after:.4f};{after:.4f};1"
    return (
        f'<animate attributeName="opacity" values="{values}" keyTimes="{keys}" dur="{LASTS}s" calcMode="discrete" '
        f'repeatCount="indefinite"/>'
    )


def _dot(axes: Axes, each: Solution, time: float) -> str:
    x, y = axes.x(each.figure("loss") or 0.0), axes.y(each.figure("risk") or 0.0)
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{BEATEN}">{_shown(time)}</circle>'


def _line(axes: Axes, front: Sequence[Solution], time: float, after: float) -> str:
    places = [(axes.x(each.figure("loss") or 0.0), axes.y(each.figure("risk") or 0.0)) for each in front]
    path = "".join(f"H{x:.1f}V{y:.1f}" if number else f"M{x:.1f},{y:.1f}" for number, (x, y) in enumerate(places))
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{FOUND}"/>' for x, y in places)
    still = ' opacity="0"' if after < 1.0 else ""  # where nothing moves, only the last front is seen
    return f'<g{still}><path d="{path}" fill="none" stroke="{FOUND}" stroke-width="2"/>{dots}{_shown(time, after)}</g>'


def main(words: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--budget", default="30s")
    parser.add_argument("--out", type=Path, default=HERE / "images" / "replay.svg")
    given = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as folder:
        found = evolved(Path(folder), given.rows, given.budget)
    measured = [s for s in found.everything if s.feasible and not s.baseline]
    given.out.write_text(drawn(sorted(measured, key=lambda s: s.number)), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
