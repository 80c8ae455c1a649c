"""The benchmarks of fetchd. benchmarks/README.md explains them."""
