"""What works without a model: a historian, a profile merger and vectors made by rules, no key, no network."""
