"""What a person should look at before a table is released: suggested roles, notes and doubts."""
