from collections.abc import Callable, Sequence
from typing import Any, final

__all__ = [
    "Frame",
    "Numbers",
    "Table",
    "__version__",
    "discs",
    "distances",
    "formats",
    "patterns",
    "policies",
    "rows",
    "run",
    "size",
]
__version__: str

_Progress = Callable[[str, int, int], object] | None

@final
class Frame:
    def __new__(cls, columns: Sequence[tuple[str, str, Sequence[Any]]]) -> Frame: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __len__(self) -> int: ...

@final
class Numbers:
    @property
    def __array_interface__(self) -> dict[str, Any]: ...
    def __len__(self) -> int: ...

@final
class Table:
    @staticmethod
    def of_stream(source: Any, columns: Sequence[tuple[str, str]]) -> Table: ...
    @staticmethod
    def of_arrays(columns: Sequence[tuple[str, Any]]) -> Table: ...
    def __len__(self) -> int: ...

def run(
    verb: str,
    spec: str,
    *,
    table: Table | None = None,
    seed: int = 0,
    threads: int = 0,
    progress: _Progress = None,
) -> str: ...
def rows(inputs: str, *, table: Table | None = None, progress: _Progress = None) -> Frame: ...
def distances(pages: Any, *, progress: _Progress = None) -> Numbers: ...
def size(text: str) -> int: ...
def policies() -> list[tuple[str, str, str]]: ...
def formats() -> list[tuple[str, str, str, str]]: ...
def discs() -> list[tuple[str, str]]: ...
def patterns() -> list[tuple[str, str]]: ...
