"""The page of the campaigns that are worth citing, from ``docs/measured/campaigns``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from shlex import quote
from typing import NamedTuple

from verify import engine
from verify.campaign.finding import Finding, written
from verify.campaign.report import SHARES
from verify.evidence import Run
from verify.settings import PROFILES, Settings
from verify.site.markup import (
    by_identifier,
    fenced,
    harmless,
    link,
    named,
    on_one_line,
    raw,
    table,
)
from verify.wording import plural

NUMBERS = ("instances", "violated", "undecided", "vacuous", "seeds", "witness", "profile", "time")


class About(NamedTuple):
    """What a campaign is about, in words."""

    title: str
    asked: str
    searched: str
    caution: str


ABOUT = {
    "sharp-factor": About(
        "How much scaling columns to norm one can lose, at full rank",
        "Scaling the columns to norm one is, by Theorem 4 of paper L, at most a factor"
        " $\\sqrt{n + 1}$ worse than the best diagonal scaling. Without the column of ones it is"
        " $\\sqrt n$, which dependent columns attain. How large can it be where they are"
        " independent?",
        "Correlations $R$ of 3 to 6 features that maximise"
        " $\\kappa(R) / \\min_{D_0} \\kappa(D_0 R D_0)$, the square of the factor: ascents by"
        " L-BFGS, half of them from anywhere, half from near a family that comes as near to $n/2$"
        " as one likes. The minimum is a semidefinite programme's, and at most $10^6$.",
        "What ascents do not find need not be impossible: in the limit the square of the factor is"
        " 3.02 for six features.",
    ),
}
"""By name."""


def page(campaigns: Mapping[str, tuple[Run, list[Finding]]]) -> str:
    """Return the page; without campaigns it says how to run one."""
    parts = [
        "# Campaigns\n",
        "Longer searches than a run of the suite: many seeds, on one machine or on a"
        " [cluster](guides/cluster.md). What is not found is not proved.\n",
    ]
    for name, (run, findings) in campaigns.items():
        parts += _campaign(name, run, findings)
    if not campaigns:
        parts.append("None is kept with the sources; `python -m verify campaign --help`.\n")
    return "\n".join(parts)


def _campaign(name: str, run: Run, findings: Sequence[Finding]) -> list[str]:
    """Return what was asked, searched and found, then the numbers of each statement."""
    about = ABOUT.get(name, About(name, "", "", ""))
    budgets = dict.fromkeys(f"the seeds {written(f.seeds)}" for f in findings)
    from_where = f"From {' and '.join(budgets)}, at the profile {harmless(run.profile)}."
    words = (("Asked.", about.asked), ("Searched.", f"{about.searched} {from_where}".strip()))
    found = " ".join(filter(None, [*map(_in_a_sentence, findings), about.caution]))
    return [
        f"## {about.title}\n",
        *(f"**{word}** {text}\n" for word, text in words if text),
        f"**Found.** {found}\n",
        *(_finding(run, finding) for finding in findings),
    ]


def _in_a_sentence(finding: Finding) -> str:
    """Return how many instances violate a statement, and how near the others come."""
    decided = finding.instances - finding.vacuous - finding.undecided
    many = f"{finding.violated:,}" if finding.violated else "None"
    near = f"; their ratio is {finding.worst[0].ratio:.4g} at most" if finding.worst else ""
    of = plural(decided, "decided instance")
    return f"{many} of {of} violated: {link(finding.claim, '')}{near}."


def _at(run: Run, finding: Finding) -> str:
    """Return of which code the numbers are, and whether it is today's."""
    commit = f"At commit <code>{on_one_line(run.commit)}</code>."
    if run.profile in PROFILES:
        settings = Settings(PROFILES[run.profile], 0, run.backend, run.device)
        if engine.todays(settings)(*finding.name) == finding.fingerprint:
            return commit
    return f"{commit} What they depend on has changed since."


def _finding(run: Run, finding: Finding) -> str:
    row = (
        *(f"{n:,}" for n in (finding.instances, finding.violated)),
        *(f"{n:,}" for n in (finding.undecided, finding.vacuous)),
        written(finding.seeds),
        escape(finding.witness),
        escape(run.profile),
        f"{finding.seconds / 60:,.1f} min of one core",
    )
    strata = [(escape(name), f"{ratio:.6f}") for name, ratio in sorted(finding.largest.items())]
    quantiles = ", ".join(
        f"{share:.0%} of them {value:.4g} at most"
        for share in SHARES
        if (value := finding.quantile(share)) is not None
    )
    told = f"Ratios of the sides: {quantiles}." if quantiles else ""
    if finding.worst and (token := finding.worst[0].token):
        told += f" The worst again: `python -m verify reproduce {harmless(token)}`"
    command = fenced(
        f"python -m verify campaign {quote(finding.claim)} --witnesses"
        f" {quote(finding.witness)} --seeds {written(finding.seeds)} --profile"
        f" {quote(run.profile)}",
        "sh",
    )
    title = named(by_identifier()[finding.claim]) if finding.claim in by_identifier() else ""
    return "\n".join(
        [
            f"### {title or harmless(finding.claim)}\n",
            raw(table(NUMBERS, [row], "witnesses")),
            raw(table(("start", "largest ratio"), strata, "witnesses")),
            f"{told}\n",
            command,
            f'<p class="run">{_at(run, finding)}</p>\n',
        ]
    )
