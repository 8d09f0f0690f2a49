"""How the documents to judge are chosen, in words."""

from relevancy import judging
from relevancy.models import JudgingQueue


def order_text(queue: JudgingQueue) -> str:
    """Returns what the order by the comparison of two runs does at present; empty for other orders."""
    if queue.order != JudgingQueue.Order.DIFFERENCE:
        return ""
    if not queue.is_by_difference:
        return (
            "One of the runs, or the scorer, has been deleted. Until others are chosen, documents come from the newest runs, best "
            "ranks first."
        )
    if queue.built_at is None:
        return "The documents of the two runs are being put in order."
    left = judging.count_changing(queue)
    if not left:
        return "No document that is left to judge can change the comparison of the two runs."
    return (
        f"{left:,} of the documents that are left to judge can change the comparison of the two runs. Those that can change it most "
        "come first. The order is computed again after ratings, in the background."
    )
