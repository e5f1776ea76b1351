// Maps of sparse tensors, which stand for them where only dense tensors may go, in queues for example. The actor of the map carries
// out all of these ops. Nodes with equal (container, shared_name), or else equal node name, share a map.
//   AddSparseToTensorsMap(indices, values, shape)      keeps a sparse tensor; its handle, a number
//   AddManySparseToTensorsMap(indices, values, shape)  keeps each row of a sparse tensor of rank 2 or more, whose indices must be
//                                                      in ascending order; the handles of the rows
//   TakeManySparseFromTensorsMap(handles)              the tensors of these handles, stacked along a new first dimension. Each
//                                                      other dimension is the largest of theirs. The map drops them
#include "graph/build/shape_context.h"
#include "kernels/core/kernel.h"

namespace troupe {
namespace {

Status check_parts(const ShapeContext& context) {
  TROUPE_ASSIGN(const PartialShape indices, context.with_rank(0, 2));
  TROUPE_ASSIGN(const PartialShape values, context.with_rank(1, 1));
  TROUPE_ASSIGN(const PartialShape shape, context.with_rank(2, 1));
  return merge(indices, PartialShape{values[0], shape[0]}).status();
}

Status add_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(check_parts(context));
  return scalar_shape(context);
}

Status add_many_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(check_parts(context));
  const auto dims = context.constant_integers(2);
  context.set_output(0, PartialShape{dims && !dims->empty() ? (*dims)[0] : unknown_dim});
  return {};
}

Status take_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(0, 1).status());
  context.set_output(0, PartialShape{unknown_dim, unknown_dim});
  context.set_output(1, PartialShape{unknown_dim});
  context.set_output(2, PartialShape{unknown_dim});
  return {};
}

OpDefBuilder map_op(std::string name, ShapeFunction shape) {
  return OpDefBuilder(std::move(name))
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .served_by("sparse_map")
      .effect(Effect::State)
      .shape(shape)
      .not_differentiable();
}

}  // namespace

void add_sparse_map_ops(OpLibrary& library) {
  for (const bool many : {false, true})
    library.op(map_op(many ? "AddManySparseToTensorsMap" : "AddSparseToTensorsMap",
                      many ? add_many_shape : add_shape)
                   .input("sparse_indices: int64")
                   .input("sparse_values: T")
                   .host_input("sparse_shape: int64")
                   .output(many ? "sparse_handles: int64" : "sparse_handle: int64")
                   .attr("T: type"));
  library.op(map_op("TakeManySparseFromTensorsMap", take_shape)
                 .input("sparse_handles: int64")
                 .output("sparse_indices: int64")
                 .output("sparse_values: dtype")
                 .output("sparse_shape: int64")
                 .attr("dtype: type"));
}

}  // namespace troupe
