from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('trackers', '0049_own_rules'),
    ]

    operations = [
        ValidateConstraint(model_name='alertrule', name='alertrule_tells_its_owner'),
    ]
