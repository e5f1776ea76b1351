#include "apps/data/convert/array_files.h"

#include <algorithm>

#include "apps/data/arrays/npy.h"
#include "apps/data/formats/idx_types.h"

namespace troupe::data {
namespace {

std::vector<int64_t> dims_of(const Tensor& column, int64_t samples) {
  std::vector<int64_t> dims(column.shape().dims().begin(), column.shape().dims().end());
  dims[0] = samples;
  return dims;
}

std::string bytes_of(const Tensor& batch) {
  return {reinterpret_cast<const char*>(batch.data()), batch.bytes()};
}

Result<std::string> npy_header_of(const Tensor& column, int64_t samples, const std::string& name) {
  auto header = npy_header(column.dtype(), dims_of(column, samples));
  if (!header) return invalid_argument("column " + name + ": " + header.status().text());
  return header;
}

Result<std::string> idx_header_of(const Tensor& column, int64_t samples, const std::string& name) {
  const auto type = idx_code_of(column.dtype());
  if (!type)
    return invalid_argument("column " + name + ": idx has no arrays of " +
                            std::string(troupe::name(column.dtype())));
  const auto dims = dims_of(column, samples);
  std::string header = {'\0', '\0', static_cast<char>(*type), static_cast<char>(dims.size())};
  for (const int64_t dim : dims) {
    if (dim > UINT32_MAX)
      return invalid_argument("column " + name + ": idx has no dimension of " + std::to_string(dim));
    for (int shift = 24; shift >= 0; shift -= 8) header += static_cast<char>(dim >> shift);
  }
  return header;
}

std::string idx_elements(const Tensor& batch) {
  std::string bytes = bytes_of(batch);
  const size_t size = size_of(batch.dtype());
  for (size_t at = 0; size > 1 && at < bytes.size(); at += size)
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                 bytes.begin() + static_cast<std::ptrdiff_t>(at + size));
  return bytes;
}

}  // namespace

ArrayForm npy_form() { return {npy_header_of, bytes_of}; }
ArrayForm idx_form() { return {idx_header_of, idx_elements}; }

}  // namespace troupe::data
