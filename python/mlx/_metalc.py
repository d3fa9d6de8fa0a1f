"""The command ``metalc``: runs the compiler that is installed with the package."""

import os
import sys
from pathlib import Path


def main() -> None:
    """Replaces this process by the compiler."""
    program = Path(__file__).resolve().parent / "bin" / "metalc"
    os.execv(program, ["metalc", *sys.argv[1:]])


if __name__ == "__main__":
    main()
