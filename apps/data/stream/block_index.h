// BlockIndex: where the records of a data set lie in its files. It is made in one pass over the files. Immutable; any thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/data/options.h"
#include "apps/data/sources.h"

namespace troupe::data {

/// Consecutive records of one file, which are read together.
struct Block {
  uint32_t file = 0;
  ReaderPosition begin = {};
  int64_t first = 0;    ///< the number of the first record, counted over all files
  int64_t records = 0;  ///< at least 1
};

struct BlockIndex {
  Options options;
  std::vector<std::string> files, labels;  ///< as in SourceFiles
  std::vector<Block> blocks;
  int64_t records = 0;  ///< of all files
  /// Whether a file is compressed: then the blocks of each file are read in their order, since going back costs much.
  bool is_compressed = false;
  Dataset columns;  ///< the columns of the samples, without samples

  SourceFiles sources() const { return {files, labels}; }
};

/// Finds the blocks of the files. Fails with DataLoss or the error of the disk if a file is damaged, has no samples or cannot be
/// read, and with InvalidArgument if an input does not match the data.
Result<std::shared_ptr<const BlockIndex>> index_blocks(Disk& disk, const Options& options,
                                                       const SourceFiles& files);

}  // namespace troupe::data
