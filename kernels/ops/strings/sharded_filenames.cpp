// The names of the shards of a file; all inputs are scalars. Numbers have at least five
// characters.
//   ShardedFilename(basename, shard, num_shards)   "basename-00003-of-00010"
//   ShardedFilespec(basename, num_shards)          "basename-?????-of-00010", a pattern of all of them (MatchingFiles)
#include <cstdio>

#include "graph/build/shape_context.h"
#include "kernels/core/kernel.h"

namespace troupe {
namespace {

Status scalars_shape(ShapeContext& context) {
  for (size_t i = 0; i < context.inputs(); ++i) TROUPE_RETURN_IF_FAILED(context.with_rank(i, 0).status());
  return scalar_shape(context);
}

std::string digits(int32_t number) {
  char text[16];
  std::snprintf(text, sizeof text, "%05d", number);
  return text;
}

Status set_name(KernelContext& context, const std::string& shard) {
  const int32_t shards = context.input(context.inputs() - 1).item<int32_t>();
  TROUPE_ASSIGN(Tensor* const output, context.output(0, Shape{}));
  output->write<std::string>()[0] =
      context.input(0).item<std::string>() + '-' + shard + "-of-" + digits(shards);
  return {};
}

Status check_scalars(const KernelContext& context) {
  for (size_t i = 0; i < context.inputs(); ++i)
    if (const Shape& shape = context.input(i).shape(); !shape.is_scalar())
      return invalid_argument("input " + std::to_string(i) + " has shape " + shape.text() +
                              ", but must be a scalar");
  return {};
}

Status sharded_filename(KernelContext& context) {
  TROUPE_RETURN_IF_FAILED(check_scalars(context));
  return set_name(context, digits(context.input(1).item<int32_t>()));
}

Status sharded_filespec(KernelContext& context) {
  TROUPE_RETURN_IF_FAILED(check_scalars(context));
  return set_name(context, "?????");
}

}  // namespace

void add_sharded_filenames(OpLibrary& library) {
  library.op(OpDefBuilder("ShardedFilename")
                 .host_input("basename: string")
                 .host_input("shard: int32")
                 .host_input("num_shards: int32")
                 .host_output("filename: string")
                 .shape(scalars_shape)
                 .not_differentiable());
  library.op(OpDefBuilder("ShardedFilespec")
                 .host_input("basename: string")
                 .host_input("num_shards: int32")
                 .host_output("filename: string")
                 .shape(scalars_shape)
                 .not_differentiable());
  library.kernel(host_kernel("ShardedFilename", sharded_filename).inexpensive());
  library.kernel(host_kernel("ShardedFilespec", sharded_filespec).inexpensive());
}

}  // namespace troupe
