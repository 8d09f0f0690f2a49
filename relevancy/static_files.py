"""Static files: what `collectstatic` leaves out, and how it compresses the rest."""

from typing import Any

import brotli
from django.contrib.staticfiles.apps import StaticFilesConfig
from whitenoise.compress import Compressor
from whitenoise.storage import CompressedManifestStaticFilesStorage


class CollectedFilesConfig(StaticFilesConfig):
    """Leaves out the parts of the Ace editor that the site does not use: half of all static files."""

    ignore_patterns = [
        *StaticFilesConfig.ignore_patterns,
        "snippets",
        "keybinding-*.js",
        "mode-[!j]*.js",
        "mode-jsoniq.js",
        "worker-[!j]*.js",
    ]


class QuickCompressor(Compressor):
    """Compresses with Brotli's quality 9: files are 4% larger than with the default 11, in a fifth of the time."""

    @staticmethod
    def compress_brotli(data: bytes) -> bytes:
        return bytes(brotli.compress(data, quality=9))


class CompressedStaticFiles(CompressedManifestStaticFilesStorage):
    """Files under hashed names, compressed when they are collected."""

    support_js_module_import_aggregation = True  # modules import each other by their hashed names

    def create_compressor(self, **options: Any) -> Compressor:
        return QuickCompressor(**options)
