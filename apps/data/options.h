// What a data set is to be made of, as a run file or a program says it. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "messages/values/dtype.h"

namespace troupe::data {

enum class Format : uint8_t { Csv, Idx };

/// Which column of a CSV file holds the label: one of these words, a number from 0, or a name in the header.
enum class LabelColumn : uint8_t { Last, First, None };
using Label = std::variant<LabelColumn, int64_t, std::string>;

/// An input of the graph made from a column that the format yields ("image", "label").
struct Input {
  std::string name;
  std::string from;
  std::optional<std::vector<int64_t>> shape = {};  ///< of one sample; not given: as it comes
  DType cast = DType::Invalid;                     ///< Invalid: as it comes
};

struct Options {
  Format format = Format::Csv;
  std::vector<std::string> train = {}, train_labels = {};  ///< labels: of idx, one file each
  std::vector<std::string> valid = {}, valid_labels = {};
  double valid_split = 0;  ///< the fraction of `train` held out; 0: none
  Label label = LabelColumn::Last;
  bool header = false;
  char delimiter = ',';
  double scale = 1;  ///< features are multiplied by this
  std::vector<Input> inputs = {};
};

inline constexpr const char* feature_column = "image";
inline constexpr const char* label_column = "label";

/// The columns that the format yields.
std::vector<std::string_view> columns(const Options& options);
/// What the data set will have: the inputs asked for, then the columns that none of them takes. `cast` is
/// filled in.
std::vector<Input> all_inputs(const Options& options);

}  // namespace troupe::data
