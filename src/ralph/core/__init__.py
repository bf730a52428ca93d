"""Pure values and decisions: nothing here touches a file, a process, a clock or a database."""
