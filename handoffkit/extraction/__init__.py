"""What a handoff is made of: whether a call is ready for it, its attempts, its result, and results side by side."""
