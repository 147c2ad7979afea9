"""A private release of the frequent lines of a text file by OpenDP: keys open, epsilon 1, delta 1e-9.

With `library` OpenDP counts the lines; with `dict` Python does, which is faster and smaller. A replaced
event moves two counts by one each, hence the scale of 2.
"""

import sys
from collections import Counter

import opendp.prelude as dp

dp.enable_features("contrib")

how, file = sys.argv[1:]
with open(file) as lines:
    events = (line.rstrip("\n") for line in lines)
    if how == "library":
        space = dp.vector_domain(dp.atom_domain(T=str)), dp.symmetric_distance()
        counts, domain = list(events), space >> dp.t.then_count_by(TV="i32")
    else:
        counts = dict(Counter(events))
        domain = (
            dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T="i32")),
            dp.l01inf_distance(dp.absolute_distance(T="i32")),
        )
release = domain >> dp.m.then_laplace_threshold(scale=2.0, threshold=45)
print(len(release(counts)))
