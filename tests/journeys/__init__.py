"""Whole ways through the project: real bots, real sockets, real crashes."""
