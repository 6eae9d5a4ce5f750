"""The exceptions of nbuf: the message says what failed, why, and what to do."""

from __future__ import annotations


class Error(ValueError):
    """nbuf has no result."""


class MissingFile(Error, FileNotFoundError):
    """A file that was named is not there."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class MissingLibrary(Error, ImportError):
    """A library that this function uses is not installed."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""
