// The families of ops. Each family defines its function in its own file, which adds the definitions and kernels; nothing
// registers itself.
#include "kernels/core/kernel.h"

namespace troupe {

void add_activation_ops(OpLibrary& library);
void add_add_n(OpLibrary& library);
void add_arg_reduction_ops(OpLibrary& library);
void add_assign_ops(OpLibrary& library);
void add_bias_ops(OpLibrary& library);
void add_broadcast_gradient_args(OpLibrary& library);
void add_broadcast_to(OpLibrary& library);
void add_cast(OpLibrary& library);
void add_check_ops(OpLibrary& library);
void add_comparison_ops(OpLibrary& library);
void add_concat_ops(OpLibrary& library);
void add_constant_ops(OpLibrary& library);
void add_control_flow_ops(OpLibrary& library);
void add_convolution_ops(OpLibrary& library);
void add_cross_entropy_ops(OpLibrary& library);
void add_cumulative_ops(OpLibrary& library);
void add_dynamic_partition_ops(OpLibrary& library);
void add_elementwise_binary_ops(OpLibrary& library);
void add_elementwise_unary_ops(OpLibrary& library);
void add_gather_nd_ops(OpLibrary& library);
void add_gather_ops(OpLibrary& library);
void add_l2_loss(OpLibrary& library);
void add_leaky_relu_ops(OpLibrary& library);
void add_like_ops(OpLibrary& library);
void add_matmul_ops(OpLibrary& library);
void add_logical_ops(OpLibrary& library);
void add_one_hot(OpLibrary& library);
void add_pack_ops(OpLibrary& library);
void add_queue_ops(OpLibrary& library);
void add_random_ops(OpLibrary& library);
void add_range_ops(OpLibrary& library);
void add_reduction_ops(OpLibrary& library);
void add_replica_ops(OpLibrary& library);
void add_reverse(OpLibrary& library);
void add_scatter_ops(OpLibrary& library);
void add_segment_ops(OpLibrary& library);
void add_select(OpLibrary& library);
void add_send_recv_ops(OpLibrary& library);
void add_shape_ops(OpLibrary& library);
void add_slice_ops(OpLibrary& library);
void add_softmax_ops(OpLibrary& library);
void add_split_ops(OpLibrary& library);
void add_stack_ops(OpLibrary& library);
void add_strided_slice_ops(OpLibrary& library);
void add_tensor_list_arithmetic(OpLibrary& library);
void add_tensor_list_ops(OpLibrary& library);
void add_tile_ops(OpLibrary& library);
void add_training_ops(OpLibrary& library);
void add_transpose_ops(OpLibrary& library);
void add_unique(OpLibrary& library);
void add_variable_ops(OpLibrary& library);
void add_where(OpLibrary& library);

std::shared_ptr<const OpLibrary> make_op_library(const std::function<void(OpLibrary&)>& add) {
  auto library = std::make_shared<OpLibrary>();
  add_activation_ops(*library);
  add_add_n(*library);
  add_arg_reduction_ops(*library);
  add_assign_ops(*library);
  add_bias_ops(*library);
  add_broadcast_gradient_args(*library);
  add_broadcast_to(*library);
  add_cast(*library);
  add_check_ops(*library);
  add_comparison_ops(*library);
  add_concat_ops(*library);
  add_constant_ops(*library);
  add_control_flow_ops(*library);
  add_convolution_ops(*library);
  add_cross_entropy_ops(*library);
  add_cumulative_ops(*library);
  add_dynamic_partition_ops(*library);
  add_elementwise_binary_ops(*library);
  add_elementwise_unary_ops(*library);
  add_gather_nd_ops(*library);
  add_gather_ops(*library);
  add_l2_loss(*library);
  add_leaky_relu_ops(*library);
  add_like_ops(*library);
  add_matmul_ops(*library);
  add_logical_ops(*library);
  add_one_hot(*library);
  add_pack_ops(*library);
  add_queue_ops(*library);
  add_random_ops(*library);
  add_range_ops(*library);
  add_reduction_ops(*library);
  add_replica_ops(*library);
  add_reverse(*library);
  add_scatter_ops(*library);
  add_segment_ops(*library);
  add_select(*library);
  add_send_recv_ops(*library);
  add_shape_ops(*library);
  add_slice_ops(*library);
  add_softmax_ops(*library);
  add_split_ops(*library);
  add_stack_ops(*library);
  add_strided_slice_ops(*library);
  add_tensor_list_arithmetic(*library);
  add_tensor_list_ops(*library);
  add_tile_ops(*library);
  add_training_ops(*library);
  add_transpose_ops(*library);
  add_unique(*library);
  add_variable_ops(*library);
  add_where(*library);
  if (add) add(*library);
  return library;
}

}  // namespace troupe
