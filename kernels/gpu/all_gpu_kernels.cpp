#include "kernels/gpu/all_gpu_kernels.h"

namespace troupe {

void add_activations_on_gpu(OpLibrary& library);
void add_add_n_on_gpu(OpLibrary& library);
void add_arg_reductions_on_gpu(OpLibrary& library);
void add_cast_on_gpu(OpLibrary& library);
void add_clip_on_gpu(OpLibrary& library);
void add_comparisons_on_gpu(OpLibrary& library);
void add_constant_on_gpu(OpLibrary& library);
void add_copies_on_gpu(OpLibrary& library);
void add_cumulative_on_gpu(OpLibrary& library);
void add_elementwise_binary_on_gpu(OpLibrary& library);
void add_elementwise_unary_on_gpu(OpLibrary& library);
void add_euclidean_norm_on_gpu(OpLibrary& library);
void add_fused_elementwise_on_gpu(OpLibrary& library);
void add_gather_nd_on_gpu(OpLibrary& library);
void add_gather_on_gpu(OpLibrary& library);
void add_l2_loss_on_gpu(OpLibrary& library);
void add_leaky_relu_on_gpu(OpLibrary& library);
void add_like_on_gpu(OpLibrary& library);
void add_logical_on_gpu(OpLibrary& library);
void add_matrix_band_part_on_gpu(OpLibrary& library);
void add_one_hot_on_gpu(OpLibrary& library);
void add_pad_on_gpu(OpLibrary& library);
void add_random_on_gpu(OpLibrary& library);
void add_reductions_on_gpu(OpLibrary& library);
void add_reverse_sequence_on_gpu(OpLibrary& library);
void add_select_on_gpu(OpLibrary& library);
void add_stateless_random_on_gpu(OpLibrary& library);
void add_tensor_scatter_on_gpu(OpLibrary& library);
void add_trigonometric_on_gpu(OpLibrary& library);
void add_unsorted_segments_on_gpu(OpLibrary& library);
void add_zero_safe_on_gpu(OpLibrary& library);

void add_gpu_kernels(OpLibrary& library) {
  add_activations_on_gpu(library);
  add_add_n_on_gpu(library);
  add_arg_reductions_on_gpu(library);
  add_cast_on_gpu(library);
  add_clip_on_gpu(library);
  add_comparisons_on_gpu(library);
  add_constant_on_gpu(library);
  add_copies_on_gpu(library);
  add_cumulative_on_gpu(library);
  add_elementwise_binary_on_gpu(library);
  add_elementwise_unary_on_gpu(library);
  add_euclidean_norm_on_gpu(library);
  add_fused_elementwise_on_gpu(library);
  add_gather_nd_on_gpu(library);
  add_gather_on_gpu(library);
  add_l2_loss_on_gpu(library);
  add_leaky_relu_on_gpu(library);
  add_like_on_gpu(library);
  add_logical_on_gpu(library);
  add_matrix_band_part_on_gpu(library);
  add_one_hot_on_gpu(library);
  add_pad_on_gpu(library);
  add_random_on_gpu(library);
  add_reductions_on_gpu(library);
  add_reverse_sequence_on_gpu(library);
  add_select_on_gpu(library);
  add_stateless_random_on_gpu(library);
  add_tensor_scatter_on_gpu(library);
  add_trigonometric_on_gpu(library);
  add_unsorted_segments_on_gpu(library);
  add_zero_safe_on_gpu(library);
}

}  // namespace troupe
