"""Privacy models about a population: only its members are released, without the column of membership."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import PlanError
from crypsis.privacy.model import PrivacyModel
from crypsis.release.readback import put_back
from crypsis.table.table import Table


@dataclass(frozen=True, eq=False)
class Population:
    """The population of a file; internal, never released.

    Parameters
    ----------
    masked : Table
        All people, masked, with the column of membership.
    original : Table or None
        The same before masking.
    members : int[m]
        Rows of those who are in the file.
    """

    masked: Table
    original: Table | None
    members: NDArray[np.intp]

    def around(self, published: Table, rows: NDArray[np.intp]) -> Table:
        """The population in which every member stands as published.

        Parameters
        ----------
        published : Table
            The file; row i is member rows[i].
        rows : int[n]
            Which member each published record is.

        Returns
        -------
        Table
        """
        return put_back(published, self.masked, self.members[rows])


def members_only(
    models: Sequence[PrivacyModel], masked: Table, original: Table | None
) -> tuple[Table, Table | None, Population | None]:
    """Reduce a population to the members who are released, without the column of membership.

    Parameters
    ----------
    models : sequence of PrivacyModel
        What is demanded. Where none speaks of a population, the tables are returned as they are.
    masked : Table
        The masked table.
    original : Table or None
        The table before masking.

    Returns
    -------
    tuple
        Masked members, original members, and the population.

    Raises
    ------
    PlanError
        If the members cannot be identified.
    """
    speaking = [model for model in models if model.membership]
    if not speaking:
        return masked, original, None
    inside = np.ones(len(masked), dtype=np.bool_)
    for model in speaking:
        obstacle = model.obstacle(masked)
        if obstacle:
            raise PlanError(obstacle)
        inside &= model.members(masked)
    names = {model.membership for model in speaking}
    members = np.flatnonzero(inside)

    def reduced(table: Table) -> Table:
        return table.take(members).drop(names & set(table.names))

    population = Population(masked, original, members)
    return reduced(masked), None if original is None else reduced(original), population
