"""Figures: each benchmark is one command, ``python -m benchmarks NAME``, and compares within one run."""
