"""Models: clients, the local embedder, breakers and costs. Import ``client`` in a thread: it takes half a second."""
