// Writes the files that are generated from the op table, kernels/constructors.h and docs/ops.md, under the folder ROOT.
//   write_op_faces ROOT
#include <fstream>
#include <iostream>

#include "kernels/core/kernel.h"
#include "kernels/face/constructors_header.h"
#include "kernels/face/ops_document.h"
#include "kernels/gpu/all_gpu_kernels.h"

namespace {

bool write(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) std::cerr << "cannot write " << path << '\n';
  return static_cast<bool>(file);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::cerr << "write_op_faces takes one argument, the root of the project\n";
    return 2;
  }
#if defined(TROUPE_CUDA)
  const auto library = troupe::make_op_library();
#else
  const auto library = troupe::make_op_library(troupe::add_gpu_kernels);
#endif
  if (!library->status.ok()) {
    std::cerr << library->status.message() << '\n';
    return 1;
  }
  const std::string root = arguments[1];
  const bool header = write(root + "/kernels/constructors.h", troupe::constructors_header(*library->ops));
  const bool document = write(root + "/docs/ops.md", troupe::ops_document(*library));
  return header && document ? 0 : 1;
}
