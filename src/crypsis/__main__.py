"""`python -m crypsis` is `crypsis`."""

from crypsis.cli import main

if __name__ == "__main__":
    main()
