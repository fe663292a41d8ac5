"""Ports: Protocols that adapters implement; arguments and results are domain objects."""
