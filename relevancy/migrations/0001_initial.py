"""The tables of the core."""

import django.core.validators
import django.db.models.deletion
import django.db.models.expressions
import django.db.models.functions.comparison
import django.db.models.functions.text
import django.utils.timezone
import relevancy.models.invitation
import relevancy.models.judging
import relevancy.models.secret
import relevancy.models.text
import relevancy.models.user
from django.conf import settings
from django.db import migrations, models
from relevancy.migrations._tables import CreateTables


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
    ]

    operations = [
        CreateTables([
        migrations.CreateModel(
            name='Case',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', relevancy.models.text.LineField(max_length=191)),
                ('options', models.JSONField(blank=True, default=dict)),
                ('explained_fields', models.JSONField(default=list, editable=False)),
                ('knob_ranges', models.JSONField(default=dict, editable=False)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('archived_at', models.DateTimeField(blank=True, null=True)),
                ('history_queued_at', models.DateTimeField(editable=False, help_text='When a background task was enqueued that rescores all runs of the case.', null=True)),
            ],
            options={
                'ordering': ('name', 'id'),
            },
        ),
        migrations.CreateModel(
            name='SignInCounter',
            fields=[
                ('key', models.CharField(help_text='SHA-256 of what is counted', max_length=64, primary_key=True, serialize=False)),
                ('failures', models.PositiveIntegerField(default=0)),
                ('expires_at', models.DateTimeField(db_index=True)),
            ],
        ),
        migrations.CreateModel(
            name='User',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('password', models.CharField(max_length=128, verbose_name='password')),
                ('last_login', models.DateTimeField(blank=True, null=True, verbose_name='last login')),
                ('is_superuser', models.BooleanField(default=False, help_text='Designates that this user has all permissions without explicitly assigning them.', verbose_name='superuser status')),
                ('email', models.EmailField(max_length=254, unique=True, validators=[relevancy.models.user.validate_ascii], verbose_name='e-mail')),
                ('name', relevancy.models.text.LineField(blank=True, max_length=120)),
                ('kind', models.CharField(choices=[('person', 'Person'), ('file', 'Name in a file'), ('machine', 'Machine')], default='person', max_length=10)),
                ('single_keys', models.BooleanField(default=True, help_text='Enable keyboard shortcuts of a single letter or digit.')),
                ('theme', models.CharField(blank=True, choices=[('', 'Same as the system'), ('light', 'Light'), ('dark', 'Dark')], default='', max_length=5)),
                ('has_confirmed_email', models.BooleanField(default=True, help_text="The address is known to be this person's. Otherwise invitations for it do not appear on the person's pages.", verbose_name='e-mail confirmed')),
                ('is_staff', models.BooleanField(default=False, verbose_name='admin site')),
                ('is_active', models.BooleanField(default=True)),
                ('can_create_endpoints', models.BooleanField(default=False, help_text='May enter addresses of search engines, which this server then sends requests to. Admins always may.')),
                ('date_joined', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('groups', models.ManyToManyField(blank=True, help_text='The groups this user belongs to. A user will get all permissions granted to each of their groups.', related_name='user_set', related_query_name='user', to='auth.group', verbose_name='groups')),
                ('user_permissions', models.ManyToManyField(blank=True, help_text='Specific permissions for this user.', related_name='user_set', related_query_name='user', to='auth.permission', verbose_name='user permissions')),
            ],
            options={
                'ordering': ('email',),
            },
        ),
        migrations.CreateModel(
            name='Book',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', relevancy.models.text.LineField(max_length=191)),
                ('scale', models.JSONField(help_text="The grades with their labels, ascending: [[1, ''], [2, ''], …]")),
                ('relevant_from', models.FloatField(help_text='The lowest grade that counts as relevant.')),
                ('rule', models.CharField(choices=[('latest', 'the latest rating'), ('mean', 'the mean of all ratings'), ('median', 'the median of all ratings'), ('majority', 'the grade that most raters gave'), ('lowest_of_three', 'the lowest of the three highest ratings'), ('quepid', 'the mean of up to two ratings, of more the lowest of the three highest')], default='latest', max_length=20)),
                ('guidelines', relevancy.models.text.MultilineField(blank=True, help_text='What each grade means, in Markdown; for raters.', validators=[django.core.validators.MaxLengthValidator(20000)])),
                ('raters_are_blind', models.BooleanField(default=True, help_text='Raters see the grades of others only after they have rated a document themselves.', verbose_name='raters judge blind')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('remapped_at', models.DateTimeField(editable=False, help_text='When all ratings last got grades of another scale. Earlier changes of ratings cannot be undone.', null=True)),
                ('rescore_queued_at', models.DateTimeField(editable=False, help_text='When a background task was enqueued that rescores its cases.', null=True)),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='books', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ('name',),
            },
        ),
        migrations.CreateModel(
            name='CaseRevision',
            fields=[
                ('case', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='score_revision', serialize=False, to='relevancy.case')),
                ('revision', models.PositiveBigIntegerField(default=0)),
            ],
        ),
        migrations.AddField(
            model_name='case',
            name='book',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='cases', to='relevancy.book'),
        ),
        migrations.AddField(
            model_name='case',
            name='owner',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='cases', to=settings.AUTH_USER_MODEL),
        ),
        migrations.CreateModel(
            name='Endpoint',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', relevancy.models.text.LineField(max_length=120, unique=True)),
                ('engine', models.CharField(max_length=30)),
                ('url', relevancy.models.text.LineField(max_length=500, verbose_name='address')),
                ('options', models.JSONField(blank=True, default=dict)),
                ('credentials', relevancy.models.secret.EncryptedJSONField(blank=True, default=dict, editable=False)),
                ('headers', relevancy.models.secret.EncryptedJSONField(blank=True, default=dict, editable=False)),
                ('parallel', models.PositiveSmallIntegerField(default=8, help_text='Of the runs of all workers together.', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(64)], verbose_name='parallel requests')),
                ('per_minute', models.PositiveIntegerField(default=0, help_text='0: no limit', validators=[django.core.validators.MaxValueValidator(1000000)], verbose_name='requests per minute')),
                ('allowed_handlers', relevancy.models.text.LineField(blank=True, help_text='Solr: request handlers besides select and query that the address may end in, such as browse.', max_length=500, validators=[django.core.validators.RegexValidator('^[\\w.+/-]+( [\\w.+/-]+)*\\Z', 'Write names of handlers, separated by blanks.')])),
                ('allowed_indexes', relevancy.models.text.LineField(blank=True, help_text='Other cores, collections or indexes that queries may read: fromIndex, terms lookups and so on.', max_length=500, validators=[django.core.validators.RegexValidator('^[\\w.+-]+( [\\w.+-]+)*\\Z', 'Write names of indexes, separated by blanks.')])),
                ('next_request_at', models.DateTimeField(editable=False, help_text='When the next request may be sent, of any process, if they are limited per minute.', null=True)),
                ('version', relevancy.models.text.LineField(blank=True, editable=False, max_length=200)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('archived_at', models.DateTimeField(blank=True, null=True)),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='endpoints', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ('name',),
            },
        ),
        migrations.CreateModel(
            name='Attempt',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('name', relevancy.models.text.LineField(blank=True, max_length=120)),
                ('template', relevancy.models.text.CodeField(max_length=20000)),
                ('knobs', models.JSONField(blank=True, default=dict)),
                ('fields', models.CharField(blank=True, max_length=2000, verbose_name='displayed fields')),
                ('depth', models.PositiveSmallIntegerField(default=10, verbose_name='results shown')),
                ('escape', models.BooleanField(default=True, verbose_name="escape Lucene's special characters")),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('note', relevancy.models.text.MultilineField(blank=True, validators=[django.core.validators.MaxLengthValidator(2000)])),
                ('archived_at', models.DateTimeField(blank=True, null=True)),
                ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='attempts', to=settings.AUTH_USER_MODEL)),
                ('parent', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='children', to='relevancy.attempt')),
                ('case', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='attempts', to='relevancy.case')),
                ('endpoint', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='attempts', to='relevancy.endpoint')),
            ],
            options={
                'ordering': ('case', '-number'),
            },
        ),
        migrations.CreateModel(
            name='Membership',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('role', models.PositiveSmallIntegerField(choices=[(1, 'viewer'), (2, 'rater'), (3, 'editor'), (4, 'owner')], default=2)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ('-role', 'user__name', 'user__email'),
            },
        ),
        migrations.CreateModel(
            name='Policy',
            fields=[
                ('id', models.PositiveSmallIntegerField(default=1, editable=False, primary_key=True, serialize=False)),
                ('allow_user_scripts', models.BooleanField(default=True, help_text='Users who are not admins may write scorer scripts.')),
            ],
            options={
                'verbose_name': 'site settings',
                'verbose_name_plural': 'site settings',
                'constraints': [models.CheckConstraint(condition=models.Q(('id', 1)), name='policy_one_row')],
            },
        ),
        migrations.CreateModel(
            name='Query',
            fields=[
                ('id', models.AutoField(primary_key=True, serialize=False)),
                ('text', models.CharField(max_length=2048)),
                ('text_key', models.CharField(editable=False, help_text='SHA-256 of the text: what makes it unique', max_length=64)),
                ('information_need', relevancy.models.text.MultilineField(blank=True, validators=[django.core.validators.MaxLengthValidator(5000)])),
                ('reference_answer', relevancy.models.text.MultilineField(blank=True, validators=[django.core.validators.MaxLengthValidator(10000)])),
                ('notes', relevancy.models.text.MultilineField(blank=True, validators=[django.core.validators.MaxLengthValidator(20000)])),
                ('tags', models.JSONField(blank=True, default=list)),
                ('revision', models.PositiveBigIntegerField(default=0, editable=False)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('retired_at', models.DateTimeField(blank=True, null=True)),
                ('book', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='queries', to='relevancy.book')),
            ],
            options={
                'verbose_name_plural': 'queries',
                'ordering': ('id',),
            },
        ),
        migrations.CreateModel(
            name='CaseQuery',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.FloatField()),
                ('options', models.JSONField(blank=True, default=dict)),
                ('weight', models.FloatField(default=1)),
                ('removed_at', models.DateTimeField(blank=True, null=True)),
                ('case', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='case_queries', to='relevancy.case')),
                ('query', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='case_queries', to='relevancy.query')),
            ],
            options={
                'verbose_name_plural': 'case queries',
                'ordering': ('position', 'id'),
            },
        ),
        migrations.CreateModel(
            name='QueryLink',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('book', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='query_links', to='relevancy.book')),
            ],
            options={
                'ordering': ('id',),
            },
        ),
        migrations.AddField(
            model_name='query',
            name='link',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='queries', to='relevancy.querylink'),
        ),
        migrations.CreateModel(
            name='Rating',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('doc_id', models.CharField(max_length=500, verbose_name='document id')),
                ('verdict', models.CharField(choices=[('rated', 'Rated'), ('cannot', 'cannot judge'), ('later', 'Later')], default='rated', max_length=10)),
                ('value', models.FloatField(blank=True, null=True)),
                ('note', relevancy.models.text.MultilineField(blank=True)),
                ('is_adjudication', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField()),
                ('updated_at', models.DateTimeField()),
                ('query', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='ratings', to='relevancy.query')),
                ('rater', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='ratings', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ('id',),
            },
        ),
        migrations.CreateModel(
            name='RatingImport',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('source', models.CharField(max_length=20)),
                ('format', models.CharField(blank=True, max_length=20)),
                ('status', models.CharField(choices=[('waiting', 'waiting for a worker'), ('running', 'running'), ('undoing', 'being undone'), ('complete', 'complete'), ('failed', 'failed')], default='running', max_length=10)),
                ('total', models.PositiveIntegerField(default=0)),
                ('queries', models.PositiveIntegerField(default=0)),
                ('done', models.PositiveIntegerField(default=0)),
                ('changed', models.PositiveIntegerField(default=0)),
                ('error', models.TextField(blank=True)),
                ('is_first', models.BooleanField(default=False)),
                ('new_raters', models.JSONField(default=list)),
                ('started_at', models.DateTimeField(auto_now_add=True)),
                ('progressed_at', models.DateTimeField(auto_now_add=True)),
                ('book', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='rating_imports', to='relevancy.book')),
                ('by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('case', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='relevancy.case')),
            ],
            options={
                'ordering': ('id',),
            },
        ),
        migrations.CreateModel(
            name='RatingChange',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('doc_id', models.CharField(max_length=500, verbose_name='document id')),
                ('source', models.CharField(default='page', help_text='page, undo, import, command, sample, api, copy, remap, adjudication, merge, move, or of an optional app', max_length=20)),
                ('old_verdict', models.CharField(blank=True, max_length=10)),
                ('old_value', models.FloatField(null=True)),
                ('new_verdict', models.CharField(blank=True, max_length=10)),
                ('new_value', models.FloatField(null=True)),
                ('old_note', relevancy.models.text.MultilineField(blank=True)),
                ('old_rated_at', models.DateTimeField(null=True)),
                ('old_is_adjudication', models.BooleanField(default=False)),
                ('new_is_adjudication', models.BooleanField(default=False)),
                ('at', models.DateTimeField()),
                ('by', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='rating_changes', to=settings.AUTH_USER_MODEL)),
                ('query', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='rating_changes', to='relevancy.query')),
                ('rating_import', models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='changes', to='relevancy.ratingimport')),
                ('rater', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('undoes', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='undone_by', to='relevancy.ratingchange')),
            ],
            options={
                'ordering': ('-id',),
            },
        ),
        migrations.CreateModel(
            name='Run',
            fields=[
                ('id', models.AutoField(primary_key=True, serialize=False)),
                ('number', models.PositiveIntegerField()),
                ('status', models.CharField(choices=[('waiting', 'Waiting'), ('running', 'Running'), ('complete', 'Complete'), ('incomplete', 'Incomplete'), ('cancelled', 'Cancelled'), ('failed', 'Failed')], default='waiting', max_length=12)),
                ('reason', models.TextField(blank=True, help_text='Why the run failed or is incomplete; shown to users.')),
                ('config', models.JSONField(help_text='Engine, address, template, knobs, fields, depth and options at the start of the run.')),
                ('version', models.CharField(blank=True, max_length=120, verbose_name='engine version')),
                ('rows', models.PositiveIntegerField(help_text='Hits fetched per query: the depth, or the largest cutoff of a scorer.')),
                ('queries', models.PositiveIntegerField(default=0)),
                ('done', models.PositiveIntegerField(default=0)),
                ('failed', models.PositiveIntegerField(default=0)),
                ('done_before', models.PositiveIntegerField(default=0, help_text='How many of the done ones had been searched before the run was last started or completed.')),
                ('cancel_requested', models.BooleanField(default=False, help_text='Its workers stop: a user has stopped the run, or it fails for the reason given.')),
                ('queued_at', models.DateTimeField(editable=False, help_text='When a background task was enqueued that searches a part of the run.', null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('started_at', models.DateTimeField(blank=True, null=True)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
                ('seconds', models.FloatField(default=0, help_text='From the first search to the last, once the run has ended; summed up if it was completed later.')),
                ('pinned_at', models.DateTimeField(blank=True, null=True)),
                ('name', relevancy.models.text.LineField(blank=True, max_length=120)),
                ('note', relevancy.models.text.LineField(blank=True, max_length=250)),
                ('fields_dropped_at', models.DateTimeField(blank=True, help_text='When the displayed fields of its hits were removed.', null=True)),
                ('rescore_queued_at', models.DateTimeField(editable=False, help_text='When a background task was enqueued that rescores the run.', null=True)),
                ('attempt', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='runs', to='relevancy.attempt')),
                ('case', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='runs', to='relevancy.case')),
                ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='runs', to=settings.AUTH_USER_MODEL)),
                ('requested_by', models.ForeignKey(editable=False, help_text='Who last started or completed the run, and must be allowed to use its endpoint as long as it is searched. Empty: a command of an administrator, which may use any.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ('case', '-number'),
            },
        ),
        migrations.CreateModel(
            name='RunPart',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('first', models.PositiveBigIntegerField()),
                ('last', models.PositiveBigIntegerField()),
                ('claimed_by', models.CharField(blank=True, max_length=32)),
                ('slots', models.PositiveSmallIntegerField(default=0)),
                ('heartbeat_at', models.DateTimeField(null=True)),
                ('worker_restarts', models.PositiveSmallIntegerField(default=0)),
                ('connection_failures', models.PositiveSmallIntegerField(default=0)),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='parts', to='relevancy.run')),
            ],
            options={
                'ordering': ('run', 'first'),
            },
        ),
        migrations.CreateModel(
            name='RepeatedPair',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('doc_id', models.CharField(max_length=500, verbose_name='document id')),
                ('wait', models.PositiveSmallIntegerField()),
                ('first_value', models.FloatField(null=True)),
                ('verdict', models.CharField(blank=True, choices=[('rated', 'Rated'), ('cannot', 'cannot judge'), ('later', 'Later')], max_length=10)),
                ('value', models.FloatField(null=True)),
                ('at', models.DateTimeField(null=True)),
                ('query', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='repeated_pairs', to='relevancy.query')),
                ('rater', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('run', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='relevancy.run')),
            ],
            options={
                'ordering': ('id',),
            },
        ),
        migrations.CreateModel(
            name='RequiredProof',
            fields=[
                ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='required_proof', serialize=False, to=settings.AUTH_USER_MODEL)),
                ('app', models.CharField(editable=False, max_length=50)),
                ('since', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
        ),
        migrations.CreateModel(
            name='Document',
            fields=[
                ('id', models.AutoField(primary_key=True, serialize=False)),
                ('doc_id', models.CharField(max_length=500)),
                ('fields', models.JSONField(null=True)),
                ('digest', models.BinaryField(max_length=16, null=True)),
                ('endpoint', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='documents', to='relevancy.endpoint')),
            ],
        ),
        migrations.CreateModel(
            name='Ranking',
            fields=[
                ('id', models.AutoField(primary_key=True, serialize=False)),
                ('query', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='rankings', to='relevancy.query')),
                ('run', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='rankings', to='relevancy.run')),
                ('took_ms', models.PositiveIntegerField(null=True)),
                ('total', models.BigIntegerField(null=True)),
                ('returned', models.PositiveSmallIntegerField(default=0)),
                ('documents', models.BinaryField(default=b'')),
                ('engine_scores', models.BinaryField(default=b'')),
                ('options', models.JSONField(default=dict)),
                ('former_text', models.CharField(blank=True, default='', max_length=2048)),
                ('error_kind', models.CharField(blank=True, default='', max_length=20)),
                ('error', models.TextField(blank=True, default='')),
                ('snippets', models.TextField(default='', editable=False)),
                ('explanations', models.TextField(default='', editable=False)),
            ],
            options={
                'ordering': ('id',),
            },
        ),
        migrations.CreateModel(
            name='JudgingQueue',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('depth', models.PositiveSmallIntegerField(default=10, help_text='How many of the first results of a query are judged, in the newest complete run of each case.', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(100)], verbose_name='results per query')),
                ('ratings_per_pair', models.PositiveSmallIntegerField(default=1, help_text='How many raters rate each document.', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(9)], verbose_name='ratings per document')),
                ('order', models.CharField(choices=[('query', 'query by query'), ('rank', 'best ranks first'), ('weighted', 'random, better ranks sooner'), ('difference', 'what changes the comparison of two runs most')], default='query', help_text='Every document gets its first rating before any gets a second one; this decides between the others.', max_length=10)),
                ('repeat_share', models.PositiveSmallIntegerField(default=0, help_text='A rater judges this share of them a second time, after 20 others. That shows how far raters agree with themselves; the first rating counts.', validators=[django.core.validators.MaxValueValidator(50)], verbose_name='documents that come again, in per cent')),
                ('seed', models.PositiveIntegerField(default=relevancy.models.judging.draw_seed, editable=False, help_text='Of the random part of the order.')),
                ('run_ids', models.JSONField(default=list, editable=False, help_text='The runs that the pairs were taken from.')),
                ('pair_count', models.PositiveIntegerField(default=0, editable=False)),
                ('built_at', models.DateTimeField(editable=False, help_text='Empty: the pairs have to be chosen again.', null=True)),
                ('revision', models.PositiveBigIntegerField(default=0, editable=False, help_text='Incremented when a pair may be open for a rater again, or come earlier.')),
                ('build_queued_at', models.DateTimeField(editable=False, help_text='When a background task was enqueued that chooses the pairs.', null=True)),
                ('book', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='judging_queue', to='relevancy.book')),
                ('run_a', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='relevancy.run', verbose_name='first run')),
                ('run_b', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='relevancy.run', verbose_name='second run')),
            ],
        ),
        migrations.CreateModel(
            name='JudgingPair',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('doc_id', models.CharField(max_length=500, verbose_name='document id')),
                ('rank', models.PositiveIntegerField(help_text='The best rank of the document in the runs of the queue.')),
                ('key', models.FloatField()),
                ('revision', models.PositiveBigIntegerField(null=True)),
                ('level', models.PositiveSmallIntegerField(default=0, null=True)),
                ('claimed_until', models.DateTimeField(null=True)),
                ('claimed_by', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('queue', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='pairs', to='relevancy.judgingqueue')),
                ('query', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='judging_pairs', to='relevancy.query')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='relevancy.run')),
            ],
            options={
                'ordering': ('id',),
            },
        ),
        migrations.CreateModel(
            name='Annotation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('text', relevancy.models.text.LineField(max_length=500)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('removed_at', models.DateTimeField(blank=True, null=True)),
                ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('case', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='annotations', to='relevancy.case')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='annotations', to='relevancy.run')),
            ],
            options={
                'ordering': ('run__number', 'id'),
            },
        ),
        migrations.CreateModel(
            name='Scorer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', relevancy.models.text.LineField(max_length=120, unique=True)),
                ('description', relevancy.models.text.MultilineField(blank=True, validators=[django.core.validators.MaxLengthValidator(5000)])),
                ('is_default', models.BooleanField(default=False, help_text='The scorer a new case starts with.')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('retired_at', models.DateTimeField(blank=True, null=True)),
                ('only_for', models.ForeignKey(blank=True, help_text='The only case that may use it.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='own_scorers', to='relevancy.case')),
                ('owner', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='scorers', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ('name',),
            },
        ),
        migrations.CreateModel(
            name='CaseScorer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveSmallIntegerField(default=0)),
                ('case', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='case_scorers', to='relevancy.case')),
                ('scorer', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='case_scorers', to='relevancy.scorer')),
            ],
            options={
                'ordering': ('position', 'id'),
            },
        ),
        migrations.AddField(
            model_name='case',
            name='scorers',
            field=models.ManyToManyField(related_name='cases', through='relevancy.CaseScorer', to='relevancy.scorer'),
        ),
        migrations.AddField(
            model_name='user',
            name='default_scorer',
            field=models.ForeignKey(blank=True, help_text='What new cases of this user start with. None: the default of the site.', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='relevancy.scorer'),
        ),
        migrations.CreateModel(
            name='ScorerVersion',
            fields=[
                ('id', models.AutoField(primary_key=True, serialize=False)),
                ('number', models.PositiveIntegerField()),
                ('measure', models.CharField(blank=True, help_text="nDCG(gain='linear')@10; empty for a script", max_length=200)),
                ('script', relevancy.models.text.CodeField(blank=True)),
                ('output_range', models.CharField(choices=[('100', '0–100'), ('1', '0–1')], default='100', max_length=3)),
                ('cutoff', models.PositiveIntegerField(blank=True, help_text='Results that a script considers; empty: as many as are displayed.', null=True)),
                ('scale', models.JSONField(help_text="The grades with labels that a new book starts with: [[0, 'Poor'], …]")),
                ('count_unscoreable_as_zero', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('scorer', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='versions', to='relevancy.scorer')),
            ],
            options={
                'ordering': ('scorer', '-number'),
            },
        ),
        migrations.CreateModel(
            name='RunComparison',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('revision', models.PositiveBigIntegerField()),
                ('run_score', models.FloatField(null=True)),
                ('baseline_score', models.FloatField(null=True)),
                ('compared', models.PositiveIntegerField()),
                ('better', models.PositiveIntegerField()),
                ('worse', models.PositiveIntegerField()),
                ('newly_scored', models.PositiveIntegerField()),
                ('no_longer_scored', models.PositiveIntegerField()),
                ('baseline', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='relevancy.run')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='comparisons', to='relevancy.run')),
                ('version', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='relevancy.scorerversion')),
            ],
        ),
        migrations.CreateModel(
            name='QueryScore',
            fields=[
                ('query', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='scores', to='relevancy.query')),
                ('run', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='query_scores', to='relevancy.run')),
                ('version', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='query_scores', to='relevancy.scorerversion')),
                ('pk', models.CompositePrimaryKey('query', 'run', 'version', blank=True, editable=False, primary_key=True, serialize=False)),
                ('unrated', models.PositiveSmallIntegerField(default=0)),
                ('value', models.FloatField(help_text="The measure's own value.", null=True)),
                ('score', models.FloatField(null=True)),
                ('low', models.FloatField(null=True)),
                ('high', models.FloatField(null=True)),
                ('ideal', models.FloatField(null=True)),
                ('error', models.CharField(blank=True, default='', help_text='Why the ranking could not be scored.', max_length=500)),
                ('error_kind', models.CharField(blank=True, default='', max_length=10)),
                ('revision', models.PositiveBigIntegerField()),
            ],
        ),
        migrations.AddField(
            model_name='judgingqueue',
            name='version',
            field=models.ForeignKey(blank=True, help_text='Scripts, and measures whose bounds are estimates, are not listed.', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='relevancy.scorerversion', verbose_name='scorer'),
        ),
        migrations.AddField(
            model_name='casescorer',
            name='version',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='case_scorers', to='relevancy.scorerversion'),
        ),
        migrations.CreateModel(
            name='CaseScore',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('day', models.DateField()),
                ('score', models.FloatField(null=True)),
                ('low', models.FloatField(null=True)),
                ('high', models.FloatField(null=True)),
                ('scored', models.PositiveIntegerField(default=0)),
                ('queries', models.PositiveIntegerField(default=0)),
                ('unrated', models.PositiveIntegerField(default=0)),
                ('failed', models.PositiveIntegerField(default=0, help_text='Queries that could not be scored.')),
                ('revision', models.PositiveBigIntegerField(null=True)),
                ('first_score', models.FloatField(null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='case_scores', to='relevancy.run')),
                ('version', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='case_scores', to='relevancy.scorerversion')),
            ],
            options={
                'ordering': ('run', 'version', '-day'),
            },
        ),
        migrations.CreateModel(
            name='StoredComparison',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=120, unique=True)),
                ('revision', models.PositiveBigIntegerField(null=True)),
                ('generation', models.PositiveBigIntegerField(default=0)),
                ('figures', models.JSONField(null=True)),
                ('error', models.TextField(blank=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('computed_at', models.DateTimeField(null=True)),
                ('queued_at', models.DateTimeField(help_text='When a background task was enqueued that computes the figures.', null=True)),
                ('case', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='comparisons', to='relevancy.case')),
                ('version', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='relevancy.scorerversion')),
            ],
            options={
                'ordering': ('-id',),
            },
        ),
        migrations.CreateModel(
            name='ComparedRun',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveSmallIntegerField()),
                ('p', models.FloatField(null=True)),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='compared_runs', to='relevancy.run')),
                ('comparison', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='compared_runs', to='relevancy.storedcomparison')),
            ],
            options={
                'ordering': ('comparison', 'position'),
            },
        ),
        migrations.CreateModel(
            name='Team',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', relevancy.models.text.LineField(max_length=120, unique=True)),
                ('can_create_endpoints', models.BooleanField(default=False, help_text='Editors and owners of the team may enter addresses of search engines, which this server then sends requests to.')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('members', models.ManyToManyField(related_name='teams', through='relevancy.Membership', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ('name',),
            },
        ),
        migrations.CreateModel(
            name='StoredIndex',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('engine', models.CharField(max_length=30)),
                ('name', models.CharField(max_length=500)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='stored_indexes', to=settings.AUTH_USER_MODEL)),
                ('teams', models.ManyToManyField(blank=True, related_name='stored_indexes', to='relevancy.team')),
            ],
            options={
                'verbose_name_plural': 'stored indexes',
                'ordering': ('engine', 'name'),
            },
        ),
        migrations.AddField(
            model_name='scorer',
            name='teams',
            field=models.ManyToManyField(blank=True, related_name='scorers', to='relevancy.team'),
        ),
        migrations.AddField(
            model_name='membership',
            name='team',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='relevancy.team'),
        ),
        migrations.CreateModel(
            name='Invitation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('email', models.EmailField(blank=True, help_text='In lower case. Empty: for anyone who has the link.', max_length=254)),
                ('role', models.PositiveSmallIntegerField(choices=[(1, 'viewer'), (2, 'rater'), (3, 'editor'), (4, 'owner')], default=2)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('expires_at', models.DateTimeField(default=relevancy.models.invitation.default_expiry)),
                ('max_uses', models.PositiveSmallIntegerField(default=1, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(100)])),
                ('uses', models.PositiveSmallIntegerField(default=0, editable=False)),
                ('sign_ups', models.PositiveSmallIntegerField(default=0, editable=False)),
                ('accepted_at', models.DateTimeField(blank=True, null=True)),
                ('declined_at', models.DateTimeField(blank=True, null=True)),
                ('withdrawn_at', models.DateTimeField(blank=True, null=True)),
                ('accepted_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='invitations', to='relevancy.team')),
            ],
            options={
                'ordering': ('-created_at', '-id'),
            },
        ),
        migrations.AddField(
            model_name='endpoint',
            name='teams',
            field=models.ManyToManyField(blank=True, related_name='endpoints', to='relevancy.team'),
        ),
        migrations.AddField(
            model_name='case',
            name='teams',
            field=models.ManyToManyField(blank=True, related_name='cases', to='relevancy.team'),
        ),
        migrations.AddField(
            model_name='book',
            name='teams',
            field=models.ManyToManyField(blank=True, related_name='books', to='relevancy.team'),
        ),
        migrations.CreateModel(
            name='Activity',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('verb', models.CharField(max_length=40)),
                ('subject', models.CharField(blank=True, max_length=200)),
                ('object_id', models.BigIntegerField(null=True)),
                ('details', models.JSONField(default=dict)),
                ('by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('person', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('case', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='activities', to='relevancy.case')),
                ('team', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='activities', to='relevancy.team')),
            ],
            options={
                'verbose_name_plural': 'activities',
                'ordering': ('-at', '-id'),
            },
        ),
        migrations.CreateModel(
            name='UserSession',
            fields=[
                ('session_key', models.CharField(max_length=40, primary_key=True, serialize=False, verbose_name='session key')),
                ('session_data', models.TextField(verbose_name='session data')),
                ('expire_date', models.DateTimeField(db_index=True, verbose_name='expire date')),
                ('user', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='sessions', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'session',
                'verbose_name_plural': 'sessions',
                'db_table': 'relevancy_usersession',
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='ApiToken',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', relevancy.models.text.LineField(help_text='What the token is for, such as “nightly job”.', max_length=120)),
                ('prefix', models.CharField(editable=False, max_length=12, unique=True)),
                ('digest', models.CharField(editable=False, max_length=64)),
                ('scope', models.CharField(choices=[('read', 'read'), ('rate', 'read and rate'), ('write', 'read, rate and change')], default='read', max_length=10)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('expires_at', models.DateTimeField(blank=True, null=True)),
                ('last_used_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('revoked_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='api_tokens', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'API token',
                'ordering': ('-id',),
                'constraints': [models.CheckConstraint(condition=models.Q(('scope__in', ['read', 'rate', 'write'])), name='api_token_scope_known')],
            },
        ),
        migrations.AddConstraint(
            model_name='attempt',
            constraint=models.UniqueConstraint(fields=('case', 'number'), name='attempt_number_once'),
        ),
        migrations.AddConstraint(
            model_name='attempt',
            constraint=models.CheckConstraint(condition=models.Q(('depth__gte', 1), ('depth__lte', 1000)), name='attempt_depth_1_to_1000'),
        ),
        migrations.AddIndex(
            model_name='casequery',
            index=models.Index(condition=models.Q(('removed_at', None)), fields=['case', 'position', 'id'], name='case_query_in_order'),
        ),
        migrations.AddConstraint(
            model_name='casequery',
            constraint=models.UniqueConstraint(fields=('case', 'query'), name='case_query_once'),
        ),
        migrations.AddConstraint(
            model_name='casequery',
            constraint=models.CheckConstraint(condition=models.Q(('weight__gte', 0)), name='case_query_weight_not_negative'),
        ),
        migrations.AddConstraint(
            model_name='query',
            constraint=models.UniqueConstraint(fields=('book', 'text_key'), name='query_once_per_book'),
        ),
        migrations.AddConstraint(
            model_name='query',
            constraint=models.CheckConstraint(condition=models.Q(('text', ''), _negated=True), name='query_not_empty'),
        ),
        migrations.AddIndex(
            model_name='rating',
            index=models.Index(condition=models.Q(('verdict', 'later')), fields=['rater', 'updated_at'], name='rating_postponed_by_rater'),
        ),
        migrations.AddConstraint(
            model_name='rating',
            constraint=models.UniqueConstraint(fields=('query', 'doc_id', 'rater'), name='rating_once_per_rater'),
        ),
        migrations.AddConstraint(
            model_name='rating',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('value__isnull', False), ('verdict', 'rated')), models.Q(models.Q(('verdict', 'rated'), _negated=True), ('value__isnull', True)), _connector='OR'), name='rating_value_goes_with_verdict'),
        ),
        migrations.AddConstraint(
            model_name='rating',
            constraint=models.CheckConstraint(condition=models.Q(('doc_id', ''), _negated=True), name='rating_names_a_document'),
        ),
        migrations.AddConstraint(
            model_name='rating',
            constraint=models.UniqueConstraint(condition=models.Q(('is_adjudication', True)), fields=('query', 'doc_id'), name='rating_adjudicated_once'),
        ),
        migrations.AddConstraint(
            model_name='rating',
            constraint=models.CheckConstraint(condition=models.Q(('is_adjudication', False), ('verdict', 'rated'), _connector='OR'), name='rating_adjudication_has_a_grade'),
        ),
        migrations.AddIndex(
            model_name='ratingchange',
            index=models.Index(fields=['query', 'doc_id', 'at'], name='rating_change_of_document'),
        ),
        migrations.AddIndex(
            model_name='ratingchange',
            index=models.Index(fields=['by', '-id'], name='rating_change_newest_of_user'),
        ),
        migrations.AddIndex(
            model_name='ratingchange',
            index=models.Index(condition=models.Q(('rating_import__isnull', False)), fields=['rating_import'], name='rating_change_of_import'),
        ),
        migrations.AddConstraint(
            model_name='ratingimport',
            constraint=models.UniqueConstraint(condition=models.Q(('status__in', ['waiting', 'running', 'undoing'])), fields=('book',), name='rating_import_once_per_book'),
        ),
        migrations.AddConstraint(
            model_name='ratingchange',
            constraint=models.UniqueConstraint(condition=models.Q(('undoes__isnull', False)), fields=('undoes',), name='rating_change_undone_once'),
        ),
        migrations.AddConstraint(
            model_name='runpart',
            constraint=models.UniqueConstraint(fields=('run', 'first'), name='run_part_once'),
        ),
        migrations.AddConstraint(
            model_name='run',
            constraint=models.UniqueConstraint(fields=('case', 'number'), name='run_number_once'),
        ),
        migrations.AddConstraint(
            model_name='run',
            constraint=models.CheckConstraint(condition=models.Q(('status__in', ['waiting', 'running', 'complete', 'incomplete', 'cancelled', 'failed'])), name='run_status_known'),
        ),
        migrations.AddIndex(
            model_name='repeatedpair',
            index=models.Index(condition=models.Q(('verdict', '')), fields=['rater', 'wait'], name='repeated_pair_open_of_rater'),
        ),
        migrations.AddConstraint(
            model_name='repeatedpair',
            constraint=models.UniqueConstraint(fields=('query', 'doc_id', 'rater'), name='repeated_pair_once'),
        ),
        migrations.AddConstraint(
            model_name='repeatedpair',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('first_value__isnull', False), ('value__isnull', False), ('verdict', 'rated')), models.Q(models.Q(('verdict', 'rated'), _negated=True), ('value__isnull', True)), _connector='OR'), name='repeated_value_goes_with_verdict'),
        ),
        migrations.AddIndex(
            model_name='ranking',
            index=models.Index(fields=['run', 'error_kind'], name='ranking_failures'),
        ),
        migrations.AddConstraint(
            model_name='ranking',
            constraint=models.UniqueConstraint(fields=('query', 'run'), name='ranking_once_per_run'),
        ),
        migrations.AddConstraint(
            model_name='document',
            constraint=models.UniqueConstraint(fields=('endpoint', 'digest'), name='document_version_once'),
        ),
        migrations.AddIndex(
            model_name='judgingpair',
            index=models.Index(condition=models.Q(('level__isnull', False)), fields=['queue', 'level', 'key', 'id'], name='judging_pair_in_order'),
        ),
        migrations.AddIndex(
            model_name='judgingpair',
            index=models.Index(condition=models.Q(('claimed_by__isnull', False)), fields=['claimed_by', 'queue'], name='judging_pair_claimed'),
        ),
        migrations.AddConstraint(
            model_name='judgingpair',
            constraint=models.UniqueConstraint(fields=('query', 'doc_id'), name='judging_pair_once'),
        ),
        migrations.AddConstraint(
            model_name='user',
            constraint=models.UniqueConstraint(django.db.models.functions.text.Lower('email'), name='user_email_any_case'),
        ),
        migrations.AddConstraint(
            model_name='scorerversion',
            constraint=models.UniqueConstraint(fields=('scorer', 'number'), name='scorer_version_once'),
        ),
        migrations.AddConstraint(
            model_name='scorerversion',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('measure', ''), models.Q(('script', ''), _negated=True)), models.Q(models.Q(('measure', ''), _negated=True), ('script', '')), _connector='OR'), name='scorer_version_measure_or_script'),
        ),
        migrations.AddConstraint(
            model_name='scorerversion',
            constraint=models.CheckConstraint(condition=models.Q(('output_range__in', ['100', '1'])), name='scorer_version_output_range_known'),
        ),
        migrations.AddConstraint(
            model_name='runcomparison',
            constraint=models.UniqueConstraint(fields=('run', 'version', 'baseline'), name='run_comparison_once'),
        ),
        migrations.AddIndex(
            model_name='queryscore',
            index=models.Index(models.F('run'), models.F('version'), django.db.models.expressions.CombinedExpression(django.db.models.functions.comparison.Coalesce('ideal', models.Value(100.0)), '-', models.F('score')), name='query_score_gap'),
        ),
        migrations.AddConstraint(
            model_name='queryscore',
            constraint=models.CheckConstraint(condition=models.Q(('score__isnull', True), models.Q(('score__gte', 0), ('score__lte', 100)), _connector='OR'), name='query_score_0_to_100'),
        ),
        migrations.AddConstraint(
            model_name='judgingqueue',
            constraint=models.CheckConstraint(condition=models.Q(('order__in', ['query', 'rank', 'weighted', 'difference'])), name='judging_order_known'),
        ),
        migrations.AddConstraint(
            model_name='judgingqueue',
            constraint=models.CheckConstraint(condition=models.Q(('ratings_per_pair__gte', 1)), name='judging_needs_a_rating'),
        ),
        migrations.AddConstraint(
            model_name='casescorer',
            constraint=models.UniqueConstraint(fields=('case', 'scorer'), name='case_scorer_once'),
        ),
        migrations.AddConstraint(
            model_name='casescore',
            constraint=models.UniqueConstraint(fields=('run', 'version', 'day'), name='case_score_once_a_day'),
        ),
        migrations.AddIndex(
            model_name='storedcomparison',
            index=models.Index(fields=['case', '-computed_at'], name='comparison_newest_of_case'),
        ),
        migrations.AddConstraint(
            model_name='comparedrun',
            constraint=models.UniqueConstraint(fields=('comparison', 'position'), name='compared_run_once_per_position'),
        ),
        migrations.AddConstraint(
            model_name='comparedrun',
            constraint=models.UniqueConstraint(fields=('comparison', 'run'), name='compared_run_once'),
        ),
        migrations.AddConstraint(
            model_name='team',
            constraint=models.UniqueConstraint(django.db.models.functions.text.Lower('name'), name='team_name_any_case'),
        ),
        migrations.AddConstraint(
            model_name='storedindex',
            constraint=models.UniqueConstraint(fields=('engine', 'name'), name='stored_index_once'),
        ),
        migrations.AddConstraint(
            model_name='scorer',
            constraint=models.UniqueConstraint(condition=models.Q(('is_default', True)), fields=('is_default',), name='scorer_one_default'),
        ),
        migrations.AddConstraint(
            model_name='scorer',
            constraint=models.UniqueConstraint(django.db.models.functions.text.Lower('name'), name='scorer_name_any_case'),
        ),
        migrations.AddConstraint(
            model_name='membership',
            constraint=models.UniqueConstraint(fields=('team', 'user'), name='membership_once'),
        ),
        migrations.AddConstraint(
            model_name='membership',
            constraint=models.CheckConstraint(condition=models.Q(('role__in', [1, 2, 3, 4])), name='membership_role_known'),
        ),
        migrations.AddConstraint(
            model_name='invitation',
            constraint=models.CheckConstraint(condition=models.Q(('role__in', [1, 2, 3, 4])), name='invitation_role_known'),
        ),
        migrations.AddConstraint(
            model_name='invitation',
            constraint=models.CheckConstraint(condition=models.Q(('email', django.db.models.functions.text.Lower('email'))), name='invitation_email_lower_case'),
        ),
        migrations.AddConstraint(
            model_name='invitation',
            constraint=models.CheckConstraint(condition=models.Q(('max_uses', 1), ('email', ''), _connector='OR'), name='invitation_of_an_address_is_used_once'),
        ),
        migrations.AddConstraint(
            model_name='invitation',
            constraint=models.CheckConstraint(condition=models.Q(('uses__lte', models.F('max_uses'))), name='invitation_uses_at_most_max_uses'),
        ),
        migrations.AddConstraint(
            model_name='endpoint',
            constraint=models.CheckConstraint(condition=models.Q(('parallel__gte', 1), ('parallel__lte', 64)), name='endpoint_parallel_1_to_64'),
        ),
        migrations.AddConstraint(
            model_name='book',
            constraint=models.CheckConstraint(condition=models.Q(('rule__in', ['latest', 'mean', 'median', 'majority', 'lowest_of_three', 'quepid'])), name='book_rule_known'),
        ),
        migrations.AddIndex(
            model_name='activity',
            index=models.Index(fields=['case', '-at', '-id'], name='activity_of_case'),
        ),
        migrations.AddIndex(
            model_name='activity',
            index=models.Index(fields=['team', '-at', '-id'], name='activity_of_team'),
        ),
        migrations.AddConstraint(
            model_name='activity',
            constraint=models.CheckConstraint(condition=models.Q(('case__isnull', False), ('team__isnull', False), _connector='OR'), name='activity_of_a_case_or_team'),
        ),
        ]),
    ]
