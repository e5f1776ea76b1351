// TableColumn: a column of the samples that is made of one or several columns of a table, as [data.columns] of a run file describes
// it. The reader of the table makes the values in its raw form: floats, strings, or seconds. What the model gets is computed from
// these in its graph (apps/config/encoded_columns.h), so that a trained model takes the raw form. Plain values; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "messages/values/dtype.h"
#include "messages/values/status.h"

namespace troupe::data {

enum class ColumnType : uint8_t {
  Number,     ///< float, or double if normalizing takes its digits; NaN: missing
  Category,   ///< a string, one of a fixed set of values
  Text,       ///< a string
  Timestamp,  ///< double, in seconds since 1970-01-01 UTC; NaN: missing
  Image,      ///< a string: the bytes of the file whose path the table has
};

/// How numbers are brought to a common size, by subtracting a center and dividing by a spread.
enum class Normalization : uint8_t {
  None,
  Standard,  ///< the mean and the standard deviation
  Range,     ///< the least value, and the difference to the greatest
};

/// What stands for a field without a value.
enum class Missing : uint8_t { Error, Mean, Median, Value };

struct TableColumn {
  std::string name;
  ColumnType type = ColumnType::Number;
  /// Names or patterns of columns of the table; several are elements of a vector.
  std::vector<std::string> sources = {};
  std::string input = {};  ///< the input of the model of which it becomes a part

  // Of numbers and timestamps. What is computed from the samples to train on is empty until then; otherwise it has one element, or
  // one for each column of the table.
  Missing missing = Missing::Error;
  Normalization normalization = Normalization::None;
  std::vector<double> fill = {};  ///< the numbers for missing ones
  std::vector<double> center = {}, spread = {};
  std::vector<std::string> parts = {};  ///< of a timestamp: "hour", "weekday", "yearday" or "time"

  // Of categories.
  std::vector<std::string> values = {};  ///< empty: computed from the samples to train on
  int64_t max_values = 0;                ///< the number of values to keep, the most frequent ones
  bool is_index = false;  ///< the model gets the index of the value, otherwise a vector of zeros and a one

  /// Returns the dtype of the raw form. As long as it is not fitted, this may have more digits than the model takes.
  DType dtype() const;
  /// Returns the dtype of its values where they are the labels of a series.
  DType label_dtype() const;
  /// Returns whether the raw form is a vector: it is if `sources` is a pattern or has several names.
  bool is_vector() const;
  /// Returns the number of its elements; nothing as long as `sources` has patterns.
  std::optional<int64_t> width() const;
  /// Returns whether missing numbers become one that is computed from the samples to train on.
  bool fills_from_samples() const { return missing == Missing::Mean || missing == Missing::Median; }
  /// Returns whether the model gets floats, which can be joined with those of other columns.
  bool is_feature() const;
};

/// Returns whether a name or pattern may mean a column. Names may differ in case, and in characters that are neither letters nor
/// digits: `fixed_acidity` may mean the column "Fixed acidity".
bool names_column(std::string_view name_or_pattern, std::string_view column);
/// Returns the numbers of the columns that a name or pattern means, of these. Columns of exactly that name go before others that it
/// may mean. Fails with InvalidArgument if it may mean columns of different names, and none is exactly that.
Result<std::vector<size_t>> columns_named(std::string_view name_or_pattern,
                                          std::span<const std::string> columns);

}  // namespace troupe::data
