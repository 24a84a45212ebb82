"""What a masked file is still good for: distributions, associations, general utility, and when a column is ruined."""

from crypsis.measures.utility.distributions import ColumnHarm, Distributions, Tail
from crypsis.measures.utility.usefulness import Ruin, Usefulness

__all__ = ["ColumnHarm", "Distributions", "Ruin", "Tail", "Usefulness"]
