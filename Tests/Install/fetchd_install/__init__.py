"""What scripts/check package and scripts/check image have in common."""
