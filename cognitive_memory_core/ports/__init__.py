"""Ports: Protocols of at most seven methods that adapters implement; arguments and results are domain objects."""
