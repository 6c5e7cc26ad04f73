"""Every right layer in every mode at every stratum, from many seeds: no false alarm is allowed.

    PYTHONPATH=. python tests/conform/zoo/many_seeds.py --seeds 30

prints a line for each layer and seed that fails, then the count; the exit status is 1 if any did.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from unittest import mock

from examining import examined, said
from right_layers import RIGHT

from verify.conform.cases import Case
from verify.conform.oracle import Oracle
from verify.conform.plan import Options
from verify.conform.report import CONFORMS


def remembering() -> Callable[[Options, Case], Oracle]:
    """Return a way to make oracles that makes each of them once: the layers share their cases."""
    made: dict[object, Oracle] = {}
    make = Options.oracle

    def oracle(options: Options, case: Case) -> Oracle:
        asked = (options.family, options.groups, options.is_affine, options.has_shift)
        key = (case.stratum, case.dtype, case.axes, case.eps, asked, options.convention)
        if key not in made:
            made[key] = make(options, case)
        return made[key]

    return oracle


def main() -> int:
    """Examine all, say what failed, and return how many did."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only", default="", help="a part of a layer's name")
    asked = parser.parse_args()
    layers = [right for right in RIGHT if asked.only in right.name]
    failures = 0
    for seed in range(asked.first, asked.first + asked.seeds):
        with mock.patch.object(Options, "oracle", remembering()):
            for right in layers:
                report = examined(right.layer, right.name, right.asked, right.modes, seed=seed)
                if report.verdict != CONFORMS:
                    failures += 1
                    print(
                        f"{right.name}, seed {seed}: {report.verdict}\n{said(report)}", flush=True
                    )
        print(f"seed {seed}: {len(layers)} layers, {failures} failures so far", flush=True)
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
