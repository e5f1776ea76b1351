// Checkpoint files of TensorFlow. The actor of the saver service carries these ops out; the files are those of the process in
// which the op runs. A path may begin with "file://". A slice is "10 20 0,5:-" (the first five rows of a variable of shape
// [10,20]), or empty: the whole variable.
//   SaveV2              writes the tensors under their names to PREFIX.index and PREFIX.data-00000-of-00001 (format V2). A tensor
//                       with a slice is that part of a variable; a later save of other parts, merged with this one, completes it
//   RestoreV2           reads variables or slices of them from such files, or from a file of format V1 if there is no index. The
//                       slices need not be those that were saved
//   MergeV2Checkpoints  makes one checkpoint of those with the given prefixes by renaming their data files. delete_old_dirs removes
//                       their folders, if these are then empty; allow_missing_files leaves prefixes without files out
//   Save, SaveSlices    write the tensors to one file (format V1)
//   Restore, RestoreSlice   read one variable, or a slice of it, from the files of format V1 that match a pattern. preferred_shard
//                       is a hint that is not needed
//   DisableCopyOnRead   does nothing: variables are not copied when they are read
// Restoring fails with NotFound if the checkpoint or a name in it does not exist, and with InvalidArgument if a type differs.
#include "graph/build/shape_context.h"
#include "kernels/core/kernel.h"
#include "messages/tensor_files/tensor_slice.h"

namespace troupe {
namespace {

OpDefBuilder saver_op(const std::string& name, ShapeFunction shape) {
  OpDefBuilder op(name);
  return op.served_by("saver").effect(Effect::Io).shape(shape).not_differentiable();
}

/// Checks an input of strings, one for each of `count` tensors.
Status check_vector(ShapeContext& context, size_t i, size_t count) {
  TROUPE_ASSIGN(const PartialShape shape, context.with_rank(i, 1));
  if (!shape.known_rank() || shape[0] == unknown_dim || shape[0] == static_cast<int64_t>(count)) return {};
  return invalid_argument(context.node().op->inputs[i].name + " of shape " + shape.text() + " names " +
                          std::to_string(shape[0]) + " tensors, but there are " + std::to_string(count));
}

/// Save, SaveSlices and SaveV2; the tensors follow the names, or the slices.
template <size_t FirstTensor>
Status save_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(0, 0).status());
  for (size_t i = 1; i < FirstTensor; ++i)
    TROUPE_RETURN_IF_FAILED(check_vector(context, i, context.inputs() - FirstTensor));
  return {};
}

/// Sets the shapes of outputs that are slices, as far as the slices are constant.
Status set_slice_shapes(ShapeContext& context, size_t slices_input) {
  const Tensor* const slices = context.constant(slices_input);
  const auto& outputs = context.node().output_types;
  if (!slices || slices->elements() != static_cast<int64_t>(outputs.size())) return {};
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string& text = slices->as<std::string>()[i];
    if (text.empty()) continue;
    TROUPE_ASSIGN(const SliceSpec spec, SliceSpec::parse(text, outputs[i].dtype));
    context.set_output(i, PartialShape(spec.slice_shape));
  }
  return {};
}

Status restore_v2_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(0, 0).status());
  for (const size_t i : {1, 2})
    TROUPE_RETURN_IF_FAILED(check_vector(context, i, context.node().output_types.size()));
  return set_slice_shapes(context, 2);
}

Status restore_shape(ShapeContext& context) {
  for (size_t i = 0; i < context.inputs(); ++i) TROUPE_RETURN_IF_FAILED(context.with_rank(i, 0).status());
  return context.inputs() == 3 ? set_slice_shapes(context, 2) : Status();
}

Status merge_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(0, 1).status());
  return context.with_rank(1, 0).status();
}

void add_v1_ops(OpLibrary& library) {
  library.op(saver_op("Save", save_shape<2>)
                 .host_input("filename: string")
                 .host_input("tensor_names: string")
                 .input("data: T")
                 .attr("T: list(type) >= 1"));
  library.op(saver_op("SaveSlices", save_shape<3>)
                 .host_input("filename: string")
                 .host_input("tensor_names: string")
                 .host_input("shapes_and_slices: string")
                 .input("data: T")
                 .attr("T: list(type) >= 1"));
  library.op(saver_op("Restore", restore_shape)
                 .host_input("file_pattern: string")
                 .host_input("tensor_name: string")
                 .output("tensor: dt")
                 .attr("dt: type")
                 .attr("preferred_shard: int = -1"));
  library.op(saver_op("RestoreSlice", restore_shape)
                 .host_input("file_pattern: string")
                 .host_input("tensor_name: string")
                 .host_input("shape_and_slice: string")
                 .output("tensor: dt")
                 .attr("dt: type")
                 .attr("preferred_shard: int = -1"));
}

}  // namespace

void add_saver_ops(OpLibrary& library) {
  add_v1_ops(library);
  library.op(saver_op("SaveV2", save_shape<3>)
                 .host_input("prefix: string")
                 .host_input("tensor_names: string")
                 .host_input("shape_and_slices: string")
                 .input("tensors: dtypes")
                 .attr("dtypes: list(type) >= 1"));
  library.op(saver_op("RestoreV2", restore_v2_shape)
                 .host_input("prefix: string")
                 .host_input("tensor_names: string")
                 .host_input("shape_and_slices: string")
                 .output("tensors: dtypes")
                 .attr("dtypes: list(type) >= 1"));
  library.op(saver_op("MergeV2Checkpoints", merge_shape)
                 .host_input("checkpoint_prefixes: string")
                 .host_input("destination_prefix: string")
                 .attr("delete_old_dirs: bool = true")
                 .attr("allow_missing_files: bool = false"));
  library.op(saver_op("DisableCopyOnRead", no_output_shape)
                 .input("resource: resource")
                 .allows_uninitialized_input());
}

}  // namespace troupe
