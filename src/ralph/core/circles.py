"""Does anything wait for itself?"""

from collections.abc import Sequence


def a_circle(after: Sequence[Sequence[int]]) -> list[int]:
    """The nodes of one circle, or none. `after` has the followers of each node.

    Without recursion: chains may be long.
    """
    unseen, open_, closed = 0, 1, 2
    state = bytearray(len(after))
    for root in range(len(after)):
        if state[root] != unseen:
            continue
        state[root] = open_
        path = [root]
        ways = [iter(after[root])]
        while path:
            following = next(ways[-1], None)
            if following is None:
                state[path.pop()] = closed
                ways.pop()
            elif state[following] == open_:
                return path[path.index(following) :]
            elif state[following] == unseen:
                state[following] = open_
                path.append(following)
                ways.append(iter(after[following]))
    return []
