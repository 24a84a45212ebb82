"""Arrays in, arrays out: the compiled inner loops, and the only package that knows numba."""
