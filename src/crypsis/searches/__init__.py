"""The papers: encoding, operators and recipe of each search. Importing registers them all."""

from crypsis.searches import groupings, lattices, maskings, partitions, recodings
from crypsis.searches.search import Search, searches

__all__ = ["Search", "groupings", "lattices", "maskings", "partitions", "recodings", "searches"]
