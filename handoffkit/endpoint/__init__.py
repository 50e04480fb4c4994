"""The local endpoint: a process of its own that speaks the OpenAI API on 127.0.0.1 and writes down what passes.

Nothing in here imports an SDK. `server` and its faces (`http`, `sockets`) and `relay` alone do I/O over the network;
the protocol modules (`realtime`, `responses`, `lanes`, `chat`, `conversations`) take data and return data.
"""
