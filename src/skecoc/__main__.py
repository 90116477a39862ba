"""``python -m skecoc``: the command line."""

import sys

from skecoc.cli import main

if __name__ == "__main__":
    sys.exit(main())
