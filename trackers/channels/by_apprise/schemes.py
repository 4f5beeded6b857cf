"""Which of Apprise's services a channel may be at: those that only speak HTTP, by `requests`.

None of these touches this machine, reads a file, runs a command, or opens a socket by itself. Those
that do (dbus, gnome, syslog, mqtt, irc, xmpp, smpp, mailto, …) are missing; so are services that
post for everybody to see or send text messages by phone, and those with a shape of their own.
"""

from __future__ import annotations

# By scheme: Apprise's module, and the class in it. Each is imported by itself: the 190 others cost
# half a second.
SCHEMES: dict[str, tuple[str, str]] = {
    "bark": ("bark", "NotifyBark"),
    "barks": ("bark", "NotifyBark"),
    "betterstack": ("betterstack", "NotifyBetterStack"),
    "chanify": ("chanify", "NotifyChanify"),
    "dingtalk": ("dingtalk", "NotifyDingTalk"),
    "feishu": ("feishu", "NotifyFeishu"),
    "flock": ("flock", "NotifyFlock"),
    "goalert": ("goalert", "NotifyGoAlert"),
    "goalerts": ("goalert", "NotifyGoAlert"),
    "gotify": ("gotify", "NotifyGotify"),
    "gotifys": ("gotify", "NotifyGotify"),
    "hassio": ("home_assistant", "NotifyHomeAssistant"),
    "hassios": ("home_assistant", "NotifyHomeAssistant"),
    "ifttt": ("ifttt", "NotifyIFTTT"),
    "join": ("join", "NotifyJoin"),
    "lark": ("lark", "NotifyLark"),
    "line": ("line", "NotifyLine"),
    "nctalk": ("nextcloudtalk", "NotifyNextcloudTalk"),
    "nctalks": ("nextcloudtalk", "NotifyNextcloudTalk"),
    "opsgenie": ("opsgenie", "NotifyOpsgenie"),
    "pagerduty": ("pagerduty", "NotifyPagerDuty"),
    "pagertree": ("pagertree", "NotifyPagerTree"),
    "pbul": ("pushbullet", "NotifyPushBullet"),
    "pover": ("pushover", "NotifyPushover"),
    "prowl": ("prowl", "NotifyProwl"),
    "pushdeer": ("pushdeer", "NotifyPushDeer"),
    "pushdeers": ("pushdeer", "NotifyPushDeer"),
    "revolt": ("revolt", "NotifyRevolt"),
    "ryver": ("ryver", "NotifyRyver"),
    "schan": ("serverchan", "NotifyServerChan"),
    "signal": ("signal_api", "NotifySignalAPI"),
    "signals": ("signal_api", "NotifySignalAPI"),
    "signl4": ("signl4", "NotifySIGNL4"),
    "splunk": ("splunk", "NotifySplunk"),
    "squadcast": ("squadcast", "NotifySquadcast"),
    "synology": ("synology", "NotifySynology"),
    "synologys": ("synology", "NotifySynology"),
    "victorops": ("splunk", "NotifySplunk"),
    "webex": ("webexteams", "NotifyWebexTeams"),
    "wecombot": ("wecombot", "NotifyWeComBot"),
    "wxteams": ("webexteams", "NotifyWebexTeams"),
    "zulip": ("zulip", "NotifyZulip"),
}


def scheme_of(address: str) -> str:
    return address.partition("://")[0].lower()
