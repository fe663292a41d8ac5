"""Metering of model calls, and the daily call limit."""
