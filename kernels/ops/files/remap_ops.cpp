// Loading a matrix whose rows or columns have other numbers now, such as the embedding of a vocabulary that has grown. The actor of
// the saver service carries these ops out; the files are those of the process in which the op runs.
//   GenerateVocabRemapping  for each of the lines new_vocab_offset, ... of a new vocabulary file (num_new_vocab of them) the number
//                           of the same line in the old file, or -1; and how many are found. old_vocab_size limits the lines of
//                           the old file that count; -1: all
//   LoadAndRemapMatrix      a matrix of num_rows x num_cols floats. Its row i is row row_remapping[i] of a matrix in a checkpoint
//                           of format V2, its column j column col_remapping[j], or column j if col_remapping is empty. Elements
//                           whose row or column is negative take the initializing_values, in row-major order, one for each.
//                           max_rows_in_memory is a hint that is not used
#include "graph/build/shape_context.h"
#include "kernels/core/kernel.h"

namespace troupe {
namespace {

Status vocabulary_shape(ShapeContext& context) {
  for (const size_t i : {0, 1}) TROUPE_RETURN_IF_FAILED(context.with_rank(i, 0).status());
  context.set_output(0, PartialShape{context.attr<int64_t>("num_new_vocab")});
  context.set_output(1, PartialShape::scalar());
  return {};
}

Status matrix_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(1, 0).status());  // ckpt_path may be a vector of one path
  for (const size_t i : {2, 3}) TROUPE_RETURN_IF_FAILED(context.with_rank(i, 1).status());
  context.set_output(0, PartialShape{context.attr<int64_t>("num_rows"), context.attr<int64_t>("num_cols")});
  return {};
}

}  // namespace

void add_remap_ops(OpLibrary& library) {
  library.op(OpDefBuilder("GenerateVocabRemapping")
                 .host_input("new_vocab_file: string")
                 .host_input("old_vocab_file: string")
                 .host_output("remapping: int64")
                 .host_output("num_present: int32")
                 .attr("new_vocab_offset: int >= 0")
                 .attr("num_new_vocab: int >= 0")
                 .attr("old_vocab_size: int >= -1 = -1")
                 .served_by("saver")
                 .effect(Effect::Io)
                 .shape(vocabulary_shape)
                 .not_differentiable());
  library.op(OpDefBuilder("LoadAndRemapMatrix")
                 .host_input("ckpt_path: string")
                 .host_input("old_tensor_name: string")
                 .host_input("row_remapping: int64")
                 .host_input("col_remapping: int64")
                 .host_input("initializing_values: float")
                 .output("output_matrix: float")
                 .attr("num_rows: int >= 0")
                 .attr("num_cols: int >= 1")
                 .attr("max_rows_in_memory: int = -1")
                 .served_by("saver")
                 .effect(Effect::Io)
                 .shape(matrix_shape)
                 .not_differentiable());
}

}  // namespace troupe
