"""A real Jupyter kernel for tests that must kill, interrupt or restart one."""

import queue
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from jupyter_client.manager import KernelManager


class Kernel:
    """A kernel as Jupyter starts it, in *folder* as its working and temporary folder."""

    def __init__(self, folder: Path) -> None:
        import os

        self.manager = KernelManager(kernel_name="python3")
        self.manager.start_kernel(cwd=str(folder), env=os.environ | {"TMPDIR": str(folder)})
        self.client: Any = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=60)

    def start(self, code: str) -> str:
        """Begin to run *code* as a cell; return its message id."""
        request: str = self.client.execute(code)
        return request

    def finish(self, request: str, timeout: float = 60) -> str:
        """Wait for the end of a cell; return what it printed, and its error's name and words if it failed."""
        printed, deadline = "", time.monotonic() + timeout
        while time.monotonic() < deadline:
            try:
                message = self.client.get_iopub_msg(timeout=1)
            except queue.Empty:
                continue
            if message["parent_header"].get("msg_id") != request:
                continue
            content = message["content"]
            match message["msg_type"]:
                case "stream":
                    printed += content["text"]
                case "error":
                    printed += f"{content['ename']}: {content['evalue']}\n"
                case "status" if content["execution_state"] == "idle":
                    return printed
        raise TimeoutError(f"the cell did not end within {timeout} s; it printed {printed!r}")

    def run(self, code: str, timeout: float = 60) -> str:
        """Run *code* as a cell and return what it printed."""
        return self.finish(self.start(code), timeout)

    def restart(self) -> None:
        """Restart the kernel as the button does."""
        self.manager.restart_kernel(now=False)
        self.client.wait_for_ready(timeout=60)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)
