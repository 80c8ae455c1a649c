"""scripts/check power-loss: the state of the service after a power loss, at many moments of a real run.

workload.py        the recorded run, and the answers that its clients received
trace.py           the records of Tests/Faults/disk_faults.c
moments.py         the moments of power losses
history.py         the durable data at each moment
disk.py            the disk after a power loss
knowledge.py       the promises of fetchd up to a moment
disk_audit.py      checks the promises on the disk
service_audit.py   checks the promises of the restarted service
campaign.py        runs the trials one after the other
command.py         the command line

The modules next to this folder are shared with scripts/check faults: service.py, origin.py, receiver.py, library.py.
"""
