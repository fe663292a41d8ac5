"""Tests of the plugin on a NoneBot started by nonebug; they need a pytest run of their own."""
