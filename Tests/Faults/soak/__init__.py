"""The modules of scripts/check soak: fetchd under random load, faults and kills, and the audit of its answers."""
