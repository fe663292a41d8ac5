"""Tests of the folder with the operator's prompt templates."""

from __future__ import annotations

from pathlib import Path

import pytest

from cognitive_memory_core.prompts.library import LONGEST_FILE, read_templates


def test_known_templates_are_read(tmp_path: Path) -> None:
    """Files with known names are read without their byte order mark, and others are ignored."""
    (tmp_path / "rewrite.md").write_bytes("\ufeff改写 $time\r\n".encode())
    (tmp_path / "merge.md").write_text("合并", "utf-8")
    for name in ("note.md", "rewrite.txt", "triage.md.bak", "rewrite.md.tmp"):
        (tmp_path / name).write_text("别的", "utf-8")
    assert read_templates(tmp_path) == {"rewrite": "改写 $time\r\n", "merge": "合并"}


def test_links_are_not_followed(tmp_path: Path) -> None:
    """A link is reported as unreadable, wherever it points."""
    secret = tmp_path / "secret"
    secret.write_text("密钥", "utf-8")
    folder = tmp_path / "prompts"
    folder.mkdir()
    try:
        (folder / "rewrite.md").symlink_to(secret)
        (folder / "triage.md").symlink_to(tmp_path / "nowhere")
    except OSError:
        pytest.skip("no links here")
    assert read_templates(folder) == {"rewrite": "", "triage": ""}


def test_what_is_no_plain_file_or_too_large_is_given_as_unreadable(tmp_path: Path) -> None:
    """A folder, a file over the limit and a wrong encoding are reported as unreadable."""
    (tmp_path / "rewrite.md").mkdir()
    (tmp_path / "triage.md").write_bytes(b"a" * (LONGEST_FILE + 1))
    (tmp_path / "merge.md").write_bytes("侧写".encode("gbk"))
    found = read_templates(tmp_path)
    assert (found["rewrite"], found["triage"]) == ("", "")
    assert "\ufffd" in found["merge"]
