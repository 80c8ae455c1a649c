"""The modules of scripts/soak: a fetchd under random load, faults and kills, and the audit of all that it said."""
