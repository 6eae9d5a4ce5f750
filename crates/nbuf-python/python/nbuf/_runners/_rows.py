"""Rows that wait for an engine, and how many of them are one task of it."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable

Row = tuple[int, str]


class Rows:
    """Rows that wait, the first ones first.

    A task of an engine costs time whatever it does, so an engine may take several rows in one task.
    """

    def __init__(self, rows: Iterable[Row], most: int) -> None:
        self._waiting = deque(rows)
        self._most = most
        self._accesses: dict[int, int] = {}
        if most > 1:
            self._accesses = {number: json.loads(text)["estimated_accesses"] for number, text in self._waiting}
        self._all = self._left = sum(self._accesses.values())
        self._alone: set[int] = set()

    def take(self, slots: int) -> list[Row]:
        """Rows of one task: at most half of a worker's share of what is left, so that all end together.

        A thirtieth of a worker's share of all is never too much: the last tasks would be many.
        """
        share = max(self._left / 2, self._all / 30) / slots
        taken: list[Row] = []
        accesses = 0
        while self._waiting and len(taken) < self._most:
            number, _ = self._waiting[0]
            more = self._accesses.get(number, 0)
            if taken and (number in self._alone or accesses + more > share):
                break
            taken.append(self._waiting.popleft())
            accesses += more
            if number in self._alone:
                break
        self._left -= accesses
        return taken

    def give_back(self, rows: list[Row]) -> None:
        """Rows of a task whose workers died: each of them is a task of its own next, so that one is to blame."""
        self._waiting.extendleft(reversed(rows))
        self._alone.update(number for number, _ in rows)
        self._left += sum(self._accesses.get(number, 0) for number, _ in rows)
