"""The sound card of the machine that the kernel runs on: its microphones and its speakers.

Audio callbacks run in a thread of PortAudio's; they copy and hand over, and everything else happens on the kernel's
loop. A card is opened at its own rate, since many refuse any other, and converted here to and from 24000 Hz.
"""

from .playing import CardSpeaker
from .portaudio import Device, devices
from .recording import CardMicrophone

__all__ = ["CardMicrophone", "CardSpeaker", "Device", "devices"]
