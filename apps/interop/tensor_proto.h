// Between a Tensor and TensorFlow's TensorProto. The reader checks every size before it allocates. Functions without state.
#pragma once

#include "apps/interop/graph_def.pb.h"
#include "graph/ops/partial_shape.h"
#include "messages/values/tensor.h"

namespace troupe::interop {

/// InvalidArgument with the number and name of a type that Troupe does not have.
Result<DType> read_dtype(DataType dtype);
inline DataType write_dtype(DType dtype) { return static_cast<DataType>(dtype); }

Result<PartialShape> read_shape(const TensorShapeProto& proto);
void write_shape(const PartialShape& shape, TensorShapeProto& proto);

/// The bytes of its elements are taken from `budget`; ResourceExhausted when there are not as many left. InvalidArgument when
/// shape, dtype and elements disagree.
Result<Tensor> read_tensor(const TensorProto& proto, uint64_t& budget);
/// Bit by bit; a host tensor.
void write_tensor(const Tensor& tensor, TensorProto& proto);

}  // namespace troupe::interop
