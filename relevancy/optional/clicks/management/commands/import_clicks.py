"""`import_clicks BOOK log.csv`"""

from typing import Any

from django.core.management.base import CommandParser

from relevancy import tasks
from relevancy.management.command import Command as Base
from relevancy.management.command import add_owner, fail, find_book, find_owner
from relevancy.optional.clicks import click_logs, counting, ubi
from relevancy.optional.clicks.management.search_logs import add_endpoint_arguments, open_log
from relevancy.optional.clicks.models import ClickLog
from relevancy.wording import counted


class Command(Base):
    help = "Estimates from the clicks of a search log how relevant the documents of a book are. They become ratings only with --count."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("book", help="id, exact name, or the name of its only case")
        parser.add_argument(
            "file",
            nargs="?",
            default="",
            help="CSV with query, count, docid, position and clicks, or ubi_queries as JSON lines",
        )
        add_endpoint_arguments(parser)
        parser.add_argument("--events", default="", help="ubi_events as JSON lines")
        parser.add_argument(
            "--action", action="append", help=f"event that is a click (default: {ubi.CLICK}); repeatable"
        )
        parser.add_argument("--model", choices=ClickLog.Method.values, default=ClickLog.Method.POSITION.value)
        parser.add_argument("--strength", type=float, default=10, help="of the prior, in examinations (default: 10)")
        parser.add_argument("--count", action="store_true", help="lets the estimates count as ratings by “clicks”")
        parser.add_argument("--thresholds", type=float, nargs="*", help="least estimate of each grade above the lowest")
        parser.add_argument("--min-evidence", type=float, default=20, help="in examinations (default: 20)")
        add_owner(parser, help="who imports; default: the owner of the book")

    def run(self, **options: Any) -> None:
        book = find_book(options["book"])
        by = find_owner(options["owner"]) if options["owner"] else book.owner
        if options["thresholds"]:
            counting.check_thresholds(book, options["thresholds"])
        with open_log(self, options, actions=options["action"] or [ubi.CLICK]) as log:
            stored = click_logs.import_clicks(
                book=book,
                log=log,
                method=options["model"],
                strength=options["strength"],
                name=options["endpoint"] or options["file"],
                by=by,
            )
        self.write(
            f"{counted(stored.searches, 'search', 'searches')}; "
            f"{counted(stored.estimates.count(), 'document of the book has', 'documents of the book have')} an estimate."
        )
        for position, share in stored.examination:
            self.write(f"position {position}: {'not known' if share is None else f'{100 * share:.1f} %'} of users look")
        for remark in stored.remarks:
            self.write(remark)
        thresholds = options["thresholds"] or counting.suggest_thresholds(stored, options["min_evidence"])
        if len(thresholds) < len(book.grades) - 1:
            text = "The estimates are too few or too much alike to suggest a threshold for each grade. Name them: --thresholds X…"
            if options["count"]:
                fail(f"{text} The estimates are stored, and none of them counts.")
            self.write(text)
            return
        self._write_grades(stored, thresholds, options["min_evidence"])
        if options["count"]:
            result = counting.let_count(log=stored, thresholds=thresholds, min_evidence=options["min_evidence"], by=by)
            if result.changed:
                tasks.enqueue_book_rescore(book.pk)
            self.write(
                f"{counted(result.changed, 'rating by clicks is', 'ratings by clicks are')} new, changed or removed."
            )

    def _write_grades(self, log: ClickLog, thresholds: list[float], min_evidence: float) -> None:
        preview = counting.preview(log=log, thresholds=thresholds, min_evidence=min_evidence)
        for row in preview.grades:
            low = "" if row.low is None else f" from {row.low:g}"
            self.write(
                f"grade {row.grade:g}{low}: {counted(row.documents, 'document')}, {row.rated:,} of them rated by others"
            )
        self.write(f"{counted(preview.too_little, 'document has', 'documents have')} too little evidence.")
