"""The scorers that every installation starts with; "AvgEdit" is the default."""

from django.db import migrations

ONE_TO_TEN = [[grade, ""] for grade in range(1, 11)]
ZERO_TO_THREE = [[0, "Poor"], [1, "Fair"], [2, "Good"], [3, "Perfect"]]
IRRELEVANT_OR_RELEVANT = [[0, "Irrelevant"], [1, "Relevant"]]

# Name, measure, scale, description.
SCORERS = [
    (
        "AvgEdit",
        "AvgEdit",
        ONE_TO_TEN,
        "Average rating minus edit distance: the average rating of what is shown, in per cent of the top grade, less "
        "one point for every step that separates its order from the best possible list. A good first scorer, because it "
        'answers "are these good, and in order?" with one number that anyone can recompute. Unrated documents are left '
        "out, so a page with one good rating and nine unrated documents looks good: rate everything that is shown, and "
        "read it together with Judged@10.",
    ),
    (
        "nDCG@10",
        "nDCG@10",
        ZERO_TO_THREE,
        "How close the first ten come to the best ten known, early ranks counting more; the usual choice for graded "
        "ratings. The gain is exponential, so one perfect document weighs as much as seven fair ones. It misleads where "
        "few documents are rated: the ideal then is small, and one fair document above nine unrated ones scores 100. "
        "Unrated documents count as 0.",
    ),
    (
        "DCG@10",
        "DCG@10",
        ZERO_TO_THREE,
        "The discounted gain of the first ten, in per cent of ten documents of the top grade. It does not ask what was "
        "possible, so it follows one query over time well, and compares queries badly: one that has only two good "
        "documents can never score high.",
    ),
    (
        "CG@10",
        "CG(gain='linear')@10",
        ZERO_TO_THREE,
        "The sum of the ratings of the first ten in any order, in per cent of ten documents of the top grade. Use it "
        "where the user sees all ten at once. It cannot see that the best document fell from rank 1 to rank 10.",
    ),
    (
        "ERR@10",
        "ERR@10",
        ZERO_TO_THREE,
        "How soon a user who reads from the top and stops when satisfied is satisfied. It fits impatient users, and "
        "questions with one good answer. After one perfect document hardly anything matters, so it says little about "
        "the rest of the page.",
    ),
    (
        "P@10",
        "P@10",
        IRRELEVANT_OR_RELEVANT,
        "The share of relevant documents among ten. Easy to explain. It is blind to order within the ten, and a query "
        "that has only three relevant documents cannot score above 30.",
    ),
    (
        "AP@10",
        "AP@10",
        IRRELEVANT_OR_RELEVANT,
        "The precision at each relevant document of the first ten, averaged over all known relevant ones. It rewards "
        "finding all of them early. It needs judgments that are nearly complete: each relevant document you have not "
        "found yet makes it too high.",
    ),
    (
        "AP",
        "AP",
        IRRELEVANT_OR_RELEVANT,
        "The precision at each relevant document, averaged over all known relevant ones, as far down as the run goes: "
        "the classic of evaluation campaigns. Ten results per query cut it short; use AP@10 then, or fetch more.",
    ),
    (
        "RR@10",
        "RR@10",
        IRRELEVANT_OR_RELEVANT,
        "One divided by the rank of the first relevant document among ten. For queries with one right answer: a name, a "
        "number, a page. It does not see anything below that document, and falls from 100 to 50 between rank 1 and 2, "
        "so few queries make it jumpy.",
    ),
    (
        "Judged@10",
        "Judged@10",
        ZERO_TO_THREE,
        "The share of the first ten that has been rated. It does not measure quality; it says how far the other scores "
        "can be trusted. A change that returns new, unrated documents lowers it, and lowers most other scores with it, "
        "whether or not they are good.",
    ),
    (
        "nDCG@10 linear",
        "nDCG(gain='linear')@10",
        ZERO_TO_THREE,
        "nDCG@10 with the rating itself as gain, as trec_eval computes it. The step from good to perfect then weighs as "
        "much as that from poor to fair. Choose it when your grades are evenly spaced, or when numbers must agree with "
        "trec_eval; with it a page of many fair documents scores nearly as well as one with a perfect document.",
    ),
    (
        "nDCG@10 local",
        "nDCG(ideal='local')@10",
        ZERO_TO_THREE,
        "nDCG@10 against the same ten documents in their best order. It judges the order only. Use it for a ranker that "
        "reorders a fixed list; never to compare two systems, since ten poor documents in the right order score 100.",
    ),
    (
        "nDCG@10 recall",
        "nDCG(ideal='recall')@10",
        ZERO_TO_THREE,
        "nDCG@10 against the best ten of everything the run returned, also below rank ten. It asks whether the first "
        "page could have been better with what was found. The ideal grows with the number of results fetched, so "
        "compare only runs of the same depth.",
    ),
    (
        "nDCG@10 max",
        "nDCG(ideal='max')@10",
        ZERO_TO_THREE,
        "nDCG@10 against ten documents of the top grade. Queries can be compared by how well they are served in "
        "absolute terms, and the ideal never moves when documents are rated. Queries without ten perfect documents "
        "never reach 100, through no fault of the ranking.",
    ),
    (
        "nDCG@10 uncut",
        "nDCG(ideal='uncut')@10",
        ZERO_TO_THREE,
        "nDCG@10 against all known ratings, not only the best ten of them: what Quepid's scorer of that name computes. "
        "For comparing with scores made there. With more than ten good documents known, no ranking can reach 100.",
    ),
    (
        "nDCG@10 rated only",
        "nDCG(unrated='skip')@10",
        ZERO_TO_THREE,
        "nDCG@10 after the unrated documents have been taken out and the gaps closed. It does not punish a system for "
        "returning documents that have not been rated yet. It flatters as well: a page with one rated document among "
        "ten unrated ones can score 100. Read it together with Judged@10.",
    ),
    (
        "nDCG@10 linear, rated only",
        "nDCG(gain='linear',unrated='skip')@10",
        ZERO_TO_THREE,
        "trec_eval's gain on the rated documents alone. Use it to compare systems one of which returns many unrated "
        "documents, with numbers as trec_eval gives them for judged documents only. It flatters: a page with one rated "
        "document among ten unrated ones can score 100. Read it together with Judged@10.",
    ),
    (
        "RBP@10",
        "RBP(p=0.8)@10",
        ZERO_TO_THREE,
        "The share of relevant documents seen by a reader who goes on to the next with probability 0.8. It needs no "
        "ideal list, so queries can be compared, and its range shows exactly how much the unrated documents could "
        "matter. p decides much: 0.5 is an impatient reader, 0.95 a thorough one. With ten ranks its top is 89.3.",
    ),
]


def create_scorers(apps, schema_editor):
    Scorer = apps.get_model("relevancy", "Scorer")
    ScorerVersion = apps.get_model("relevancy", "ScorerVersion")
    for name, measure, scale, description in SCORERS:
        scorer = Scorer.objects.create(name=name, description=description, is_default=name == "AvgEdit")
        ScorerVersion.objects.create(scorer=scorer, number=1, measure=measure, scale=scale)


class Migration(migrations.Migration):
    dependencies = [("relevancy", "0001_initial")]
    operations = [migrations.RunPython(create_scorers, migrations.RunPython.noop)]
