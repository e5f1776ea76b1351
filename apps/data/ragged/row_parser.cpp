#include "apps/data/ragged/row_parser.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <utility>

#include "apps/text/escaped.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/ops/parsing/example_values.h"

namespace troupe::data {
namespace {

using ElementTypes = TypeList<float, double, int32_t, int64_t>;
using IdTypes = TypeList<int32_t, int64_t>;

template <class Types>
bool has_type(Types types, DType dtype) {
  return with_type(types, dtype, [](auto) {});
}

constexpr size_t most_of_text = 60;  // characters of a string in an error

/// Returns a string for an error, shortened.
std::string shown(std::string_view text) {
  return '"' + escaped(text.substr(0, most_of_text)) + (text.size() > most_of_text ? "...\"" : "\"");
}

/// Each appends the elements of a row, or says why it cannot.
template <class T>
struct Words {
  const Vocabulary& vocabulary;
  Standardize standardize;

  Status operator()(std::string_view text, std::vector<T>& elements) const {
    return each_word(text, standardize, [&](std::string_view word) {
      elements.push_back(static_cast<T>(vocabulary.id_of(word)));
      return Status();
    });
  }
};

template <class T>
struct Numbers {
  Status operator()(std::string_view text, std::vector<T>& elements) const {
    return each_part(text, between_numbers, [&](std::string_view part) {
      T number{};
      const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
      bool is_number = error == std::errc() && end == part.data() + part.size();
      if constexpr (std::is_floating_point_v<T>) is_number = is_number && std::isfinite(number);
      if (!is_number)
        return data_loss(shown(part) + " is not a number of type " + std::string(name(dtype_of<T>)) +
                         (std::isalpha(static_cast<unsigned char>(part[0]))
                              ? "; words need a list of those that are known: vocabulary = \"words.txt\", or "
                                "most_words = 1000, which takes those of the samples"
                              : ""));
      elements.push_back(number);
      return Status();
    });
  }
};

/// Takes the values of a feature, or the ids of its strings if there is a vocabulary. An Example without the feature has an
/// empty row.
template <class T>
struct ExampleFeature {
  const std::string& key;
  const Vocabulary* vocabulary;

  Status operator()(std::string_view example, std::vector<T>& elements) const {
    std::string_view found;
    const bool is_whole = parsing::each_entry(example, parsing::OnlyField, [&](auto entry, auto value) {
      if (entry == key) found = value;
    });
    const auto values = parsing::read_feature(found);
    const auto count = is_whole && values ? parsing::count_values(*values) : std::nullopt;
    if (!count) return data_loss("the record is not an Example of TensorFlow");
    if (*count == 0) return {};
    if ((values->dtype == DType::String) != (vocabulary != nullptr))
      return wrong("has " + std::string(name(values->dtype)),
                   vocabulary ? "a vocabulary needs strings" : "strings need a vocabulary");
    TROUPE_ASSIGN(Tensor all, Tensor::allocate(values->dtype, Shape::vector(*count)));
    if (!parsing::write_values(*values, all, 0, *count)) return wrong("is damaged", "expected a list");
    if (vocabulary) return append_ids(all.as<std::string>(), elements);
    if (all.dtype() == DType::Int64) return append(all.as<int64_t>(), elements);
    return append(all.as<float>(), elements);
  }

 private:
  Status wrong(const std::string& what, const std::string& expected) const {
    return data_loss("the feature '" + key + "' " + what + "; " + expected);
  }

  Status append_ids(std::span<const std::string> words, std::vector<T>& elements) const {
    for (const std::string& word : words) elements.push_back(static_cast<T>(vocabulary->id_of(word)));
    return {};
  }

  template <class From>
  Status append(std::span<const From> values, std::vector<T>& elements) const {
    const std::string expected = "expected numbers of type " + std::string(name(dtype_of<T>));
    if constexpr (std::is_integral_v<T> != std::is_integral_v<From>) {
      return wrong(std::is_integral_v<T> ? "has floats" : "has integers", expected);
    } else {
      for (const From value : values) {
        if constexpr (std::is_integral_v<T>)
          if (!std::in_range<T>(value)) return wrong("has " + std::to_string(value), expected);
        elements.push_back(static_cast<T>(value));
      }
      return {};
    }
  }
};

template <class T>
struct Rows {
  std::vector<T> elements;
  std::vector<int64_t> splits = {0};

  size_t count() const { return splits.size() - 1; }
  int64_t length(size_t row) const { return splits[row + 1] - splits[row]; }
};

template <class T, class AppendRow>
Result<Rows<T>> parse_rows(const RaggedColumn& column, std::span<const std::string> strings,
                           const AppendRow& append_row) {
  Rows<T> rows;
  for (const std::string& text : strings) {
    if (const Status status = append_row(text, rows.elements); !status.ok())
      return Status(status.code(),
                    "data.ragged." + column.name + ": in " + shown(text) + ": " + status.text());
    const auto begin = static_cast<size_t>(rows.splits.back());
    if (column.max_length > 0)
      rows.elements.resize(std::min(rows.elements.size(), begin + static_cast<size_t>(column.max_length)));
    rows.splits.push_back(static_cast<int64_t>(rows.elements.size()));
  }
  return rows;
}

template <class T>
Result<Rows<T>> parse_rows(const RaggedColumn& column, const Vocabulary* vocabulary,
                           std::span<const std::string> strings) {
  if (!column.feature.empty())
    return parse_rows<T>(column, strings, ExampleFeature<T>{column.feature, vocabulary});
  if (vocabulary) return parse_rows<T>(column, strings, Words<T>{*vocabulary, column.standardize});
  return parse_rows<T>(column, strings, Numbers<T>{});
}

/// Returns use(rows) for the rows of the column's dtype.
template <class Made, class Use>
Result<Made> with_rows(const RaggedColumn& column, const std::optional<Vocabulary>& vocabulary,
                       std::span<const std::string> strings, const Use& use) {
  Result<Made> made = Made();
  with_type(ElementTypes{}, column.dtype, [&]<class T>(std::type_identity<T>) {
    const auto rows = parse_rows<T>(column, vocabulary ? &*vocabulary : nullptr, strings);
    if (rows)
      made = use(*rows);
    else
      made = rows.status();
  });
  return made;
}

template <class T>
Result<std::vector<Column>> ragged(const RaggedColumn& column, const Rows<T>& rows) {
  return std::vector<Column>{
      {column.name, Tensor::vector(std::span(rows.elements)), Tensor::vector(std::span(rows.splits))}};
}

template <class T>
Result<std::vector<Column>> padded(const RaggedColumn& column, const Rows<T>& rows) {
  std::vector<int32_t> lengths;
  for (size_t row = 0; row < rows.count(); ++row) lengths.push_back(static_cast<int32_t>(rows.length(row)));
  const int64_t longest = lengths.empty() ? 0 : std::ranges::max(lengths);
  const std::vector<int64_t> dims = {static_cast<int64_t>(rows.count()), longest};
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, dtype_of<T>));
  TROUPE_ASSIGN(Tensor values, Tensor::allocate(dtype_of<T>, shape));
  auto from = rows.elements.begin();
  auto to = values.template write<T>().begin();
  for (const int32_t length : lengths) {
    to = std::fill_n(std::copy_n(from, length, to), longest - length, static_cast<T>(*column.pad));
    from += length;
  }
  return std::vector<Column>{{column.name, std::move(values)},
                             {column.companion(), Tensor::vector(std::span<const int32_t>(lengths))}};
}

}  // namespace

Result<std::shared_ptr<const RowParser>> RowParser::make(Disk& disk, const RaggedColumn& column) {
  const bool is_words = column.has_words();
  if (is_words ? !has_type(IdTypes{}, column.dtype) : !has_type(ElementTypes{}, column.dtype))
    return invalid_argument("data.ragged." + column.name + ": elements cannot be " +
                            std::string(troupe::name(column.dtype)));
  RowParser parser(column);
  if (is_words) {
    TROUPE_ASSIGN(parser.vocabulary_, column.vocabulary.empty() ? Vocabulary::of(column.words)
                                                                : Vocabulary::read(disk, column.vocabulary));
  }
  return std::make_shared<RowParser const>(std::move(parser));
}

Result<std::vector<Column>> RowParser::parse(const Tensor& strings) const {
  return with_rows<std::vector<Column>>(
      column_, vocabulary_, strings.as<std::string>(),
      [&](const auto& rows) { return column_.pad ? padded(column_, rows) : ragged(column_, rows); });
}

Result<int64_t> RowParser::length_of(const std::string& text) const {
  return with_rows<int64_t>(column_, vocabulary_, std::span(&text, 1),
                            [](const auto& rows) { return rows.length(0); });
}

Result<std::vector<RaggedColumn>> with_words(Disk& disk, std::vector<RaggedColumn> columns) {
  for (RaggedColumn& column : columns) {
    if (column.vocabulary.empty()) continue;
    TROUPE_ASSIGN(const Vocabulary vocabulary, Vocabulary::read(disk, column.vocabulary));
    column.words = vocabulary.words();
  }
  return columns;
}

Result<RowParsers> row_parsers(Disk& disk, const std::vector<RaggedColumn>& columns) {
  RowParsers parsers;
  for (const RaggedColumn& column : columns) {
    TROUPE_ASSIGN(parsers.emplace_back(), RowParser::make(disk, column));
  }
  return parsers;
}

}  // namespace troupe::data
