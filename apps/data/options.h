// What a data set is to be made of, as a run file or a program says it. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/data/format.h"
#include "messages/values/dtype.h"

namespace troupe::data {

/// An input of the graph made from a column that the format yields ("image", "label").
struct Input {
  std::string name;
  std::string from;
  std::optional<std::vector<int64_t>> shape = {};  ///< of one sample; not given: as it comes
  DType cast = DType::Invalid;                     ///< Invalid: as it comes
};

struct Options {
  std::string format = "csv";  ///< one of all_formats()
  FormatOptions format_options = {};
  std::vector<std::string> train = {}, train_labels = {};  ///< labels: of formats with label files, one each
  std::vector<std::string> valid = {}, valid_labels = {};
  double valid_split = 0;  ///< the fraction of `train` held out; 0: none
  double scale = 1;        ///< features are multiplied by this
  std::vector<Input> inputs = {};
};

/// The columns that the format yields; of an unknown format those that any may yield.
std::vector<std::string_view> columns(const Options& options);
/// What the data set will have: the inputs asked for, then the columns that none of them takes. `cast` is
/// filled in.
std::vector<Input> all_inputs(const Options& options);

}  // namespace troupe::data
