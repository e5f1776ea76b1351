"""Input through queues: what producers and batches yield, how they end, and what they refuse."""
import collections
import threading

import numpy as np
import pytest

import troupe
from troupe import input_queues


def everything(graph, fetches):
    """Returns what all steps yield until the input ends."""
    initialize = troupe.initializer()
    results = []
    with troupe.Session(graph) as session:
        session.run(initialize)
        session.start_queue_runners()
        with pytest.raises(troupe.OutOfRangeError):
            while True:
                results.append(session.run(fetches))
        session.stop_queue_runners()
    return results


def take(queue, dtype):
    return troupe.ops.queue_dequeue_v2(queue, component_types=[dtype])[0]


def test_producers_yield_their_rows_epoch_by_epoch(graph):
    words = take(input_queues.string_input_producer(["a", "b"], num_epochs=2, shuffle=False), "string")
    assert everything(graph, words) == [b"a", b"b", b"a", b"b"]
    rows = take(input_queues.input_producer(np.arange(6).reshape(3, 2), num_epochs=1, shuffle=False, name="rows"), "int64")
    assert [row.tolist() for row in everything(graph, rows)] == [[0, 1], [2, 3], [4, 5]]
    numbers = take(input_queues.range_input_producer(10, num_epochs=3, seed=1), "int32")
    found = everything(graph, numbers)
    assert all(sorted(found[at:at + 10]) == list(range(10)) for at in (0, 10, 20)) and found[:10] != found[10:20]
    assert everything(graph, input_queues.limit_epochs(7, 2)) == [7, 7]


def test_batches_have_the_structure_of_their_elements(graph):
    x, y = input_queues.slice_input_producer([np.arange(5, dtype=np.float32), np.arange(10).reshape(5, 2)], num_epochs=1, shuffle=False)
    lists = input_queues.batch([x, y], 2)
    named = input_queues.batch({"y": lists[1], "x": lists[0]}, 2, enqueue_many=True)
    alone = input_queues.batch(named["x"], 4, capacity=2, enqueue_many=True)
    assert set(named) == {"x", "y"} and named["y"].shape == (2, 2) and alone.shape == (4,)
    assert [batch.tolist() for batch in everything(graph, alone)] == [[0, 1, 2, 3]]


def test_the_last_batch_may_be_smaller(graph):
    x = input_queues.slice_input_producer(np.arange(5), num_epochs=1, shuffle=False)
    batches = everything(graph, input_queues.batch(x, 2, allow_smaller_final_batch=True, keep_input=troupe.ops.not_equal(x, 1)))
    assert [batch.tolist() for batch in batches] == [[0, 2], [3, 4]]


def test_shuffled_and_joined_batches_have_every_element(graph):
    a = input_queues.slice_input_producer({"x": np.arange(20)}, num_epochs=1)
    b = input_queues.slice_input_producer({"x": np.arange(20)}, num_epochs=2)
    mixed = input_queues.shuffle_batch_join([a, b], 5, capacity=20, min_after_dequeue=10, seed=2)
    more = input_queues.shuffle_batch(mixed, 3, 12, 6, num_threads=2, enqueue_many=True)
    last = input_queues.batch_join([more], 6, enqueue_many=True)
    found = np.concatenate([batch["x"] for batch in everything(graph, last)])
    assert collections.Counter(found.tolist()) == dict.fromkeys(range(20), 3)


def test_sequences_of_similar_length_share_a_batch(graph):
    length = input_queues.slice_input_producer(np.array([1, 4, 2, 5, 9], np.int32), num_epochs=1, shuffle=False)
    sequence = troupe.ops.fill(troupe.ops.reshape(length, [1]), length)
    lengths, batch = input_queues.bucket_by_sequence_length(length, sequence, 2, [3, 8], shapes=[[None]], dynamic_pad=True,
                                                            allow_smaller_final_batch=True)
    found = [(lengths.tolist(), batch.shape) for lengths, batch in everything(graph, [lengths, batch])]
    assert sorted(found) == [([1, 2], (2, 2)), ([4, 5], (2, 5)), ([9], (1, 9))]


def test_each_bucket_has_its_batch_size(graph):
    x = input_queues.slice_input_producer(np.array([1, 4, 2, 5, 9]), num_epochs=1, shuffle=False)
    which, batch = input_queues.bucket({"n": x}, troupe.ops.cast(x > 3, "int32"), [1, 3], 2)
    assert sorted((which, batch["n"].tolist()) for which, batch in everything(graph, (which, batch))) == [(0, [1]), (0, [2]), (1, [4, 5, 9])]


def test_the_failure_of_a_step_that_fills_a_queue_is_raised(graph):
    x = input_queues.slice_input_producer(np.array([1, 0]), num_epochs=1, shuffle=False)
    batch = input_queues.batch(troupe.ops.floor_div(np.int64(1), x, name="quotient"), 1)
    initialize = troupe.initializer()
    with troupe.Session(graph) as session:
        session.run(initialize)
        session.start_queue_runners()
        with pytest.raises(troupe.OutOfRangeError):
            while True:
                session.run(batch)
        with pytest.raises(troupe.InvalidArgumentError) as caught:
            session.stop_queue_runners()
        assert caught.value.node == "quotient"
        session.stop_queue_runners()


def test_a_queue_runner_of_the_program_and_threads_that_take(graph):
    queue = troupe.ops.fifo_queue_v2(component_types=["int32"], capacity=4)
    count = input_queues.limit_epochs(1, 100)
    enqueue = troupe.ops.queue_enqueue_v2(queue, [count])
    input_queues.add_queue_runner([enqueue, enqueue], close=troupe.ops.queue_close_v2(queue),
                                  cancel=troupe.ops.queue_close_v2(queue, cancel_pending_enqueues=True))
    value, initialize, taken = take(queue, "int32"), troupe.initializer(), []
    with troupe.Session(graph) as session:
        session.run(initialize)
        session.start_queue_runners()
        session.start_queue_runners()  # nothing new

        def work():
            try:
                while True:
                    taken.append(session.run(value))
            except troupe.OutOfRangeError:
                pass

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        session.stop_queue_runners(timeout=5)
    assert taken == [1] * 100


def test_what_is_refused(graph):
    x = troupe.constant(1)
    with pytest.raises(troupe.InvalidArgumentError, match="num_epochs is 0"):
        input_queues.string_input_producer(["a"], num_epochs=0)
    with pytest.raises(troupe.InvalidArgumentError, match="min_after_dequeue is 9"):
        input_queues.shuffle_batch(x, 2, 9, 9)
    with pytest.raises(TypeError, match="capacity cannot be 'many'"):
        input_queues.batch(x, 2, capacity="many")
    with pytest.raises(ValueError, match="the same keys"):
        input_queues.batch_join([{"x": x}, {"y": x}], 2)
    with troupe.Session(graph) as session:
        with pytest.raises(troupe.InvalidArgumentError, match="timeout"):
            session.stop_queue_runners(timeout=0)
    with pytest.raises(troupe.FailedPreconditionError, match="closed"):
        session.start_queue_runners()
