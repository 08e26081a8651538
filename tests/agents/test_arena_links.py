"""Tournament folders from strangers: what is a link there is never written through, nor read."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.command import war
from tests.support.folders import AGENTS, GAMES, RESULTS, SETTINGS, files, tournament

SECRET = b'{"settings": {"agents": ["a password"]}}\n' * 100


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("finished")
    tournament().run(folder)
    return folder


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A file of one's own, outside."""
    file = tmp_path / "mine"
    file.write_bytes(SECRET)
    os.utime(file, ns=(10**18, 10**18))
    return file


def unchanged(file: Path) -> bool:
    return file.read_bytes() == SECRET and file.stat().st_mtime_ns == 10**18


@pytest.mark.parametrize("link", [os.symlink, os.link])
@pytest.mark.parametrize("name", [SETTINGS, GAMES, "tournament.lock"])
@pytest.mark.parametrize("resume", [False, True])
def test_a_link_in_the_place_of_a_file_is_refused(
    tmp_path: Path,
    finished: Path,
    mine: Path,
    name: str,
    link: Callable[[Path, Path], None],
    resume: bool,
) -> None:
    folder = tmp_path / "folder"
    shutil.copytree(finished, folder)
    (folder / name).unlink()
    link(mine, folder / name)
    before = files(folder)
    with pytest.raises(ValueError, match=rf"{name}.* it is a (hard )?link") as raised:
        tournament().run(folder, resume=resume)
    assert "\n" not in str(raised.value)
    assert "password" not in str(raised.value)
    assert files(folder) == before
    assert unchanged(mine)


@pytest.mark.parametrize("link", [os.symlink, os.link])
@pytest.mark.parametrize("name", [RESULTS, "report.md", "report.html"])
def test_a_link_in_the_place_of_a_report_is_replaced(
    tmp_path: Path, finished: Path, mine: Path, name: str, link: Callable[[Path, Path], None]
) -> None:
    folder = tmp_path / "folder"
    shutil.copytree(finished, folder)
    (folder / name).unlink()
    link(mine, folder / name)
    tournament().run(folder, resume=True)
    assert unchanged(mine)
    assert not (folder / name).is_symlink()
    assert files(folder) == files(finished)


@pytest.mark.parametrize("name", [SETTINGS, GAMES, RESULTS, "report.md", "tournament.lock"])
def test_a_link_to_nothing_makes_nothing(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / name).symlink_to(tmp_path / "new")
    for resume in (False, True):
        with pytest.raises(ValueError, match=name):
            tournament().run(folder, resume=resume)
    assert [path.name for path in folder.iterdir()] == [name]
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("name", [SETTINGS, GAMES, "tournament.lock", RESULTS, "report.html"])
def test_a_pipe_in_the_place_of_a_file_does_not_hang(
    tmp_path: Path, finished: Path, name: str
) -> None:
    folder = tmp_path / "folder"
    shutil.copytree(finished, folder)
    (folder / name).unlink()
    os.mkfifo(folder / name)
    if name in (RESULTS, "report.html"):  # they are replaced
        tournament().run(folder, resume=True)
        assert files(folder) == files(finished)
        return
    with pytest.raises(ValueError, match=rf"{name}.* it is no plain file"):
        tournament().run(folder, resume=True)


def test_a_folder_that_is_a_link_is_the_users_own_choice(tmp_path: Path, finished: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder")
    tournament().run(tmp_path / "link")
    assert files(tmp_path / "folder") == files(finished)


def test_files_that_are_just_written_there_by_others_stay(tmp_path: Path) -> None:
    others = [".notes.part", ".model.safetensors.0123456789abcdef.part", ".x.12345.part"]
    own = ".report.html.0123456789abcdef.part"
    for name in (*others, own):
        (tmp_path / name).write_text("half")
    tournament().run(tmp_path)
    left = {path.name for path in tmp_path.iterdir()}
    assert left >= {*others, RESULTS}
    assert own not in left


@pytest.mark.process
def test_the_command_says_so_in_one_line(tmp_path: Path, finished: Path, mine: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / SETTINGS).symlink_to(mine)
    options = ["--game", "attack-defence", "--agents", *AGENTS, "--out", str(folder), "--resume"]
    done = war("tournament", *options)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "settings.json cannot be read: it is a link" in done.stderr
    assert "password" not in done.stderr
