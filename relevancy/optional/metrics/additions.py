"""What the app adds to the core: it counts events, if the site has said who may read the counts."""

from django.conf import settings

from relevancy import events

from .event_metrics import count_event

if settings.METRICS_TOKEN or settings.METRICS_ADDRESSES:
    events.listen(count_event)
