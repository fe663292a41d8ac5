"""What runs where the repository is hosted runs README's commands, on every Python that is promised."""

from __future__ import annotations

import re
from typing import Any

import yaml

from .sources import ROOT
from .test_readme import COMMANDS

FOLDER = ROOT / ".github" / "workflows"


def read(name: str) -> dict[Any, Any]:
    """Parse a workflow."""
    return yaml.safe_load((FOLDER / name).read_text("utf-8"))


def commands(workflow: dict[Any, Any]) -> list[str]:
    """List what the steps of a workflow run."""
    return [step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step]


def test_each_promised_python_is_tested() -> None:
    """README's test command runs on every version of Python that the package's classifiers name."""
    job = read("ci.yml")["jobs"]["tests"]
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    promised = set(re.findall(r'"Programming Language :: Python :: (3\.\d+)"', project))
    assert promised
    assert promised <= set(job["strategy"]["matrix"]["python"])
    assert COMMANDS["test_command"] in commands(read("ci.yml"))


def test_each_night_runs_the_larger_size() -> None:
    """The nightly workflow runs on a schedule and asks for the nightly size."""
    nightly = read("nightly.yml")
    assert nightly[True]["schedule"]  # YAML 1.1 reads the key "on" as true
    assert "python -m tests nightly" in commands(nightly)


def test_a_release_is_tested_and_needs_no_secret() -> None:
    """A tag is published only after the tests, by a job that holds nothing but a right to identify itself."""
    release = read("release.yml")
    assert COMMANDS["test_command"] in " && ".join(commands(release))
    assert release["jobs"]["publish"]["needs"] == "build"
    assert release["jobs"]["publish"]["permissions"] == {"id-token": "write"}
    assert not [file.name for file in FOLDER.iterdir() if "secrets." in file.read_text("utf-8")]


def test_hooks_use_the_installed_tools() -> None:
    """Every hook runs the environment's own tool, so that no version is named twice."""
    repositories = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))["repos"]
    assert [one["repo"] for one in repositories] == ["local"]
    assert {hook["language"] for hook in repositories[0]["hooks"]} == {"system"}
