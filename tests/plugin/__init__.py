"""The plugin's glue, on a NoneBot that nonebug starts; a pytest run of its own."""
