"""Decisions of the host: deadlines, late files, disqualification, messages; all are in the log, and `verify` checks."""

import json
from datetime import timedelta

import pytest
from run_tools import invoke
from tournament_tools import DAY, HOUR, START, opened

from scenarios.tournament.host.archives import verify
from scenarios.tournament.host.decisions import (
    admit,
    disqualify,
    extend,
    give_title,
    notices,
    post,
    readmit,
    reopen,
    write_notices,
)
from scenarios.tournament.rules.advancing import advance, publish_again
from scenarios.tournament.rules.folder import Tournament
from scenarios.tournament.rules.log import Log
from scenarios.tournament.rules.opening import read_teams
from scenarios.tournament.rules.settings import Phase
from scenarios.tournament.rules.submitting import take_into_force


def until(cup, phase):
    return cup.tournament.state(cup.tournament.log.entries()).end(phase)


def texts(cup):
    return [one.text for one in notices(cup.tournament, cup.tournament.log.entries())]


def damage(path, *, missing=False):
    path.chmod(0o600)
    path.write_text("damaged")
    if missing:
        path.unlink()


def forget_hashes(tournament):
    """Make the log that of an earlier version, which logged no hashes."""
    (opening,) = tournament.log.entries()
    tournament.log.path.unlink()
    with tournament.log.locked():
        details = {name: value for name, value in opening.details.items() if name != "files"}
        Log(tournament.log.path).append("opened", details, START)


def table_of(cup, team):
    return cup.frame(team).to_csv(index=False).encode()


class TestDeadlines:
    def test_a_phase_that_is_extended_takes_files_until_its_new_end(self, cup):
        later = START + DAY + 2 * HOUR
        extend(cup.tournament, Phase.ANONYMIZE, later.isoformat(), "snow", START + HOUR)
        assert until(cup, Phase.ANONYMIZE) == later
        cup.hand_in("kyoto", cup.frame("kyoto"), now=later - timedelta(seconds=1))
        with pytest.raises(ValueError, match="ended at"):
            cup.hand_in("kyoto", cup.frame("kyoto"), now=later)
        with pytest.raises(ValueError, match="runs until"):
            advance(cup.tournament, later - timedelta(seconds=1))
        advance(cup.tournament, later)
        assert "deadlines were moved 1 time" in verify(cup.tournament)
        assert texts(cup)[0] == f"Phase anonymize ends at {later.isoformat()}: snow"

    @pytest.mark.parametrize(
        ("phase", "end", "reason", "said"),
        [
            (Phase.ANONYMIZE, START + HOUR, "snow", "runs until"),
            (Phase.ANONYMIZE, START - HOUR, "snow", "has passed"),
            (Phase.ANONYMIZE, START + 2 * DAY, "snow", "phase attack ends at .* too early; extend it first"),
            (Phase.ANONYMIZE, START + DAY + HOUR, "  ", "--reason: must not be empty"),
            (Phase.ANONYMIZE, START + DAY + HOUR, "x" * 501, "at most 500"),
            (Phase.ANONYMIZE, START + DAY + HOUR, "\x1b[31m", "control character"),
            (Phase.CLOSED, START + 9 * DAY, "snow", "has no end"),
        ],
    )
    def test_ends_that_cannot_be_are_refused(self, cup, phase, end, reason, said):
        entries = cup.tournament.log.entries()
        with pytest.raises(ValueError, match=said):
            extend(cup.tournament, phase, end.isoformat(), reason, START)
        assert cup.tournament.log.entries() == entries

    @pytest.mark.thorough
    def test_a_phase_is_opened_again_and_attacks_on_a_changed_table_do_not_count(self, cup):
        for team in ("kyoto", "osaka"):
            cup.hand_in(team, cup.frame(team))
        with pytest.raises(ValueError, match="is not over"):
            reopen(cup.tournament, Phase.ANONYMIZE, (START + DAY + HOUR).isoformat(), "snow", START)
        cup.publish()
        cup.attack("nara", "kyoto", range(30), range(30))
        cup.attack("nara", "osaka", range(30), range(30))
        with pytest.raises(ValueError, match="is over"):
            extend(cup.tournament, Phase.ANONYMIZE, (START + DAY + 3 * HOUR).isoformat(), "snow", START + DAY + HOUR)
        again = START + DAY + 3 * HOUR
        reopen(cup.tournament, Phase.ANONYMIZE, again.isoformat(), "an error in the rules", START + DAY + 2 * HOUR)
        before = (cup.tournament.public / "kyoto_anonymized.csv").read_bytes()
        cup.hand_in("kyoto", cup.frame("kyoto").iloc[:10], now=again - timedelta(seconds=1))
        assert advance(cup.tournament, again) is Phase.ATTACK
        assert (cup.tournament.public / "kyoto_anonymized.csv").read_bytes() != before
        assert list(cup.tournament.state(cup.tournament.log.entries()).attacks) == [("nara", "osaka")]
        assert "phase attack; deadlines were moved 1 time" in verify(cup.tournament)
        cup.close()
        reopen(cup.tournament, Phase.ATTACK, (START + 3 * DAY).isoformat(), "a late class", START + 2 * DAY + HOUR)
        assert cup.tournament.state(cup.tournament.log.entries()).phase is Phase.ATTACK

    @pytest.mark.parametrize("rounds", [1, 2])
    def test_what_a_refusal_names_opens_the_first_phase_of_a_closed_tournament(self, tmp_path, rounds):
        """Whoever does what each message says comes to the end; no two messages send to each other."""
        between = {"rounds": 2, "anonymize_again_until": (START + 1.5 * DAY).isoformat()} if rounds == 2 else {}
        tournament = opened(tmp_path / "cup", **between).tournament
        for _ in range(rounds + 1):
            advance(tournament, START + 2 * DAY)
        now, order = START + 3 * DAY, tournament.settings.phases[:-1]
        ends = {phase: (now + DAY * number).isoformat() for number, phase in enumerate(order, start=1)}
        for phase in order[:0:-1]:
            with pytest.raises(ValueError, match=f"phase {phase} ends at .*, too early; reopen it first"):
                reopen(tournament, Phase.ANONYMIZE, ends[Phase.ANONYMIZE], "snow", now)
            reopen(tournament, phase, ends[phase], "snow", now)
        reopen(tournament, Phase.ANONYMIZE, ends[Phase.ANONYMIZE], "snow", now)
        # A phase that is not over is extended.
        with pytest.raises(ValueError, match=r"phase attack ends at .*; extend it first"):
            extend(tournament, Phase.ANONYMIZE, (now + 9 * DAY).isoformat(), "snow", now)

    def test_a_score_in_a_phase_that_is_open_again_is_told_when_scores_follow(self, cup):
        folder, again = cup.tournament.folder, START + DAY + 2 * HOUR
        cup.hand_in("kyoto", cup.frame("kyoto"))
        early = invoke("tournament", "score", folder)
        assert (early.exit_code, "no table is published yet; the phase is anonymize" in early.stderr) == (2, True)
        cup.publish()
        reopen(cup.tournament, Phase.ANONYMIZE, again.isoformat(), "an error", START + DAY + HOUR)
        late = invoke("tournament", "score", folder)
        said = "phase anonymize is open again; scores follow once the attack phase is open"
        assert (late.exit_code, said in late.stderr) == (2, True)

    def test_settings_that_were_changed_by_hand_are_noticed(self, cup):
        path = cup.tournament.folder / "tournament.toml"
        text = path.read_text()
        for old, new, said in (
            ("attack_until = ", "attack_until = '2040-01-01T00:00:00+00:00' # ", "attack_until was changed by hand"),
            ("quota = 67108864", "quota = 67108865", "quota was changed by hand from 67108864 to 67108865"),
        ):
            path.write_text(text.replace(old, new))
            with pytest.raises(ValueError, match=said):
                verify(Tournament(cup.tournament.folder))
            assert invoke("tournament", "verify", cup.tournament.folder).exit_code == 1
        path.write_text(text)
        verify(Tournament(cup.tournament.folder))

    def test_rules_and_notices_show_the_new_end(self, cup):
        extend(cup.tournament, Phase.ATTACK, "2030-02-03T04:05:06+00:00", "snow", START)
        assert write_notices(cup.tournament) == []
        rules = (cup.tournament.team_folder("nara") / "RULES.md").read_text()
        assert "| attack | 2030-02-03 04:05:06+00:00 |" in rules
        other = opened(cup.tournament.folder.parent / "other", attack_until="2030-02-03T04:05:06+00:00")
        assert rules == (other.tournament.team_folder("nara") / "RULES.md").read_text()
        assert "snow" in (cup.tournament.public / "NOTICES.md").read_text()

    @pytest.mark.parametrize("damaged", ["first", "others"])
    def test_a_damaged_file_of_one_team_keeps_no_rules_from_anybody(self, cup, damaged):
        """The rules describe the columns, which the originals of any team have alike."""
        first, *others = cup.tournament.settings.teams
        for team in [first] if damaged == "first" else others:
            damage(cup.tournament.original_path(team))
        extend(cup.tournament, Phase.ATTACK, "2030-02-03T04:05:06+00:00", "snow", START)
        assert write_notices(cup.tournament) == []
        for team in (first, *others):
            assert "2030-02-03 04:05:06" in (cup.tournament.team_folder(team) / "RULES.md").read_text()

    @pytest.mark.parametrize("name", ["originals", "roles.toml", "others.csv"])
    @pytest.mark.parametrize("recorded", [True, False])
    def test_what_everybody_reads_is_written_whatever_is_wrong_with_the_files(self, cup, name, recorded):
        """A decision is in the log in any case, and the host hears which file keeps the rules as they were."""
        tournament, before = cup.tournament, (cup.tournament.team_folder("nara") / "RULES.md").read_text()
        if not recorded:
            forget_hashes(tournament)
        for path in sorted((tournament.host / name).iterdir()) if name == "originals" else [tournament.host / name]:
            damage(path, missing=not recorded)
        extend(tournament, Phase.ATTACK, "2030-02-03T04:05:06+00:00", "snow", START)
        said = write_notices(Tournament(tournament.folder))
        assert "snow" in (tournament.public / "NOTICES.md").read_text()
        if name == "others.csv" and not recorded:
            # An earlier version may have opened a tournament without other people.
            assert said == []
            return
        assert [name in one and "RULES.md has no new deadlines" in one for one in said] == [True]
        assert (tournament.team_folder("nara") / "RULES.md").read_text() == before

    def test_notices_are_written_while_no_submission_cleans_up(self, cup, monkeypatch):
        """A submission that holds the lock removes unfinished files, which are those of commands that were killed."""
        import fcntl

        from scenarios.tournament.host import decisions as messages

        def locked(path, data, **given):
            if path.name == "NOTICES.md":
                with open(f"{cup.tournament.log.path}.lock") as handle, pytest.raises(BlockingIOError):
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            real(path, data, **given)

        real = messages.write_whole
        monkeypatch.setattr(messages, "write_whole", locked)
        assert write_notices(cup.tournament) == []
        assert (cup.tournament.public / "NOTICES.md").exists()


def test_a_damaged_candidate_file_stops_a_decision_before_it_is_logged(cup):
    """Otherwise the host would read an error, and the decision would count all the same."""
    tournament = cup.tournament
    for team in ("kyoto", "osaka"):
        cup.hand_in(team, cup.frame(team))
    cup.publish()
    now = START + DAY + 2 * HOUR
    disqualify(tournament, "kyoto", "copied", now)
    damage(tournament.candidate_path("osaka"))
    before = len(tournament.log.entries())
    with pytest.raises(ValueError, match="osaka_candidate"):
        readmit(tournament, "kyoto", "an error of ours", now)
    with pytest.raises(ValueError, match="osaka_candidate"):
        admit(tournament, "nara", "nara_anonymized.csv", table_of(cup, "nara"), "train", now)
    assert len(Tournament(tournament.folder).log.entries()) == before


class TestVerify:
    """Entries that no command writes: somebody wrote the log anew, with valid hashes."""

    @pytest.mark.thorough_beyond(2)
    @pytest.mark.parametrize(
        ("kind", "changes", "said"),
        [
            ("submitted", {"now": START + DAY}, "after the end of phase anonymize"),
            ("submitted", {"phase": "attack"}, "is of phase attack, but the phase is anonymize"),
            ("submitted", {"against": "osaka"}, "is no submission of phase anonymize"),
            ("submitted", {"team": "nara"}, "nara, which is disqualified"),
            ("taken", {"number": 1}, "takes a submission into force that is none"),
            ("taken", {"number": 2, "rows": 9}, "takes a submission into force that is none"),
            ("advanced", {"from": "attack", "to": "closed"}, "closes phase attack while the phase is anonymize"),
            ("advanced", {"from": "anonymize", "to": "closed"}, "closes phase anonymize"),
            ("reopened", {"phase": "attack", "until": START.isoformat()}, "moves the end of phase attack"),
        ],
    )
    def test_entries_that_contradict_each_other_are_seen(self, cup, kind, changes, said):
        receipt = cup.hand_in("kyoto", cup.frame("kyoto"))
        disqualify(cup.tournament, "nara", "cheated", START + HOUR)
        verify(cup.tournament)
        now = changes.pop("now", START + 2 * HOUR)
        cup.tournament.log.append(kind, receipt.entry.details | changes, now)
        with pytest.raises(ValueError, match=f"line 4: .*{said}"):
            verify(Tournament(cup.tournament.folder))


class TestLateFiles:
    @pytest.mark.thorough
    def test_a_late_table_of_a_team_without_one_is_published(self, cup):
        cup.hand_in("kyoto", cup.frame("kyoto"))
        data = cup.file("osaka", cup.frame("osaka")).read_bytes()
        name = "osaka_anonymized.csv"
        with pytest.raises(ValueError, match="`submit` takes the file"):
            admit(cup.tournament, "osaka", name, data, "ill", START + HOUR)
        cup.publish()
        admit(cup.tournament, "osaka", name, data, "ill", START + DAY + HOUR)
        assert (cup.tournament.public / name).is_file()
        with pytest.raises(ValueError, match="others attack it"):
            admit(cup.tournament, "osaka", name, data, "ill", START + DAY + HOUR)
        with pytest.raises(ValueError, match="names no column"):
            admit(cup.tournament, "nara", "nara_anonymized.csv", b"a,b\n1,2\n", "ill", START + DAY + HOUR)
        cup.attack("kyoto", "osaka", [0], [0])
        with pytest.raises(ValueError, match="`submit` takes the file"):
            admit(cup.tournament, "osaka", "a.csv", b"released_row,candidate_row\n0,1\n", "ill", START + DAY + HOUR,
                  against="kyoto")  # fmt: skip
        cup.close()
        attack = b"released_row,candidate_row\n0,1\n"
        admit(cup.tournament, "osaka", "osaka_attack_kyoto.csv", attack, "ill", START + 3 * DAY)
        assert sorted(cup.tournament.state(cup.tournament.log.entries()).attacks) == [
            ("kyoto", "osaka"),
            ("osaka", "kyoto"),
        ]
        verify(cup.tournament)
        assert [text for text in texts(cup) if "late" in text] == [
            "The host admitted a late table of osaka: ill",
            "The host admitted a late attack on kyoto of osaka: ill",
        ]

    @pytest.mark.thorough
    def test_no_table_is_admitted_that_nobody_can_attack(self, cup):
        """It counted 0 for the attacks of all other teams."""
        cup.hand_in("kyoto", cup.frame("kyoto"))
        data, name = cup.file("nara", cup.frame("nara")).read_bytes(), "nara_anonymized.csv"
        cup.publish()
        with pytest.raises(ValueError, match="nobody can attack a table of nara; `extend` phase attack first"):
            admit(cup.tournament, "nara", name, data, "ill", START + 2 * DAY)
        cup.close()
        now = START + 3 * DAY
        with pytest.raises(ValueError, match="nobody can attack a table of nara; `reopen` phase attack first"):
            admit(cup.tournament, "nara", name, data, "ill", now)
        assert not (cup.tournament.public / name).exists()
        reopen(cup.tournament, Phase.ATTACK, (now + DAY).isoformat(), "nara was ill", now)
        admit(cup.tournament, "nara", name, data, "ill", now + HOUR)
        assert (cup.tournament.public / name).is_file()
        verify(cup.tournament)

    def test_before_the_tables_are_published_a_late_table_replaces_the_last(self, cup):
        cup.hand_in("kyoto", cup.frame("kyoto"))
        data = cup.file("kyoto", cup.frame("kyoto").iloc[:7]).read_bytes()
        admit(cup.tournament, "kyoto", "kyoto_anonymized.csv", data, "ill", START + DAY + HOUR)
        assert cup.tournament.state(cup.tournament.log.entries()).tables["kyoto"].rows == 7
        assert not list(cup.tournament.public.glob("*_anonymized.csv"))


class TestDisqualification:
    @pytest.mark.thorough
    def test_the_files_of_a_disqualified_team_do_not_count(self, cup):
        for team in ("kyoto", "osaka"):
            cup.hand_in(team, cup.frame(team))
        disqualify(cup.tournament, "osaka", "shared its originals", START + HOUR)
        with pytest.raises(ValueError, match="osaka is disqualified: shared its originals"):
            cup.hand_in("osaka", cup.frame("osaka"))
        with pytest.raises(ValueError, match="disqualified already"):
            disqualify(cup.tournament, "osaka", "again", START + HOUR)
        cup.publish()
        assert not (cup.tournament.public / "osaka_anonymized.csv").exists()
        with pytest.raises(ValueError, match="osaka is disqualified; there is nothing to attack"):
            cup.attack("nara", "osaka", [0], [0])
        cup.attack("nara", "kyoto", [0], [0])
        disqualify(cup.tournament, "nara", "cheated", START + DAY + HOUR)
        entries = cup.tournament.log.entries()
        assert (list(cup.tournament.state(entries).tables), cup.tournament.state(entries).attacks) == (["kyoto"], {})
        readmit(cup.tournament, "nara", "it did not", START + DAY + HOUR)
        with pytest.raises(ValueError, match="is not disqualified"):
            readmit(cup.tournament, "kyoto", "it did not", START + DAY + HOUR)
        assert list(cup.tournament.state(cup.tournament.log.entries()).attacks) == [("nara", "kyoto")]
        readmit(cup.tournament, "osaka", "it did not", START + DAY + HOUR)
        assert (cup.tournament.public / "osaka_anonymized.csv").exists()
        verify(cup.tournament)

    @pytest.mark.thorough
    def test_a_team_that_is_readmitted_has_its_last_table_published(self, cup):
        for team in ("kyoto", "osaka"):
            cup.hand_in(team, cup.frame(team))
        cup.publish()
        again = START + DAY + 3 * HOUR
        reopen(cup.tournament, Phase.ANONYMIZE, again.isoformat(), "an error", START + DAY + HOUR)
        cup.hand_in("kyoto", cup.frame("kyoto").iloc[:10], now=again - HOUR)
        disqualify(cup.tournament, "kyoto", "late", again - HOUR)
        advance(cup.tournament, again)
        path = cup.tournament.public / "kyoto_anonymized.csv"
        old = path.read_bytes()
        verify(cup.tournament)
        readmit(cup.tournament, "kyoto", "it was not", again)
        new = path.read_bytes()
        assert (len(old.splitlines()), len(new.splitlines())) == (31, 11)
        verify(cup.tournament)
        path.write_bytes(old)
        with pytest.raises(ValueError, match=r"kyoto_anonymized\.csv: is not the file that counts"):
            verify(cup.tournament)
        publish_again(cup.tournament)
        assert path.read_bytes() == new
        verify(cup.tournament)


class TestTakingIntoForce:
    def test_an_older_table_counts_again_and_costs_nothing(self, cup):
        frame = cup.frame("kyoto")
        first = cup.hand_in("kyoto", frame.iloc[:10]).submission
        second = cup.hand_in("kyoto", frame.iloc[:20]).submission
        left = cup.tournament.state(cup.tournament.log.entries()).left("kyoto")
        assert take_into_force(cup.tournament, "kyoto", first.number, START + 2 * HOUR) == first
        assert cup.tournament.state(cup.tournament.log.entries()).tables["kyoto"] == first
        assert cup.tournament.state(cup.tournament.log.entries()).left("kyoto") == left
        with pytest.raises(ValueError, match="counts already"):
            take_into_force(cup.tournament, "kyoto", first.number, START + 2 * HOUR)
        with pytest.raises(ValueError, match=f"has no submission 1; its submissions are {first.number}, "):
            take_into_force(cup.tournament, "kyoto", 1, START + 2 * HOUR)
        with pytest.raises(ValueError, match=r"has no submission .*; its submissions are none"):
            take_into_force(cup.tournament, "osaka", first.number, START + 2 * HOUR)
        with pytest.raises(ValueError, match="ended at"):
            take_into_force(cup.tournament, "kyoto", second.number, START + DAY)
        assert "2 accepted files" in verify(cup.tournament)
        cup.publish()
        assert len((cup.tournament.public / "kyoto_anonymized.csv").read_text().splitlines()) == 11
        with pytest.raises(ValueError, match="is a table; the phase is attack"):
            take_into_force(cup.tournament, "kyoto", second.number, START + DAY + HOUR)

    def test_so_does_an_older_attack(self, cup):
        cup.hand_in("kyoto", cup.frame("kyoto"))
        cup.publish()
        first = cup.attack("osaka", "kyoto", [0], [0]).submission
        cup.attack("osaka", "kyoto", [0, 1], [0, 1])
        done = invoke("tournament", "take", cup.tournament.folder, "osaka", first.number)
        assert done.exit_code == 0, done.output
        assert cup.tournament.state(cup.tournament.log.entries()).attacks["osaka", "kyoto"] == first
        verify(cup.tournament)


def test_messages_are_stored_and_logged(cup):
    post(cup.tournament, "Bring a laptop.\r\nAnd lunch.", START + HOUR)
    assert texts(cup) == ["Bring a laptop.\nAnd lunch."]
    for text in ("", " \n", "x" * 4001, "\x07", "\u202eevil", "\ud800"):
        with pytest.raises(ValueError, match="message"):
            post(cup.tournament, text, START + HOUR)
    assert len(texts(cup)) == 1


class TestTitles:
    def test_titles_are_given_at_the_opening_and_later(self, tmp_path):
        path = tmp_path / "teams.txt"
        path.write_text("\ufeffkyoto, 京都大学\nosaka\n# nobody\nnara\tチーム 奈良 # the third\n", encoding="utf-8")
        teams = read_teams(path)
        assert teams == {"kyoto": "京都大学", "osaka": "", "nara": "チーム 奈良"}
        cup = opened(tmp_path / "cup", tuple(teams), titles=teams)
        give_title(cup.tournament, "osaka", " 大阪  ", START)
        titles = cup.tournament.state(cup.tournament.log.entries()).titles
        assert titles == {"kyoto": "京都大学", "osaka": "大阪", "nara": "チーム 奈良"}
        verify(cup.tournament)
        for title in ("", "x" * 61, "\x1b[31m", "京都大学", "KYOTO", "ｋｙｏｔｏ", "a\u202eb", "a\u200bb"):
            with pytest.raises(ValueError, match="title"):
                give_title(cup.tournament, "osaka", title, START)

    @pytest.mark.parametrize("lines", ["a,X\nb,X\n", "a,b\nb\n", "a\nb,A\n", f"a,{'x' * 61}\nb\n", ",X\nb\nc\n"])
    def test_titles_that_cannot_be_are_refused(self, tmp_path, lines):
        path = tmp_path / "teams.txt"
        path.write_text(lines)
        with pytest.raises(ValueError, match=r"teams\.txt"):
            read_teams(path)

    def test_a_file_of_teams_in_another_encoding_names_its_line(self, tmp_path):
        path = tmp_path / "teams.txt"
        path.write_bytes("osaka\nkyoto,京都大学\n".encode("cp932"))
        with pytest.raises(ValueError, match=r"teams\.txt, line 2: is no UTF-8 text; save the file as UTF-8$"):
            read_teams(path)

    def test_a_title_in_place_of_a_name_is_told_where_it_belongs(self, tmp_path):
        path = tmp_path / "teams.txt"
        path.write_text("京都大学\nosaka\n", encoding="utf-8")
        with pytest.raises(ValueError, match="a title in any script follows a comma, as in kyoto,京都大学"):
            read_teams(path)

    @pytest.mark.parametrize(
        ("line", "right"),
        [
            ("nara\N{FULLWIDTH COMMA}奈良大学", "nara,奈良大学"),
            ("nara\N{IDEOGRAPHIC COMMA}奈良大学", "nara,奈良大学"),
            ("奈良\N{FULLWIDTH COMMA}奈良大学", "kyoto,奈良大学"),
        ],
    )
    def test_a_wide_comma_is_told_as_the_comma_that_would_be_right(self, tmp_path, line, right):
        path = tmp_path / "teams.txt"
        path.write_text(f"{line}\nosaka\n", encoding="utf-8")
        with pytest.raises(ValueError, match=f"follows a comma, as in {right}$"):
            read_teams(path)


class TestCommands:
    @pytest.mark.thorough
    def test_all_decisions_by_command(self, cup):
        folder = cup.tournament.folder
        table = cup.file("kyoto", cup.frame("kyoto"))
        wrong = cup.file("kyoto", cup.frame("kyoto").assign(age="20-29"), "wrong.csv")
        done = invoke("tournament", "submit", folder, "kyoto", table)
        assert (done.exit_code, "utility 1.000" in done.stdout) == (0, True)
        for arguments in (
            ("extend", folder, "attack", "2131-01-01T12:00", "--reason", "snow"),
            ("message", folder, "Hello."),
            ("title", folder, "osaka", "大阪"),
            ("disqualify", folder, "nara", "--reason", "cheated"),
            ("readmit", folder, "nara", "--reason", "it did not"),
            ("advance", folder, "--early"),
            ("reopen", folder, "anonymize", "2130-01-01T12:00", "--reason", "too early"),
            ("advance", folder, "--early"),
            ("admit", folder, "osaka", cup.file("osaka", cup.frame("osaka")), "--reason", "ill"),
            ("verify", folder),
            ("advance", folder, "--early"),
        ):
            done = invoke("tournament", *arguments)
            assert done.exit_code == 0, (arguments, done.output)
        notice = (cup.tournament.public / "NOTICES.md").read_text()
        closed = cup.tournament.log.entries()[-1].time.replace("T", " ")
        assert notice.startswith(
            f"# Notices of the host\n\n## {closed}\nPhase attack is closed. The tournament is closed.\n"
        )
        for words in ("snow", "Hello.", "cheated", "it did not", "too early", "late table of 大阪: ill"):
            assert words in notice
        done = invoke("tournament", "admit", folder, "nara", wrong, "--reason", "ill")
        assert done.exit_code == 2
        assert "write [20,29]" in done.stderr
        for arguments in (
            ("extend", folder, "attack", "tomorrow", "--reason", "snow"),
            ("disqualify", folder, "nobody", "--reason", "cheated"),
            ("take", folder, "kyoto", 1),
            ("title", folder, "osaka", ""),
        ):
            done = invoke("tournament", *arguments)
            assert (done.exit_code, len(done.stderr.splitlines())) == (2, 1), done.output

    def test_messages_and_json_show_letters_of_every_script(self, cup):
        folder, wrong = cup.tournament.folder, cup.file("kyoto", cup.frame("kyoto").assign(job="管理職"), "表.csv")
        done = invoke("tournament", "submit", folder, "奈良", wrong)
        assert "there is no team '奈良'; the teams are kyoto" in done.stderr
        done = invoke("tournament", "submit", folder, "kyoto", wrong, "--format", "json")
        assert '"file": "表.csv"' in done.stdout
        assert "'管理職' holds an unknown category" in done.stdout


class TestOlderTournaments:
    @pytest.mark.thorough
    def test_a_log_without_settings_is_read_and_verified(self, cup):
        """Folders of the version before: no settings in the log, and checkpoints without the bytes of teams."""
        log = cup.tournament.log
        opening = log.entries()[0]
        log.path.unlink()
        log.append("opened", {"teams": opening.details["teams"]}, START)
        for _ in range(2 * 64):
            cup.tournament = Tournament(cup.tournament.folder)
            log.append("scored", {}, START)
        cup.hand_in("kyoto", cup.frame("kyoto"))
        path = log.path.with_name("log.jsonl.checkpoint")
        content = json.loads(path.read_text())
        del content["sent"]
        path.write_text(json.dumps(content))
        assert Log(log.path).head().sent == {"kyoto": cup.tournament.log.entries()[-1].details["bytes"]}
        assert "1 accepted files" in verify(Tournament(cup.tournament.folder))


def test_attacks_count_towards_the_quota(cup):
    cup.hand_in("kyoto", cup.frame("kyoto"))
    cup.publish()
    used = cup.tournament.state(cup.tournament.log.entries()).left("osaka")
    receipt = cup.attack("osaka", "kyoto", [0], [0])
    assert used - cup.tournament.state(cup.tournament.log.entries()).left("osaka") == receipt.entry.details["bytes"]
    path = cup.tournament.folder / "tournament.toml"
    path.write_text(path.read_text().replace("quota = 67108864", f"quota = {receipt.entry.details['bytes'] + 9}"))
    cup.tournament = Tournament(cup.tournament.folder)
    cup.attack("osaka", "kyoto", [0], [0])
    with pytest.raises(ValueError, match="exceed what is left to osaka"):
        cup.attack("osaka", "kyoto", [1], [0])


def test_the_status_names_who_has_no_table(cup):
    first = cup.hand_in("kyoto", cup.frame("kyoto").iloc[:10]).submission
    second = cup.hand_in("kyoto", cup.frame("kyoto")).submission
    folder = cup.tournament.folder
    shown = invoke("tournament", "status", folder).output
    assert f"Phase anonymize, until {(START + DAY).isoformat()}" in shown
    assert "2 of 3 teams have no table" in shown
    lines = invoke("tournament", "status", folder, "kyoto").output.splitlines()
    assert [line.split()[0] for line in lines if "table" in line and "anonymize" in line] == [
        str(first.number),
        str(second.number),
    ]
    assert [("yes" in line) for line in lines if "anonymize" in line] == [False, True]
    assert invoke("tournament", "status", folder, "nobody").exit_code == 2
