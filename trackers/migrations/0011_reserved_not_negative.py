"""What is reserved is never below zero. A crash of the database made it so: the reservation was
forgotten, and its settlement was not."""

from django.db import migrations, models

# What was billed was counted; what was taken away for it had not been there.
REPAIR = """
    UPDATE trackers_spending
    SET posts_reserved = greatest(0, posts_reserved), users_reserved = greatest(0, users_reserved)
    WHERE posts_reserved < 0 OR users_reserved < 0
"""


class Migration(migrations.Migration):
    dependencies = [("trackers", "0010_replanning")]

    operations = [
        migrations.RunSQL(REPAIR, migrations.RunSQL.noop),
        migrations.AddConstraint(
            model_name="spending",
            constraint=models.CheckConstraint(
                condition=models.Q(posts_reserved__gte=0, users_reserved__gte=0),
                name="reserved_not_negative",
            ),
        ),
    ]
