"""The command line: the ledger, a check of chosen statements, one instance again.

Every command ends with 0, with 1 where what it examined is not as expected, with 2 where its input
is bad or its output cannot be written, with 130 at Ctrl-C, with 141 where nobody reads its output.
"""

from __future__ import annotations

import atexit
import errno
import gc
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from io import StringIO
from pathlib import Path

try:
    import typer

    from verify.complaints import bad_input, complain, install
except KeyboardInterrupt:
    raise SystemExit(130) from None
except ModuleNotFoundError as error:
    advice = "pip install 'batchnorm-theory[verify]'"  # not by a module, which may lack it as well
    raise SystemExit(f"verify: {error.name} is not installed; run: {advice}") from None

app = typer.Typer(
    help=(
        "The theory of batch normalization, machine-checked.\n\n"
        "The exit status is 1 where what was examined is not as expected, 2 where the input is bad "
        "or the output cannot be written, 130 after Ctrl-C, 141 where nobody reads the output."
    ),
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


EVERYTHING = {"allow_extra_args": True, "ignore_unknown_options": True}
"""What a command takes that hands its arguments on."""


UNWRITTEN = (errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""How a system says that what is printed has no reader, or no room."""


UNREAD = 141
"""Exit status, as shells have it where SIGPIPE ends a program: 128 + 13, on every system."""


@contextmanager
def _written() -> Iterator[None]:
    """End without a traceback where the output cannot be written."""
    try:
        yield
    except (OSError, SystemExit) as error:
        # click and rich exit with 1 where nobody reads
        cause = error.__context__ if isinstance(error, SystemExit) else error
        if not isinstance(cause, OSError) or cause.errno not in UNWRITTEN or cause.filename:
            raise
        # What is still to be written goes nowhere: Python would try again at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if cause.errno == errno.EPIPE:
            raise SystemExit(UNREAD) from None
        complain(f"the output cannot be written: {cause.strerror}")
        raise SystemExit(2) from None


def main() -> None:
    """Run the command that is asked for, whatever its streams can take.

    A letter that one cannot is written by its number; one that is closed takes all, for nobody.
    """
    for name in ("stdout", "stderr"):
        if (stream := getattr(sys, name)) is None:
            setattr(sys, name, StringIO())
        else:
            stream.reconfigure(errors="backslashreplace")
    with _written():
        app()


def later(name: str, about: str, module: str = "", function: str = "") -> None:
    """Add a command whose module is imported, which takes seconds, only when it is asked for.

    The module is of :mod:`verify.commands`, and it and the function are called as the command is,
    unless they are named.
    """

    def run(context: typer.Context) -> None:
        command = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        try:
            commands = import_module(f"verify.commands.{module or name}")
            command.command()(getattr(commands, function or name))
            command(context.args, prog_name=f"python -m verify {name}")
        except ModuleNotFoundError as error:
            if not (advice := install(error)):
                raise
            raise bad_input(ModuleNotFoundError(advice)) from None

    app.command(name, help=about, context_settings=EVERYTHING, add_help_option=False)(run)


EXAMINATION, VIEWS = "examination", "views"
later("check", "Examine statements now: all of them, or those that are named.", EXAMINATION)
later(
    "ledger",
    "Print the verdict of every statement, from the evidence of the last run.",
    VIEWS,
    "show_ledger",
)
later("compare", "Say what changed since a ledger was kept, in statements and verdicts.", VIEWS)
later("show", "Print statements: what each says, where it stands, its verdict, and why.", VIEWS)
later("reproduce", "Rebuild one instance and examine every statement there.", EXAMINATION)


REFUSED = (4, 5)
"""How pytest says that its arguments are wrong, or that they choose no test."""


@app.command("pytest", context_settings=EVERYTHING, add_help_option=False)
def run_pytest(context: typer.Context) -> None:
    """Run the statements as tests, with pytest's options and --claims, --profile, --seed, ..."""
    ours = ["-p", "no:cacheprovider", str(Path(__file__).parent)]
    command = [sys.executable, "-m", "pytest", *ours, *context.args]
    status = subprocess.run(command, check=False).returncode
    raise typer.Exit(2 if status in REFUSED else status)


later("papers", "List the papers whose statements are known here.", VIEWS)
later(
    "convolutions", "Examine Prop. 9, 10 and Theorem 4 at the convolutions of ResNet-18 and VGG-16."
)
later(
    "experiment", "Run an experiment of the papers, and say which of their observations appeared."
)
later("conform", "Compare a normalisation layer of yours with the closed forms.")
later("audit", "Report which of the theorems apply to a network of yours, and how tight they are.")
later("campaign", "Examine statements from many seeds, on as many machines as there are.")
later("prove", "Check the theorems that Coq's kernel checks, from the definitions.")
later("page", "Write the site's sources from the evidence, or a site of others' statements.", VIEWS)
later("prune", "Remove the evidence that changes have outdated.", VIEWS)
later("readme", "Write the README's ledger and pictures, or compare them.", VIEWS)


if __name__ == "__main__":
    atexit.register(gc.freeze)  # no garbage is looked for in what ends with the process
    main()
