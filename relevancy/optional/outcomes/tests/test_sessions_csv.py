"""Outcomes of online tests as CSV: three forms, counted by session."""

from io import BytesIO

import pytest

from relevancy.formats import BadFile
from relevancy.optional.outcomes.models import OnlineOutcome
from relevancy.optional.outcomes.sessions_csv import read_outcome

Method = OnlineOutcome.Method


def counted(method, wins_a, wins_b, ties=0, sessions_a=0, sessions_b=0, remarks=()):
    return (method, wins_a, wins_b, ties, sessions_a, sessions_b, [*remarks])


def count(text):
    outcome = read(text)
    names = ("method", "wins_a", "wins_b", "ties", "sessions_a", "sessions_b", "remarks")
    return tuple(getattr(outcome, name) for name in names)


def read(text):
    return read_outcome(BytesIO(text.encode() if isinstance(text, str) else text))


def test_winners_of_a_session_are_one_vote():
    # s1: two pages for B, one for A → B. s2: one each → tie. s3 → A. s4 says tie.
    rows = "s1,b\ns1,B\ns1,a\ns2,a\ns2,b\ns3,A\ns4,tie\n"
    assert count(f"session,winner\n{rows}") == counted(Method.INTERLEAVING, 1, 1, 2)


def test_clicks_are_votes_of_pages_and_not_added_up():
    # s1: A has 9 clicks on one page, B one click on each of two pages: B won more pages. s2 has no click.
    counts = count("session,clicks_a,clicks_b\ns1,9,0\ns1,0,1\ns1,0,1\ns2,0,0\ns3,2,1\n")
    assert counts == counted(Method.INTERLEAVING, 1, 1, 1, remarks=["Sessions without a click: 1. They are ties."])


def test_ab_sessions_succeed_once_and_those_with_both_sides_are_left_out():
    rows = "s1,a,0\ns1,a,1\ns1,a,1\ns2,a,0\ns3,b,1\ns4,b,0\ns5,b,1\ns6,a,1\ns6,b,1\n"
    counts = count(f"session_id,side,success\n{rows}")
    assert counts == counted(
        Method.AB, 1, 2, sessions_a=2, sessions_b=3, remarks=["Left out: 1 session with both sides."]
    )


def test_rows_may_stand_for_many_sessions():
    assert count("winner,count\na,6\nb,10\nb,8\ntie,4\n") == counted(Method.INTERLEAVING, 6, 18, 4)
    counts = read("side,success,sessions\na,0,32\na,1,48\nb,0,14\nb,1,56\n")
    assert (counts.wins_a, counts.sessions_a, counts.wins_b, counts.sessions_b) == (48, 80, 56, 70)


def test_other_columns_are_named():
    counts = read("session,query,winner,at\ns1,star wars,b,2026-05-01\n")
    assert (counts.wins_b, counts.remarks) == (1, ["Columns left out: query, at."])


def test_spreadsheet_files_can_be_read():
    assert read(b"\xef\xbb\xbfsession,winner\r\n's1, b\r\n\r\n").wins_b == 1


BAD = {
    "session,winner\ns1,c\n": "Line 2: column winner: 'c' is not a, b or tie",
    "session,winner\n,a\n": "Line 2: column session: '' is empty",
    "session,winner\ns1,a,b\n": "Line 2: 3 columns instead of 2",
    "session,clicks_a,clicks_b\ns1,1,-1\n": "Line 2: column clicks_b: '-1' is not a whole number",
    "session,side,success\ns1,c,1\n": "Line 2: column side: 'c' is not a or b",
    "session,side,success\ns1,a,yes\n": "Line 2: column success: 'yes' is not 0 or 1",
    "winner,count\na,1.5\n": "Line 2: column count: '1.5' is not a whole number",
    "session,count,winner\ns1,1,a\n": "either session or count",
    "session,clicks_a\ns1,1\n": "Line 1: the header",
    "session,winner,side,success\ns1,a,a,1\n": "Line 1: the header",
    "session,session_id,winner\ns1,s1,a\n": "more than one column session",
    "session,winner\n": "no sessions",
    "": "Line 1",
    f"session,winner\n{'x' * 501},a\n": "more than 500 characters",
}


def test_bad_files_name_line_column_and_value():
    for text, message in BAD.items():
        with pytest.raises(BadFile) as error:
            read(text)
        assert message in str(error.value), text
