"""PBG-EA (Dewri, Ray, Ray and Whitley 2009): one level of generalisation per column, a lattice judged or evolved."""

from crypsis.lazy_imports import load_when_used

load_when_used(__name__)
