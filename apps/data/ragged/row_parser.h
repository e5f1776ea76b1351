// RowParser: makes a ragged column, or a padded one, of a column of strings. Each string is a row: of the ids of its words, of the
// numbers in it, or of the values of a feature of a TensorFlow Example. Immutable; any thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/data/dataset.h"
#include "apps/data/ragged/text_parts.h"
#include "apps/data/ragged/vocabulary.h"
#include "messages/env/disk.h"

namespace troupe::data {

/// The description of a ragged column.
struct RaggedColumn {
  std::string name, from;
  DType dtype = DType::Int32;           ///< float, double, int32 or int64; for words one of the last two
  std::vector<std::string> vocabulary;  ///< files of words (apps/data/ragged/vocabulary.h)
  /// The key of a feature of integers or floats, as the elements are, or, with a vocabulary, of words.
  std::string feature;
  /// If given, the rows of a batch are filled up to the longest one with this number.
  std::optional<double> pad = {};
  /// If above 0, the words are this many of the most frequent ones in the samples to train on.
  int64_t most_words = 0;
  /// In the order of their ids; empty: those of the vocabulary, or not counted yet.
  std::vector<std::string> words = {};
  Standardize standardize = Standardize::None;  ///< of texts that are divided into words
  int64_t max_length = 0;                       ///< a longer row loses its last elements; 0: any length

  bool has_words() const { return !vocabulary.empty() || !words.empty() || most_words > 0; }

  /// Returns the name of the column that goes with it: of the splits or, if it is padded, of the lengths.
  std::string companion() const { return pad ? name + "_lengths" : splits_name(name); }
};

class RowParser {
 public:
  /// Reads the vocabulary, if there is one. Fails as Vocabulary::read() does, and with InvalidArgument if the column has another
  /// dtype than is allowed.
  static Result<std::shared_ptr<const RowParser>> make(Disk& disk, const RaggedColumn& column);

  const RaggedColumn& column() const { return column_; }
  /// Makes the column of strings [samples]: a ragged one, or a padded one [samples, longest row] and its lengths, int32 [samples].
  /// Without samples a padded row has no elements. Fails with DataLoss, showing the string, if one has something that is no
  /// element, and with ResourceExhausted if there is too little memory.
  Result<std::vector<Column>> parse(const Tensor& strings) const;
  /// Returns the number of elements of a row. Fails as parse() does.
  Result<int64_t> length_of(const std::string& text) const;

 private:
  explicit RowParser(const RaggedColumn& column) : column_(column) {}

  RaggedColumn column_;
  std::optional<Vocabulary> vocabulary_;
};

/// Returns the columns with the words of their files of words. Fails as Vocabulary::read() does.
Result<std::vector<RaggedColumn>> with_words(Disk& disk, std::vector<RaggedColumn> columns);

using RowParsers = std::vector<std::shared_ptr<const RowParser>>;
/// Makes a parser for each column.
Result<RowParsers> row_parsers(Disk& disk, const std::vector<RaggedColumn>& columns);

}  // namespace troupe::data
