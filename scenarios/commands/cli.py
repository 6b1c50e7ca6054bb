"""The command line; each command has a module of its own, which is imported only when the command is looked up."""

from __future__ import annotations

import os
import sys
from collections import UserDict
from importlib import import_module
from typing import Any

import click

from metrics.columns.printable import printable

EPILOG = """\b
Examples:
  tokumei run                          play the scenario `bank` and show its board
  tokumei run bank -d Mondrian -j 2    only one defense, on two cores
  tokumei board --format csv           the board again, for a script
  tokumei describe people.csv -o roles.toml
  tokumei defend Mondrian -p k=5 people.csv --roles roles.toml -o released.csv
  tokumei ask people.csv --roles roles.toml "mean income" --epsilon 0.5 --dry-run
  tokumei info RetentionReplacement    what a name means

\b
Exit codes: 0 ok, 1 gate failed, 2 usage or bad input, 3 some trials failed, 4 nothing to show or compare.
"""

COMMANDS = (
    "run",
    "choose",
    "board",
    "publish",
    "compare",
    "pictures",
    "describe",
    "split",
    "defend",
    "attack",
    "rank",
    "risk",
    "report",
    "utility",
    "ask",
    "list",
    "info",
    "validate",
    "check",
    "tournament",
    "audit",
    "secure",
    "downtime",
    "doctor",
)


class CommandModules(UserDict[str, Any]):
    """Commands by name; the module ``scenarios.commands.NAME`` is imported when its command is first looked up."""

    def __init__(self, *names: str) -> None:
        super().__init__(dict.fromkeys(names))

    def __getitem__(self, name: str) -> Any:
        if self.data[name] is None:
            module = import_module(f"scenarios.commands.{name}")
            self.data[name] = getattr(module, "list_" if name == "list" else name)
        return self.data[name]


class CommandLine(click.Group):
    """A group whose commands end in one line and exit code 2 if they raise `ValueError` or `OSError`."""

    def invoke(self, ctx: click.Context) -> Any:
        """Invoke the command, and state what is wrong with its input."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            # Nobody reads standard output any more.
            raise click.exceptions.Exit(0) from None
        except (ValueError, OSError) as error:
            from scenarios.commands.common import BadInput
            from scenarios.running.methods.source_locations import complaint

            raise BadInput(complaint(error)) from None


def _show_version(context: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked and not context.resilient_parsing:
        from leaderboard.results.version import version

        click.echo(f"tokumei, version {version()}")
        context.exit()


def _show_tracebacks(context: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked and not context.resilient_parsing:
        os.environ["TOKUMEI_TRACEBACK"] = "1"


@click.group(
    cls=CommandLine,
    commands=CommandModules(*COMMANDS),
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version and exit.",
)
@click.option(
    "--traceback",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_tracebacks,
    help="Show the traceback of each error, as TOKUMEI_TRACEBACK=1 does.",
)
def cli() -> None:
    """Measure anonymization by attacking it.

    Every attack is played against every defense on real records. The board compares utility with re-identification.
    """


def main() -> int:
    """Run the command line and return its exit code; the caller handles interrupts and all other exceptions."""
    try:
        result = cli.main(prog_name="tokumei", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Abort:
        raise KeyboardInterrupt from None
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(printable(error.format_message()), err=True)
        return error.exit_code
    except click.ClickException as error:
        click.echo(f"Error: {_one_line(error)}", err=True)
        return error.exit_code
    return result if isinstance(result, int) else 0


def _one_line(error: click.ClickException) -> str:
    """Message of an error in one line; a usage error names the help of its command."""
    message = printable(" ".join(error.format_message().split()))
    if not isinstance(error, click.UsageError) or error.ctx is None:
        return message
    return f"{message.rstrip('.')}. See `{error.ctx.command_path} --help`."
