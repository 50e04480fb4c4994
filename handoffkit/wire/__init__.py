"""From the wire's frames to what was said: reading the log's file, following a conversation, judging its turns."""
