// Conversion between Tensor and TensorFlow's TensorProto. All sizes are checked before memory is allocated. Functions without
// state; any thread.
#pragma once

#include "apps/interop/graph_def.pb.h"
#include "graph/ops/partial_shape.h"
#include "messages/values/tensor.h"

namespace troupe::interop {

/// Fails with InvalidArgument, with the number and name of the type, if Troupe does not have it.
Result<DType> read_dtype(DataType dtype);
inline DataType write_dtype(DType dtype) { return static_cast<DataType>(dtype); }

Result<PartialShape> read_shape(const TensorShapeProto& proto);
void write_shape(const PartialShape& shape, TensorShapeProto& proto);

/// Returns the tensor. The bytes of its elements are subtracted from `budget`; fails with ResourceExhausted if too few are left.
/// Fails with InvalidArgument if shape, dtype and elements contradict each other.
Result<Tensor> read_tensor(const TensorProto& proto, uint64_t& budget);
/// Writes a tensor in host memory, with the same bits.
void write_tensor(const Tensor& tensor, TensorProto& proto);

}  // namespace troupe::interop
