"""Tests of whole use cases: real bots, real sockets and real crashes."""
