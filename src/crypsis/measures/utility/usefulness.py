"""When a solution counts as useful, and when a column as ruined: the thresholds, in one place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from crypsis.registry import Settings

Harm = Literal["loss", "distance", "vanished", "tail", "constant", "total"]
CONSTANT = 50.0
"""A column that became constant has the figure 100, any other 0."""


@dataclass(frozen=True)
class Ruin:
    """A column beyond a threshold.

    Attributes
    ----------
    column : str
        The column.
    harm : {"loss", "distance", "vanished", "tail", "constant", "total"}
        What is beyond its threshold: the loss of the column, the distance of its distribution, the share of the
        records whose value no longer occurs, the share of the records that one end of a number lost, that the column
        has one value left, or the change of the total of a number.
    found, at_most : float
        What was found and the threshold, per cent.

    Examples
    --------
    >>> crypsis.Usefulness().ruins({"town": {"loss": 5.0, "distance": 31.0, "vanished": 2.0}})[0].harm
    'distance'
    """

    column: str
    harm: Harm
    found: float
    at_most: float


class Usefulness(Settings):
    """Thresholds beyond which a column is ruined and a file no longer useful.

    A solution with a ruined column is marked, and no offer names it while another solution has none.

    Examples
    --------
    >>> useful = crypsis.Usefulness(column_loss=40)
    >>> useful.ruins({"age": {"loss": 45.0, "distance": 3.0, "vanished": 0.0}})
    (Ruin(column='age', harm='loss', found=45.0, at_most=40.0),)
    """

    analyses: float = Field(
        default=75.0,
        ge=0,
        le=100,
        description="smallest share of the estimates of analyses drawn at random that a useful file keeps, per cent",
    )
    loss: float = Field(
        default=60.0, gt=0, le=200, description="largest overall loss of a file worth considering, per cent"
    )
    column_loss: float = Field(
        default=100.0,
        gt=0,
        le=200,
        description="largest loss of one column, per cent; at 100 its cells say no more than its distribution",
    )
    distance: float = Field(
        default=25.0,
        gt=0,
        le=100,
        description="largest distance of the distribution of one column before and after, per cent of the records: "
        "total variation of categories; Kolmogorov distance of numbers, small shifts forgiven",
    )
    vanished: float = Field(
        default=10.0, gt=0, le=100, description="largest share of the records whose value no longer occurs, per cent"
    )
    tail: float = Field(
        default=100.0,
        gt=0,
        le=100,
        description="largest share of the records below the 5 % point of a number, or above its 95 % point, that are "
        "gone from there, per cent; at 100 an end may become empty",
    )
    total: float = Field(
        default=20.0, gt=0, le=1000, description="largest change of the total of a number, either way, per cent"
    )
    constant: bool = Field(
        default=False, description="whether a column that varies in the original may have one value in the file"
    )

    @property
    def limits(self) -> dict[Harm, float]:
        """The threshold of each harm to a column that is limited."""
        every: dict[Harm, float] = {
            "loss": self.column_loss, "distance": self.distance, "vanished": self.vanished, "tail": self.tail,
            "constant": CONSTANT, "total": self.total,
        }  # fmt: skip
        open_ = {"tail": self.tail >= 100, "constant": self.constant}
        return {harm: most for harm, most in every.items() if not open_.get(harm)}

    def severity(self, figures: Mapping[str, float]) -> float:
        """The harm to a column that is nearest to its threshold, or farthest beyond it, as a part of the threshold.

        Parameters
        ----------
        figures : mapping
            Harm → per cent.

        Returns
        -------
        float
        """
        return max(figures.get(harm, 0.0) / most for harm, most in self.limits.items())

    def ruins(self, columns: Mapping[str, Mapping[str, float]]) -> tuple[Ruin, ...]:
        """What is beyond a threshold, worst first.

        Parameters
        ----------
        columns : mapping
            Column → harm → per cent.

        Returns
        -------
        tuple of Ruin
        """
        found = [
            Ruin(name, harm, figures[harm], most)
            for name, figures in columns.items()
            for harm, most in self.limits.items()
            if figures.get(harm, 0.0) > most
        ]
        return tuple(sorted(found, key=lambda ruin: (-ruin.found / ruin.at_most, ruin.column, ruin.harm)))


def ruined_columns(ruins: Iterable[Ruin]) -> tuple[str, ...]:
    """The ruined columns, worst first, each once."""
    return tuple(dict.fromkeys(ruin.column for ruin in ruins))
