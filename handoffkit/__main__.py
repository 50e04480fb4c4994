"""`python -m handoffkit` is `handoffkit`, for shells that do not find installed commands."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
