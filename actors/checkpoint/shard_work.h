// Shard work: what a checkpoint writer does with files. The functions block, so only file threads may call them.
#pragma once

#include "actors/checkpoint/restored_cells.h"
#include "actors/checkpoint/saved_cells.h"

namespace troupe {

/// Where to write files: shard `shard` of `shards` of a checkpoint.
struct Writing {
  std::string folder;
  uint32_t shard = 0, shards = 1;
  bool unhurried = false;  ///< as in write_shard()
};

/// Writes the files that a plan asks for, and returns all files of the plan, each with the values that it has.
Result<std::vector<SavedFile>> write_files(Disk& disk, const Writing& writing, SavedCells::Plan& plan);

/// A ReadShards request, and the cells that it is for.
struct Reading {
  std::string container, folder;
  std::vector<ShardFile> files;
  uint32_t writer = 0, writers = 1;
  Cells cells;
};

/// Reads the values of the cells. Reads every file that contains some of them, and the files that this writer has to check.
Result<SavedTensors> read_files(Disk& disk, const Reading& reading);

}  // namespace troupe
