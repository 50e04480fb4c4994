"""The kernel's two ends of the page's sound: what its microphone hears comes in, what the agent says goes out."""

from .page_microphone import PageMicrophone
from .page_speaker import PageSpeaker

__all__ = ["PageMicrophone", "PageSpeaker"]
