#include "kernels/all_ops.h"

namespace troupe {

std::shared_ptr<const OpLibrary> make_op_library() {
  auto library = std::make_shared<OpLibrary>();
  for (const auto add : {
           add_like_ops,
       })
    add(*library);
  return library;
}

}  // namespace troupe
