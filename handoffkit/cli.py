"""The command line: what can be asked for, and which module answers.

Each subcommand's work is a function elsewhere that takes plain values and returns an exit status; it is imported only
when it is asked for, so that `handoffkit --help` answers at once.
"""

import argparse
import io
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

from .errors import HandoffkitError


def main(argv: Sequence[str] | None = None) -> int:
    """Run `handoffkit` with *argv* (default: the process's own) and return the exit status.

    Everything after the first `--` belongs to another program and is handed to it untouched. A refusal is one
    sentence on standard error and status 1; a wrong option is status 2; Ctrl-C is 130.
    """
    _print_anything()
    given = list(sys.argv[1:] if argv is None else argv)
    cut = given.index("--") if "--" in given else len(given)
    parser = _parser()
    options = parser.parse_args(given[:cut])
    options.after = given[cut + 1 :]
    if options.after and not options.passes_on:
        parser.error(f"nothing can follow `--` here; found {' '.join(options.after)!r}")
    try:
        return int(options.run(options))
    except HandoffkitError as error:
        print(f"handoffkit: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _print_anything() -> None:
    """Let a character that the terminal cannot show come out as an escape instead of ending the command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="handoffkit", description="Learn and prototype voice agents: with no API key, microphone or internet."
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {_version()}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _add_lab(commands)
    _add_call(commands)
    _add_endpoint(commands)
    _add_doctor(commands)
    return parser


def _version() -> str:
    try:
        return metadata.version("handoffkit")
    except metadata.PackageNotFoundError:
        return "(not installed)"


_Commands = argparse._SubParsersAction  # argparse has no public name for what add_subparsers returns


def _add_lab(commands: "_Commands[argparse.ArgumentParser]") -> None:
    lab = commands.add_parser(
        "lab",
        help="open the course in JupyterLab, on a working copy of your own",
        usage="handoffkit lab [--no-start] [FOLDER] [-- JUPYTER-OPTION ...]",
        description="Copy the course's notebooks into a working copy and start JupyterLab on it. What you changed "
        "there is never overwritten: where the course has moved on, its newer version is put beside yours.",
    )
    lab.add_argument(
        "folder",
        nargs="?",
        type=Path,
        metavar="FOLDER",
        help="the working copy (default: ./handoffkit-course, or ~/handoffkit-course where this folder is read-only)",
    )
    lab.add_argument("--no-start", action="store_true", help="only copy, and print the working copy's path")
    lab.set_defaults(run=_lab, passes_on=True)


def _lab(options: argparse.Namespace) -> int:
    from .commands import lab

    return lab.run(options.folder, start=not options.no_start, jupyter_options=options.after)


def _add_call(commands: "_Commands[argparse.ArgumentParser]") -> None:
    call = commands.add_parser(
        "call",
        help="hold a call here, typed or from recordings, watch its events, get the ticket",
        description="Talk to a support agent, watch the events pass, and get a typed ticket. With RECORDINGS the turns "
        "are spoken; else they are typed: with --text, or in the terminal, or read from standard input, a line each.",
    )
    call.add_argument(
        "recordings",
        nargs="?",
        type=Path,
        metavar="RECORDINGS",
        help="a folder of WAV files, each a turn of the caller's, in the order of their names; or one such file",
    )
    call.add_argument("--realtime", action="store_true", help="play recordings as fast as they sound, not faster")
    call.add_argument("--text", action="append", default=[], help="a turn of the caller's; repeat it for the next turn")
    call.add_argument("--json", action="store_true", help="print the ticket as JSON, and all else to standard error")
    call.add_argument("--model", default="openai:gpt-realtime", help="the voice agent's model (default: %(default)s)")
    call.add_argument("--triage-model", default="openai:gpt-5.2", help="who writes the ticket (default: %(default)s)")
    call.set_defaults(run=_call, passes_on=False, refuse=call.error)


def _call(options: argparse.Namespace) -> int:
    from .commands import terminal

    if options.recordings and options.text:
        options.refuse("the turns are spoken (RECORDINGS) or typed (--text), not both")
    turns = terminal.Turns(options.text, options.recordings, options.realtime)
    return terminal.run(turns, as_json=options.json, model=options.model, triage_model=options.triage_model)


def _add_endpoint(commands: "_Commands[argparse.ArgumentParser]") -> None:
    endpoint = commands.add_parser(
        "endpoint",
        help="serve the OpenAI API on this machine, for any program",
        usage="handoffkit endpoint [-- COMMAND ...]",
        description="Serve until Ctrl-C and print the two variables to set; or run COMMAND with them set, and exit "
        "with its status. It is simulated, unless HANDOFFKIT_MODE=live is set.",
    )
    endpoint.set_defaults(run=_endpoint, passes_on=True)


def _endpoint(options: argparse.Namespace) -> int:
    from .commands import serve

    return serve.run(options.after)


def _add_doctor(commands: "_Commands[argparse.ArgumentParser]") -> None:
    doctor = commands.add_parser(
        "doctor",
        help="say what is there, what is missing and what to do",
        description="Look at this Python and this machine. The exit status is 0 unless typed calls cannot work here.",
    )
    doctor.add_argument("--json", action="store_true", help="print JSON instead of a table")
    doctor.set_defaults(run=_doctor, passes_on=False)


def _doctor(options: argparse.Namespace) -> int:
    from .commands import doctor

    return doctor.run(as_json=options.json)
