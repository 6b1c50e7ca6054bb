"""Goals of attacks, as users name them."""

QUESTIONS = {
    "rows": "RowQuestion",
    "members": "MemberQuestion",
    "attributes": "AttributeQuestion",
    "singling-out": "SinglingOutQuestion",
    "linkability": "LinkQuestion",
}
"""Question about the people of a play, by the goal that a user names."""
