// The families of ops: one function each, defined in the family's own file, which adds its definitions and
// kernels. all_ops.cpp calls them all; nothing registers itself.
#pragma once

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

}  // namespace troupe
