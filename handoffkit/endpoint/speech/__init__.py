"""Speech without a cloud, inside the endpoint process: when somebody speaks, what was said, and a voice.

Nothing here loads numpy or a model when it is imported: a typed call never pays for speech.
"""
