"""Measures what choosing among rules weighs, on the machine at hand: pit-tune.

    cases     which products are run, by which rules, on which zeros
    measure   how they are timed
    fit       what a multiplication, a look, a list take, by these times
    state     what was measured so far, in a file
    command   the command line
"""
