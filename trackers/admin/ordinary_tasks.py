"""django-q2's own pages: its schedules and tasks are read-only.

A schedule names a function with its arguments, so anybody who could edit one could run anything.
"""

from __future__ import annotations

from importlib import import_module

from django.apps import apps
from django.contrib import admin

from trackers.admin.readonly import ReadOnlyAdmin

# It registers its pages, which are then replaced.
import_module("django_q.admin")

for model in apps.get_app_config("django_q").get_models(include_auto_created=False):
    if admin.site.is_registered(model):
        theirs = type(admin.site.get_model_admin(model))
        admin.site.unregister(model)
        kept = type(f"ReadOnly{theirs.__name__}", (ReadOnlyAdmin, theirs), {"actions": ()})
        admin.site.register(model, kept)
