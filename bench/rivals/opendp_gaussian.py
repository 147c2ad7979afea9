"""How many discrete Gaussian values a second OpenDP draws, of this deviation, in its own code."""

import sys
import time

import opendp.prelude as dp

dp.enable_features("contrib")

VALUES = 200_000
space = dp.vector_domain(dp.atom_domain(T="i64"), size=VALUES), dp.l2_distance(T="i64")
noise = space >> dp.m.then_gaussian(scale=float(sys.argv[1]))
zeros = [0] * VALUES
start = time.process_time()
noise(zeros)
print(VALUES / (time.process_time() - start))
