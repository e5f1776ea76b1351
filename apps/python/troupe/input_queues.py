"""Input through queues, as TensorFlow's tf.train.string_input_producer, batch and shuffle_batch make it. Each function adds a queue, the
nodes that fill it, and their queue runner: Session.start_queue_runners() starts all of them, after initializer() has been run, which
sets the counters of epochs. The end of the input, or of a queue that is filled no more, is OutOfRangeError; then
Session.stop_queue_runners() raises the failure of a step that fills a queue, if there was one. Batches have the structure of `tensors`: an
output, a list or a dictionary."""
from __future__ import annotations

from typing import Any, Callable, Optional, Sequence, Union

from . import _troupe
from ._troupe import Operation, Output
from .scopes import current_scope
from .types import ShapeLike, TensorLike

#: One element: a tensor, a list of tensors, or a dictionary.
Element = Union[TensorLike, Sequence[TensorLike], dict[str, TensorLike]]


def _listed(tensors: Any) -> list[Any]:
    if isinstance(tensors, dict):
        return [tensors[key] for key in sorted(tensors)]
    return list(tensors) if isinstance(tensors, (list, tuple)) else [tensors]


def _structured(results: list[Output], like: Any) -> Any:
    if isinstance(like, dict):
        return dict(zip(sorted(like), results))
    return results if isinstance(like, (list, tuple)) else results[0]


def _listed_lists(elements: Sequence[Any]) -> list[list[Any]]:
    for element in elements:
        if isinstance(element, dict) != isinstance(elements[0], dict) or isinstance(element, dict) and element.keys() != elements[0].keys():
            raise ValueError("all elements must be dictionaries with the same keys, or none")
    return [_listed(element) for element in elements]


def limit_epochs(tensor: TensorLike, num_epochs: int) -> Output:
    """Returns the tensor in `num_epochs` steps; later steps that need it fail with OutOfRangeError."""
    return _troupe.limit_epochs(current_scope(tensor), tensor, num_epochs)


def input_producer(rows: TensorLike, num_epochs: Optional[int] = None, shuffle: bool = True, seed: Optional[int] = None, capacity: int = 32,
                   shared_name: Optional[str] = None, element_shape: ShapeLike = None, name: Optional[str] = None) -> Output:
    """Returns the handle of a queue of the rows of a tensor, `num_epochs` times or without end, shuffled in each epoch or not.
    `element_shape`: the shape of a row, if the tensor does not say it."""
    options = {"num_epochs": num_epochs, "shuffle": shuffle, "seed": seed, "capacity": capacity, "shared_name": shared_name,
               "element_shape": element_shape, "name": name}
    return _troupe.input_producer(current_scope(rows), rows, options)


def string_input_producer(strings: TensorLike, num_epochs: Optional[int] = None, shuffle: bool = True, seed: Optional[int] = None,
                          capacity: int = 32, shared_name: Optional[str] = None, name: Optional[str] = None) -> Output:
    """Returns the handle of a queue of strings, such as the names of files for troupe.ops.reader_read_v2. Otherwise as input_producer()."""
    options = {"num_epochs": num_epochs, "shuffle": shuffle, "seed": seed, "capacity": capacity, "shared_name": shared_name, "name": name}
    return _troupe.string_input_producer(current_scope(strings), strings, options)


def range_input_producer(limit: TensorLike, num_epochs: Optional[int] = None, shuffle: bool = True, seed: Optional[int] = None,
                         capacity: int = 32, shared_name: Optional[str] = None, name: Optional[str] = None) -> Output:
    """Returns the handle of a queue of the integers from 0 to limit - 1, int32. Otherwise as input_producer()."""
    options = {"num_epochs": num_epochs, "shuffle": shuffle, "seed": seed, "capacity": capacity, "shared_name": shared_name, "name": name}
    return _troupe.range_input_producer(current_scope(limit), limit, options)


def slice_input_producer(tensors: Element, num_epochs: Optional[int] = None, shuffle: bool = True, seed: Optional[int] = None,
                         capacity: int = 32, shared_name: Optional[str] = None, name: Optional[str] = None) -> Any:
    """Returns a row of each tensor, all with the same index; the tensors have equally many. Otherwise as input_producer()."""
    options = {"num_epochs": num_epochs, "shuffle": shuffle, "seed": seed, "capacity": capacity, "shared_name": shared_name, "name": name}
    listed = _listed(tensors)
    return _structured(_troupe.slice_input_producer(current_scope(listed), listed, options), tensors)


def batch(tensors: Element, batch_size: int, num_threads: int = 1, capacity: int = 32, enqueue_many: bool = False,
          shapes: Optional[Sequence[ShapeLike]] = None, dynamic_pad: bool = False, allow_smaller_final_batch: bool = False,
          keep_input: Optional[TensorLike] = None, shared_name: Optional[str] = None, name: Optional[str] = None) -> Any:
    """Returns batches of the tensors, stacked along a new first dimension. `num_threads` steps fill the queue at the same time.
    `enqueue_many`: the tensors have a row for each element. `dynamic_pad`: elements of different sizes are padded with zeros or empty
    strings. `allow_smaller_final_batch`: the last batch has what is left. `keep_input`: whether an element is taken or dropped; with
    enqueue_many possibly one for each row. `shapes`: those of an element, one for each tensor, in the order of the keys of a
    dictionary."""
    options = {"batch_size": batch_size, "num_threads": num_threads, "capacity": capacity, "enqueue_many": enqueue_many, "shapes": shapes,
               "dynamic_pad": dynamic_pad, "allow_smaller_final_batch": allow_smaller_final_batch, "keep_input": keep_input,
               "shared_name": shared_name, "name": name}
    listed = _listed(tensors)
    return _structured(_troupe.batch(current_scope(listed), listed, options), tensors)


def batch_join(tensors_list: Sequence[Element], batch_size: int, capacity: int = 32, enqueue_many: bool = False,
               shapes: Optional[Sequence[ShapeLike]] = None, dynamic_pad: bool = False, allow_smaller_final_batch: bool = False,
               keep_input: Optional[TensorLike] = None, shared_name: Optional[str] = None, name: Optional[str] = None) -> Any:
    """Does what batch() does for several elements, each of which is enqueued by steps of its own."""
    options = {"batch_size": batch_size, "capacity": capacity, "enqueue_many": enqueue_many, "shapes": shapes, "dynamic_pad": dynamic_pad,
               "allow_smaller_final_batch": allow_smaller_final_batch, "keep_input": keep_input, "shared_name": shared_name, "name": name}
    return _joined(_troupe.batch_join, tensors_list, options)


def shuffle_batch(tensors: Element, batch_size: int, capacity: int, min_after_dequeue: int, num_threads: int = 1,
                  seed: Optional[int] = None, enqueue_many: bool = False, shapes: Optional[Sequence[ShapeLike]] = None,
                  allow_smaller_final_batch: bool = False, keep_input: Optional[TensorLike] = None, shared_name: Optional[str] = None,
                  name: Optional[str] = None) -> Any:
    """Does what batch() does, but each element of a batch is a random one of those in the queue, which keeps `min_after_dequeue` of them
    until the input ends."""
    options = {"batch_size": batch_size, "capacity": capacity, "min_after_dequeue": min_after_dequeue, "num_threads": num_threads,
               "seed": seed, "enqueue_many": enqueue_many, "shapes": shapes, "allow_smaller_final_batch": allow_smaller_final_batch,
               "keep_input": keep_input, "shared_name": shared_name, "name": name}
    listed = _listed(tensors)
    return _structured(_troupe.shuffle_batch(current_scope(listed), listed, options), tensors)


def shuffle_batch_join(tensors_list: Sequence[Element], batch_size: int, capacity: int, min_after_dequeue: int, seed: Optional[int] = None,
                       enqueue_many: bool = False, shapes: Optional[Sequence[ShapeLike]] = None, allow_smaller_final_batch: bool = False,
                       keep_input: Optional[TensorLike] = None, shared_name: Optional[str] = None, name: Optional[str] = None) -> Any:
    """Does what shuffle_batch() does for several elements, each of which is enqueued by steps of its own."""
    options = {"batch_size": batch_size, "capacity": capacity, "min_after_dequeue": min_after_dequeue, "seed": seed,
               "enqueue_many": enqueue_many, "shapes": shapes, "allow_smaller_final_batch": allow_smaller_final_batch,
               "keep_input": keep_input, "shared_name": shared_name, "name": name}
    return _joined(_troupe.shuffle_batch_join, tensors_list, options)


def _joined(join: Callable[..., list[Output]], elements: Sequence[Element], options: dict[str, Any]) -> Any:
    lists = _listed_lists(elements)
    return _structured(join(current_scope(lists), lists, options), elements[0])


def bucket(tensors: Element, which_bucket: TensorLike, batch_size: Union[int, Sequence[int]], num_buckets: int, num_threads: int = 1,
           capacity: int = 32, shapes: Optional[Sequence[ShapeLike]] = None, dynamic_pad: bool = False,
           allow_smaller_final_batch: bool = False, keep_input: Optional[TensorLike] = None, shared_name: Optional[str] = None,
           name: Optional[str] = None) -> tuple[Output, Any]:
    """Puts the element into the bucket of this number, and returns (bucket, batch): the next batch of any bucket. `batch_size`: one, or
    one for each bucket. Otherwise as batch()."""
    options = {"num_buckets": num_buckets, **_bucket_options(batch_size, num_threads, capacity, shapes, dynamic_pad,
                                                             allow_smaller_final_batch, keep_input, shared_name, name)}
    listed = _listed(tensors)
    which, results = _troupe.bucket(current_scope(which_bucket, listed), listed, which_bucket, options)
    return which, _structured(results, tensors)


def bucket_by_sequence_length(input_length: TensorLike, tensors: Element, batch_size: Union[int, Sequence[int]],
                              bucket_boundaries: Sequence[int], num_threads: int = 1, capacity: int = 32,
                              shapes: Optional[Sequence[ShapeLike]] = None, dynamic_pad: bool = False,
                              allow_smaller_final_batch: bool = False, keep_input: Optional[TensorLike] = None,
                              shared_name: Optional[str] = None, name: Optional[str] = None) -> tuple[Output, Any]:
    """Does what bucket() does for sequences: bucket i has those whose length is at least boundary i - 1 and less than boundary i.
    Returns (lengths, batch)."""
    options = _bucket_options(batch_size, num_threads, capacity, shapes, dynamic_pad, allow_smaller_final_batch, keep_input, shared_name,
                              name)
    listed = _listed(tensors)
    scope = current_scope(input_length, listed)
    lengths, results = _troupe.bucket_by_sequence_length(scope, input_length, listed, list(bucket_boundaries), options)
    return lengths, _structured(results, tensors)


def _bucket_options(batch_size: Union[int, Sequence[int]], num_threads: int, capacity: int, shapes: Optional[Sequence[ShapeLike]],
                    dynamic_pad: bool, allow_smaller_final_batch: bool, keep_input: Optional[TensorLike], shared_name: Optional[str],
                    name: Optional[str]) -> dict[str, Any]:
    return {"batch_sizes": list(batch_size) if isinstance(batch_size, (list, tuple)) else [batch_size], "num_threads": num_threads,
            "capacity": capacity, "shapes": shapes, "dynamic_pad": dynamic_pad, "allow_smaller_final_batch": allow_smaller_final_batch,
            "keep_input": keep_input, "shared_name": shared_name, "name": name}


def add_queue_runner(enqueue: Union[Operation, Sequence[Operation]], close: Optional[Operation] = None,
                     cancel: Optional[Operation] = None) -> None:
    """Has Session.start_queue_runners() run each of these operations again and again, until it fails with OutOfRangeError. When all have
    ended, `close` is run; when they are stopped before, `cancel`."""
    operations = [enqueue] if isinstance(enqueue, Operation) else list(enqueue)
    _troupe.add_queue_runner(current_scope(operations), operations, close, cancel)
