"""Groups of cases: several markets or languages with a mean and a verdict of their own. See docs/decisions/0126."""
