"""What a masked file is still good for: distributions, associations, general utility, and when a column is ruined."""

from crypsis.lazy_imports import load_when_used

load_when_used(__name__)
