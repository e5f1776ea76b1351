// StringFormat(inputs...): the template, in which each placeholder is replaced
// by the text of the next input: as PrintV2 of TensorFlow shows tensors, "[[1
// 2]\n [3 4]]", with at most `summarize` elements at both ends of each
// dimension (all, if it is negative). Floats have as few digits as they need,
// of 6 or 9 (float64: 15 or 17). Strings stand in quotes, with C's escapes.
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "graph/build/shape_context.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/core/type_dispatch.h"

namespace troupe {
namespace {

using ShownTypes = Joined<PlainTypes, TypeList<std::string>>;

// ---- Elements

template <class T>
void append_float(T value, std::string& to) {
  std::array<char, 32> digits;
  const int few = std::numeric_limits<T>::digits10, enough = std::numeric_limits<T>::max_digits10;
  const auto write = [&](int precision) {
    return std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::general,
                         precision)
        .ptr;
  };
  char* end = write(few);
  T read{};
  std::from_chars(digits.data(), end, read);
  if (std::isfinite(value) && read != value) end = write(enough);
  to.append(digits.data(), end);
}

void append_quoted(std::string_view text, std::string& to) {
  constexpr std::string_view escaped = "\n\r\t\"'\\", letters = "nrt\"'\\";
  to += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (const size_t at = escaped.find(c); at != std::string_view::npos)
      to.append(1, '\\').append(1, letters[at]);
    else if (byte < 0x20 || byte == 0x7F)
      for (const int digit : {'\\' - '0', byte >> 6, byte >> 3 & 7, byte & 7})
        to += static_cast<char>('0' + digit);
    else
      to += c;
  }
  to += '"';
}

template <class T>
void append_element(const T& value, std::string& to) {
  if constexpr (std::is_same_v<T, std::string>) {
    append_quoted(value, to);
  } else if constexpr (std::is_same_v<T, bool>) {
    to += value ? '1' : '0';
  } else if constexpr (is_complex_type<T>) {
    to += '(';
    append_element(value.real(), to);
    to += ',';
    append_element(value.imag(), to);
    to += ')';
  } else if constexpr (std::is_integral_v<T>) {
    to += std::to_string(value);
  } else {
    append_float(static_cast<ComputeType<T>>(value), to);
  }
}

// ---- Tensors

/// Shows the elements of one tensor.
template <class T>
class Summary {
 public:
  Summary(const Tensor& tensor, int64_t summarize, std::string& to)
      : dims_(tensor.shape().dims()), elements_(tensor.as<T>()), to_(to) {
    const auto all = static_cast<int64_t>(elements_.size());
    at_ends_ = summarize < 0 ? all : std::min(summarize, all);
  }

  void show() {
    if (!dims_.empty())
      show_dimension(0, 0);
    else if (at_ends_ > 0)
      append_element(elements_[0], to_);
    else
      to_ += "...";
  }

 private:
  void show_dimension(size_t d, int64_t row) {
    const int64_t size = dims_[d];
    to_ += '[';
    const auto show_item = [&](int64_t i) {
      if (i > 0) space(d);
      if (d + 1 < dims_.size())
        show_dimension(d + 1, row * size + i);
      else
        append_element(elements_[static_cast<size_t>(row * size + i)], to_);
    };
    const int64_t front = std::min(size, at_ends_);
    for (int64_t i = 0; i < front; ++i) show_item(i);
    if (size > front && size - front > at_ends_) {
      space(d);
      to_ += "...";
    }
    for (int64_t i = std::max(front, size - at_ends_); i < size; ++i) show_item(i);
    to_ += ']';
  }
  /// Between two items of a dimension.
  void space(size_t d) {
    const size_t below = dims_.size() - d - 1;
    if (below == 0)
      to_ += ' ';
    else
      to_.append(below, '\n').append(d + 1, ' ');
  }

  std::span<const int64_t> dims_;
  std::span<const T> elements_;
  int64_t at_ends_;  ///< the number of items that are shown at each end of a
                     ///< dimension
  std::string& to_;
};

// ---- The op

/// Returns the texts around the placeholders.
std::vector<std::string_view> texts_of(const Node& node) {
  const std::string_view whole = node.attrs.get<std::string>("template"),
                         placeholder = node.attrs.get<std::string>("placeholder");
  std::vector<std::string_view> texts;
  size_t begin = 0;
  for (size_t end; (end = whole.find(placeholder, begin)) != std::string_view::npos;
       begin = end + placeholder.size())
    texts.push_back(whole.substr(begin, end - begin));
  texts.push_back(whole.substr(begin));
  return texts;
}

Status string_format_shape(ShapeContext& context) {
  const Node& node = context.node();
  if (node.attrs.get<std::string>("placeholder").empty())
    return invalid_argument("placeholder is empty; it must have at least one character");
  const size_t placeholders = texts_of(node).size() - 1;
  if (placeholders != context.inputs())
    return invalid_argument("template has " + std::to_string(placeholders) + " placeholders for " +
                            std::to_string(context.inputs()) + " inputs");
  context.set_output(0, PartialShape::scalar());
  return {};
}

struct FormatArguments {
  std::span<const Slot> inputs;
  const Node& node;
  std::string& output;
};

Result<FormatArguments> check_format(KernelContext& context) {
  TROUPE_ASSIGN(Tensor* const output, context.output(0, Shape{}));
  return FormatArguments{context.input_slots(0, context.inputs()), context.node(),
                         output->write<std::string>()[0]};
}

Status compute_format(const FormatArguments& arguments, DeviceContext&) {
  const auto summarize = arguments.node.attrs.get<int64_t>("summarize");
  const auto texts = texts_of(arguments.node);
  std::string& to = arguments.output;
  to = texts[0];
  for (size_t i = 0; i < arguments.inputs.size(); ++i) {
    const Tensor& tensor = arguments.inputs[i].tensor;
    const bool is_shown = with_type(ShownTypes{}, tensor.dtype(), [&]<class T>(std::type_identity<T>) {
      Summary<T>(tensor, summarize, to).show();
    });
    if (!is_shown)
      return invalid_argument("inputs[" + std::to_string(i) + "] is " + std::string(name(tensor.dtype())) +
                              ", which cannot be shown as text");
    to += texts[i + 1];
  }
  return {};
}

}  // namespace

void add_string_format(OpLibrary& library) {
  library.op(OpDefBuilder("StringFormat")
                 .input("inputs: T")
                 .output("output: string")
                 .attr("T: list(type) >= 0")
                 .attr("template: string = '%s'")
                 .attr("placeholder: string = '%s'")
                 .attr("summarize: int = 3")
                 .constructor("string_format(inputs, text: template, placeholder, summarize)")
                 .shape(string_format_shape)
                 .not_differentiable());
  library.kernel(cpu_kernel("StringFormat", check_format, compute_format));
}

}  // namespace troupe
