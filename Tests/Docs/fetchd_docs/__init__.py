"""The tests of the documentation and of the examples beside it: scripts/check examples."""
