"""The papers: encoding, operators and recipe of each search. Importing registers them all."""

from crypsis.searches import groupings, lattices, local_recoding, maskings, partitions
from crypsis.searches.search import Search, searches

__all__ = ["Search", "groupings", "lattices", "local_recoding", "maskings", "partitions", "searches"]
