"""Arguments that do not fit: which of them is wrong is said in the words of Python."""
import pytest

import troupe
from troupe import _troupe


@pytest.fixture
def x(graph):
    return troupe.placeholder("float32", [])


class Unshown:
    def __repr__(self):
        raise ValueError("it cannot be shown")


MISTAKES = {
    "a graph that is none": (lambda session, x: troupe.Session("x"),
                             "the argument 'graph' of Session() must be of type Graph, not 'x' of type str"),
    "no graph": (lambda session, x: troupe.Session(), "Session() needs the argument 'graph'"),
    "a negative seed": (lambda session, x: troupe.Session(session.graph, seed=-1), "the argument 'seed' of Session() cannot be -1"),
    "tasks": (lambda session, x: troupe.Session(session.graph, tasks=[1]),
              "the argument 'tasks' of Session() must be a list of texts, not [1] of type list"),
    "by position": (lambda session, x: troupe.Session(session.graph, 1), "Session() takes at most 1 argument by position, not 2"),
    "a timeout": (lambda session, x: session.run(x, timeout="soon"),
                  "the argument 'timeout' of run() must be a number or None, not 'soon' of type str"),
    "feeds": (lambda session, x: session.run(x, [x]),
              "the argument 'feed_dict' of run() must be a dictionary or None, not [{x}] of type list"),
    "a name": (lambda session, x: session.run(x, feeds={}), "run() has no argument 'feeds'; it takes fetches, feed_dict, timeout"),
    "twice": (lambda session, x: session.run(x, fetches=x), "run() got the argument 'fetches' twice"),
    "nothing": (lambda session, x: session.run(), "run() needs the argument 'fetches'"),
    "a folder": (lambda session, x: session.save(3), "the argument 'folder' of save() must be a path, not 3 of type int"),
    "text for bytes": (lambda session, x: troupe.Graph.from_graph_def("text"),
                       "the argument 'bytes' of from_graph_def() must be bytes, not 'text' of type str"),
    "a class without text": (lambda session, x: session.run(x, timeout=Unshown()),
                             "the argument 'timeout' of run() must be a number or None, not a value of type Unshown"),
    "an option of a loss": (lambda session, x: troupe.nn.huber(x, x, "much"),
                            "the argument 'delta' of huber() must be a number, not 'much' of type str"),
    "what is in a graph": (lambda session, x: 5 in session.graph, "the argument 'name' of __contains__() must be text, not 5 of type int"),
    "no pair": (lambda session, x: _troupe.clip_by_value(session.graph.scope(), [1], 1.0),
                "a value of type int is given where a pair is needed"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_the_wrong_argument_is_named(mistake, session, x):
    call, text = MISTAKES[mistake]
    with pytest.raises(TypeError) as caught:
        call(session, x)
    assert str(caught.value) == text.format(x=repr(x))


def test_no_function_speaks_of_cpp():
    """Every function and every class refuses objects that mean nothing without the text of pybind11."""
    refused = 0
    for name, thing in vars(_troupe).items():
        if name.startswith("__") or name == "load_numpy" or not callable(thing):
            continue
        for wrong in ({"no_such_argument": object()}, {}):
            try:
                thing(*[object()] * (0 if wrong else 2), **wrong)
            except TypeError as error:
                refused += 1
                assert "argument types are supported" not in str(error) and "C++" not in str(error), name
            except troupe.Error:
                pass
    assert refused > 50


def test_errors_of_functions_of_the_user_stay(graph):
    def fail():
        return int([])

    with pytest.raises(TypeError, match="int\\(\\) argument must be"):
        troupe.cond(True, fail, lambda: 1)
