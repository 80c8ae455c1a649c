"""The modules of scripts/soak-cluster: nodes on PostgreSQL under load and faults, and the audit of their answers."""
