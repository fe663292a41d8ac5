"""Tests that the hosted workflows run README's commands on every promised version of Python."""

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
    """List the commands of a workflow's steps."""
    return [step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step]


def test_each_promised_python_is_tested() -> None:
    """README's test command runs on every version of Python that the package's classifiers name."""
    job = read("ci.yml")["jobs"]["tests"]
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    promised = set(re.findall(r'"Programming Language :: Python :: (3\.\d+)"', project))
    assert promised
    assert promised <= set(job["strategy"]["matrix"]["python"])
    assert COMMANDS["test_command"] in commands(read("ci.yml"))


def test_the_site_is_built_strictly_and_published() -> None:
    """Every change builds the site with README's command; only the main branch publishes it, without a secret."""
    workflow = read("ci.yml")
    assert "pip install -e '.[docs]' && mkdocs build --strict" in commands(workflow)
    published = workflow["jobs"]["publish-site"]
    assert published["needs"] == "site"
    assert published["if"] == "github.ref == 'refs/heads/main'"
    assert published["permissions"] == {"pages": "write", "id-token": "write"}


def test_a_release_is_tested_and_needs_no_secret() -> None:
    """A tag is published only after the tests, by a job whose only permission is to identify itself."""
    release = read("release.yml")
    assert COMMANDS["test_command"] in " && ".join(commands(release))
    assert release["jobs"]["publish"]["needs"] == "build"
    assert release["jobs"]["publish"]["permissions"] == {"id-token": "write"}
    assert not [file.name for file in FOLDER.iterdir() if "secrets." in file.read_text("utf-8")]


def test_a_release_is_signed_and_says_what_it_is_made_of() -> None:
    """The archives of a release are tested, attested with where they were built, and come with a bill of materials."""
    build = read("release.yml")["jobs"]["build"]
    used = [step["uses"].partition("@")[0] for step in build["steps"] if "uses" in step]
    assert {"actions/attest-build-provenance", "actions/attest-sbom"} <= set(used)
    assert build["permissions"] == {"contents": "read", "id-token": "write", "attestations": "write"}
    assert "python -m tests release" in commands(read("release.yml"))
    assert any("cyclonedx-py environment" in command for command in commands(read("release.yml")))


def test_each_system_is_tested() -> None:
    """The suite runs on Linux, Windows and macOS; the store's check runs on each promised Python."""
    workflow = read("ci.yml")
    matrix = workflow["jobs"]["tests"]["strategy"]["matrix"]
    assert {*matrix["os"], *(one["os"] for one in matrix["include"])} == {
        "ubuntu-latest",
        "windows-latest",
        "macos-latest",
    }
    assert workflow["jobs"]["store"]["strategy"]["matrix"]["python"] == matrix["python"]
    assert "pip install -e '.[dev]' && python -m tests release" in commands(workflow)
