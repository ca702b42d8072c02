"""`python -m covary` is the same as `covary`."""

from covary.cli.main import main

if __name__ == "__main__":
    main()
