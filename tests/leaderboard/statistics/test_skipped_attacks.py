"""Attacks that were skipped are named below a board, with the reason."""

from leaderboard import Result, matrix, report_to_markdown, report_to_terminal, table_sections
from leaderboard.pages.comparison_tables import NOT_PLAYED, skip_tables
from metrics import Score
from scenarios.running.boards.board_result import board_page

CHANNEL, ROWS = "the release discloses no channel", "released rows stem from no single person"
SCORES = {"membership": Score("membership", rate=0.75, chance=0.5, trials=100)}


def results(*skipped, played=("Shuffle", "Copula", "Mine")):
    """Results of defenses that one attack was played on, and trials of others that were skipped."""
    done = [
        Result(key=f"{name}{kind}", scenario="mine", defense=name, play=0, **kind)
        for name in played
        for kind in ({"values": {"marginals": 0.5}}, {"attack": "Homer", "scores": SCORES})
    ]
    return done + [
        Result(key=f"{one}", scenario="mine", play=0, status="skipped", defense=one[0], attack=one[1], reason=one[2])
        for one in skipped
    ]


def test_defenses_share_a_row_if_the_same_attacks_were_skipped_for_one_reason():
    skipped = [
        ("Shuffle", "Bayes", CHANNEL),
        ("Mine", "Bayes", CHANNEL),
        ("Copula", "Bayes", CHANNEL),
        ("Copula", "Learned", ROWS),
        ("Copula", "Groups", ROWS),
    ]
    [table] = skip_tables(matrix(results(*skipped)))["mine"]
    assert table.rows == [(ROWS, "Groups, Learned", "Copula"), (CHANNEL, "Bayes", "Copula, Mine, Shuffle")]


def test_terminal_markdown_and_page_name_them():
    skipped = results(("Mine", "Bayes", CHANNEL))
    sections = table_sections(skip_tables(matrix(skipped)))
    for text in (report_to_terminal(sections), report_to_markdown(sections), board_page(skipped)):
        assert NOT_PLAYED in text
        assert CHANNEL in text


def test_nothing_is_said_where_every_attack_was_played():
    assert skip_tables(matrix(results())) == {}
    sections = table_sections(skip_tables(matrix(results())))
    assert report_to_terminal(sections) == report_to_markdown(sections) == ""
    assert NOT_PLAYED not in board_page(results())


def test_an_attack_that_was_skipped_in_some_plays_only_counts_as_played():
    trial = Result(key="again", scenario="mine", defense="Mine", attack="Bayes", play=1, scores=SCORES)
    assert skip_tables(matrix([*results(("Mine", "Bayes", CHANNEL)), trial])) == {}
