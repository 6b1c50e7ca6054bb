"""Private answers to single queries about a table: the language of queries, the table's columns, and the account."""
