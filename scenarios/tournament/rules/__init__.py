"""The rules of a tournament: its folder, what a team may submit, and how it is scored."""
