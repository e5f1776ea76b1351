// Stored strings: how a bundle stores the strings of a tensor: their lengths (varints of seven bits per byte), a checksum of
// the lengths, and the strings. The checksums, also that of the entry, cover each length as an integer of four bytes, or of
// eight bytes if it needs more. Functions without state; any thread.
#pragma once

#include <string_view>

#include "messages/env/disk.h"
#include "messages/tensor_files/bundle_index.h"

namespace troupe {

/// Returns the strings of an entry, whose bytes are given. Fails with DataLoss if lengths, bytes or checksums are wrong.
Result<Tensor> read_stored_strings(const BundleEntry& entry, std::string_view bytes, Allocator& memory);

struct StoredBytes {
  uint64_t size = 0;
  uint32_t checksum = 0;  ///< masked
};
/// Appends the strings of a tensor to a file.
Result<StoredBytes> write_stored_strings(const Tensor& tensor, NewFile& file);

}  // namespace troupe
