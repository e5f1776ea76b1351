// DecodeCSV(records, record_defaults...): the fields of lines of comma-separated values, one output for each column with the
// shape of `records`. Fields are separated by `field_delim`, one character. With `use_quote_delim` a field may stand in double
// quotes, may then hold delimiters and line breaks, and two quotes in it are one. A field that is empty or `na_value` is the
// default of its column, a scalar or a vector of one element; of a column whose default has no elements it is an error.
// `select_cols`, ascending, are the columns that are returned; without it all are. Numbers are as in kernels/core/text.h.
// InvalidArgument, naming record and field, for another number of fields, text that is no number, and quotes or line breaks where
// they may not be.
// Source of the grammar: tensorflow/core/kernels/decode_csv_op.cc.
#include <algorithm>

#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/core/text.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/loops/each_string.h"

namespace troupe {
namespace {

using FieldTypes = TypeList<float, double, int32_t, int64_t, std::string>;

/// What one field costs beside its bytes, in bytes moved.
constexpr size_t field_cost = 128;

struct Grammar {
  char delimiter;
  bool has_quotes;
  std::string_view missing;
  std::span<const int64_t> columns;  ///< those that are returned, ascending; empty: all
};

/// Reads the fields of a record in turn.
class FieldScanner {
 public:
  FieldScanner(std::string_view record, const Grammar& grammar) : record_(record), grammar_(grammar) {}

  /// Returns false at the end of the record, and where it is damaged: failure() says which. A field stays valid until the next.
  bool next(std::string_view& field) {
    while (at_ < record_.size() && is_break(record_[at_])) ++at_;
    if (at_ >= record_.size()) {
      const bool is_missing = !ended_ && !record_.empty() && record_.back() == grammar_.delimiter;
      ended_ = true;
      field = {};
      return is_missing;
    }
    return grammar_.has_quotes && record_[at_] == '"' ? next_quoted(field) : next_plain(field);
  }
  /// Null if the record ended well.
  const char* failure() const { return failure_; }

 private:
  static bool is_break(char c) { return c == '\n' || c == '\r'; }
  bool fail(const char* what) {
    failure_ = what;
    return false;
  }

  bool next_plain(std::string_view& field) {
    const size_t begin = at_;
    for (; at_ < record_.size() && record_[at_] != grammar_.delimiter; ++at_)
      if (is_break(record_[at_]) || (grammar_.has_quotes && record_[at_] == '"'))
        return fail("has a quote or a line break, but does not begin with a quote");
    field = record_.substr(begin, at_ - begin);
    ++at_;
    return true;
  }

  bool ends_at(size_t at) const {
    return record_[at] == '"' && (at + 1 == record_.size() || record_[at + 1] == grammar_.delimiter);
  }
  bool next_quoted(std::string_view& field) {
    const size_t begin = ++at_;
    bool is_plain = true;
    for (; at_ < record_.size() && !ends_at(at_); ++at_) {
      if (record_[at_] != '"') {
        if (!is_plain) unquoted_ += record_[at_];
        continue;
      }
      if (record_[at_ + 1] != '"') return fail("has a single quote inside; it must be doubled");
      if (is_plain) unquoted_.assign(record_.substr(begin, at_ - begin));
      is_plain = false;
      unquoted_ += '"';
      ++at_;
    }
    if (at_ >= record_.size())
      return fail("has no quote at its end, before a delimiter or the end of the record");
    field = is_plain ? record_.substr(begin, at_ - begin) : std::string_view(unquoted_);
    at_ += 2;
    return true;
  }

  const std::string_view record_;
  const Grammar& grammar_;
  size_t at_ = 0;
  bool ended_ = false;
  const char* failure_ = nullptr;
  std::string unquoted_;
};

struct DecodeCsvArguments {
  std::span<const std::string> records;
  std::span<const Slot> defaults;
  std::span<Tensor> outputs;
  Grammar grammar;
};

Status check_default(size_t i, const PartialShape& shape) {
  if (!shape.known_rank() || shape.rank() == 0 || (shape.rank() == 1 && shape[0] <= 1)) return {};
  return invalid_argument("default " + std::to_string(i) + " has shape " + shape.text() +
                          "; it must be a scalar, or a vector with one element or none");
}

Status check_attributes(const Node& node) {
  const auto& delimiter = node.attrs.get<std::string>("field_delim");
  const auto& columns = node.attrs.get<std::vector<int64_t>>("select_cols");
  if (delimiter.size() != 1)
    return invalid_argument("field_delim is \"" + delimiter + "\"; it must be one character");
  if (!columns.empty() && columns.size() != node.output_types.size())
    return invalid_argument("select_cols is " + text_of(columns) + ", but there are " +
                            std::to_string(node.output_types.size()) + " outputs");
  if (!columns.empty() &&
      (columns[0] < 0 || std::ranges::adjacent_find(columns, std::ranges::greater_equal{}) != columns.end()))
    return invalid_argument("select_cols is " + text_of(columns) +
                            "; its elements must ascend and not be negative");
  return {};
}

Status decode_csv_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(check_attributes(context.node()));
  for (size_t i = 1; i < context.inputs(); ++i)
    TROUPE_RETURN_IF_FAILED(check_default(i - 1, context.input(i)));
  for (size_t i = 0; i < context.node().output_types.size(); ++i) context.set_output(i, context.input(0));
  return {};
}

Result<DecodeCsvArguments> check_decode_csv(KernelContext& context) {
  const AttrValue& columns = *context.node().attrs.find("select_cols");
  const size_t count = context.inputs() - 1;
  for (size_t i = 0; i < count; ++i) {
    TROUPE_RETURN_IF_FAILED(check_default(i, context.input(i + 1).shape()));
    TROUPE_RETURN_IF_FAILED(context.output(i, context.input(0).shape()).status());
  }
  return DecodeCsvArguments{
      context.input(0).as<std::string>(),
      context.input_slots(1, count),
      context.outputs(),
      {context.node().attrs.get<std::string>("field_delim")[0],
       context.node().attrs.get<bool>("use_quote_delim"), context.node().attrs.get<std::string>("na_value"),
       *std::get_if<std::vector<int64_t>>(&columns)}};
}

/// Writes one field; fails with the rest of a sentence that begins with the field.
Status write_csv_field(std::string_view field, const Tensor& fallback, std::string_view missing,
                       size_t record, Tensor& output) {
  Status status;
  with_type(FieldTypes{}, output.dtype(), [&]<class T>(std::type_identity<T>) {
    T& to = output.write<T>()[record];
    if (field.empty() || field == missing) {
      if (fallback.elements() == 1)
        to = fallback.as<T>()[0];
      else
        status = invalid_argument("is missing and has no default");
    } else if constexpr (std::is_same_v<T, std::string>) {
      to.assign(field);
    } else if (!parse_number(field, to)) {
      status = invalid_argument("is \"" + std::string(field) + "\", no number of type " +
                                std::string(name(output.dtype())));
    }
  });
  return status;
}

Status decode_record(const DecodeCsvArguments& arguments, size_t record) {
  const auto error = [&](const std::string& what) {
    return invalid_argument("record " + std::to_string(record) + ": " + what);
  };
  const Grammar& grammar = arguments.grammar;
  const size_t wanted = arguments.outputs.size();
  FieldScanner scanner(arguments.records[record], grammar);
  std::string_view field;
  size_t column = 0, found = 0;
  for (; scanner.next(field); ++column) {
    if (!grammar.columns.empty()) {
      if (found == wanted) return {};
      if (static_cast<size_t>(grammar.columns[found]) != column) continue;
    }
    if (found < wanted)
      if (const Status status = write_csv_field(field, arguments.defaults[found].tensor, grammar.missing,
                                                record, arguments.outputs[found]);
          !status.ok())
        return error("field " + std::to_string(column) + ' ' + status.text());
    ++found;
  }
  if (scanner.failure() && (grammar.columns.empty() || found < wanted))
    return error("field " + std::to_string(column) + ' ' + scanner.failure());
  if (found == wanted) return {};
  return error("it has " + std::to_string(column) + " fields, of which " + std::to_string(found) +
               " are taken; there must be one for each of the " + std::to_string(wanted) + " outputs");
}

Status compute_decode_csv(const DecodeCsvArguments& arguments, DeviceContext& device) {
  size_t bytes = 0;
  for (const std::string& record : arguments.records) bytes += record.size();
  const size_t cost =
      bytes / std::max<size_t>(arguments.records.size(), 1) * 8 + field_cost * arguments.outputs.size();
  return for_each_string(device.pool(), arguments.records.size(), cost,
                         [&](size_t record) { return decode_record(arguments, record); });
}

}  // namespace

void add_decode_csv(OpLibrary& library) {
  library.op(OpDefBuilder("DecodeCSV")
                 .input("records: string")
                 .input("record_defaults: OUT_TYPE")
                 .output("output: OUT_TYPE")
                 .attr("OUT_TYPE: list({float, double, int32, int64, string}) >= 1")
                 .attr("field_delim: string = ','")
                 .attr("use_quote_delim: bool = true")
                 .attr("na_value: string = ''")
                 .attr("select_cols: list(int) = []")
                 .shape(decode_csv_shape));
  library.kernel(cpu_kernel("DecodeCSV", check_decode_csv, compute_decode_csv));
}

}  // namespace troupe
