#include "apps/data/read_file.h"

#include <fstream>

namespace troupe::data {

Result<std::string> read_file(const std::string& path, size_t max_bytes) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return not_found(path + ": cannot be opened");
  constexpr size_t block = size_t{1} << 20;
  std::string bytes;
  while (file) {
    const size_t begin = bytes.size();
    bytes.resize(begin + block);
    file.read(bytes.data() + begin, block);
    bytes.resize(begin + static_cast<size_t>(file.gcount()));
    if (bytes.size() > max_bytes)
      return resource_exhausted(path + ": larger than " + std::to_string(max_bytes) + " bytes");
  }
  if (file.bad() || !file.eof()) return data_loss(path + ": cannot be read to its end");
  return bytes;
}

}  // namespace troupe::data
