"""Pictures of a log: transcript, event table, timeline. They take data and return data; all text is escaped."""
