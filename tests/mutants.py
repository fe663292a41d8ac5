"""Faults put into the code one by one, and whether the tests see them: ``python -m tests mutants``.

Each mutant must be caught twice: by a promise or a fault row, which speaks to the
whole memory and survives a rewrite of the code, and by a nearer test, which names the place. A mutant whose text is no
longer in its file fails the run, so that it is written anew with the code it damages.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CORE = "cognitive_memory_core"
LONGEST = 600  # seconds for the tests of one mutant
COPIED = ("cognitive_memory_core", "nonebot_plugin_cognitive_memory", "benchmarks", "tests", "pyproject.toml")


@dataclass(frozen=True)
class Edit:
    """A replacement in the core, wherever its text stands."""

    before: str
    after: str

    def places(self, texts: Mapping[Path, str]) -> list[Path]:
        """List the files that contain the text, each as often as it does."""
        return [file for file, text in texts.items() for _ in range(text.count(self.before))]

    def make(self, root: Path) -> None:
        """Replace the text in a copy of the repository; raise ValueError if it is not there exactly once."""
        texts = core_of(root)
        places = self.places(texts)
        if len(places) != 1:
            message = f"the core has {len(places)} times: {self.before!r}"
            raise ValueError(message)
        places[0].write_text(texts[places[0]].replace(self.before, self.after), "utf-8")


class Mutant:
    """One fault: what it breaks, who must notice, and how (where two checks guard one another, both are broken)."""

    def __init__(self, breaks: str, promise: str, near: str, *edits: Edit) -> None:
        """Take the names of the tests separated by spaces."""
        self.breaks, self.promise, self.near, self.edits = breaks, promise, near, edits

    def lacks(self, root: Path, texts: Mapping[Path, str]) -> list[str]:
        """List what the repository does not have of it: its text exactly once, or its tests."""
        strange = [edit.before for edit in self.edits if len(edit.places(texts)) != 1]
        return [*strange, *(test for test in f"{self.promise} {self.near}".split() if not (root / test).exists())]


MUTANTS = (
    Mutant(
        "queue: two jobs of one scope run at once",
        "tests/promises/test_model_trouble_loses_nothing.py",
        "tests/unit/queue/test_job_queue.py",
        Edit("if is_ready and line not in busy:", "if is_ready:"),
    ),
    Mutant(
        "queue: a turn is accepted before it is on the disk",
        "tests/promises/test_turn_is_on_disk_before_return.py",
        "tests/unit/queue/test_job_queue.py",
        Edit(
            "await self.run(self.writers, partial(self.files.disk.create, self.files.path(entry), data))",
            "_ = self.writers.submit(self.files.disk.create, self.files.path(entry), data)",
        ),
    ),
    Mutant(
        "worker: a job is completed although it failed",
        "tests/promises/test_model_trouble_loses_nothing.py tests/promises/test_failed_jobs_are_kept.py",
        "tests/unit/historian/test_worker.py",
        Edit(
            "                await self._queue.bury(claim, described(error))",
            "                await self._queue.complete(claim)",
        ),
    ),
    Mutant(
        "worker: an outage counts as an attempt",
        "tests/promises/test_model_trouble_loses_nothing.py",
        "tests/unit/historian/test_worker.py",
        Edit("delay=pause, counted=not is_outage(error))", "delay=pause, counted=True)"),
    ),
    Mutant(
        "isolation: a group reads another group",
        "tests/promises/test_groups_do_not_leak.py",
        "tests/properties/test_scope.py",
        Edit('return self.kind == "group" and self.place_id == scene.group_id', 'return self.kind == "group"'),
        Edit(
            'return "e.scope = ?", (scene.scope.key,)\n    own_words',
            "return \"e.scope LIKE '%group%'\", ()\n    own_words",
        ),
    ),
    Mutant(
        "isolation: a private chat reads what others said in groups",
        "tests/promises/test_private_recalls_own_words_only.py",
        "tests/properties/test_scope.py",
        Edit("return bool(sender_id) and sender_id == scene.user_id", "return bool(sender_id)"),
        Edit(
            "e.agent = ? AND e.sender_id = ? AND e.request_type = 'group'",
            "e.agent = ? AND e.sender_id <> ? AND e.request_type = 'group'",
        ),
    ),
    Mutant(
        "isolation: a group reads private chats",
        "tests/promises/test_private_stays_private.py",
        "tests/properties/test_scope.py",
        Edit(
            'return self.kind == "group" and self.place_id == scene.group_id',
            'return self.kind == "private" or self.place_id == scene.group_id',
        ),
        Edit(
            'return "e.scope = ?", (scene.scope.key,)\n    own_words',
            "return \"e.scope = ? OR e.request_type = 'private'\", (scene.scope.key,)\n    own_words",
        ),
    ),
    Mutant(
        "isolation: agents read each other",
        "tests/properties/test_isolation.py",
        "tests/properties/test_scope.py",
        Edit("        if scene.agent != self.agent:\n            return False\n", ""),
        Edit('return "e.agent = ?", (scene.agent,)', 'return "e.agent <> ?", ("",)'),
    ),
    Mutant(
        "isolation: a model may name another group",
        "tests/promises/test_foreign_targets_are_refused.py",
        "tests/unit/domain/test_scope.py",
        Edit('if group_id and self.kind == "group" and group_id != self.group_id:', "if False:"),
    ),
    Mutant(
        "erasure: failed recalls of an erased person stay",
        "tests/promises/test_forgotten_person_leaves_no_byte.py",
        "tests/unit/store/test_missed_events.py",
        Edit('"profiles", "sharing", "missed")', '"profiles", "sharing")'),
    ),
    Mutant(
        "erasure: others' lines name an erased person",
        "tests/promises/test_forgotten_person_leaves_no_byte.py",
        "tests/unit/store/test_eraser.py",
        Edit("        rewording.messages()\n", ""),
    ),
    Mutant(
        "erasure: bytes stay until the next purge that never comes",
        "tests/promises/test_forgotten_person_leaves_no_byte.py",
        "tests/unit/store/test_purge.py",
        Edit('            writer.execute("VACUUM")\n', ""),
    ),
    Mutant(
        "erasure: late lines of an erased person come in again",
        "tests/promises/test_forgotten_person_leaves_no_byte.py",
        "tests/unit/test_permanent_erasure.py",
        Edit("return self._tombstones.covers(scene.scope, (scene.user_id,), at)", "return False"),
    ),
    Mutant(
        "context: the budget is exceeded",
        "tests/promises/test_context_stays_in_budget.py",
        "tests/properties/test_budget.py",
        Edit("    room = budget - token_count(fenced(()))", "    room = budget * 2"),
    ),
    Mutant(
        "context: a tag in a message stays a tag",
        "tests/promises/test_stored_text_cannot_break_out.py",
        "tests/unit/text/test_prompt_fences.py",
        Edit("    line = _harmless(one_line(text))", "    line = one_line(text)"),
    ),
    Mutant(
        "context: line breaks of a message stay",
        "tests/promises/test_stored_text_cannot_break_out.py",
        "tests/unit/text/test_prompt_fences.py",
        Edit("    line = _harmless(one_line(text))", "    line = _harmless(text)"),
    ),
    Mutant(
        "consent: who opted out is recorded",
        "tests/promises/test_opted_out_person_is_left_out.py",
        "tests/unit/test_consent.py",
        Edit(
            "return scene.user_id not in self.opted_out and self.is_recorded(scene.scope)",
            "return self.is_recorded(scene.scope)",
        ),
    ),
    Mutant(
        "consent: who opted out is named in events",
        "tests/promises/test_opted_out_person_is_left_out.py",
        "tests/unit/test_consent.py",
        Edit("            return reworded(left or replace(", "            return item or (replace("),
    ),
    Mutant(
        "consent: lines said incognito reach the historian",
        "tests/promises/test_what_is_not_recorded.py",
        "tests/unit/test_consent.py",
        Edit(" and not self.is_incognito(line.scene, line.sent_at)", ""),
    ),
    Mutant(
        "consent: a place that is off is recorded",
        "tests/promises/test_what_is_not_recorded.py",
        "tests/unit/test_consent.py",
        Edit("        return scope not in self._switches or self.place_switch(scope).records", "        return True"),
    ),
    Mutant(
        "spending: the day's limit is no limit",
        "tests/promises/test_daily_calls_are_a_bound.py",
        "tests/unit/models/test_budget.py",
        Edit("        return 0 < self.settings.current.daily_calls <= calls * times\n", "        return False\n"),
    ),
    Mutant(
        "spending: a place's calls are not charged",
        "tests/promises/test_daily_calls_are_a_bound.py",
        "tests/unit/models/test_budget.py",
        Edit("        taken[place] += 1\n", ""),
    ),
    Mutant(
        "spending: calls under way are not counted",
        "tests/promises/test_daily_calls_are_a_bound.py",
        "tests/unit/models/test_budget.py",
        Edit("        under_way[ask.purpose] += 1\n", "        under_way[ask.purpose] += 0\n"),
    ),
    Mutant(
        "truth: somebody's statement needs no line of theirs",
        "tests/promises/test_whose_word.py",
        "tests/unit/historian/test_checks.py",
        Edit(
            "    is_own = len(tokens & told) >= LEAST_OWN * len(tokens) and bool(tokens and by_them)",
            "    is_own = True",
        ),
    ),
    Mutant(
        "truth: a number that nobody said is stored",
        "tests/promises/test_whose_word.py",
        "tests/unit/historian/test_checks.py",
        Edit("    if strange_figures(text, given, names):", "    if False:"),
    ),
    Mutant(
        "truth: a line of a profile needs no fact",
        "tests/promises/test_others_words_stay_out_of_profiles.py",
        "tests/unit/historian/test_model_merger.py",
        Edit("    if not facts or not said or (", "    if not said or ("),
    ),
    Mutant(
        "truth: one person suffices for a group's belief",
        "tests/promises/test_whose_word.py",
        "tests/unit/evolution/test_judging.py",
        Edit("LEAST_PEOPLE = 2 ", "LEAST_PEOPLE = 1 "),
    ),
)


def main(arguments: Sequence[str]) -> int:
    """Try the mutants whose description contains an argument, or all; return 1 if one was not caught twice."""
    chosen = [one for one in MUTANTS if not arguments or any(part in one.breaks for part in arguments)]
    missed = 0
    for mutant in chosen:
        by_promise, by_near = caught(mutant)
        missed += not (by_promise and by_near)
        print(f"{mutant.breaks:<70} promise {_said(by_promise):<8} near {_said(by_near)}", flush=True)
    print(f"{len(chosen)} mutants, {missed} of them not caught twice")
    return int(missed > 0)


def caught(mutant: Mutant) -> tuple[bool, bool]:
    """Return whether the promise's tests and the nearer ones fail on a copy of the repository with the fault."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name in COPIED:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, root / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy2(source, root / name)
        for edit in mutant.edits:
            edit.make(root)
        return _fails(root, mutant.promise), _fails(root, mutant.near)


def core_of(root: Path) -> dict[Path, str]:
    """Read the core's modules in a copy of the repository."""
    return {file: file.read_text("utf-8") for file in (root / CORE).rglob("*.py")}


def _fails(root: Path, tests: str) -> bool:
    plugin = "tests/plugin" in tests
    loops = ("-o", "asyncio_default_fixture_loop_scope=session", "-o", "asyncio_default_test_loop_scope=session")
    options = loops if plugin else ("-p", "no:nonebug")
    quick = ("-q", "-x", "-n0", "--hypothesis-profile=unshrunk")  # that a test fails is enough, in whatever example
    command = [sys.executable, "-m", "pytest", *quick, *options, *tests.split()]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, check=False, timeout=LONGEST)
    except subprocess.TimeoutExpired:
        return True
    if done.returncode not in (0, 1):
        raise RuntimeError(done.stdout.decode() + done.stderr.decode())
    return done.returncode == 1


def _said(is_caught: bool) -> str:
    return "caught" if is_caught else "MISSED"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
