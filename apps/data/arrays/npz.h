// NumPy's archives of arrays by name, .npz as numpy.savez writes it: zip files whose members are stored without compression.
// Functions without state; any thread.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "apps/data/input_file.h"
#include "messages/values/tensor.h"

namespace troupe::data {

/// Where an array lies in an archive: a file .npy within the file.
struct NpzMember {
  std::string array;    ///< its name
  uint64_t offset = 0;  ///< in bytes
  uint64_t bytes = 0;
};

/// The arrays of an archive. Reads all of it once, in parts, to compare checksums. DataLoss: it is damaged or cut short;
/// Unimplemented: it is compressed, or has members larger than 4 GiB.
Result<std::vector<NpzMember>> npz_members(const InputFile& archive);

/// DataLoss and Unimplemented as above and for read_npy().
Result<std::map<std::string, Tensor>> read_npz(std::string_view bytes, const std::string& file);
Result<std::string> write_npz(const std::map<std::string, Tensor>& arrays);

}  // namespace troupe::data
