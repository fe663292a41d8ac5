"""What the core asks of the world: Protocols of at most seven methods, domain objects in and out."""
