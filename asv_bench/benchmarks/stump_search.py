"""Exact search of the best stump of every class: one round of pricing."""

from .common import Settings, blobs, bound, weights


class Pricing(Settings):
    """Pricing of one round; subclasses vary one size."""

    def prepare(self, n_samples, n_features, n_classes, dtype="float64"):
        X, y = blobs(n_samples, n_features, n_classes, dtype)
        self.pricer = bound("stump", X, n_classes)
        self.weights = weights(y, n_classes)

    def price(self):
        self.pricer.price(self.weights)


class Samples(Pricing):
    """Number of examples; at the largest, weights exceed the cache and are first summed in bins."""

    params = [1_000, 10_000, 100_000, 400_000]
    param_names = ["n_samples"]

    def setup(self, n_samples):
        self.prepare(n_samples, 16, 10)

    def time_price(self, n_samples):
        self.price()

    time_price.pretty_name = "stumps: search of one round, by number of examples"


class Features(Pricing):
    params = [16, 128, 1_024]
    param_names = ["n_features"]

    def setup(self, n_features):
        self.prepare(2_000, n_features, 10)

    def time_price(self, n_features):
        self.price()

    time_price.pretty_name = "stumps: search of one round, by number of features"


class Classes(Pricing):
    params = [2, 10, 40, 100]
    param_names = ["n_classes"]

    def setup(self, n_classes):
        self.prepare(4_000, 32, n_classes)

    def time_price(self, n_classes):
        self.price()

    time_price.pretty_name = "stumps: search of one round, by number of classes"


class Dtypes(Pricing):
    """In uint8, half of the entries form one block of equal values; floats have no ties."""

    params = ["uint8", "float32", "float64"]
    param_names = ["dtype"]

    def setup(self, dtype):
        self.prepare(5_000, 200, 10, dtype)

    def time_price(self, dtype):
        self.price()

    time_price.pretty_name = "stumps: search of one round, by dtype"


class Bind(Settings):
    """Sorting the features, once per fit."""

    params = ["uint8", "float64"]
    param_names = ["dtype"]

    def setup(self, dtype):
        self.X, _ = blobs(5_000, 200, 10, dtype)

    def time_bind(self, dtype):
        bound("stump", self.X, 10)

    time_bind.pretty_name = "stumps: features sorted, once per fit"
