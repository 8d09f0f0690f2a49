"""The pool of connections to PostgreSQL, and what it does when the server was away. Only settings for PostgreSQL import this module.

See docs/decisions/0051.
"""

from typing import Any

import psycopg
from django.db import connection
from psycopg_pool import ConnectionPool

RECONNECT_SECONDS = 5  # as long as a request waits for a connection


def options(*, size: int) -> dict[str, Any]:
    """Returns the options of the pool of one process; `size` is the largest number of connections.

    The pool tries to reconnect after 1, 3 and 5 s, and then stops: the next request that needs a connection opens one at once. By
    default it goes on for 5 minutes, with ever longer pauses, and requests wait for the end of the pause when the server is back.
    """
    return {
        "min_size": 0,
        "max_size": size,
        "timeout": 5,
        "reconnect_timeout": RECONNECT_SECONDS,
        "check": check_connection,
    }


def check_connection(checked: psycopg.Connection[Any]) -> None:
    """Checks a connection before it is used. If it is lost, the pool checks all others as well, and replaces them.

    By default the pool notices one lost connection after the other, and waits 1, 2, 4 … seconds before it takes the next one.
    """
    try:
        ConnectionPool.check_connection(checked)
    except psycopg.Error:
        pool = getattr(connection, "pool", None)
        if pool is not None:
            pool.check()
        raise
