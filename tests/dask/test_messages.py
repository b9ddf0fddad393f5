"""Messages to workers; no cluster is needed."""

from distributed.protocol.pickle import loads

from cwboost import ByPartition
from cwboost.dask.messages import pickled_calls

PLACES = {"a": [0, 7], "b": [4], "c": []}


def test_workers_without_parts_of_their_own_get_one_message():
    messages = pickled_calls(("run", [1, 2]), PLACES)
    assert loads(messages["a"]) == ("run", [1, 2])
    assert messages["b"] is messages["c"] is messages["a"]


def test_a_worker_gets_the_parts_of_its_partitions():
    question = "own", ByPartition({0: "zero", 4: "four", 7: "seven", 9: "nine"})
    messages = pickled_calls(question, PLACES)
    _, found = loads(messages["a"])
    assert (found[0], found[7]) == ("zero", "seven")
    assert b"four" not in messages["a"] and b"nine" not in messages["a"]
    assert loads(messages["b"])[1][4] == "four"
    assert b"zero" not in messages["c"]
    # What was sent is whole here, for a worker that replaces others.
    assert b"nine" in pickled_calls(question, {"d": [9]})["d"]
