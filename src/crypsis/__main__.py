"""`python -m crypsis` is `crypsis`."""

from crypsis.cli import program

if __name__ == "__main__":
    program()
