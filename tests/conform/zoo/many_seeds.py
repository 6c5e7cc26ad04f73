"""Every right layer in every mode at every stratum, from many seeds: no false alarm is allowed.

    make alarms

prints a line for each layer and seed that fails, then the count; the exit status is 1 if any did.
"""

from __future__ import annotations

import argparse
import sys

from examining import examined, said
from right_layers import RIGHT

from verify.conform.report import COULD_NOT


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
        for right in layers:
            report = examined(right.layer, right.name, right.asked, right.modes, seed=seed)
            if report.failures or report.verdict == COULD_NOT:  # some modes are not offered
                failures += 1
                print(f"{right.name}, seed {seed}: {report.verdict}\n{said(report)}", flush=True)
        print(f"seed {seed}: {len(layers)} layers, {failures} failures so far", flush=True)
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
