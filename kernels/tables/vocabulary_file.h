// Vocabulary file: a text file with a key and a value in each line, from which a table of constants is initialised, as
// TensorFlow reads it: bytes '\r' are dropped, and no line may be empty. Blocks, so it is called on the file thread only.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "messages/env/disk.h"
#include "messages/values/tensor.h"

namespace troupe {

/// Where keys and values are.
struct VocabularyFile {
  static constexpr int64_t whole_line = -2, line_number = -1;

  std::string path;
  int64_t key_column = 0, value_column = 0;  ///< whole_line, line_number, or a column, from 0
  int64_t lines = -1;                        ///< the number of lines to read; -1: all
  int64_t first_number = 0;                  ///< the number of the first line
  char delimiter = '\t';                     ///< between columns
};

/// Returns keys and values, one of each for every line that is read. Fails with InvalidArgument, naming file and line, if a
/// line is empty or has too few columns, if a column is no number of its type, if the file has fewer lines than are to be read,
/// or if a column does not have the type of keys or values; and as Disk does.
Result<std::pair<Tensor, Tensor>> read_vocabulary(Disk& disk, const VocabularyFile& file, DType key,
                                                  DType value);

}  // namespace troupe
