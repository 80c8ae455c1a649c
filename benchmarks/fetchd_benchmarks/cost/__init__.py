"""The cost of a fixed scenario in counts that do not depend on the clock. scripts/check cost explains it."""
