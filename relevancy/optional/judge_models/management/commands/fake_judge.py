"""`fake_judge`: a local server that answers like a judge model, for trying judging without a key."""

import threading
from typing import Any

from django.core.management.base import CommandParser

from relevancy.management.command import Command as Base
from relevancy.optional.judge_models.fake_judge import VARIANTS, fake_judge


class Command(Base):
    help = (
        "Serves an invented judge model on 127.0.0.1, which grades a document by the words it shares with the query, "
        "until it is stopped by Ctrl-C."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--port", type=int, default=8765)
        listed = "; ".join(f"{name}: {text}" for name, text in VARIANTS.items() if name)
        parser.add_argument("--variant", choices=list(VARIANTS), default="", help=listed)
        parser.add_argument("--seconds", type=float, default=0.0, help="that each answer takes")

    def run(self, **options: Any) -> None:
        with fake_judge(port=options["port"], variant=options["variant"], seconds=options["seconds"]) as server:
            self.write(f"{server.url} answers both protocols, with invented grades.")
            self.stdout.flush()
            try:
                threading.Event().wait()
            except KeyboardInterrupt:
                self.write("Stopped.")
