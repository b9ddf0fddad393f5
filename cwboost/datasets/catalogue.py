"""The data sets that cwboost can load: formats, known figures, where to get them.

The known figures describe the sources themselves (counts of examples per class, mean and standard
deviation of the training values), so that loading detects a truncated, merged or duplicated copy.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cwboost.datasets.formats import cifar, idx, images, tables

Reader = Callable[[Path], dict | None]


@dataclass(frozen=True)
class DataSet:
    """Description of a data set: its files, its known figures and its origin."""

    name: str
    title: str
    get_it: str  # where the official files are
    official: tuple[str, Reader] | None = None  # what these files are called, and their reader
    n_features: int | None = None  # None if it depends on the format that is read
    counts: tuple[int, ...] = ()  # examples per class, in the training part if there is one
    test_counts: tuple[int, ...] = ()
    moments: tuple[float, float] | None = None  # mean and standard deviation of training values
    image_shape: tuple[int, ...] | None = None  # of an example, if all are images of one size
    # Stable public addresses of the files, each with its checksum if one is published, as
    # "sha256:..." or "md5:...".
    remote: Mapping[str, str | None] = field(default_factory=dict)


UCI = "the UCI Machine Learning Repository, https://archive.ics.uci.edu/dataset/"
# Several libraries document this mirror of MNIST, with these MD5 checksums.
MNIST_MIRROR = "https://ossci-datasets.s3.amazonaws.com/mnist/"
CIFAR = "https://www.cs.toronto.edu/~kriz/"
GTSRB_FILES = "https://sid.erda.dk/public/archives/daaeac0d7ce1152aea9b61d9f1e19370/"

_SETS = (
    DataSet(
        "VOWEL",
        "Deterding's vowels, split by speaker",
        UCI + "152",
    ),
    DataSet(
        "PENDIGITS",
        "handwritten digits on a tablet",
        UCI + "81",
    ),
    DataSet(
        "ISOLET",
        "spoken letters",
        UCI + "54",
        ("isolet1+2+3+4.data, isolet5.data", tables.read_isolet),
        n_features=617,
        counts=tuple(238 if letter == 5 else 240 for letter in range(26)),
        test_counts=tuple(59 if letter == 12 else 60 for letter in range(26)),
        moments=(0.065806, 0.627698),
        remote={"https://archive.ics.uci.edu/static/public/54/isolet.zip": None},
    ),
    DataSet(
        "USPS",
        "zip code digits, 16 x 16",
        "the page of The Elements of Statistical Learning, "
        "https://hastie.su.domains/ElemStatLearn/datasets/",
        ("zip.train[.gz], zip.test[.gz]", tables.read_usps),
        n_features=256,
        counts=(1194, 1005, 731, 658, 652, 556, 664, 645, 542, 644),
        test_counts=(359, 264, 198, 166, 200, 160, 170, 147, 166, 177),
        moments=(0.254481, 0.384621),
        image_shape=(16, 16),
        remote={
            f"https://hastie.su.domains/ElemStatLearn/datasets/zip.{part}.gz": None
            for part in ("train", "test")
        },
    ),
    DataSet(
        "MNIST",
        "handwritten digits, 28 x 28",
        "http://yann.lecun.com/exdb/mnist/ or one of its mirrors",
        ("train-images-idx3-ubyte[.gz] and the other three IDX files", idx.read_mnist),
        n_features=784,
        counts=(5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949),
        test_counts=(980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009),
        moments=(33.318421, 78.567490),
        image_shape=(28, 28),
        remote={
            MNIST_MIRROR + "train-images-idx3-ubyte.gz": "md5:f68b3c2dcbeaaa9fbdd348bbdeb94873",
            MNIST_MIRROR + "train-labels-idx1-ubyte.gz": "md5:d53e105ee54ea40749a09fcbcd1e9432",
            MNIST_MIRROR + "t10k-images-idx3-ubyte.gz": "md5:9fb629c4189551a2d022fa330f9573f3",
            MNIST_MIRROR + "t10k-labels-idx1-ubyte.gz": "md5:ec29112dd5afa0611ce80d1b7f02629c",
        },
    ),
    DataSet(
        "CIFAR10",
        "CIFAR-10 colour images, 32 x 32",
        CIFAR + "cifar.html (the binary version)",
        ("cifar-10-batches-bin/data_batch_1.bin ... test_batch.bin", cifar.read_cifar10),
        n_features=3072,
        test_counts=(1000,) * 10,
        image_shape=(3, 32, 32),
        remote={CIFAR + "cifar-10-binary.tar.gz": "md5:c32a1d4ab5d03f1284b67883e8d87530"},
    ),
    DataSet(
        "GTSRB",
        "German traffic signs, 43 classes",
        "https://benchmark.ini.rub.de/gtsrb_dataset.html",
        (
            "Final_Training/Images/00000 ..., Final_Test/Images, GT-final_test.csv",
            images.read_gtsrb,
        ),
        n_features=1024,
        counts=(
            (210, 2220, 2250, 1410, 1980, 1860, 420, 1440, 1410, 1470, 2010, 1320, 2100, 2160, 780)
            + (630, 420, 1110, 1200, 210, 360, 330, 390, 510, 270, 1500, 600, 240, 540, 270, 450)
            + (780, 240, 689, 420, 1200, 390, 210, 2070, 300, 360, 240, 240)
        ),
        test_counts=(
            (60, 720, 750, 450, 660, 630, 150, 450, 450, 480, 660, 420, 690, 720, 270, 210, 150)
            + (360, 390, 60, 90, 90, 120, 150, 90, 480, 180, 60, 150, 90, 150, 270, 60, 210, 120)
            + (390, 120, 60, 690, 90, 90, 60, 90)
        ),
        image_shape=(32, 32),
        remote={
            GTSRB_FILES + "GTSRB_Final_Training_Images.zip": None,
            GTSRB_FILES + "GTSRB_Final_Test_Images.zip": "md5:c7e4e6327067d32654124b0fe9e82185",
            GTSRB_FILES + "GTSRB_Final_Test_GT.zip": "md5:fe31e9c9270bbcd7b84b7f21a9d9d9e5",
        },
    ),
    DataSet(
        "SCENE15",
        "fifteen scene categories",
        "S. Lazebnik's page (Beyond Bags of Features), the archive scene_categories.zip",
        (
            "the fifteen folders SCENE15/CALsuburb, SCENE15/MITcoast, ... of images",
            images.folders("SCENE15", 256),
        ),
        counts=(241, 360, 328, 260, 308, 374, 410, 292, 356, 215, 216, 311, 210, 289, 315),
        image_shape=(256, 256),
    ),
    DataSet(
        "SUN",
        "25 categories of SUN397, 200 images each",
        "https://vision.princeton.edu/projects/2010/SUN/ (SUN397)",
        ("25 folders SUN/abbey, ... of 200 images each", images.folders("SUN", 128)),
        counts=(200,) * 25,
        image_shape=(128, 128),
    ),
    DataSet(
        "LABELME",
        "LabelMe-12-50k, images of one class",
        "https://www.ais.uni-bonn.de/download/datasets.html (LabelMe-12-50k)",
        (
            "12 folders LABELME/person, ... of the images with one label",
            images.folders("LABELME", 128),
        ),
        image_shape=(128, 128),
    ),
    DataSet(
        "PASCAL07",
        "PASCAL VOC 2007, five kinds of features, images of one class",
        "M. Guillaumin, J. Verbeek and C. Schmid, CVPR 2010 (INRIA LEAR): X are the DenseSift, "
        "DenseHue, HarrisSift, HarrisHue and Gist of the images with one label",
    ),
)

CATALOGUE = {dataset.name: dataset for dataset in _SETS}


def find(name: str) -> DataSet:
    """Return the data set called `name`; case is ignored."""
    dataset = CATALOGUE.get(str(name).upper())
    if dataset is None:
        raise ValueError(f"name must be one of {', '.join(sorted(CATALOGUE))}, got {name!r}")
    return dataset
