"""What the tests of the package for Python share."""
import pytest

import troupe


@pytest.fixture
def graph():
    """A graph in use."""
    with troupe.Graph() as graph:
        yield graph


@pytest.fixture
def session(graph):
    with troupe.Session(graph) as session:
        yield session
