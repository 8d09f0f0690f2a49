"""Models, one noun per file. They store engines and scorers as names with JSON parameters and depend on neither package."""

from .activity import Activity
from .annotation import Annotation
from .api_token import ApiToken
from .attempt import Attempt
from .book import Book, Query, QueryLink
from .case import Case, CaseQuery, CaseScorer
from .comparison import ComparedRun, StoredComparison, comparison_revision
from .endpoint import Endpoint
from .invitation import Invitation
from .judging import JudgingPair, JudgingQueue
from .policy import Policy
from .ranking import (
    Document,
    DocumentCache,
    Hit,
    Ranking,
    hit_sizes,
    lock_documents,
    pack_hits,
    read_doc_ids,
    read_hits,
    unpack_numbers,
    unpack_scores,
)
from .rating import Rating, RatingChange, RatingSpread, Verdict
from .rating_import import RatingImport
from .repeat import RepeatedPair
from .run import Run, RunPart
from .score import CaseRevision, CaseScore, QueryScore, RunComparison, case_revision
from .scorer import Scorer, ScorerDefinition, ScorerVersion
from .secret import EncryptedJSONField, UnreadableSecret
from .session import UserSession
from .sign_in import RequiredProof, SignInCounter
from .statements import compiled
from .stored_export import StoredExport
from .stored_index import StoredIndex
from .team import Membership, Role, Team
from .user import User

__all__ = [
    "Activity",
    "Annotation",
    "ApiToken",
    "Attempt",
    "Book",
    "Case",
    "CaseQuery",
    "CaseRevision",
    "CaseScore",
    "CaseScorer",
    "ComparedRun",
    "Document",
    "DocumentCache",
    "EncryptedJSONField",
    "Endpoint",
    "Hit",
    "Invitation",
    "JudgingPair",
    "JudgingQueue",
    "Membership",
    "Policy",
    "Query",
    "QueryLink",
    "QueryScore",
    "Ranking",
    "Rating",
    "RatingChange",
    "RatingImport",
    "RatingSpread",
    "RepeatedPair",
    "RequiredProof",
    "Role",
    "Run",
    "RunComparison",
    "RunPart",
    "Scorer",
    "ScorerDefinition",
    "ScorerVersion",
    "SignInCounter",
    "StoredComparison",
    "StoredExport",
    "StoredIndex",
    "Team",
    "UnreadableSecret",
    "User",
    "UserSession",
    "Verdict",
    "case_revision",
    "comparison_revision",
    "compiled",
    "hit_sizes",
    "lock_documents",
    "pack_hits",
    "read_doc_ids",
    "read_hits",
    "unpack_numbers",
    "unpack_scores",
]
