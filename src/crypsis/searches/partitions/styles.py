"""Ways of publishing a partition: in a candidate, the gene before k is the place of one of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from crypsis.encodings.partition import TAIL
from crypsis.evolution import Genome
from crypsis.masking.representatives import Representatives


def styled(candidate: Genome, styles: Iterable[int]) -> list[Genome]:
    """The partition of a candidate, published in other ways."""
    found = []
    for style in styles:
        found.append(candidate.copy())
        found[-1][-TAIL] = style
    return found


@dataclass(frozen=True)
class Styles:
    """The ways of publishing a partition: in a candidate, the gene before k is the place of one of them."""

    chosen: tuple[Representatives, ...]

    def express(self, candidate: Genome) -> Genome:
        """The genome of a candidate."""
        return styled(candidate, [self.chosen[int(candidate[-TAIL])].code])[0]

    def variants(self, candidate: Genome) -> list[Genome]:
        """The same partition in every other way."""
        return styled(candidate, [place for place in range(len(self.chosen)) if place != int(candidate[-TAIL])])
