"""How likely a moment of sound is speech: the silero model, which faster-whisper ships.

The first stage of turn detection: frames in, probabilities out; `turn_detection` makes turns of them.
"""

from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    Frame = np.ndarray[tuple[int], np.dtype[np.float32]]

SAMPLE_RATE = 16_000
"""Hz: what the model hears."""
FRAME = 512
"""Samples that it judges at a time: 32 ms."""
_CONTEXT = 64  # samples of the frame before that the model sees again
_STATE = (1, 1, 128)
_FILE = "assets/silero_vad_v6.onnx"


def silero() -> "Callable[[Frame], float]":
    """Return a judge of one stream of sound: takes its frames in order, float32 (512,), returns speech's probability.

    The model is loaded once for all; each judge carries the state of its own stream. 0.15 ms a frame on one core.
    """
    import numpy as np

    session = _session()
    state = [np.zeros(_STATE, np.float32), np.zeros(_STATE, np.float32)]
    seen = np.zeros((1, _CONTEXT + FRAME), np.float32)

    def probability(frame: "Frame") -> float:
        nonlocal state
        seen[0, :_CONTEXT] = seen[0, -_CONTEXT:]
        seen[0, _CONTEXT:] = frame
        output, *state = session.run(None, {"input": seen, "h": state[0], "c": state[1]})
        return float(output.ravel()[0])

    return probability


@cache
def _session() -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.inter_op_num_threads = options.intra_op_num_threads = 1  # a frame is too little to share out
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(_model_path()), options, providers=["CPUExecutionProvider"])


def _model_path() -> Path:
    """Return the model's file, without importing the recogniser that brings it (0.5 s)."""
    found = find_spec("faster_whisper")
    if found is None or found.origin is None:
        raise ModuleNotFoundError("faster_whisper is not installed.", name="faster_whisper")
    return Path(found.origin).parent / _FILE
