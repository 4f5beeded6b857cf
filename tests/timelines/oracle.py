"""The store in memory, as simple as it can be said: what the real one is compared with.

A timeline's entries stand in the order in which they were inserted. What was deleted from a name is
remembered for ever.
"""

from collections import defaultdict

from trackers.timelines.store import Entry, TimelineMissing


class Oracle:
    def __init__(self, *, lower=800, upper=850):
        self.lower, self.upper = lower, upper
        self.live: dict[str, dict[int, Entry]] = {}
        self.dead: defaultdict[str, set[int]] = defaultdict(set)
        # Where each id, live or dead, was inserted: a tombstone is good as a mark.
        self.marks: defaultdict[str, dict[int, int]] = defaultdict(dict)
        self.clock = 0

    def append(self, entry, timelines):
        # A name that is told twice is meant once: a second time would bring back what was cut.
        for name in dict.fromkeys(timelines):
            self.merge(name, [entry])

    def append_many(self, pairs):
        by_name = defaultdict(list)
        for name, entry in pairs:
            by_name[name].append(entry)
        for name, entries in by_name.items():
            self.merge(name, entries)

    def merge(self, name, entries):
        if name not in self.live:
            return
        firsts = {}
        for entry in entries:
            firsts.setdefault(entry.id, entry)
        for id in sorted(firsts):
            if id not in self.live[name] and id not in self.dead[name]:
                self.insert(name, firsts[id])
        self.cut(name)

    def insert(self, name, entry):
        self.clock += 1
        self.live[name][entry.id] = entry
        self.marks[name][entry.id] = self.clock

    def cut(self, name):
        if len(self.live[name]) > self.upper:
            for id in sorted(self.live[name])[: -self.lower]:
                self.forget(name, id)

    def forget(self, name, id):
        del self.live[name][id], self.marks[name][id]

    def delete(self, id, timelines):
        for name in timelines:
            if id not in self.dead[name]:
                self.dead[name].add(id)
                self.clock += 1
                self.marks[name].setdefault(id, self.clock)
                self.live.get(name, {}).pop(id, None)

    def set(self, name, entries):
        self.drop(name)
        self.live[name] = {}
        self.merge(name, entries)

    def unmerge(self, name, entries):
        for entry in entries:
            if entry.id in self.live.get(name, {}):
                self.forget(name, entry.id)

    def merge_from(self, name, source):
        found = source in self.live
        if found:
            self.merge(name, list(self.live[source].values()))
        return found

    def unmerge_from(self, name, source):
        found = source in self.live
        if found:
            self.unmerge(name, list(self.live[source].values()))
        return found

    def drop(self, name):
        for id in list(self.live.get(name, ())):
            self.forget(name, id)
        self.live.pop(name, None)

    def newest_first(self, name):
        if name not in self.live:
            raise TimelineMissing(name)
        return [self.live[name][id] for id in sorted(self.live[name], reverse=True)]

    def get(self, name, offset, length, *, dedupe=False):
        entries = self.newest_first(name)
        return (originals(entries) if dedupe else entries)[offset : offset + length]

    def get_since(self, name, id, *, dedupe=False):
        entries = self.newest_first(name)
        mark = self.marks[name].get(id, 0)
        kept = originals(entries) if dedupe else entries
        return [one for one in kept if self.marks[name][one.id] > mark]

    def filter(self, name, ids, max_search=-1):
        entries = self.newest_first(name)
        looked_at = entries if max_search == -1 else entries[:max_search]
        return [one for one in looked_at if {one.id, one.secondary} & {*ids}]


def originals(entries):
    seen, kept = set(), []
    for entry in sorted(entries, key=lambda one: one.id):
        if entry.secondary not in seen:
            kept.append(entry)
            seen |= {entry.id, entry.secondary} - {None}
    return kept[::-1]
