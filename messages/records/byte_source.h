// ByteSource: the bytes of a file in order, decompressed if it is compressed. Reading may block, so it is done on file threads.
// One thread at a time.
#pragma once

#include <memory>
#include <span>

#include "messages/env/disk.h"
#include "messages/records/compression.h"

namespace troupe {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Reads the next bytes to `into`, which must not be empty. Returns their number, which is 0 only at the end. Fails as the disk
  /// does, and with DataLoss where compressed bytes are damaged or cut off.
  virtual Result<size_t> read(std::span<char> into) = 0;
  /// Passes over the next bytes. Returns their number, which is less than asked for only at the end.
  virtual Result<uint64_t> skip(uint64_t bytes) = 0;
};

/// Opens a file. Fails as Disk::open does.
Result<std::unique_ptr<ByteSource>> open_source(Disk& disk, const std::string& path, Compression compression);
/// Returns a source that reads a file from its beginning. Errors about compressed bytes begin with `place`.
std::unique_ptr<ByteSource> source_of(std::shared_ptr<ReadableFile> file, Compression compression,
                                      std::string place = {});

/// Returns Gzip or Zstd if the file begins as such files do, otherwise None. (Zlib has no magic number.)
Result<Compression> compression_of(ReadableFile& file);

}  // namespace troupe
