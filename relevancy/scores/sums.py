"""Sums in SQL that do not depend on the order of what is summed: two runs with the same results have the same score."""

_HIGH, _LOW = 2.0**26, 2.0**30  # together the units of `exact_units`: a sum of all in one column would overflow


def exact_sum_sql(expression: str, vendor: str) -> str:
    """Returns two columns of SQL whose values `units` combines: the exact sum of an expression that is not negative."""
    scaled = f"({expression}) * {_HIGH}"
    high = _floor(scaled, vendor)
    low = _floor(f"({scaled} - {high}) * {_LOW}", vendor)
    return f"COALESCE(SUM({high}), 0), COALESCE(SUM({low}), 0)"


def _floor(expression: str, vendor: str) -> str:
    """A float in either case: integers of the database could overflow."""
    return f"CAST(CAST({expression} AS INTEGER) AS REAL)" if vendor == "sqlite" else f"FLOOR({expression})"


def units(high: float, low: float) -> int:
    """Returns the sum that `exact_sum_sql` has read, in units of `scoring.exact_units`."""
    return int(high) * int(_LOW) + int(low)
