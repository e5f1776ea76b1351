// Reads NumPy's .npz archives of named arrays, zip files, as numpy.savez and numpy.savez_compressed write them, and writes them as
// the former does. Functions without state; any thread.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "apps/data/input_file.h"
#include "messages/values/tensor.h"

namespace troupe::data {

/// The location of an array in an archive. Its bytes are those of a .npy file.
struct NpzMember {
  std::string array;  ///< the name of the array
  /// The file with the bytes of the array: the archive itself or, if the array is compressed, a part of that.
  std::shared_ptr<InputFile> file;
  uint64_t offset = 0;  ///< in that file, in bytes
  uint64_t bytes = 0;
};

/// Returns the arrays of an archive. Reads the whole archive once, in parts, to compare checksums. Fails with DataLoss if it is
/// damaged or cut short, and with Unimplemented if it is compressed in a way that NumPy does not use.
Result<std::vector<NpzMember>> npz_members(const std::shared_ptr<InputFile>& archive);

/// Returns the arrays in the bytes of an archive by name. Fails as npz_members() and read_npy() do; errors name `file`.
Result<std::map<std::string, Tensor>> read_npz(std::string_view bytes, const std::string& file);
/// Returns the bytes of an archive. Fails as write_npy() does.
Result<std::string> write_npz(const std::map<std::string, Tensor>& arrays);

}  // namespace troupe::data
