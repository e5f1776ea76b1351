// DecompressedFile: the bytes of a compressed file without its compression, at any offset and with bounded memory. To read on is
// cheap; to go back, or to know the size, takes reading from the beginning. Owned by an InputFile; one thread at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "messages/records/byte_source.h"

namespace troupe::data {

class DecompressedFile final : public ReadableFile {
 public:
  /// Errors about compressed bytes begin with `place`.
  DecompressedFile(std::shared_ptr<ReadableFile> stored, Compression compression, std::string place)
      : stored_(std::move(stored)), compression_(compression), place_(std::move(place)) {}

  /// Reads the whole file at the first call.
  Result<uint64_t> size() override;
  /// Fails with DataLoss where compressed bytes are damaged or cut off.
  Result<size_t> read(uint64_t offset, std::span<std::byte> into) override;

 private:
  /// Makes the source continue at an offset, or at the end of the file if that comes before.
  Status go_to(uint64_t offset);

  std::shared_ptr<ReadableFile> stored_;
  Compression compression_;
  std::string place_;
  std::unique_ptr<ByteSource> source_;  ///< null: it must begin anew
  uint64_t position_ = 0;               ///< of the source
  std::optional<uint64_t> size_;        ///< if it is known
};

}  // namespace troupe::data
