"""The command ``python -m benchmarks NAME [options]``: run one benchmark, print its table, write its JSON."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from pathlib import Path

RESULTS = Path(__file__).resolve().parent / "results"
BENCHMARKS = {
    "shape": "shape",
    "enqueue": "enqueue",
    "historian": "historian",
    "cost": "cost",
    "context": "context",
    "import": "importing",
    "memory": "resident",
    "stall": "stall",
    "isolation": "isolation",
    "faults": "faults",
    "timewords": "timewords",
    "gate": "gate",
    "groupchat": "groupchat",
    "answers": "answers",
    "locomo": "locomo",
    "madial": "madial",
    "qmsum": "qmsum",
    "remarks": "remarks",
    "peers": "peers",
    "page": "page",
    "console": "console",
    "transcript": "transcript",
}


def main(arguments: Sequence[str]) -> int:
    """Run the benchmark named by the first argument."""
    if not arguments or arguments[0] not in BENCHMARKS:
        print(f"{__doc__}\n\nNAME: {', '.join(BENCHMARKS)}; NAME --help says more")
        return 2
    name, *rest = arguments
    module = importlib.import_module(f"benchmarks.{BENCHMARKS[name]}")
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks {name}", description=module.__doc__)
    parser.add_argument("--json", type=Path, default=RESULTS / f"{name}.json", help="where to write the figures")
    module.add_arguments(parser)
    options = parser.parse_args(rest)
    report = module.run(options)
    print(report.text())
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(report.json(), "utf-8")
    print(f"\n{options.json}")
    return int(report.failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
