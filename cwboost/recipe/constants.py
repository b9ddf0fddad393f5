"""Every constant of the recipe, with its reason."""

DEFAULT_INIT = "kernel"
"""The init model of the default: smooth where trees are steps."""

FEWEST, SAMPLE, PER_CLASS, MOST_LOSS_LEFT = 100, 200, 20, 0.5
"""Of fewer examples than the first number, none is tried: they cannot tell, and it is most of the
time. The init model is fitted if, on a sample of the second, or the third per class, its
out-of-sample log loss is below this share of that of the class shares. If classes overlap more, it
costs time and rarely gains."""

TOLD_MORE, MORE, FEW_LANDMARKS = 0.9, 3000, 200
"""If a holdout run ends below the first share of the log loss on that sample, a small init model of
the second number of examples and the third of landmarks tells whether a full one may be lower
still. It takes a tenth of the time."""

LINEAR_INIT, NEARLY = "linear", 1.06
"""The linear init model enters the race if its log loss is below this factor of that of the holdout
run: the more trees add to it, the less it helps them."""

ROUNDS, PATH_ROUNDS = 400, 1000
"""Most rounds of total correction at a given C, and along a whole path of C."""

STEPS_PER_DOUBLING, LARGEST_C, PAST_BEST = 2, 2.0**40, 1.02
"""The path of C has these values per doubling, up to this one, until the log loss of the examples
left out is this factor above its lowest, at twice the C of the lowest at least. The first value
within this factor is taken: within half of it, models are a sixth larger and half a percent
better."""

JUDGED_FROM = 0.25
"""Part of the best C of the first path from which on the second must be lower, to go on."""

CLOSEST_C = 1.005
"""`max_columns` bisects C until two values are this close."""

UNMEASURED_C = 16.0
"""C if nothing can be left out: a handful of columns."""

MOST_LENGTH = 30.0
"""Largest sum of the learning rates of the rounds that the recipe takes; few data want as many."""

LONGEST_STEP = 0.3
"""The learning rate of holdout runs, if that of the training is less: it finds as good a number of
rounds in a third of those of the default. Also the largest that a time limit makes of steps."""

LEAST_GAIN = 0.01
"""Share of the holdout log loss by which a candidate must be lower than the one before it: among
equals, the simpler is taken."""

PATIENCE, LEAST_FALL = 3.6, 0.01
"""A holdout run ends when rounds of this sum of learning rates have lowered the log loss by less
than this share: to go on costs more than it gains."""

LITTLE_LEARNT, ON_PLATEAU = 0.05, 3
"""Until the log loss has fallen by the first share of that of the class shares, the patience is the
second number of times as long: interactions without main effects begin to pay late."""

CLOSE = 1.1
"""Factor between the lengths of a holdout run at which scale and prediction sets are known, for
trainings that end early: these change little in between."""

SHARE_OF_TIME = 0.5
"""Share of the time left that holdout runs may take of a fit with a time limit: training then gets
as far as they did."""

ENOUGH_ROUNDS, MOST_TIMES = 80, 3
"""If fewer rounds suffice, training takes the first number of smaller steps, or the second times
as many if these are less: more trees vary less."""

FEWEST_ROUNDS = 20
"""Models of fewer rounds keep the scale of the loss, which suits them: they are near the shares of
the classes. So many are trained if no example can be left out."""
