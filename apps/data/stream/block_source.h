// BlockSource: reads the samples of a stream block by block. Owned by the batches that draw from it; one thread at a time.
#pragma once

#include "apps/data/dataset.h"

namespace troupe::data {

class BlockSource {
 public:
  virtual ~BlockSource() = default;
  /// Returns the columns of the samples, without samples.
  virtual const Dataset& columns() const = 0;
  /// Returns the samples of a block, in their order. Fails as the files do.
  virtual Result<Dataset> read(size_t block) = 0;
};

}  // namespace troupe::data
