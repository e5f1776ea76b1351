// Data blocks: large values go between memory and files in blocks, and each block is added to the checksum while the processor
// has it in its cache. Between blocks the work can be cancelled. Functions and plain objects; one thread at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "messages/env/disk.h"
#include "messages/values/buffer.h"

namespace troupe {

/// How tensors are read from files: the memory that they get, and a flag that ends the work with Cancelled once it is set.
struct TensorReading {
  Allocator* memory = &heap_allocator();
  const std::atomic<bool>* cancelled = nullptr;
};

/// Fails with Cancelled if there is a flag and it is set.
Status check_not_cancelled(const std::atomic<bool>* flag);

/// Fills `into` from byte `offset` of a file on. Returns the CRC-32C of these bytes. Fails with DataLoss if the file ends before.
Result<uint32_t> read_blocks(ReadableFile& file, uint64_t offset, std::span<std::byte> into,
                             const std::atomic<bool>* cancelled);

/// Appends the bytes to a file. Returns the CRC-32C of what `before` is the CRC-32C of, and these bytes.
Result<uint32_t> write_blocks(NewFile& file, std::span<const std::byte> bytes, uint32_t before,
                              const std::atomic<bool>* cancelled);

}  // namespace troupe
