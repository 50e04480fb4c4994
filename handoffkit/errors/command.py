"""What can go wrong in the terminal."""

from .base import HandoffkitError


class CourseMissing(HandoffkitError):
    """This installation came without the course."""

    def __init__(self, package: object) -> None:
        super().__init__(
            f"There are no notebooks of the course with this installation ({package}). Install handoffkit from its "
            "wheel, or from a whole checkout: `python -m pip install -e .` in the folder that holds `notebooks`."
        )


class CourseFolderRefused(HandoffkitError):
    """A working copy of the course cannot be where it was asked for."""

    def __init__(self, folder: object, reason: str) -> None:
        super().__init__(
            f"The working copy cannot be in {folder}: {reason}. Name another folder: `handoffkit lab FOLDER`."
        )


class LabMissing(HandoffkitError):
    """JupyterLab is not installed in this Python."""

    def __init__(self, python: str, detail: object) -> None:
        super().__init__(
            f"JupyterLab cannot be started with {python} ({detail}). Install it: `python -m pip install "
            "'jupyterlab>=4.6'`. The working copy is ready; any Jupyter that has handoffkit can open it."
        )


class CommandNotStarted(HandoffkitError):
    """The program that `handoffkit endpoint -- COMMAND` was to run does not start."""

    def __init__(self, program: str, reason: str) -> None:
        super().__init__(
            f"The command {program!r} cannot be started ({reason}). Write a program that this shell finds, and its "
            "options, after the `--`: `handoffkit endpoint -- python my_agent.py`."
        )


class NoTurns(HandoffkitError):
    """`handoffkit call` was given nothing to say."""

    def __init__(self) -> None:
        super().__init__(
            "The caller said nothing, so there is no ticket. Give each turn with an option, "
            "`handoffkit call --text 'My laptop will not charge.'`, or type it when you are asked."
        )
