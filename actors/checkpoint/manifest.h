// The manifest of a checkpoint: the text of the file that lists its files, with their lengths and checksums. Its format is 1 if all
// files lie in the folder of the checkpoint, and 2 if the checkpoint refers to files of older ones (member "folder" of a file), of
// which it needs only the tensors that "versions" lists. Reading trusts nothing in the text. These functions do no I/O.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "actors/checkpoint/checkpoint_shard.h"

namespace troupe {

struct Manifest {
  uint64_t round = 0;
  std::string note = {};  ///< whatever else the owner needs to resume; UTF-8
  bool pinned = false;    ///< the checkpoint is kept however many newer ones there are
  std::vector<ShardFile> files = {};
};

inline constexpr uint64_t largest_manifest = uint64_t{64} << 20;

/// Fails with InvalidArgument if a note is not UTF-8.
Status check_note(const std::string& note);
/// Fails with ResourceExhausted if the text would be too long, and with InvalidArgument if a name or the note is not UTF-8.
Result<std::string> manifest_text(const Manifest& manifest);
/// Fails with DataLoss, which says what is wrong with the text.
Result<Manifest> read_manifest(std::string_view text);

}  // namespace troupe
