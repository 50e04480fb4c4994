"""The only door to the SDKs' realtime APIs: open a session, send, interrupt, read the history."""
