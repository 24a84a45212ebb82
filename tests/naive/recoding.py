"""Local recoding's first step by dictionaries: nodes in order, classes that are large enough freeze."""

from __future__ import annotations

from collections import defaultdict


def freeze(rows, records, values, lifts, nodes, k, l):  # noqa: E741
    """rows: leaf tuples; values: set of confidential values per tuple; lifts[a][level][leaf] → group.

    → the node at which each tuple froze (None: nowhere).
    """
    frozen = [None] * len(rows)
    for number, node in enumerate(nodes):
        classes = defaultdict(list)
        for place, row in enumerate(rows):
            if frozen[place] is None:
                classes[
                    tuple(lifts[a][level][leaf] for a, (level, leaf) in enumerate(zip(node, row, strict=True)))
                ].append(place)
        for members in classes.values():
            held = sum(records[place] for place in members)
            seen = set().union(*(values[place] for place in members))
            if held >= k and len(seen) >= l:
                for place in members:
                    frozen[place] = number
    return frozen


class Homes:
    """Groups of records in plain lists, and what each publishes: the moves of local recoding one by one.

    leaf, records: tuples and how many records share each; lifts[a][level][leaf] → group; cells[a][level][leaf] → loss.
    A group is a list of [tuple, records], the latest first; `levels` is what it publishes, tight or not.
    """

    def __init__(self, leaf, records, lifts, cells, owner):
        self.leaf, self.lifts, self.cells = leaf, lifts, cells
        self.groups = [[] for _ in range(max(owner) + 1)]
        for row, group in enumerate(owner):
            if group >= 0:
                self.groups[group].insert(0, [row, records[row]])
        self.levels = [self.common([row for row, _ in group]) for group in self.groups]

    def common(self, rows, least=None):
        """The lowest levels, from `least` on, at which the tuples are alike."""
        levels = list(least or [0] * len(self.lifts))
        for a, lift in enumerate(self.lifts):
            while len({lift[levels[a]][self.leaf[row][a]] for row in rows}) > 1:
                levels[a] += 1
        return levels

    def cost(self, levels, row):
        return sum(self.cells[a][level][self.leaf[row][a]] for a, level in enumerate(levels))

    def size(self, group):
        return sum(count for _, count in self.groups[group])

    def loss(self, group):
        return self.cost(self.levels[group], self.groups[group][0][0]) if self.groups[group] else 0.0

    def with_tuple(self, group, row):
        """Loss of each record of a group that takes a tuple in."""
        return self.cost(self.common([self.groups[group][0][0], row], self.levels[group]), row)

    def best_home(self, row, count, own, k, lending, limit):
        """(added loss, group, whether it only lends) of the cheapest place other than `own`, below the limit."""
        best, lack = (limit, -1, False), max(k - count, 0)
        for group in range(len(self.groups)):
            if group == own or not self.groups[group]:
                continue
            lends = lending and self.size(group) - lack >= k
            moved = lack if lends else self.size(group)
            added = (count + moved) * self.with_tuple(group, row) - moved * self.loss(group)
            if added < best[0]:
                best = (added, group, lends)
        return best

    def join(self, group, row, count):
        others = [self.groups[group][0][0]] if self.groups[group] else []
        self.levels[group] = self.common([row, *others], self.levels[group])
        self.groups[group].insert(0, [row, count])

    def lend(self, group, to, wanted):
        """Records of the nearest members go over, the last tuple split if it has too many."""
        while wanted:
            nearest = min(self.groups[group], key=lambda entry: self.with_tuple(to, entry[0]))
            count = min(wanted, nearest[1])
            nearest[1] -= count
            if not nearest[1]:
                self.groups[group].remove(nearest)
            self.join(to, nearest[0], count)
            wanted -= count

    def move(self, row, count, home, k):
        _, group, lends = home
        if lends:
            self.groups.append([])
            self.levels.append([0] * len(self.lifts))
            self.join(len(self.groups) - 1, row, count)
            self.lend(group, len(self.groups) - 1, max(k - count, 0))
        else:
            self.join(group, row, count)

    def rehome_group(self, group, k, lending):
        """Give a group up if that is cheaper; else move away what it can spare and what is cheaper elsewhere."""
        bill, elsewhere = self.size(group) * self.loss(group), 0.0
        for row, count in self.groups[group]:
            elsewhere += self.best_home(row, count, group, k, lending, float("inf"))[0]
        changed = False
        for entry in list(self.groups[group]):
            row, count = entry
            if elsewhere < bill:
                home = self.best_home(row, count, group, k, lending, float("inf"))
            elif self.size(group) - count >= k:
                home = self.best_home(row, count, group, k, lending, count * self.loss(group))
            else:
                continue
            if home[1] >= 0:
                self.groups[group].remove(entry)
                self.move(row, count, home, k)
                changed = True
        if changed and self.groups[group]:
            self.levels[group] = self.common([row for row, _ in self.groups[group]])
        return changed

    def rehome(self, k, lending, effort):
        """One pass, dearest first; every member is compared with every group, until the effort is used up."""
        changed = False
        for group in sorted(range(len(self.groups)), key=lambda group: -self.loss(group)):
            if self.loss(group) == 0.0:
                continue
            effort -= len(self.groups[group]) * len(self.groups)
            if effort <= 0:
                break
            changed |= self.rehome_group(group, k, lending)
        self.levels = [self.common([row for row, _ in group]) for group in self.groups]
        return max(effort, 0) if changed else 0
