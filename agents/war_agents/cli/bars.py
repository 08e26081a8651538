"""Progress bars on standard error."""

import contextlib
import sys
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

Show = Callable[[int, int | None], None]


@contextlib.contextmanager
def bars() -> Iterator[Callable[[str], Show | None]]:
    """Makes bars, each shown from its first news on, if standard error is a terminal."""
    if not sys.stderr.isatty():  # whatever FORCE_COLOR says
        yield lambda what: None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:

        def bar(what: str) -> Show:
            task = progress.add_task(what, total=None, visible=False)

            def show(done: int, total: int | None) -> None:
                progress.update(task, completed=done, total=total, visible=True)

            return show

        yield bar
