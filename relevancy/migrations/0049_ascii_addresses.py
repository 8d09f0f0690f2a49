from django.db import migrations, models

import relevancy.models.user


def lower_addresses(apps, schema_editor):
    User = apps.get_model("relevancy", "User")
    for user in User.objects.only("email").iterator():
        address = user.email.strip().lower()
        if user.email.isascii() and address != user.email:
            User.objects.filter(pk=user.pk).update(email=address)


class Migration(migrations.Migration):
    dependencies = [("relevancy", "0048_kinds_of_users")]

    operations = [
        migrations.AlterField(
            model_name="user",
            name="email",
            field=models.EmailField(
                max_length=254, unique=True, validators=[relevancy.models.user.validate_ascii], verbose_name="e-mail"
            ),
        ),
        migrations.RunPython(lower_addresses, migrations.RunPython.noop),
    ]
