#include "apps/variable_files.h"

#include "apps/checkpoints/stored_values.h"
#include "apps/inference/cancellable_disk.h"
#include "messages/env/real_disk.h"

namespace troupe {

std::map<std::string, Tensor> read_variables(const std::string& path, const Cancellation* cancellation) {
  RealDisk disk;
  inference::CancellableDisk files(disk, cancellation);
  return value_or_throw(checkpoints::read_values(files, path)).values;
}

void write_variables(const std::map<std::string, Tensor>& values, const std::string& path,
                     const Cancellation* cancellation) {
  RealDisk disk;
  inference::CancellableDisk files(disk, cancellation);
  throw_if_failed(checkpoints::write_values(files, {.source = {}, .round = 0, .values = values}, path));
}

}  // namespace troupe
