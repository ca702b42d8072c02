"""The `covary` command: loads subcommands, and prints errors as one line."""

from __future__ import annotations

import atexit
import difflib
import importlib
import io
import os
import signal
import sys
import threading
from types import FrameType
from typing import NoReturn

import click

import covary
from covary.cli.output import INTERRUPTED
from covary.formatting import printable

COMMANDS = (
    "demo",
    "overview",
    "search",
    "report",
    "score",
    "explain",
    "test",
    "matrix",
    "measures",
    "reproduce",
)


class LazyGroup(click.Group):
    """A group that imports a command when it is used; a file alone runs the overview."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS:
            if not _looks_like_file(args[0]):
                close = difflib.get_close_matches(args[0], COMMANDS, 1)
                hint = f"; did you mean '{close[0]}'?" if close else ""
                ctx.fail(f"There is no command and no file '{printable(args[0])}'{hint}")
            args = ["overview", *args]
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"covary.cli.{cmd_name}").command
        return command


def _looks_like_file(argument: str) -> bool:
    """Return whether an argument is the name of a file rather than a misspelt command."""
    named = os.path.splitext(argument)[1] or os.path.dirname(argument)
    return bool(named) or os.path.isfile(argument)


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Start with: covary demo",
)
@click.version_option(covary.__version__, prog_name="covary")
def command() -> None:
    """Find the columns of a table that depend on each other. `covary FILE` gives an overview.

    FILE is a table: CSV (also compressed; separated by comma, semicolon, tab or |), Parquet,
    Arrow or Feather.
    """


def main() -> NoReturn:
    """Run the command line and exit: 0 success, 1 error, 2 wrong usage, 130 interrupted."""
    signal.signal(signal.SIGINT, _Interrupt())
    code = _run()
    if code == INTERRUPTED:
        # If the signal arrives during an import, a normal exit may report the signal, not 130.
        atexit._run_exitfuncs()
        sys.stdout.flush()
        os._exit(code)
    sys.exit(code)


class _Interrupt:
    """Raise KeyboardInterrupt, except during an import.

    A library may treat an exception during an import as a missing module. The signal is sent again
    a little later, at most `MAX_TIMES` times.
    """

    AGAIN_AFTER_SECONDS = 0.1
    MAX_TIMES = 20

    def __init__(self) -> None:
        self.postponed = 0

    def __call__(self, number: int, frame: FrameType | None) -> None:
        while frame is not None and frame.f_code.co_filename != "<frozen importlib._bootstrap>":
            frame = frame.f_back
        if frame is None or self.postponed == self.MAX_TIMES:
            raise KeyboardInterrupt
        self.postponed += 1
        again = threading.Timer(self.AGAIN_AFTER_SECONDS, os.kill, (os.getpid(), number))
        again.daemon = True
        again.start()


def _run() -> int:
    from covary.errors import CovaryError

    if sys.stdout is None:  # closed by the parent process
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # the terminal may not support all characters
            stream.reconfigure(errors="replace")
    try:
        code = command.main(prog_name="covary", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except CovaryError as error:
        click.echo(f"covary: {printable(str(error))}", err=True)
        return 1
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("covary: interrupted", err=True)
        return INTERRUPTED
    except MemoryError:
        click.echo("covary: not enough memory for this table", err=True)
        return 1
    except OSError as error:
        # The rest of the output cannot be written. A closed pipe is normal, a full disk is not.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            click.echo(f"covary: cannot write the output: {error.strerror}", err=True)
        return 1
