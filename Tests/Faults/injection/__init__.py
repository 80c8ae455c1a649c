"""The modules of scripts/faults: kills at system calls, and failing disks."""
