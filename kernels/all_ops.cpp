#include "kernels/all_ops.h"

namespace troupe {

std::shared_ptr<const OpLibrary> make_op_library() {
  auto library = std::make_shared<OpLibrary>();
  add_assign_ops(*library);
  add_concat_ops(*library);
  add_constant_ops(*library);
  add_control_flow_ops(*library);
  add_gather_ops(*library);
  add_like_ops(*library);
  add_matmul_ops(*library);
  add_pack_ops(*library);
  add_queue_ops(*library);
  add_random_ops(*library);
  add_range_ops(*library);
  add_send_recv_ops(*library);
  add_shape_ops(*library);
  add_slice_ops(*library);
  add_split_ops(*library);
  add_strided_slice_ops(*library);
  add_tile_ops(*library);
  add_training_ops(*library);
  add_transpose_ops(*library);
  add_variable_ops(*library);
  return library;
}

}  // namespace troupe
