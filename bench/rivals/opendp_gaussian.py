"""Discrete Gaussian values of this deviation that OpenDP draws per second in its own code."""

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
