import django.core.validators
import django.db.models.deletion
import django.db.models.functions.text
import django.utils.timezone
import relevancy.models.secret
import relevancy.models.text
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
    ]

    operations = [
        migrations.CreateModel(
            name="User",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("password", models.CharField(max_length=128, verbose_name="password")),
                ("last_login", models.DateTimeField(blank=True, null=True, verbose_name="last login")),
                (
                    "is_superuser",
                    models.BooleanField(
                        default=False,
                        help_text="Designates that this user has all permissions without explicitly assigning them.",
                        verbose_name="superuser status",
                    ),
                ),
                ("email", models.EmailField(max_length=254, unique=True, verbose_name="e-mail")),
                ("name", relevancy.models.text.LineField(blank=True, max_length=120)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("person", "Person"),
                            ("file", "a name in a file"),
                            ("clicks", "Clicks"),
                            ("judge", "AI judge"),
                        ],
                        default="person",
                        max_length=10,
                    ),
                ),
                (
                    "single_keys",
                    models.BooleanField(
                        default=True, help_text="Enable keyboard shortcuts of a single letter or digit."
                    ),
                ),
                ("is_staff", models.BooleanField(default=False, verbose_name="admin site")),
                ("is_active", models.BooleanField(default=True)),
                ("date_joined", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                (
                    "groups",
                    models.ManyToManyField(
                        blank=True,
                        help_text="The groups this user belongs to. A user will get all permissions granted to each of their groups.",
                        related_name="user_set",
                        related_query_name="user",
                        to="auth.group",
                        verbose_name="groups",
                    ),
                ),
                (
                    "user_permissions",
                    models.ManyToManyField(
                        blank=True,
                        help_text="Specific permissions for this user.",
                        related_name="user_set",
                        related_query_name="user",
                        to="auth.permission",
                        verbose_name="user permissions",
                    ),
                ),
            ],
            options={
                "ordering": ("email",),
            },
        ),
        migrations.CreateModel(
            name="Book",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", relevancy.models.text.LineField(max_length=191)),
                ("scale", models.JSONField(help_text="The grades with their labels, ascending: [[1, ''], [2, ''], …]")),
                ("relevant_from", models.FloatField(help_text="The lowest grade that counts as relevant.")),
                (
                    "rule",
                    models.CharField(
                        choices=[
                            ("latest", "Latest"),
                            ("mean", "Mean"),
                            ("median", "Median"),
                            ("majority", "Majority"),
                            ("lowest_of_three", "lowest of the three highest"),
                        ],
                        default="latest",
                        max_length=20,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "rescore_queued_at",
                    models.DateTimeField(
                        editable=False,
                        help_text="When a background task was enqueued that rescores its cases.",
                        null=True,
                    ),
                ),
                (
                    "owner",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="books", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "ordering": ("name",),
            },
        ),
        migrations.CreateModel(
            name="Case",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", relevancy.models.text.LineField(max_length=191)),
                ("options", models.JSONField(blank=True, default=dict)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("archived_at", models.DateTimeField(blank=True, null=True)),
                (
                    "book",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="cases", to="relevancy.book"
                    ),
                ),
                (
                    "owner",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="cases", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "ordering": ("name", "id"),
            },
        ),
        migrations.CreateModel(
            name="Endpoint",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "name",
                    relevancy.models.text.LineField(
                        error_messages={"unique": "There is already an endpoint with this name. Choose another name."},
                        max_length=120,
                        unique=True,
                    ),
                ),
                ("engine", models.CharField(max_length=30)),
                ("url", relevancy.models.text.LineField(max_length=500, verbose_name="address")),
                ("options", models.JSONField(blank=True, default=dict)),
                ("credentials", relevancy.models.secret.EncryptedJSONField(blank=True, default=dict, editable=False)),
                ("headers", relevancy.models.secret.EncryptedJSONField(blank=True, default=dict, editable=False)),
                (
                    "parallel",
                    models.PositiveSmallIntegerField(
                        default=8,
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(64),
                        ],
                        verbose_name="parallel requests",
                    ),
                ),
                (
                    "per_minute",
                    models.PositiveIntegerField(default=0, help_text="0: no limit", verbose_name="requests per minute"),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("archived_at", models.DateTimeField(blank=True, null=True)),
                (
                    "owner",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="endpoints",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ("name",),
            },
        ),
        migrations.CreateModel(
            name="Attempt",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("name", relevancy.models.text.LineField(blank=True, max_length=120)),
                ("template", relevancy.models.text.CodeField(max_length=20000)),
                ("knobs", models.JSONField(blank=True, default=dict)),
                ("fields", models.CharField(blank=True, max_length=2000, verbose_name="displayed fields")),
                ("depth", models.PositiveSmallIntegerField(default=10, verbose_name="results shown")),
                ("escape", models.BooleanField(default=True, verbose_name="escape Lucene's special characters")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="attempts",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "parent",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="children",
                        to="relevancy.attempt",
                    ),
                ),
                (
                    "case",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="attempts", to="relevancy.case"
                    ),
                ),
                (
                    "endpoint",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="attempts", to="relevancy.endpoint"
                    ),
                ),
            ],
            options={
                "ordering": ("case", "-number"),
            },
        ),
        migrations.CreateModel(
            name="Membership",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "role",
                    models.PositiveSmallIntegerField(
                        choices=[(1, "viewer"), (2, "rater"), (3, "editor"), (4, "owner")], default=2
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="memberships",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ("-role", "user__name", "user__email"),
            },
        ),
        migrations.CreateModel(
            name="Policy",
            fields=[
                ("id", models.PositiveSmallIntegerField(default=1, editable=False, primary_key=True, serialize=False)),
                (
                    "allow_user_scripts",
                    models.BooleanField(default=True, help_text="Users who are not admins may write scorer scripts."),
                ),
            ],
            options={
                "verbose_name_plural": "policy",
                "constraints": [models.CheckConstraint(condition=models.Q(("id", 1)), name="policy_one_row")],
            },
        ),
        migrations.CreateModel(
            name="Query",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("text", models.CharField(max_length=2048)),
                (
                    "text_key",
                    models.CharField(
                        editable=False, help_text="SHA-256 of the text: what makes it unique", max_length=64
                    ),
                ),
                (
                    "information_need",
                    relevancy.models.text.MultilineField(
                        blank=True, validators=[django.core.validators.MaxLengthValidator(5000)]
                    ),
                ),
                (
                    "notes",
                    relevancy.models.text.MultilineField(
                        blank=True, validators=[django.core.validators.MaxLengthValidator(20000)]
                    ),
                ),
                ("tags", models.JSONField(blank=True, default=list)),
                ("revision", models.PositiveBigIntegerField(default=0, editable=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("retired_at", models.DateTimeField(blank=True, null=True)),
                (
                    "book",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="queries", to="relevancy.book"
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "queries",
                "ordering": ("id",),
            },
        ),
        migrations.CreateModel(
            name="CaseQuery",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("position", models.FloatField()),
                ("options", models.JSONField(blank=True, default=dict)),
                ("weight", models.FloatField(default=1)),
                ("removed_at", models.DateTimeField(blank=True, null=True)),
                (
                    "case",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="case_queries", to="relevancy.case"
                    ),
                ),
                (
                    "query",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="case_queries", to="relevancy.query"
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "case queries",
                "ordering": ("position", "id"),
            },
        ),
        migrations.CreateModel(
            name="Rating",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("doc_id", models.CharField(max_length=500, verbose_name="document id")),
                (
                    "verdict",
                    models.CharField(
                        choices=[("rated", "Rated"), ("cannot", "cannot judge"), ("later", "Later")],
                        default="rated",
                        max_length=10,
                    ),
                ),
                ("value", models.FloatField(blank=True, null=True)),
                ("note", relevancy.models.text.MultilineField(blank=True)),
                ("created_at", models.DateTimeField()),
                ("updated_at", models.DateTimeField()),
                (
                    "query",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="ratings", to="relevancy.query"
                    ),
                ),
                (
                    "rater",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="ratings", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "ordering": ("id",),
            },
        ),
        migrations.CreateModel(
            name="RatingChange",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("doc_id", models.CharField(max_length=500, verbose_name="document id")),
                ("source", models.CharField(default="page", help_text="page, import, command, sample", max_length=20)),
                ("old_verdict", models.CharField(blank=True, max_length=10)),
                ("old_value", models.FloatField(null=True)),
                ("new_verdict", models.CharField(blank=True, max_length=10)),
                ("new_value", models.FloatField(null=True)),
                ("at", models.DateTimeField()),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="rating_changes",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "query",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="rating_changes", to="relevancy.query"
                    ),
                ),
                (
                    "rater",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "ordering": ("-id",),
            },
        ),
        migrations.CreateModel(
            name="Run",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("waiting", "Waiting"),
                            ("running", "Running"),
                            ("complete", "Complete"),
                            ("incomplete", "Incomplete"),
                            ("cancelled", "Cancelled"),
                            ("failed", "Failed"),
                        ],
                        default="waiting",
                        max_length=12,
                    ),
                ),
                (
                    "reason",
                    models.TextField(blank=True, help_text="Why the run failed or is incomplete; shown to users."),
                ),
                (
                    "config",
                    models.JSONField(
                        help_text="Engine, address, template, knobs, fields, depth and options at the start of the run."
                    ),
                ),
                ("version", models.CharField(blank=True, max_length=120, verbose_name="engine version")),
                (
                    "rows",
                    models.PositiveIntegerField(
                        help_text="Hits fetched per query: the depth, or the largest cutoff of a scorer."
                    ),
                ),
                ("queries", models.PositiveIntegerField(default=0)),
                ("done", models.PositiveIntegerField(default=0)),
                ("failed", models.PositiveIntegerField(default=0)),
                ("cancel_requested", models.BooleanField(default=False)),
                ("claimed_by", models.CharField(blank=True, max_length=64)),
                ("heartbeat_at", models.DateTimeField(blank=True, null=True)),
                ("worker_restarts", models.PositiveSmallIntegerField(default=0)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "seconds",
                    models.FloatField(default=0, help_text="Time spent searching, without the pauses between workers."),
                ),
                ("pinned_at", models.DateTimeField(blank=True, null=True)),
                ("note", relevancy.models.text.LineField(blank=True, max_length=250)),
                (
                    "fields_dropped_at",
                    models.DateTimeField(
                        blank=True, help_text="When the displayed fields of its hits were removed.", null=True
                    ),
                ),
                (
                    "rescore_queued_at",
                    models.DateTimeField(
                        editable=False,
                        help_text="When a background task was enqueued that rescores the run.",
                        null=True,
                    ),
                ),
                (
                    "attempt",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="runs", to="relevancy.attempt"
                    ),
                ),
                (
                    "case",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="runs", to="relevancy.case"
                    ),
                ),
                (
                    "created_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="runs", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "ordering": ("case", "-number"),
            },
        ),
        migrations.CreateModel(
            name="Ranking",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("text", models.CharField(max_length=2048)),
                ("options", models.JSONField(default=dict)),
                ("hits", models.JSONField(default=list)),
                ("returned", models.PositiveIntegerField(default=0)),
                ("total", models.BigIntegerField(null=True)),
                ("took_ms", models.PositiveIntegerField(null=True)),
                ("error_kind", models.CharField(blank=True, max_length=20)),
                ("error", models.TextField(blank=True)),
                ("asked_at", models.DateTimeField()),
                (
                    "query",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="rankings", to="relevancy.query"
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="rankings", to="relevancy.run"
                    ),
                ),
            ],
            options={
                "ordering": ("id",),
            },
        ),
        migrations.CreateModel(
            name="Annotation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("text", relevancy.models.text.LineField(max_length=500)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("removed_at", models.DateTimeField(blank=True, null=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "case",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="annotations", to="relevancy.case"
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="annotations", to="relevancy.run"
                    ),
                ),
            ],
            options={
                "ordering": ("run__number", "id"),
            },
        ),
        migrations.CreateModel(
            name="Scorer",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", relevancy.models.text.LineField(max_length=120, unique=True)),
                (
                    "description",
                    relevancy.models.text.MultilineField(
                        blank=True, validators=[django.core.validators.MaxLengthValidator(5000)]
                    ),
                ),
                ("is_default", models.BooleanField(default=False, help_text="The scorer a new case starts with.")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("retired_at", models.DateTimeField(blank=True, null=True)),
                (
                    "only_for",
                    models.ForeignKey(
                        blank=True,
                        help_text="The only case that may use it.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="own_scorers",
                        to="relevancy.case",
                    ),
                ),
                (
                    "owner",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="scorers",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ("name",),
            },
        ),
        migrations.CreateModel(
            name="CaseScorer",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("position", models.PositiveSmallIntegerField(default=0)),
                (
                    "case",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="case_scorers", to="relevancy.case"
                    ),
                ),
                (
                    "scorer",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="case_scorers", to="relevancy.scorer"
                    ),
                ),
            ],
            options={
                "ordering": ("position", "id"),
            },
        ),
        migrations.AddField(
            model_name="case",
            name="scorers",
            field=models.ManyToManyField(related_name="cases", through="relevancy.CaseScorer", to="relevancy.scorer"),
        ),
        migrations.CreateModel(
            name="ScorerVersion",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                (
                    "measure",
                    models.CharField(
                        blank=True, help_text="nDCG(gain='linear')@10; empty for a script", max_length=200
                    ),
                ),
                ("script", relevancy.models.text.CodeField(blank=True)),
                (
                    "output_range",
                    models.CharField(choices=[("100", "0–100"), ("1", "0–1")], default="100", max_length=3),
                ),
                (
                    "depth",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="Results that a script considers; empty: as many as are displayed.",
                        null=True,
                    ),
                ),
                (
                    "scale",
                    models.JSONField(help_text="The grades with labels that a new book starts with: [[0, 'Poor'], …]"),
                ),
                ("count_unscoreable_as_zero", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "scorer",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="versions", to="relevancy.scorer"
                    ),
                ),
            ],
            options={
                "ordering": ("scorer", "-number"),
            },
        ),
        migrations.CreateModel(
            name="QueryScore",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("value", models.FloatField(help_text="The measure's own value.", null=True)),
                ("score", models.FloatField(null=True)),
                ("low", models.FloatField(null=True)),
                ("high", models.FloatField(null=True)),
                ("ideal", models.FloatField(null=True)),
                ("unrated", models.PositiveIntegerField(default=0)),
                (
                    "error",
                    models.CharField(
                        blank=True, default="", help_text="Why the ranking could not be scored.", max_length=500
                    ),
                ),
                ("revision", models.PositiveBigIntegerField()),
                (
                    "query",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="scores", to="relevancy.query"
                    ),
                ),
                (
                    "ranking",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="scores", to="relevancy.ranking"
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="query_scores", to="relevancy.run"
                    ),
                ),
                (
                    "version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="query_scores",
                        to="relevancy.scorerversion",
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="casescorer",
            name="version",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="case_scorers", to="relevancy.scorerversion"
            ),
        ),
        migrations.CreateModel(
            name="CaseScore",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("day", models.DateField()),
                ("score", models.FloatField(null=True)),
                ("low", models.FloatField(null=True)),
                ("high", models.FloatField(null=True)),
                ("scored", models.PositiveIntegerField(default=0)),
                ("queries", models.PositiveIntegerField(default=0)),
                ("unrated", models.PositiveIntegerField(default=0)),
                ("failed", models.PositiveIntegerField(default=0, help_text="Queries that could not be scored.")),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="case_scores", to="relevancy.run"
                    ),
                ),
                (
                    "version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="case_scores",
                        to="relevancy.scorerversion",
                    ),
                ),
            ],
            options={
                "ordering": ("run", "version", "-day"),
            },
        ),
        migrations.CreateModel(
            name="Team",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", relevancy.models.text.LineField(max_length=120, unique=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "members",
                    models.ManyToManyField(
                        related_name="teams", through="relevancy.Membership", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "ordering": ("name",),
            },
        ),
        migrations.AddField(
            model_name="scorer",
            name="teams",
            field=models.ManyToManyField(blank=True, related_name="scorers", to="relevancy.team"),
        ),
        migrations.AddField(
            model_name="membership",
            name="team",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="memberships", to="relevancy.team"
            ),
        ),
        migrations.AddField(
            model_name="endpoint",
            name="teams",
            field=models.ManyToManyField(blank=True, related_name="endpoints", to="relevancy.team"),
        ),
        migrations.AddField(
            model_name="case",
            name="teams",
            field=models.ManyToManyField(blank=True, related_name="cases", to="relevancy.team"),
        ),
        migrations.AddField(
            model_name="book",
            name="teams",
            field=models.ManyToManyField(blank=True, related_name="books", to="relevancy.team"),
        ),
        migrations.AddConstraint(
            model_name="user",
            constraint=models.UniqueConstraint(
                django.db.models.functions.text.Lower("email"), name="user_email_any_case"
            ),
        ),
        migrations.AddConstraint(
            model_name="attempt",
            constraint=models.UniqueConstraint(fields=("case", "number"), name="attempt_number_once"),
        ),
        migrations.AddConstraint(
            model_name="attempt",
            constraint=models.CheckConstraint(
                condition=models.Q(("depth__gte", 1), ("depth__lte", 1000)), name="attempt_depth_1_to_1000"
            ),
        ),
        migrations.AddConstraint(
            model_name="query",
            constraint=models.UniqueConstraint(fields=("book", "text_key"), name="query_once_per_book"),
        ),
        migrations.AddConstraint(
            model_name="query",
            constraint=models.CheckConstraint(condition=models.Q(("text", ""), _negated=True), name="query_not_empty"),
        ),
        migrations.AddIndex(
            model_name="casequery",
            index=models.Index(
                condition=models.Q(("removed_at", None)), fields=["case", "position", "id"], name="case_query_in_order"
            ),
        ),
        migrations.AddConstraint(
            model_name="casequery",
            constraint=models.UniqueConstraint(fields=("case", "query"), name="case_query_once"),
        ),
        migrations.AddConstraint(
            model_name="casequery",
            constraint=models.CheckConstraint(
                condition=models.Q(("weight__gte", 0)), name="case_query_weight_not_negative"
            ),
        ),
        migrations.AddConstraint(
            model_name="rating",
            constraint=models.UniqueConstraint(fields=("query", "doc_id", "rater"), name="rating_once_per_rater"),
        ),
        migrations.AddConstraint(
            model_name="rating",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("value__isnull", False), ("verdict", "rated")),
                    models.Q(models.Q(("verdict", "rated"), _negated=True), ("value__isnull", True)),
                    _connector="OR",
                ),
                name="rating_value_goes_with_verdict",
            ),
        ),
        migrations.AddConstraint(
            model_name="rating",
            constraint=models.CheckConstraint(
                condition=models.Q(("doc_id", ""), _negated=True), name="rating_names_a_document"
            ),
        ),
        migrations.AddIndex(
            model_name="ratingchange",
            index=models.Index(fields=["query", "doc_id", "at"], name="rating_change_of_document"),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(fields=["status", "heartbeat_at"], name="run_to_sweep"),
        ),
        migrations.AddConstraint(
            model_name="run",
            constraint=models.UniqueConstraint(fields=("case", "number"), name="run_number_once"),
        ),
        migrations.AddConstraint(
            model_name="run",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("status__in", ["waiting", "running", "complete", "incomplete", "cancelled", "failed"])
                ),
                name="run_status_known",
            ),
        ),
        migrations.AddIndex(
            model_name="ranking",
            index=models.Index(fields=["run", "error_kind"], name="ranking_failures"),
        ),
        migrations.AddConstraint(
            model_name="ranking",
            constraint=models.UniqueConstraint(fields=("run", "query"), name="ranking_once_per_run"),
        ),
        migrations.AddConstraint(
            model_name="scorerversion",
            constraint=models.UniqueConstraint(fields=("scorer", "number"), name="scorer_version_once"),
        ),
        migrations.AddConstraint(
            model_name="scorerversion",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("measure", ""), models.Q(("script", ""), _negated=True)),
                    models.Q(models.Q(("measure", ""), _negated=True), ("script", "")),
                    _connector="OR",
                ),
                name="scorer_version_measure_or_script",
            ),
        ),
        migrations.AddConstraint(
            model_name="scorerversion",
            constraint=models.CheckConstraint(
                condition=models.Q(("output_range__in", ["100", "1"])), name="scorer_version_output_range_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="queryscore",
            constraint=models.UniqueConstraint(fields=("ranking", "version"), name="query_score_once"),
        ),
        migrations.AddConstraint(
            model_name="queryscore",
            constraint=models.UniqueConstraint(fields=("run", "version", "query"), name="query_score_once_per_run"),
        ),
        migrations.AddConstraint(
            model_name="queryscore",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("score__isnull", True), models.Q(("score__gte", 0), ("score__lte", 100)), _connector="OR"
                ),
                name="query_score_0_to_100",
            ),
        ),
        migrations.AddConstraint(
            model_name="casescorer",
            constraint=models.UniqueConstraint(fields=("case", "scorer"), name="case_scorer_once"),
        ),
        migrations.AddConstraint(
            model_name="casescore",
            constraint=models.UniqueConstraint(fields=("run", "version", "day"), name="case_score_once_a_day"),
        ),
        migrations.AddConstraint(
            model_name="team",
            constraint=models.UniqueConstraint(
                django.db.models.functions.text.Lower("name"), name="team_name_any_case"
            ),
        ),
        migrations.AddConstraint(
            model_name="scorer",
            constraint=models.UniqueConstraint(
                condition=models.Q(("is_default", True)), fields=("is_default",), name="scorer_one_default"
            ),
        ),
        migrations.AddConstraint(
            model_name="scorer",
            constraint=models.UniqueConstraint(
                django.db.models.functions.text.Lower("name"), name="scorer_name_any_case"
            ),
        ),
        migrations.AddConstraint(
            model_name="membership",
            constraint=models.UniqueConstraint(fields=("team", "user"), name="membership_once"),
        ),
        migrations.AddConstraint(
            model_name="membership",
            constraint=models.CheckConstraint(
                condition=models.Q(("role__in", [1, 2, 3, 4])), name="membership_role_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="endpoint",
            constraint=models.CheckConstraint(
                condition=models.Q(("parallel__gte", 1), ("parallel__lte", 64)), name="endpoint_parallel_1_to_64"
            ),
        ),
        migrations.AddConstraint(
            model_name="book",
            constraint=models.CheckConstraint(
                condition=models.Q(("rule__in", ["latest", "mean", "median", "majority", "lowest_of_three"])),
                name="book_rule_known",
            ),
        ),
    ]
