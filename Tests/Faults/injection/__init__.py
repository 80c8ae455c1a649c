"""The modules of scripts/faults: kills at system calls, and a disk that fails."""
