"""Arrays in, arrays out: the compiled inner loops, and the only rooms that know numba."""
