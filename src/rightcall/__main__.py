"""`python -m rightcall`: the command line."""

from rightcall.faces.cli import main

if __name__ == "__main__":
    main()
