// Options: the description of a data set in a run file or a program. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/data/format.h"
#include "messages/values/dtype.h"

namespace troupe::data {

/// An input of the graph and the column of the format ("image", "label" or "text") from which it is made.
struct Input {
  std::string name;
  std::string from;
  std::optional<std::vector<int64_t>> shape = {};  ///< the shape of one sample; not set: that of the column
  DType cast = DType::Invalid;                     ///< the dtype; Invalid: that of the column
};

/// Makes a sample of each stretch of consecutive samples, such as those of a time series.
struct Window {
  int64_t length = 1;  ///< the number of samples in a stretch
  /// The label of a stretch is that of the sample which lies so far behind its last one.
  int64_t ahead = 1;
  /// The column whose values are the labels, as the files have them; empty: the label of the format.
  std::string label = {};
  /// The column of text that has the same value for all samples of a series; empty: all samples are one series.
  std::string series = {};
};

struct Options {
  std::string format = "csv";  ///< one of all_formats()
  FormatOptions format_options = {};
  std::optional<Compression> compression = {};  ///< as in SourceFile
  /// The files to train on and, for formats with label files, one label file for each; the same for validation.
  std::vector<std::string> train = {}, train_labels = {};
  std::vector<std::string> valid = {}, valid_labels = {};
  std::vector<std::string> test = {}, test_labels = {};  ///< the files for testing after the training
  double valid_split = 0;  ///< the fraction of `train` that is used for validation; 0: none
  int64_t valid_fold = 0;  ///< which of the parts of this size it is
  bool stratify = false;   ///< whether each such part has the same shares of the classes
  std::optional<Window> window = {};
  double scale = 1;  ///< the factor by which features are multiplied
  /// Whether the files are read again in every epoch, so that memory for a part of the samples suffices.
  bool stream = false;
  int64_t buffer = 10'000;  ///< for streams: how many samples are in memory, from which the next one is drawn
  std::vector<Input> inputs = {};
  std::vector<TableColumn> columns = {};  ///< of a table; empty: the columns that the format yields

  /// Returns whether the labels are values of a series' own column (Window::label).
  bool has_label_of_series() const { return window && !window->label.empty(); }
};

/// Returns whether the columns are arrays of an archive that the options name. Their samples have any shape.
bool has_arrays(const Options& options);
/// Returns the columns that the files yield; for an unknown format, those that any format may yield.
std::vector<std::string_view> columns(const Options& options);
/// Returns the columns of the data set: the inputs in the options, then each column that no input uses, but no image beside text.
/// The columns of a table are in their raw form. Input::cast is always set.
std::vector<Input> all_inputs(const Options& options);
/// Returns the type in which the elements of an input of type `cast` are scaled: float for floats, otherwise double.
DType scaled_type(DType cast);
/// Returns the type as which files of text are read into a column, so that all of its inputs can be made without loss of digits;
/// `otherwise` if it has no input.
DType read_type(const Options& options, std::string_view column, DType otherwise);
/// Returns the name of the input that is made of the label; empty if there is none.
std::string label_input(const Options& options);
/// Returns the shape of a sample of an input, one of all_inputs(), as far as the options say it; -1: a size that they do not say;
/// nothing: a shape that they do not say.
std::optional<std::vector<int64_t>> known_shape(const Options& options, const Input& input);

}  // namespace troupe::data
