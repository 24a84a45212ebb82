"""Arrays in, arrays out: the compiled inner loops, and the only packages that know numba."""
