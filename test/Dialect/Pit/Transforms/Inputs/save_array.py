"""Writes a .npy file: save_array.py FILE EXPRESSION, where i and j are the row and the
column of a 10 x 20 array and r is row-major noise in [0, 1), the same each time."""

import sys

import numpy

i, j = numpy.indices((10, 20))
r = numpy.random.default_rng(7).random((10, 20))
numpy.save(sys.argv[1], eval(sys.argv[2]))
