"""`python -m nbuf ...` is the program `nbuf`."""

from __future__ import annotations

import os
import sys

from nbuf._errors import Error
from nbuf._program import program


def main() -> None:
    """Becomes the program: its status, signals and terminal are those of this process."""
    try:
        path = program()
    except Error as error:
        sys.exit(f"nbuf: {error}")
    os.execv(path, [path, *sys.argv[1:]])


if __name__ == "__main__":
    main()
