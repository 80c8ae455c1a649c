"""The modules of scripts/check soak-cluster: nodes on PostgreSQL under load and faults, and the audit of their answers."""
