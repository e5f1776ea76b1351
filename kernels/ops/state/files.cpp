// Files, under the roots that the process was started with. The files role of the device carries out all of these ops on the file
// thread.
//   ReadFile(filename)             the content of a file of at most 2 GiB; NotFound if there is none
//   WriteFile(filename, contents)  replaces a file, or makes it with the folders above it; it appears when it is complete
//   MatchingFiles(pattern)         the paths that match a pattern, or any of several (messages/env/glob.h), in ascending order; a
//                                  path that matches several patterns is there several times
#include "graph/build/shape_context.h"
#include "kernels/core/kernel.h"

namespace troupe {
namespace {

Status scalars_shape(ShapeContext& context) {
  for (size_t i = 0; i < context.inputs(); ++i) TROUPE_RETURN_IF_FAILED(context.with_rank(i, 0).status());
  return context.node().output_types.empty() ? no_output_shape(context) : scalar_shape(context);
}

Status matching_shape(ShapeContext& context) {
  const PartialShape& pattern = context.input(0);
  if (pattern.known_rank() && pattern.rank() > 1)
    return invalid_argument("pattern has shape " + pattern.text() + ", but must be a scalar or a vector");
  context.set_output(0, PartialShape{unknown_dim});
  return {};
}

OpDefBuilder files_op(std::string name, ShapeFunction shape) {
  return OpDefBuilder(std::move(name))
      .served_by("files")
      .effect(Effect::Io)
      .shape(shape)
      .not_differentiable();
}

}  // namespace

void add_files_ops(OpLibrary& library) {
  library.op(files_op("ReadFile", scalars_shape)
                 .input("filename: string")
                 .output("contents: string")
                 .constructor("read_file(filename)"));
  library.op(files_op("WriteFile", scalars_shape)
                 .input("filename: string")
                 .input("contents: string")
                 .constructor("write_file(filename, contents)"));
  library.op(files_op("MatchingFiles", matching_shape)
                 .input("pattern: string")
                 .output("filenames: string")
                 .constructor("matching_files(pattern)"));
}

}  // namespace troupe
