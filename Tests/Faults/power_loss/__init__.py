"""scripts/power-loss: what is left of a service after the power has failed, at many moments of a real run.

workload.py        the run that is recorded, and what its clients were told
trace.py           the records of Tests/Faults/disk_faults.c
moments.py         when the power may fail
history.py         what was durable when
disk.py            the disk as a loss of power leaves it
knowledge.py       what fetchd had promised by then
disk_audit.py      whether the disk keeps it
service_audit.py   whether fetchd keeps it
campaign.py        one loss after the other
command.py         the command line

The modules beside this folder are shared with scripts/faults: service.py, origin.py, receiver.py, library.py.
"""
