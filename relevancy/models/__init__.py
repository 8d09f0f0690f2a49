"""Memory: one noun per file. Knows no engine and no scorer; stores names and JSON parameters."""

from .annotation import Annotation
from .attempt import Attempt
from .book import Book, Query
from .case import Case, CaseQuery, CaseScorer
from .endpoint import Endpoint
from .policy import Policy
from .rating import Rating, RatingChange, Verdict
from .run import Ranking, Run
from .score import CaseScore, QueryScore
from .scorer import Scorer, ScorerVersion
from .secret import EncryptedJSONField, UnreadableSecret
from .team import Membership, Role, Team
from .user import User

__all__ = [
    "Annotation",
    "Attempt",
    "Book",
    "Case",
    "CaseQuery",
    "CaseScore",
    "CaseScorer",
    "EncryptedJSONField",
    "Endpoint",
    "Membership",
    "Policy",
    "Query",
    "QueryScore",
    "Ranking",
    "Rating",
    "RatingChange",
    "Role",
    "Run",
    "Scorer",
    "ScorerVersion",
    "Team",
    "UnreadableSecret",
    "User",
    "Verdict",
]
