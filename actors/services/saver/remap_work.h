// Remap work: matrices and vocabularies that a saver reads on the file thread. Functions without state that block; the caller owns
// the request.
#pragma once

#include <string>
#include <vector>

#include "messages/env/disk.h"
#include "messages/tensor_files/data_blocks.h"
#include "messages/values/tensor.h"

namespace troupe {

struct MatrixRequest {
  std::string prefix, name;
  int64_t rows = 0, columns = 0;
  Tensor row_of, column_of;  ///< int64[rows] and int64[columns] or int64[0]; negative: none
  Tensor initial;            ///< floats
};
/// Fails as MatrixLoaded says.
Result<Tensor> load_remapped_matrix(Disk& disk, const MatrixRequest& request, const TensorReading& reading);

struct VocabularyRequest {
  std::string new_file, old_file;
  int64_t first = 0, count = 0;  ///< of the lines of the new file
  int64_t old_size = -1;         ///< of the lines of the old file that count; -1: all
};
struct RemappedVocabulary {
  Tensor old_lines;  ///< int64[count]
  Tensor found;      ///< int32[]
};
/// Fails as VocabularyRemapped says.
Result<RemappedVocabulary> remap_vocabulary(Disk& disk, const VocabularyRequest& request);

}  // namespace troupe
