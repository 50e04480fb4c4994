"""The OpenAI API as rules: frames and bodies in, frames and bodies out. Nothing here waits or does I/O."""
