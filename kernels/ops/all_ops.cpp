#include "kernels/ops/all_ops.h"

namespace troupe {

std::shared_ptr<const OpLibrary> make_op_library() {
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
  return library;
}

}  // namespace troupe
