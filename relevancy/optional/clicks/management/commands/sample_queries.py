"""`sample_queries CASE log.csv --size 100`"""

from typing import Any

from django.core.management.base import CommandParser

from relevancy import tasks
from relevancy.management.command import Command as Base
from relevancy.management.command import fail, find_case
from relevancy.optional.clicks import query_samples
from relevancy.optional.clicks.management.search_logs import add_endpoint_arguments, open_log
from relevancy.optional.clicks.weights import add_weighted
from relevancy.wording import counted


class Command(Base):
    help = "Draws queries of a search log and adds them to a case, with weights by which its score estimates the mean of all searches."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("case", help="id or exact name")
        parser.add_argument(
            "file", nargs="?", default="", help="CSV with query and count, or ubi_queries as JSON lines; - is stdin"
        )
        add_endpoint_arguments(parser)
        parser.add_argument("--size", type=int, default=100, help="number of queries (default: 100)")
        methods = [*map(str, query_samples.METHODS)]
        described = " ".join(f"{method}: {text}." for method, text in query_samples.METHODS.items())
        parser.add_argument("--method", choices=methods, default="frequency", help=f"{described} Default: frequency")
        parser.add_argument("--seed", type=int, default=1, help="the same seed draws the same queries (default: 1)")
        parser.add_argument(
            "--only-these", action="store_true", help="gives all other queries of the case the weight 0"
        )
        parser.add_argument("--dry-run", action="store_true", help="prints the sample and changes nothing")

    def run(self, **options: Any) -> None:
        size, seed, only_these = options["size"], options["seed"], options["only_these"]
        if not 1 <= size <= query_samples.MAX_SIZE:
            fail(f"--size {size:,} is not a number from 1 to {query_samples.MAX_SIZE:,}.")
        if seed < 0:
            fail(f"--seed {seed} is below 0.")
        case = find_case(options["case"])
        with open_log(self, options, with_events=False) as log:
            sample = query_samples.sample_log(case=case, log=log, method=options["method"], size=size, seed=seed)
        if options["dry_run"]:
            for row in sample.drawn:
                self.write(f"{row.searches}\t{row.probability:.6g}\t{row.weight:.9g}\t{row.text}")
        else:
            added = add_weighted(case=case, weights=sample.weights, only_these=only_these)
            tasks.enqueue_book_rescore(case.book_id)
            self.write(
                f"{counted(added.added, 'query', 'queries')} added and {counted(added.reweighted, 'weight')} changed, "
                f"with the seed {seed}."
            )
        if log.left_out.searches:
            self.write(f"{log.left_out.searches:,} searches left out: their text cannot be a query.")
        self.write(query_samples.describe_mean(sample=sample, method=options["method"], only_these=only_these))
