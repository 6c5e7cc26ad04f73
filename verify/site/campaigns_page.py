"""The page of the campaigns that are worth citing, from ``docs/measured/campaigns``."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from shlex import quote

from verify.campaign.finding import Finding, count, written
from verify.campaign.report import SHARES
from verify.evidence import Run
from verify.site.markup import fenced, harmless, link, on_one_line, raw, table
from verify.wording import plural

NUMBERS = ("statement", "witness", "seeds", "instances", "violated", "undecided", "vacuous")
ABOUT = {
    "sharp-factor": (
        "The sharp factor of Theorem 4 at full rank",
        "Scaling the columns to unit norm is, by Theorem 4 of paper L, at most a factor"
        " $\\sqrt{n + 1}$ worse than the best diagonal scaling; without the bias the factor is"
        " $\\sqrt n$, which dependent columns attain. Independent ones lose a little less: searched"
        " were the correlations $R$ of 3 to 6 features that maximise"
        " $\\kappa(R) / \\min_{D_0} \\kappa(D_0 R D_0)$, the square of the factor: ascents by"
        " L-BFGS from anywhere, and from near a family that comes as near to $n/2$ as one likes;"
        " the minimum is a semidefinite programme's, and no more than $10^6$."
        " What ascents do not find need not be impossible: in the limit six features lose 3.02.",
    ),
}
"""By name: a title, and what was searched."""


def page(campaigns: Mapping[str, tuple[Run, list[Finding]]]) -> str:
    """Return the page; without campaigns it says how to run one."""
    parts = [
        "# Campaigns\n",
        "Longer searches than a run of the suite: many seeds, on one machine or on a"
        " [cluster](guides/cluster.md). What is not found is not proved.\n",
    ]
    for name, (run, findings) in campaigns.items():
        title, about = ABOUT.get(name, (name, ""))
        parts += [f"## {title}\n", f"{about}\n", *(_finding(name, run, f) for f in findings)]
    if not campaigns:
        parts.append("None is kept with the sources; `python -m verify campaign --help`.\n")
    return "\n".join(parts)


def _finding(name: str, run: Run, finding: Finding) -> str:
    row = (
        link(finding.claim, ""),
        escape(finding.witness),
        f"{count(finding.seeds):,}",
        *(f"{n:,}" for n in (finding.instances, finding.violated)),
        *(f"{n:,}" for n in (finding.undecided, finding.vacuous)),
    )
    strata = [(escape(name), f"{ratio:.6f}") for name, ratio in sorted(finding.largest.items())]
    quantiles = ", ".join(
        f"{share:.0%} of them {value:.4g} at most"
        for share in SHARES
        if (value := finding.quantile(share)) is not None
    )
    found = f"{plural(finding.violating_seeds, 'seed')} with a violation."
    if quantiles:
        found += f" Ratios actual/claimed: {quantiles}."
    if finding.worst and (token := finding.worst[0].token):
        found += f" The worst again: `python -m verify reproduce {harmless(token)}`"
    command = fenced(
        f"python -m verify campaign {quote(finding.claim)} --witnesses"
        f" {quote(finding.witness)} --seeds {written(finding.seeds)} --profile"
        f" {quote(run.profile)}",
        "sh",
    )
    hours = finding.seconds / 3600
    line = (
        f"{hours:.2f} hours of one core's time, at commit <code>{on_one_line(run.commit)}</code>."
    )
    return "\n".join(
        [
            raw(table(NUMBERS, [row], "witnesses")),
            raw(table(("start", "largest actual/claimed"), strata, "witnesses")),
            f"{found}\n",
            command,
            f'<p class="run">{line}</p>\n',
        ]
    )
