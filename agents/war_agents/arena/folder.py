"""A tournament's folder: what it holds from the first game to the report."""

import contextlib
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from war_agents.arena import report
from war_agents.arena.playing.blocks import Block
from war_agents.arena.playing.games import Games
from war_agents.arena.results import TournamentResult
from war_agents.arena.stream import GAMES_FILE, GameStream
from war_agents.files import (
    json_text,
    locked,
    make_writable_folder,
    parse_json,
    read_limited,
    remove_parts,
    write_text,
)
from war_envs.messages import one_line, shown

SETTINGS_FILE: Final = "settings.json"
RESULTS_FILE: Final = "results.json"
MARKDOWN_FILE: Final = "report.md"
HTML_FILE: Final = "report.html"
_FILES: Final = (SETTINGS_FILE, RESULTS_FILE, GAMES_FILE, MARKDOWN_FILE, HTML_FILE)
_MAX_BYTES: Final = 10_000_000  # of settings


class TournamentFolder:
    """Holds ``settings.json``, the games as they are played, and in the end results and reports.

    Args:
        path: the folder; it is made if it is not there.
        settings: all that decides the games; see `war_agents.arena.run.Run`.
        resume: go on with the games that lie there; else they are played anew.

    Raises:
        ValueError: it holds something else, an unfinished tournament without ``resume``, or another
            process works in it.
        OSError: it cannot be written to.
    """

    def __init__(self, path: Path, settings: dict[str, Any], *, resume: bool) -> None:
        self.path = path
        self._settings = settings
        self._resume = resume
        self._refuse_others()
        started = (path / SETTINGS_FILE).exists()
        if started and not resume and not (path / RESULTS_FILE).exists():
            with self._locked():  # refuses where it is being played just now
                raise ValueError(
                    f"out={str(path)!r} holds an unfinished tournament with these settings; "
                    "resume it (--resume), or remove it"
                )
        make_writable_folder(path)

    @contextlib.contextmanager
    def opened(
        self, blocks: Sequence[Block], variants: Sequence[str], names: Sequence[str]
    ) -> Iterator[tuple[GameStream, dict[int, Games]]]:
        """The stream to append games to, and the blocks that have been played before.

        Raises:
            ValueError, OSError: see the class.
        """
        game = self._settings["settings"]["game"]
        stream = GameStream(self.path / GAMES_FILE, game, variants, names)
        with self._locked(), contextlib.closing(stream):
            self._refuse_others()
            if not (self._resume and (self.path / SETTINGS_FILE).exists()):  # else they are these
                write_text(self.path / SETTINGS_FILE, json_text(self._settings, indent=2) + "\n")
            if self._resume:
                found = stream.resume(blocks)
            else:
                found = {}
                stream.begin()
            remove_parts(self.path, _FILES)
            yield stream, found

    def _locked(self) -> contextlib.AbstractContextManager[None]:
        busy = f"another process plays in out={str(self.path)!r}"
        return locked(self.path / "tournament.lock", busy)

    def write(self, result: TournamentResult) -> None:
        """Writes results and reports, each whole or not at all."""
        write_text(self.path / MARKDOWN_FILE, report.markdown(result))
        write_text(self.path / HTML_FILE, report.html(result))
        # Last, so that where it lies all lies.
        text = json.dumps(result.to_json(), indent=2, allow_nan=False)
        write_text(self.path / RESULTS_FILE, text + "\n")

    def _refuse_others(self) -> None:
        """Refuses a folder that is not this tournament's."""
        file = self.path / SETTINGS_FILE
        if not os.path.lexists(file):
            for other in _FILES:
                if os.path.lexists(self.path / other):
                    raise ValueError(
                        f"out={str(self.path)!r} holds {other} of something else; "
                        "choose another folder, or remove it"
                    )
            return
        try:
            found = parse_json(read_limited(file, _MAX_BYTES))
            differences = list(_differences(found, self._settings))
        except ValueError as error:
            differences = [f"{SETTINGS_FILE} cannot be read: {one_line(error)}"]
        if differences:
            raise ValueError(
                f"out={str(self.path)!r} holds another tournament: "
                f"{'; '.join(differences[:3])}; choose another folder, or remove it"
            )


def _differences(found: object, wanted: object, name: str = "") -> Iterator[str]:
    """Where two values differ, in words."""
    if isinstance(found, dict) and isinstance(wanted, dict):
        for key in [*wanted, *(key for key in found if key not in wanted)]:
            label = f"{name}.{key}" if name else key
            yield from _differences(found.get(key), wanted.get(key), label)
    elif isinstance(found, list) and isinstance(wanted, list) and len(found) == len(wanted):
        for i, pair in enumerate(zip(found, wanted, strict=True)):
            yield from _differences(*pair, f"{name}[{i}]")
    elif isinstance(found, list) and isinstance(wanted, list) and name != "settings.agents":
        yield f"{name} holds {len(found)} there, {len(wanted)} here"
    elif found != wanted:
        yield f"{name or SETTINGS_FILE} is {shown(found)} there, {shown(wanted)} here"
