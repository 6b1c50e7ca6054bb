"""Tables, pages, pictures and LaTeX of boards and reports."""
