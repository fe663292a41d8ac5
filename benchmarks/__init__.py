"""Benchmarks: each is one command, ``python -m benchmarks NAME``, and compares figures of one run only."""
