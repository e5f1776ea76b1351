"""What the functions of Troupe accept."""
from __future__ import annotations

from typing import Any, Mapping, Optional, Sequence, Union

import numpy.typing

from ._troupe import DType, Operation, Output, Tensor

#: A tensor of the graph, a value of which a constant is made, or a list of them, which is stacked.
TensorLike = Union[Output, Operation, Tensor, numpy.typing.ArrayLike, Sequence["TensorLike"]]
#: A tensor, or several: lists, tuples, named tuples and dictionaries of tensors, or of such structures.
Tensors = Union[TensorLike, Sequence["Tensors"], Mapping[Any, "Tensors"]]
#: float32, "float32", float, numpy.float32 and so on.
DTypeLike = Union[DType, numpy.typing.DTypeLike]
#: None: of unknown rank; a size that is not known is None or -1.
ShapeLike = Union[None, int, Sequence[Optional[int]]]
#: What a step computes: an output, an operation or the name of one, or lists, tuples and dictionaries of them.
Fetches = Any
