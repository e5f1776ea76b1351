#include "apps/train/data/fit_data.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "apps/config/encoded_columns.h"
#include "apps/config/reader.h"
#include "apps/data/csv/csv_layout.h"
#include "apps/data/csv/csv_row.h"
#include "apps/data/csv/number_form.h"
#include "apps/data/file_patterns.h"
#include "apps/data/formats/class_folders.h"
#include "apps/data/load.h"
#include "apps/data/ragged/text_parts.h"
#include "apps/data/sources.h"

namespace troupe::train {
namespace {

using data::ColumnType;
using data::TableColumn;

constexpr int64_t rows_at_once = 4096;
constexpr size_t most_classes = 10'000, most_counted = 1'000'000;

/// Orders texts as numbers if all of them are, otherwise by their bytes.
std::vector<std::string> in_order(std::vector<std::string> texts) {
  std::ranges::sort(texts);
  if (std::ranges::all_of(texts,
                          [](const std::string& text) { return data::CsvRow::number_of(text).has_value(); }))
    std::ranges::stable_sort(texts, {},
                             [](const std::string& text) { return *data::CsvRow::number_of(text); });
  return texts;
}

template <class T>
std::string setting(const std::string& key, const std::vector<T>& values) {
  config::List list;
  for (const T& value : values) list.emplace_back().data = value;
  return key + '=' + config::to_toml(config::Value{std::move(list), {}});
}

// ---- The names of classes

/// Returns options with which the label is read as text.
data::Options with_labels_as_text(data::Options options) {
  options.format_options.erase("label_names");
  std::erase_if(options.inputs, [](const data::Input& input) { return input.from == data::label_column; });
  options.inputs.push_back({data::label_column, data::label_column, {}, DType::String});
  return options;
}

/// Returns whether the names of classes have to be found: the run file asks for it, or says nothing and the first label is no
/// number.
bool needs_classes(Disk& disk, const data::Options& options) {
  if (data::file_kind(options.format)) {
    const auto given =
        data::option<std::vector<std::string>>(options.format_options, "label_names", {"auto"});
    const auto is_folder = [&](const std::string& path) {
      const auto info = disk.info(path);
      return info && info->is_folder;  // otherwise load_data() reports what is wrong
    };
    return given == std::vector<std::string>{"auto"} && std::ranges::all_of(options.train, is_folder);
  }
  if (options.format != "csv" || !data::has_csv_column(options.format_options, data::label_column) ||
      !data::parts_of_label(options.format_options).empty())
    return false;
  const auto given = data::option<std::vector<std::string>>(options.format_options, "label_names", {});
  if (!given.empty()) return given == std::vector<std::string>{"auto"};
  const bool has_type = std::ranges::any_of(options.inputs, [](const data::Input& input) {
    return input.from == data::label_column && is_floating(input.cast);
  });
  if (has_type) return false;
  const data::Options as_text = with_labels_as_text(options);
  const auto reader = data::open_source(disk, as_text, data::train_files(as_text), 0);
  if (!reader) return false;  // load_data() reports what is wrong
  const auto first = (*reader)->next(1);
  if (!first || first->samples() == 0) return false;
  const std::string& label = first->find(data::label_column)->as<std::string>()[0];
  return !label.empty() &&
         !data::CsvRow::number_of(data::plain_number(label, data::number_form(options.format_options)));
}

/// Returns the words that are labels in the files of train, also those held out for validation, or the names of folders.
Result<std::vector<std::string>> find_classes(Disk& disk, const data::Options& given) {
  if (const data::FileKind* const kind = data::file_kind(given.format)) {
    TROUPE_ASSIGN(const auto folders, data::class_folders(disk, given.train));
    if (folders.empty())
      return data_loss("data.train: there are no folders in " + given.train.front() + "; format = \"" +
                       std::string(kind->format) + "\" takes a folder for each class, such as " +
                       given.train.front() + "/cat with the " + std::string(kind->format) + " of cats");
    return std::vector<std::string>(folders.begin(), folders.end());
  }
  const data::Options options = with_labels_as_text(given);
  std::set<std::string, std::less<>> classes;
  for (size_t i = 0; i < options.train.size(); ++i) {
    TROUPE_ASSIGN(const auto reader, data::open_source(disk, options, data::train_files(options), i));
    int64_t missing = 0, row = 0, first_missing = 0;
    for (;;) {
      TROUPE_ASSIGN(const data::Dataset rows, reader->next(rows_at_once));
      if (rows.samples() == 0) break;
      for (const std::string& label : rows.find(data::label_column)->as<std::string>()) {
        ++row;
        if (!label.empty() && !data::is_word_for_missing(label))
          classes.insert(label);
        else if (++missing == 1)
          first_missing = row;
      }
      if (classes.size() > most_classes)
        return invalid_argument(options.train[i] + ": more than " + std::to_string(most_classes) +
                                " different words are labels; for numbers set cast = \"float\" in " +
                                "data.inputs.label");
    }
    if (missing > 0)
      return data_loss(
          options.train[i] + ": data.label is missing in " + std::to_string(missing) +
          " of its samples, first in sample " + std::to_string(first_missing) +
          "; data.unlabelled = \"skip\" leaves them out, or NA is a class if it is one of data.label_names");
  }
  if (classes.empty()) return data_loss(options.train.front() + ": there are no samples with a label");
  return in_order({classes.begin(), classes.end()});
}

// ---- Columns

/// Returns whether columns can be told apart by these names.
bool are_names(const std::vector<std::string>& names) {
  return !names.empty() && std::set<std::string>(names.begin(), names.end()).size() == names.size();
}

/// Replaces patterns by the names of the columns of the table, and names the features of one without [data.columns].
void add_names_of_columns(Disk& disk, const data::Options& options, std::vector<std::string>& settings) {
  const bool lacks_parts = data::has_pattern(data::parts_of_label(options.format_options));
  const bool lacks_features = options.format == "csv" && options.columns.empty() &&
                              !options.format_options.contains(data::features_option) &&
                              !options.format_options.contains("names");
  const auto is_known = [](const TableColumn& column) { return column.width().has_value(); };
  if (!lacks_parts && !lacks_features && std::ranges::all_of(options.columns, is_known)) return;
  const auto reader = data::open_source(disk, options, data::train_files(options), 0);
  if (!reader) return;  // load_data() reports what is wrong
  const auto field_named = [&](const std::string& name) {
    return std::ranges::find((*reader)->schema(), name, &data::Field::name);
  };
  if (const auto features = field_named(data::feature_column);
      lacks_features && features != (*reader)->schema().end() && are_names(features->elements))
    settings.push_back(setting(std::string("data.") + data::features_option, features->elements));
  if (lacks_parts) settings.push_back(setting("data.label", field_named(data::label_column)->elements));
  for (const TableColumn& column : options.columns) {
    const auto field = field_named(column.name);
    if (!column.width())
      settings.push_back(setting("data.columns." + column.name + ".columns", field->elements));
  }
}

/// Returns the values that are counted most often, the most frequent one first.
std::vector<std::string> most_frequent(const std::map<std::string, int64_t, std::less<>>& counts,
                                       int64_t most) {
  std::vector<std::pair<int64_t, std::string_view>> values;
  for (const auto& [value, count] : counts) values.emplace_back(-count, value);
  std::ranges::sort(values);
  values.resize(std::min(values.size(), static_cast<size_t>(most)));
  std::vector<std::string> kept;
  for (const auto& [count, value] : values) kept.emplace_back(value);
  return kept;
}

/// The moments of numbers that are not missing.
struct Moments {
  int64_t count = 0;
  double mean = 0, squares = 0;
  double least = std::numeric_limits<double>::infinity(), greatest = -least;
  std::vector<double> all = {};  ///< only if their median is wanted

  void add(double value, bool keep) {
    if (std::isnan(value)) return;
    const double before = value - mean;
    mean += before / static_cast<double>(++count);
    squares += before * (value - mean);
    least = std::min(least, value);
    greatest = std::max(greatest, value);
    if (keep) all.push_back(value);
  }
  double median() {
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    std::ranges::nth_element(all, middle);
    if (all.size() % 2 == 1) return *middle;
    return (*middle + *std::max_element(all.begin(), middle)) / 2;
  }
  double deviation() const { return std::sqrt(squares / static_cast<double>(count)); }
};

/// Collects what one column needs of the samples.
class ColumnFit {
 public:
  explicit ColumnFit(const TableColumn& column) : column_(column) {}

  Status add(const Tensor& values) {
    if (column_.type == ColumnType::Category) return count(values.as<std::string>());
    const auto width = static_cast<size_t>(values.elements() / std::max<int64_t>(1, values.shape()[0]));
    moments_.resize(std::max(moments_.size(), width));
    const bool keep = column_.missing == data::Missing::Median;
    for (size_t i = 0; i < static_cast<size_t>(values.elements()); ++i)
      moments_[i % width].add(values.dtype() == DType::Float ? values.as<float>()[i] : values.as<double>()[i],
                              keep);
    return {};
  }

  Result<std::vector<std::string>> settings() {
    const std::string key = "data.columns." + column_.name + '.';
    if (column_.type == ColumnType::Category) {
      if (counts_.empty()) return no_values();
      return std::vector{setting(key + "values", in_order(most_frequent(counts_, column_.max_values)))};
    }
    std::vector<double> fill, center, spread;
    for (Moments& of : moments_) {
      if (of.count == 0) return no_values();
      fill.push_back(column_.missing == data::Missing::Median ? of.median() : of.mean);
      const bool is_range = column_.normalization == data::Normalization::Range;
      center.push_back(is_range ? of.least : of.mean);
      const double size = is_range ? of.greatest - of.least : of.deviation();
      spread.push_back(size > 0 ? size : 1);
    }
    std::vector<std::string> result;
    const bool is_time = column_.type == ColumnType::Timestamp;
    if (column_.fills_from_samples() && column_.fill.empty()) result.push_back(setting(key + "fill", fill));
    if ((is_time || column_.normalization != data::Normalization::None) && column_.center.empty()) {
      result.push_back(setting(key + "center", center));
      result.push_back(setting(key + "spread", spread));
    }
    return result;
  }

 private:
  Status no_values() const {
    return invalid_argument("data.columns." + column_.name + ": none of the samples to train on has a value");
  }

  Status count(std::span<const std::string> values) {
    for (const std::string& value : values)
      if (!data::is_word_for_missing(value)) ++counts_[value];
    if (counts_.size() <= most_counted) return {};
    return invalid_argument("data.columns." + column_.name + ": there are more than " +
                            std::to_string(most_counted) + " different values; as text it has no limit");
  }

  const TableColumn& column_;
  std::vector<Moments> moments_;  ///< one for each element
  std::map<std::string, int64_t, std::less<>> counts_;
};

Status fit_columns(Disk& disk, const data::Options& options, uint64_t seed,
                   std::vector<std::string>& settings) {
  std::vector<ColumnFit> fits;
  std::vector<std::string> names;
  for (const TableColumn& column : options.columns) {
    if (config::is_fitted(column)) continue;
    fits.emplace_back(column);
    names.push_back(column.name);
  }
  if (fits.empty()) return {};
  const auto samples = data::load(disk, options, seed);
  if (!samples) return {};  // load_data() reads them again, and reports what is wrong
  const auto batches = samples->train->batches(rows_at_once, 0, false);
  for (int64_t i = 0; i < batches->per_epoch(); ++i) {
    TROUPE_ASSIGN(const data::Dataset batch, batches->at(static_cast<uint64_t>(i)));
    for (size_t k = 0; k < fits.size(); ++k) TROUPE_RETURN_IF_FAILED(fits[k].add(*batch.find(names[k])));
  }
  for (ColumnFit& fit : fits) {
    TROUPE_ASSIGN(auto more, fit.settings());
    settings.insert(settings.end(), std::make_move_iterator(more.begin()),
                    std::make_move_iterator(more.end()));
  }
  return {};
}

// ---- The words of texts

/// Adds the words of texts to `counts`. Fails with InvalidArgument if there are too many different ones.
Status count_words(std::span<const std::string> texts, data::Standardize standardize, const std::string& key,
                   std::map<std::string, int64_t, std::less<>>& counts) {
  const auto count = [&](std::string_view word) -> Status {
    const auto known = counts.find(word);
    if (known != counts.end())
      ++known->second;
    else
      counts.emplace(word, 1);
    return {};
  };
  for (const std::string& text : texts) TROUPE_RETURN_IF_FAILED(data::each_word(text, standardize, count));
  if (counts.size() <= most_counted) return {};
  return invalid_argument(key + ": there are more than " + std::to_string(most_counted) +
                          " different words; a file can list those to know, vocabulary = \"words.txt\"");
}

/// Makes the vocabularies of the ragged columns that have none.
Status fit_words(Disk& disk, const config::RunConfig& config, const data::Options& options,
                 std::vector<std::string>& settings) {
  const auto is_fitted = [](const data::RaggedColumn& column) {
    return column.most_words == 0 || !column.words.empty();
  };
  if (std::ranges::all_of(config.ragged, is_fitted)) return {};
  const auto samples = data::load(disk, options, config.run.seed);
  if (!samples) return {};  // load_data() reads them again, and reports what is wrong
  for (const data::RaggedColumn& column : config.ragged) {
    if (is_fitted(column)) continue;
    const std::string key = "data.ragged." + column.name;
    const Tensor* const texts = samples->train->columns().find(column.from);
    if (!texts || texts->dtype() != DType::String)
      return invalid_argument(key + ".most_words: the files have no column of text '" + column.from + "'");
    std::map<std::string, int64_t, std::less<>> counts;
    const auto batches = samples->train->batches(rows_at_once, 0, false);
    for (int64_t i = 0; i < batches->per_epoch(); ++i) {
      TROUPE_ASSIGN(const data::Dataset batch, batches->at(static_cast<uint64_t>(i)));
      TROUPE_RETURN_IF_FAILED(
          count_words(batch.find(column.from)->as<std::string>(), column.standardize, key, counts));
    }
    if (counts.empty()) return invalid_argument(key + ".most_words: the texts to train on have no word");
    settings.push_back(setting(key + ".words", most_frequent(counts, column.most_words)));
  }
  return {};
}

// ---- The weights of classes

/// Adds the class of each sample to `counts`.
Status count_classes(const Tensor& labels, std::map<int64_t, int64_t>& counts) {
  TROUPE_ASSIGN(const auto classes, data::class_numbers(labels, "train.class_weights"));
  for (const int64_t one : classes) ++counts[one];
  const bool in_range =
      counts.empty() || (counts.begin()->first >= 0 && counts.rbegin()->first < int64_t{most_classes});
  return in_range ? Status()
                  : invalid_argument("train.class_weights: label " +
                                     std::to_string(counts.begin()->first < 0 ? counts.begin()->first
                                                                              : counts.rbegin()->first) +
                                     " is no class; allowed: 0 to " + std::to_string(most_classes - 1));
}

/// Finds weights with which all classes together count alike, and a sample counts 1 on the mean.
Status balance_classes(Disk& disk, const data::Options& options, uint64_t seed,
                       std::vector<std::string>& settings) {
  const auto samples = data::load(disk, options, seed);
  if (!samples) return {};  // load_data() reads them again, and reports what is wrong
  const std::string label = data::label_input(options);
  if (label.empty()) return invalid_argument("train.class_weights: the data has no column 'label'");
  std::map<int64_t, int64_t> counts;
  const auto batches = samples->train->batches(rows_at_once, 0, false);
  for (int64_t i = 0; i < batches->per_epoch(); ++i) {
    TROUPE_ASSIGN(const data::Dataset batch, batches->at(static_cast<uint64_t>(i)));
    TROUPE_RETURN_IF_FAILED(count_classes(*batch.find(label), counts));
  }
  std::vector<double> weights(static_cast<size_t>(counts.rbegin()->first) + 1, 1);
  const double share = static_cast<double>(samples->train->samples()) / static_cast<double>(counts.size());
  for (const auto& [one, count] : counts)
    weights[static_cast<size_t>(one)] = share / static_cast<double>(count);
  settings.push_back(setting("train.class_weights", weights));
  return {};
}

}  // namespace

Result<std::vector<std::string>> fit_data(Disk& disk, const config::RunConfig& config) {
  std::vector<std::string> settings;
  const auto matching = data::with_matching_files(disk, config.data);
  if (!matching) return settings;  // load_data() reports what is wrong
  data::Options options = *matching;
  if (needs_classes(disk, options)) {
    TROUPE_ASSIGN(auto classes, find_classes(disk, options));
    settings.push_back(setting("data.label_names", classes));
    options.format_options["label_names"] = std::move(classes);
  }
  add_names_of_columns(disk, options, settings);
  TROUPE_RETURN_IF_FAILED(fit_columns(disk, options, config.run.seed, settings));
  TROUPE_RETURN_IF_FAILED(fit_words(disk, config, options, settings));
  if (config.train.balances_classes)
    TROUPE_RETURN_IF_FAILED(balance_classes(disk, options, config.run.seed, settings));
  return settings;
}

std::vector<std::string> fitted_before(const config::RunConfig& config, const config::RunConfig& earlier) {
  const config::Reader now = config::Reader(&config.document->root()).table("data"),
                       before = config::Reader(&earlier.document->root()).table("data");
  std::vector<std::string> settings;
  if (config.train.balances_classes && !earlier.train.class_weights.empty())
    settings.push_back(setting("train.class_weights", earlier.train.class_weights));
  const auto keep = [&](const config::Reader& table, const config::Reader& former, const std::string& path,
                        const std::string& key) {
    const config::Value* const value = former.find(key);
    if (value && !table.has(key)) settings.push_back(path + key + '=' + config::to_toml(*value));
  };
  const auto given =
      data::option<std::vector<std::string>>(config.data.format_options, "label_names", {"auto"});
  if (given == std::vector<std::string>{"auto"} && before.has("label_names"))
    settings.push_back("data.label_names=" + config::to_toml(*before.find("label_names")));
  keep(now, before, "data.", data::features_option);
  if (data::has_pattern(data::parts_of_label(config.data.format_options)) && before.has("label"))
    settings.push_back("data.label=" + config::to_toml(*before.find("label")));
  for (const data::RaggedColumn& column : config.ragged)
    if (column.most_words > 0)
      keep(now.table("ragged").table(column.name), before.table("ragged").table(column.name),
           "data.ragged." + column.name + '.', "words");
  for (const TableColumn& column : config.data.columns) {
    const std::string path = "data.columns." + column.name + '.';
    const config::Reader former = before.table("columns").table(column.name);
    const auto kept = [&](const char* key) {
      keep(now.table("columns").table(column.name), former, path, key);
    };
    kept("values");
    const auto same = std::ranges::find(earlier.data.columns, column.name, &TableColumn::name);
    if (same == earlier.data.columns.end()) continue;
    if (same->missing == column.missing) kept("fill");
    if (same->normalization == column.normalization) {
      kept("center");
      kept("spread");
    }
    if (!column.width() && former.has("columns"))
      settings.push_back(path + "columns=" + config::to_toml(*former.find("columns")));
  }
  return settings;
}

}  // namespace troupe::train
