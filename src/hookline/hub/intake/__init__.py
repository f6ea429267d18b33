"""Takes the records of hosts into the database: from this machine's record, and from other machines."""
