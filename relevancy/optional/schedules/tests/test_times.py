"""When schedules are due."""

from datetime import UTC, datetime

import pytest
from django.core.exceptions import ValidationError

from relevancy.optional.schedules.times import check_times, describe_times, next_time

NOON = datetime(2026, 3, 28, 12, tzinfo=UTC)


def test_next_time_is_local_to_the_zone_and_skips_the_missing_hour() -> None:
    first = next_time("0 2 * * *", "Europe/Berlin", after=NOON)
    assert first == datetime(2026, 3, 29, 1, tzinfo=UTC)  # 2:00 does not exist that night; it is 3:00 summer time
    assert next_time("0 2 * * *", "Europe/Berlin", after=first) == datetime(2026, 3, 30, 0, tzinfo=UTC)


def test_next_time_is_later_than_the_given_one() -> None:
    assert next_time("0 12 * * *", "UTC", after=NOON) == datetime(2026, 3, 29, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("cron", "words"),
    [
        ("2 o'clock", "“2 o'clock” is not a time: wrong number of fields."),
        ("0 25 * * *", "“0 25 * * *” is not a time: bad hour."),
        ("* * * * *", "“* * * * *” is due every minute. There have to be at least 10 minutes"),
        ("0,5 * * * *", "is due every 5 minutes."),
    ],
)
def test_check_times_says_what_is_wrong(cron: str, words: str) -> None:
    with pytest.raises(ValidationError) as caught:
        check_times(cron, "UTC", now=NOON)
    assert words in caught.value.message_dict["cron"][0]


def test_check_times_accepts_every_ten_minutes_and_february_29() -> None:
    check_times("*/10 * * * *", "UTC", now=NOON)
    check_times("0 2 29 2 *", "UTC", now=NOON)


def test_describe_times_in_words() -> None:
    assert describe_times("0 2 * * 1-5") == "At 02:00 on Monday through Friday"
