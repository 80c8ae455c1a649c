"""The modules of scripts/check faults: kills at system calls, and failing disks."""
