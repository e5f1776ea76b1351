#include "graph/ops/op_def_parser.h"

#include <algorithm>
#include <charconv>

namespace troupe {
namespace {

/// Reads a text from left to right and skips blanks between tokens.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) { skip_blanks(); }

  bool done() const { return text_.empty(); }
  bool take(std::string_view token) {
    if (text_.substr(0, token.size()) != token) return false;
    text_.remove_prefix(token.size());
    skip_blanks();
    return true;
  }
  /// Takes a whole word only: take_word("int") does not take the start of "integer".
  bool take_word(std::string_view word) {
    if (peek_word() != word) return false;
    return take(word);
  }
  std::string word() {
    std::string result{peek_word()};
    take(result);
    return result;
  }
  /// Takes letters, digits, signs and points: all that a number may consist of.
  std::string number() {
    size_t length = 0;
    while (length < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[length])) != 0 ||
                                     text_[length] == '-' || text_[length] == '+' || text_[length] == '.'))
      ++length;
    std::string result{text_.substr(0, length)};
    take(result);
    return result;
  }
  Result<std::string> quoted() {
    if (!take("'")) return invalid_argument("expected a quote at '" + std::string(text_) + "'");
    const size_t end = text_.find('\'');
    if (end == std::string_view::npos)
      return invalid_argument("a quote is not closed: '" + std::string(text_) + "'");
    std::string result{text_.substr(0, end)};
    text_.remove_prefix(end + 1);
    skip_blanks();
    return result;
  }
  std::string rest() const { return std::string(text_); }

 private:
  std::string_view peek_word() const {
    size_t length = 0;
    while (length < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[length])) != 0 || text_[length] == '_'))
      ++length;
    return text_.substr(0, length);
  }
  void skip_blanks() {
    while (!text_.empty() && text_.front() == ' ') text_.remove_prefix(1);
  }
  std::string_view text_;
};

Status unexpected(const Cursor& cursor) { return invalid_argument("unexpected '" + cursor.rest() + "'"); }

const std::vector<DType>& types_named(std::string_view set) {
  static const std::vector<DType> floats = {DType::Half, DType::BFloat16, DType::Float, DType::Double};
  static const std::vector<DType> reals = {DType::Half,  DType::BFloat16, DType::Float, DType::Double,
                                           DType::Int8,  DType::UInt8,    DType::Int16, DType::UInt16,
                                           DType::Int32, DType::UInt32,   DType::Int64, DType::UInt64};
  static const std::vector<DType> numbers = {DType::Half,      DType::BFloat16,  DType::Float, DType::Double,
                                             DType::Int8,      DType::UInt8,     DType::Int16, DType::UInt16,
                                             DType::Int32,     DType::UInt32,    DType::Int64, DType::UInt64,
                                             DType::Complex64, DType::Complex128};
  static const std::vector<DType> none;
  if (set == "floattype") return floats;
  if (set == "realnumbertype") return reals;
  if (set == "numbertype") return numbers;
  return none;
}

std::vector<AttrValue> as_values(const std::vector<DType>& dtypes) { return {dtypes.begin(), dtypes.end()}; }

Status parse_allowed_set(Cursor& cursor, AttrDef& attr) {
  bool strings = false;
  do {
    if (auto text = cursor.quoted(); text.ok()) {
      strings = true;
      attr.allowed.emplace_back(std::move(*text));
    } else {
      TROUPE_ASSIGN(const DType dtype, dtype_from_name(cursor.word()));
      attr.allowed.emplace_back(dtype);
    }
  } while (cursor.take(","));
  if (!cursor.take("}")) return unexpected(cursor);
  attr.kind = strings ? AttrKind::String : AttrKind::Type;
  return {};
}

Status parse_kind(Cursor& cursor, AttrDef& attr) {
  if (cursor.take("{")) return parse_allowed_set(cursor, attr);
  static constexpr std::pair<std::string_view, AttrKind> words[] = {
      {"string", AttrKind::String}, {"int", AttrKind::Int},      {"float", AttrKind::Float},
      {"bool", AttrKind::Bool},     {"type", AttrKind::Type},    {"shape", AttrKind::Shape},
      {"tensor", AttrKind::Tensor}, {"func", AttrKind::Function}};
  for (const auto& [word, kind] : words)
    if (cursor.take_word(word)) {
      attr.kind = kind;
      return {};
    }
  for (const auto* set : {"floattype", "realnumbertype", "numbertype"})
    if (cursor.take_word(set)) {
      attr.kind = AttrKind::Type;
      attr.allowed = as_values(types_named(set));
      return {};
    }
  return invalid_argument("unknown kind of attribute at '" + cursor.rest() + "'");
}

constexpr int list_offset = static_cast<int>(AttrKind::Strings);

Result<int64_t> parse_integer(Cursor& cursor) {
  const std::string digits = cursor.number();
  int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size())
    return invalid_argument("'" + digits + "' is not an integer");
  return value;
}

/// A vector of bytes.
Result<AttrValue> parse_bytes(Cursor& cursor) {
  if (!cursor.take_word("uint8") || !cursor.take("["))
    return invalid_argument("expected 'uint8 [' at '" + cursor.rest() + "'");
  std::vector<uint8_t> bytes;
  while (!cursor.take("]")) {
    TROUPE_ASSIGN(const int64_t byte, parse_integer(cursor));
    if (byte < 0 || byte > 255) return invalid_argument(std::to_string(byte) + " is not a uint8");
    bytes.push_back(static_cast<uint8_t>(byte));
    cursor.take(",");
  }
  return AttrValue(Tensor::vector<uint8_t>(bytes));
}

Result<AttrValue> parse_scalar(Cursor& cursor, AttrKind kind) {
  switch (kind) {
    case AttrKind::String: {
      TROUPE_ASSIGN(auto value, cursor.quoted());
      return AttrValue(std::move(value));
    }
    case AttrKind::Int: {
      TROUPE_ASSIGN(const int64_t value, parse_integer(cursor));
      return AttrValue(value);
    }
    case AttrKind::Float: {
      const std::string digits = cursor.number();
      char* end = nullptr;
      const float value = std::strtof(digits.c_str(), &end);
      if (digits.empty() || *end != '\0') return invalid_argument("'" + digits + "' is not a number");
      return AttrValue(value);
    }
    case AttrKind::Bool:
      if (cursor.take_word("true")) return AttrValue(true);
      if (cursor.take_word("false")) return AttrValue(false);
      return invalid_argument("expected true or false at '" + cursor.rest() + "'");
    case AttrKind::Type: {
      TROUPE_ASSIGN(const DType value, dtype_from_name(cursor.word()));
      return AttrValue(value);
    }
    case AttrKind::Shape: {
      if (cursor.take("?")) return AttrValue(PartialShape{});
      if (!cursor.take("[")) return unexpected(cursor);
      std::vector<int64_t> dims;
      while (!cursor.take("]")) {
        TROUPE_ASSIGN(const int64_t dim, parse_integer(cursor));
        dims.push_back(dim);
        cursor.take(",");
      }
      return AttrValue(PartialShape(std::move(dims)));
    }
    case AttrKind::Tensor: return parse_bytes(cursor);
    case AttrKind::Function: {
      TROUPE_ASSIGN(auto value, cursor.quoted());
      return AttrValue(FunctionName{std::move(value)});
    }
    default: return invalid_argument("a default of kind " + std::string(name(kind)) + " is not supported");
  }
}

template <class T>
Result<AttrValue> parse_list_of(Cursor& cursor, AttrKind element) {
  std::vector<T> values;
  while (!cursor.take("]")) {
    TROUPE_ASSIGN(auto value, parse_scalar(cursor, element));
    values.push_back(std::get<T>(std::move(value)));
    cursor.take(",");
    if (cursor.done()) return invalid_argument("a list is not closed");
  }
  return AttrValue(std::move(values));
}

Result<AttrValue> parse_value(Cursor& cursor, AttrKind kind) {
  if (kind < AttrKind::Strings) return parse_scalar(cursor, kind);
  if (!cursor.take("[")) return invalid_argument("expected a list at '" + cursor.rest() + "'");
  switch (kind) {
    case AttrKind::Strings: return parse_list_of<std::string>(cursor, AttrKind::String);
    case AttrKind::Ints: return parse_list_of<int64_t>(cursor, AttrKind::Int);
    case AttrKind::Floats: return parse_list_of<float>(cursor, AttrKind::Float);
    case AttrKind::Bools: return parse_list_of<bool>(cursor, AttrKind::Bool);
    case AttrKind::Types: return parse_list_of<DType>(cursor, AttrKind::Type);
    case AttrKind::Shapes: return parse_list_of<PartialShape>(cursor, AttrKind::Shape);
    default: return invalid_argument("a default of kind " + std::string(name(kind)) + " is not supported");
  }
}

}  // namespace

Status parse_attr(std::string_view spec, OpDef& def) {
  Cursor cursor(spec);
  AttrDef attr;
  attr.name = cursor.word();
  if (attr.name.empty() || !cursor.take(":")) return invalid_argument("expected 'name: kind'");
  if (def.find_attr(attr.name)) return invalid_argument("the op already has an attribute of this name");
  if (cursor.take("list(")) {
    TROUPE_RETURN_IF_FAILED(parse_kind(cursor, attr));
    if (!cursor.take(")")) return unexpected(cursor);
    attr.kind = static_cast<AttrKind>(static_cast<int>(attr.kind) + list_offset);
  } else {
    TROUPE_RETURN_IF_FAILED(parse_kind(cursor, attr));
  }
  if (cursor.take(">=")) {
    TROUPE_ASSIGN(attr.minimum, parse_integer(cursor));
  }
  if (cursor.take("=")) {
    TROUPE_ASSIGN(attr.default_value, parse_value(cursor, attr.kind));
  }
  if (!cursor.done()) return unexpected(cursor);
  def.attrs.push_back(std::move(attr));
  return {};
}

Status parse_argument(std::string_view spec, const OpDef& def, std::vector<ArgDef>& arguments) {
  Cursor cursor(spec);
  ArgDef arg;
  arg.name = cursor.word();
  if (arg.name.empty() || !cursor.take(":")) return invalid_argument("expected 'name: type'");
  arg.is_ref = cursor.take("Ref(");
  std::string type = cursor.word();
  if (cursor.take("*")) {
    arg.number_attr = type;
    const AttrDef* number = def.find_attr(type);
    if (!number || number->kind != AttrKind::Int)
      return invalid_argument("'" + type + "' is not an attribute of kind int");
    type = cursor.word();
  }
  if (arg.is_ref && !cursor.take(")")) return unexpected(cursor);
  if (!cursor.done()) return unexpected(cursor);
  if (const AttrDef* attr = def.find_attr(type)) {
    if (attr->kind == AttrKind::Type)
      arg.type_attr = type;
    else if (attr->kind == AttrKind::Types && arg.number_attr.empty())
      arg.type_list_attr = type;
    else
      return invalid_argument("attribute '" + type + "' is neither of kind type nor of kind list(type)");
  } else {
    TROUPE_ASSIGN(arg.type, dtype_from_name(type));
  }
  arguments.push_back(std::move(arg));
  return {};
}

Status parse_constructor(std::string_view spec, OpDef& def) {
  Cursor cursor(spec);
  Constructor constructor;
  constructor.name = cursor.word();
  if (constructor.name.empty() || !cursor.take("(")) return invalid_argument("expected 'name(parameters)'");
  while (!cursor.take(")")) {
    Parameter parameter;
    parameter.name = parameter.target = cursor.word();
    if (cursor.take(":")) parameter.target = cursor.word();
    const AttrDef* attr = def.find_attr(parameter.target);
    parameter.is_input = def.find_input(parameter.target).has_value();
    if (!parameter.is_input && !attr)
      return invalid_argument("'" + parameter.target + "' is neither an input nor an attribute");
    if (attr) parameter.required = !attr->default_value;
    if (cursor.take("=")) {
      parameter.required = false;
      if (cursor.take_word("all"))
        parameter.all_axes = true;
      else if (parameter.is_input) {
        TROUPE_ASSIGN(parameter.default_value, parse_value(cursor, AttrKind::Int));
      } else {
        TROUPE_ASSIGN(parameter.default_value, parse_value(cursor, attr->kind));
      }
    }
    constructor.parameters.push_back(std::move(parameter));
    if (!cursor.take(",") && !cursor.rest().starts_with(")")) return unexpected(cursor);
  }
  constructor.output = def.outputs.empty() ? -1 : 0;
  if (cursor.take("->")) {
    const auto output = def.find_output(cursor.word());
    if (!output) return invalid_argument("the output after '->' does not exist");
    constructor.output = static_cast<int>(*output);
  }
  if (!cursor.done()) return unexpected(cursor);
  def.constructors.push_back(std::move(constructor));
  return {};
}

}  // namespace troupe
