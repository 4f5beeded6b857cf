from trackers.milestones.models import Milestone

MILESTONES = "/admin/trackers/milestone/"


def test_a_milestone_is_added_once_and_removed(staff):
    staff.post(f"{MILESTONES}add/", {"metric": "quotes", "at": "5000"})
    again = staff.post(f"{MILESTONES}add/", {"metric": "quotes", "at": "5000"})

    added = Milestone.objects.get(metric="quotes")
    assert (added.at, added.low, added.nth) == (5000, 4500, 4)
    assert "already exists" in again.content.decode()
    page = staff.get(MILESTONES).content.decode()
    assert "5,000" in page
    assert ">4,500<" in page
    assert "Counts again after falling below" in page

    staff.post(f"{MILESTONES}{added.pk}/delete/", {"post": "yes"})
    assert not Milestone.objects.filter(metric="quotes").exists()


def test_the_default_milestones_exist():
    assert Milestone.objects.filter(metric="likes").count() == 4
