#include "kernels/gpu/all_gpu_kernels.h"

namespace troupe {

void add_add_n_on_gpu(OpLibrary& library);
void add_assign_on_gpu(OpLibrary& library);
void add_avg_pool_on_gpu(OpLibrary& library);
void add_batch_norm_on_gpu(OpLibrary& library);
void add_bias_on_gpu(OpLibrary& library);
void add_convolution_on_gpu(OpLibrary& library);
void add_cross_entropy_on_gpu(OpLibrary& library);
void add_fused_products_on_gpu(OpLibrary& library);
void add_in_top_k_on_gpu(OpLibrary& library);
void add_lrn_on_gpu(OpLibrary& library);
void add_lstm_block_gradients_on_gpu(OpLibrary& library);
void add_lstm_blocks_on_gpu(OpLibrary& library);
void add_matmul_on_gpu(OpLibrary& library);
void add_max_pool_on_gpu(OpLibrary& library);
void add_moving_average_on_gpu(OpLibrary& library);
void add_resize_on_gpu(OpLibrary& library);
void add_scatter_on_gpu(OpLibrary& library);
void add_softmax_on_gpu(OpLibrary& library);
void add_top_k_on_gpu(OpLibrary& library);
void add_training_ops_on_gpu(OpLibrary& library);

void add_gpu_kernels(OpLibrary& library) {
  add_add_n_on_gpu(library);
  add_assign_on_gpu(library);
  add_avg_pool_on_gpu(library);
  add_batch_norm_on_gpu(library);
  add_bias_on_gpu(library);
  add_convolution_on_gpu(library);
  add_cross_entropy_on_gpu(library);
  add_fused_products_on_gpu(library);
  add_in_top_k_on_gpu(library);
  add_lrn_on_gpu(library);
  add_lstm_block_gradients_on_gpu(library);
  add_lstm_blocks_on_gpu(library);
  add_matmul_on_gpu(library);
  add_max_pool_on_gpu(library);
  add_moving_average_on_gpu(library);
  add_resize_on_gpu(library);
  add_scatter_on_gpu(library);
  add_softmax_on_gpu(library);
  add_top_k_on_gpu(library);
  add_training_ops_on_gpu(library);
}

}  // namespace troupe
