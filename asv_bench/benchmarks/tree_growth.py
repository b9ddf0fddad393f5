"""Growing the trees of one round."""

from .common import Settings, blobs, bound, weights


class Growth(Settings):
    """All features at every node, so that the work does not depend on random draws."""

    def prepare(self, n_samples, n_features, n_classes, max_depth, spread=1.0):
        from cwboost.families.discovery import get_family

        X, y = blobs(n_samples, n_features, n_classes, "float32")
        family = get_family("tree")(max_depth=max_depth, max_features=None)
        self.pricer = bound(family, X, n_classes)
        self.weights = weights(y, n_classes, spread)

    def price(self):
        self.pricer.price(self.weights)


class Depth(Growth):
    params = [1, 3, 5]
    param_names = ["max_depth"]

    def setup(self, max_depth):
        self.prepare(4_000, 64, 10, max_depth)

    def time_price(self, max_depth):
        self.price()

    time_price.pretty_name = "trees: growth in one round, by depth"


class Spread(Growth):
    """Spread of the weights: with a large spread, bounds exclude most features."""

    params = [1.0, 4.0]
    param_names = ["spread"]

    def setup(self, spread):
        self.prepare(4_000, 128, 10, 2, spread=spread)

    def time_price(self, spread):
        self.price()

    time_price.pretty_name = "trees: growth in one round, by spread of the weights"


class Samples(Growth):
    params = [1_000, 10_000, 100_000]
    param_names = ["n_samples"]

    def setup(self, n_samples):
        self.prepare(n_samples, 16, 10, 3)

    def time_price(self, n_samples):
        self.price()

    time_price.pretty_name = "trees: growth in one round, by number of examples"


class Classes(Growth):
    params = [2, 10, 40]
    param_names = ["n_classes"]

    def setup(self, n_classes):
        self.prepare(4_000, 32, n_classes, 3)

    def time_price(self, n_classes):
        self.price()

    time_price.pretty_name = "trees: growth in one round, by number of classes"
