#include "apps/config/data_keys.h"

namespace troupe::config {
namespace {

/// Returns the options of the format that the document sets.
data::FormatOptions read_format_options(const Reader& data, const data::Format& format) {
  data::FormatOptions options;
  for (const Key& key : format.keys) {
    const std::string name(key.path.substr(key.path.rfind('.') + 1));
    if (const auto flag = data.optional<bool>(name)) options[name] = *flag;
    if (const auto integer = data.optional<int64_t>(name)) options[name] = *integer;
    if (const auto number = data.optional<double>(name)) options[name] = *number;
    const bool is_list = key.kind == Kind::Strings || key.kind == Kind::Columns;
    if (auto texts = is_list ? data.list<std::string>(name) : std::vector<std::string>(); !texts.empty())
      options[name] = std::move(texts);
    else if (auto text = data.optional<std::string>(name))
      options[name] = std::move(*text);
  }
  return options;
}

/// Returns nothing for "auto".
std::optional<Compression> read_compression(const std::string& name) {
  if (name == "gzip") return Compression::Gzip;
  if (name == "zlib") return Compression::Zlib;
  if (name == "zstd") return Compression::Zstd;
  return name == "none" ? std::optional(Compression::None) : std::nullopt;
}

data::Standardize standardize_named(const std::string& name) {
  if (name == "lower") return data::Standardize::Lower;
  return name == "lower_and_strip_punctuation" ? data::Standardize::LowerWithoutPunctuation
                                               : data::Standardize::None;
}

}  // namespace

data::Options read_data(const Reader& data) {
  data::Options options;
  options.format = data.string("format");
  if (const auto format = data::find_format(options.format))
    options.format_options = read_format_options(data, *format);
  options.compression = read_compression(data.string("compression"));
  options.train = data.list<std::string>("train");
  options.train_labels = data.list<std::string>("train_labels");
  const Reader valid = data.table("valid");
  options.valid = valid.list<std::string>("files");
  options.valid_labels = valid.list<std::string>("labels");
  options.valid_split = valid.get<double>("split");
  options.valid_fold = valid.get<int64_t>("fold");
  options.stratify = valid.get<bool>("stratify");
  options.test = data.table("test").list<std::string>("files");
  options.test_labels = data.table("test").list<std::string>("labels");
  if (const Reader window = data.table("window"); data.has("window"))
    options.window = {window.get<int64_t>("length"), window.get<int64_t>("ahead"), window.string("label"),
                      window.string("series")};
  options.scale = data.optional<double>("scale").value_or(1);
  options.stream = data.string("read") == "stream";
  if (options.stream) options.buffer = data.get<int64_t>("buffer");
  data.table("inputs").each([&](const std::string& name, SourceLocation, const Value& value) {
    const Reader input(value.get_if<Table>());
    data::Input out{name, input.string("from"), {}, DType::Invalid};
    if (out.from.empty()) out.from = name;
    if (input.has("shape")) out.shape = input.list<int64_t>("shape");
    if (input.has("cast")) out.cast = *dtype_from_name(input.string("cast"));
    options.inputs.push_back(std::move(out));
  });
  return options;
}

std::vector<data::RaggedColumn> read_ragged(const Reader& table) {
  std::vector<data::RaggedColumn> out;
  table.each([&](const std::string& name, SourceLocation, const Value& value) {
    const Reader column(value.get_if<Table>());
    const std::string from = column.string("from");
    const auto dtype = dtype_from_name(column.string("dtype"));  // fails if the value was rejected
    const std::string feature = column.string("feature");
    const char* const source = feature.empty() ? data::text_column : data::feature_column;
    out.push_back({name, from.empty() ? source : from, dtype ? *dtype : DType::Int32,
                   column.list<std::string>("vocabulary"), feature,
                   column.has("pad") ? std::optional(column.get<double>("pad")) : std::nullopt,
                   column.get<int64_t>("most_words"), column.list<std::string>("words"),
                   standardize_named(column.string("standardize")), column.get<int64_t>("max_length")});
  });
  return out;
}

}  // namespace troupe::config
