// The values of JSON in requests, as the elements of tensors, and the places of mistakes in them. What clients send is not trusted.
// Included by the parsers of requests alone. Functions without state; any thread.
#pragma once

#include <simdjson.h>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "apps/data/numbers.h"
#include "apps/inference/model.h"
#include "apps/runs/table_objects.h"
#include "kernels/core/type_dispatch.h"

namespace troupe::serve {

using simdjson::dom::element;

/// The types of the elements that JSON has values of.
using RequestTypes = Joined<RealTypes, TypeList<bool, std::string>>;
template <class T>
inline constexpr bool is_floating_type = std::is_floating_point_v<ComputeType<T>>;

/// simdjson counts the elements of a list no further than this.
inline constexpr int64_t longest_list = 0xFFFFFF - 1;

/// What is wrong with a value, and where it is: "instances[3].image[0]".
struct Mistake {
  std::string place, what;
};
using Checked = std::optional<Mistake>;

/// Puts a place before that of a mistake, if there is one.
Checked within(const std::string& place, Checked mistake);
/// Returns "[3]".
std::string at(size_t index);
/// Returns InvalidArgument with a mistake below the place `root`; ok if there is none.
Status status_of(const std::string& root, const Checked& mistake);
/// Returns that a list has more than longest_list elements.
Mistake too_long();

/// Returns what a value is, for errors: "the number 3".
std::string kind_of(element value);
/// Returns dtype and shape: "float[?,2]".
std::string text_of(const ModelTensor& tensor);
/// Returns names, dtypes and shapes: "n (int32[?]), x (float[?,2])".
std::string text_of(const std::vector<ModelTensor>& tensors);

/// Returns the member of this name; nothing if the value is no object or has none.
std::optional<element> member(element value, std::string_view name);
/// Returns the bytes of {"b64": "..."}; nothing if the value is no such object.
std::optional<std::string> bytes_of(element value);
/// Returns the name of the signature that a request names at a place; Model::predict if it names none. Fails with InvalidArgument
/// if the value is no text.
Result<std::string> signature_name(const std::optional<element>& given, const std::string& place);

/// Reads a value as an element of a tensor. Returns false if it is none of this type.
template <class T>
bool read(element value, T& to) {
  if constexpr (std::is_same_v<T, std::string>) {
    std::string_view text;
    if (value.get(text) == simdjson::SUCCESS) {
      to = text;
      return true;
    }
    auto bytes = bytes_of(value);
    if (bytes) to = std::move(*bytes);
    return bytes.has_value();
  } else if constexpr (std::is_same_v<T, bool>) {
    return value.get(to) == simdjson::SUCCESS;
  } else if constexpr (is_floating_type<T>) {
    double number = 0;
    if (value.get(number) != simdjson::SUCCESS) return false;
    to = static_cast<T>(static_cast<ComputeType<T>>(number));
    return std::isfinite(static_cast<ComputeType<T>>(to));
  } else {
    std::conditional_t<std::is_same_v<T, uint64_t>, uint64_t, int64_t> number = 0;
    if (value.get(number) != simdjson::SUCCESS || !std::in_range<T>(number)) return false;
    to = static_cast<T>(number);
    return true;
  }
}

/// Returns what stands for null in an input; nothing if the type T does not have it.
template <class T>
std::optional<T> gap_of(const runs::TableInput& input) {
  if constexpr (std::is_same_v<T, std::string>)
    return std::string();
  else if constexpr (std::is_floating_point_v<T>)
    return data::rounded_number<T>(input.gap);
  else if constexpr (std::is_same_v<T, int32_t> || std::is_same_v<T, int64_t>)
    return data::whole_number<T>(input.gap);
  else
    return {};  // inputs of run files have no other types
}

/// Stores values as the elements of an input, in their order. `table` is what is known of the input, or null; `rule` says in errors
/// why a list must have its length.
template <class T>
class Elements {
 public:
  Elements(Tensor& input, const runs::TableInput* table, const char* rule)
      : begin_(input.write<T>().data()), to_(begin_), width_(width_of(input)), table_(table), rule_(rule) {}

  /// Stores nested lists of the given dimensions.
  Checked store(element value, std::span<const int64_t> dims) {
    if (dims.empty()) return store(value);
    simdjson::dom::array list;
    if (value.get(list) != simdjson::SUCCESS)
      return Mistake{"", "expected a list of " + std::to_string(dims[0]) + ", found " + kind_of(value)};
    size_t count = 0;
    for (const element item : list) {
      if (count == static_cast<size_t>(dims[0])) break;
      if (Checked mistake = store(item, dims.subspan(1))) return within(at(count), std::move(mistake));
      ++count;
    }
    if (count != static_cast<size_t>(dims[0]) || list.size() != count)
      return Mistake{"", "expected a list of " + std::to_string(dims[0]) + ", " + rule_ + ", found one of " +
                             std::to_string(list.size())};
    return {};
  }

 private:
  /// Returns the number of elements of a row.
  static size_t width_of(const Tensor& input) {
    const int64_t rows = input.shape().rank() == 0 ? 1 : std::max<int64_t>(1, input.shape()[0]);
    return static_cast<size_t>(std::max<int64_t>(1, input.elements() / rows));
  }

  Checked store(element value) {
    if (value.is_null() && table_ && table_->takes_gaps) {
      if (const auto gap = gap_of<T>(*table_)) {
        *to_++ = *gap;
        return {};
      }
    }
    if (read(value, *to_++)) return {};
    std::string what = "expected a " + std::string(name(dtype_of<T>)) + ", found " + kind_of(value);
    if (value.is_number() && !std::is_same_v<T, std::string> && !std::is_same_v<T, bool>)
      what += is_floating_type<T> || !value.is_double() ? ", which is out of range" : "";
    if (!table_) return Mistake{"", what};
    if (const size_t number = static_cast<size_t>(to_ - 1 - begin_) % width_; number < table_->columns.size())
      what += ", for column '" + table_->columns[number] + '\'';
    if (value.is_null() && !table_->takes_gaps)
      what += "; the model takes no gaps here, because " + table_->advice;
    return Mistake{"", what};
  }

  T* const begin_;
  T* to_;
  const size_t width_;  ///< of a row
  const runs::TableInput* const table_;
  const char* const rule_;
};

/// Parses bodies. It keeps the memory that small ones take for the next ones. One thread at a time.
class BodyParser {
 public:
  /// Returns what `make` makes of the object that the first `bytes` bytes of a body are; the object exists during the call. Fails
  /// with InvalidArgument if they are no object, with ResourceExhausted if there is no memory for it, and with what `make` returns
  /// or throws.
  template <class Made, class Make>
  Result<Made> make(const std::string& body, size_t bytes, const Make& make) {
    Result<Made> made = make_of(parse(body, bytes), make);
    shrink();
    return made;
  }

 private:
  template <class Make>
  static auto make_of(const Result<element>& root, const Make& make) -> decltype(make(*root)) try {
    if (!root) return root.status();
    return make(*root);
  } catch (const Error& error) {
    return error.status();
  } catch (const simdjson::simdjson_error& error) {
    return not_json(error.what());
  }
  static Status not_json(const std::string& why);
  Result<element> parse(const std::string& body, size_t bytes);
  /// Gives back the memory that a large body took, which is several times as much as its text.
  void shrink();

  simdjson::dom::parser parser_;
};

}  // namespace troupe::serve
