// AsString(input): each element as text, in the notation of C's printf.
//   integers              decimal
//   floats                with `precision` (6) digits behind the point; with `scientific` in the form d.ddde+dd; with `shortest` as
//                         %g, where precision is the number of significant digits
//   complex               (real,imaginary), each as a float
//   bool                  true or false
//   string                itself; with a positive width and a `precision`, at most so many bytes of it, as %s
// `width` is the least number of characters, filled up with spaces; not of bools. `fill` is a flag of printf: '0' fills up with
// zeros, '-' puts the spaces behind, '+' and ' ' stand before numbers that are not negative, '#' keeps the point.
#include <array>
#include <charconv>
#include <cmath>
#include <complex>

#include "graph/build/shape_context.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/ops/strings/elements.h"

namespace troupe {
namespace {

using ShownTypes = Joined<PlainTypes, TypeList<std::string>>;

/// Of width and precision, so that no attribute asks for any amount of memory.
constexpr int64_t most_characters = 4096;

/// How numbers are shown.
struct NumberFormat {
  char flag = 0;  ///< one of "0-+ #", or 0
  size_t width = 0;
  int precision = 6;
  char notation = 'f';             ///< f, e or g, as in printf
  size_t most_of_text = SIZE_MAX;  ///< the maximum number of bytes of a string
};

/// Appends a sign (or none, '\0') and digits, filled up to the width.
void append_filled(const NumberFormat& format, char sign, std::string_view digits, bool takes_zeros,
                   std::string& to) {
  const size_t size = digits.size() + (sign != '\0');
  const size_t missing = format.width > size ? format.width - size : 0;
  const bool zeros = format.flag == '0' && takes_zeros, behind = format.flag == '-';
  if (!zeros && !behind) to.append(missing, ' ');
  if (sign != '\0') to += sign;
  if (zeros) to.append(missing, '0');
  to += digits;
  if (behind) to.append(missing, ' ');
}

char sign_of(const NumberFormat& format, bool is_negative) {
  if (is_negative) return '-';
  return format.flag == '+' || format.flag == ' ' ? format.flag : '\0';
}

/// The digits of one float: at most 309 before the point, the point, the digits behind it, and an exponent.
using Digits = std::array<char, 309 + 1 + most_characters + 8>;

char* write_digits(const NumberFormat& format, double value, Digits& digits) {
  char *const begin = digits.data(), *const end = begin + digits.size();
  const bool keeps_point = format.flag == '#';
  const auto fixed = [&](int precision) {
    return std::to_chars(begin, end, value, std::chars_format::fixed, precision).ptr;
  };
  const auto scientific = [&](int precision) {
    return std::to_chars(begin, end, value, std::chars_format::scientific, precision).ptr;
  };
  if (format.notation == 'f') return fixed(format.precision);
  if (format.notation == 'e') return scientific(format.precision);
  if (!keeps_point) return std::to_chars(begin, end, value, std::chars_format::general, format.precision).ptr;
  // %#g is %g with the zeros at the end, so it is %e or %f, according to the exponent after rounding.
  const int significant = std::max(format.precision, 1);
  char* const after = scientific(significant - 1);
  int exponent = 0;
  const char* const mark = std::find(begin, after, 'e');
  std::from_chars(mark + (mark[1] == '+' ? 2 : 1), after, exponent);
  return exponent < -4 || exponent >= significant ? after : fixed(significant - 1 - exponent);
}

void append_float(const NumberFormat& format, double value, std::string& to) {
  const char sign = sign_of(format, std::signbit(value));
  value = std::fabs(value);
  if (!std::isfinite(value)) return append_filled(format, sign, std::isnan(value) ? "nan" : "inf", false, to);
  Digits digits;
  char* end = write_digits(format, value, digits);
  if (format.flag == '#' && std::find(digits.data(), end, '.') == end) {
    char* const mark = std::find(digits.data(), end, 'e');
    std::move_backward(mark, end, end + 1);
    *mark = '.';
    ++end;
  }
  append_filled(format, sign, {digits.data(), end}, true, to);
}

template <class T>
void append_integer(const NumberFormat& format, T value, std::string& to) {
  std::array<char, 24> digits{};
  const char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  const bool is_negative = digits[0] == '-';
  const char sign = std::is_signed_v<T> ? sign_of(format, is_negative) : '\0';
  append_filled(format, sign, {digits.data() + is_negative, end}, true, to);
}

template <class T>
void append(const NumberFormat& format, const T& value, std::string& to) {
  if constexpr (std::is_same_v<T, std::string>) {
    append_filled(format, '\0', std::string_view(value).substr(0, format.most_of_text), false, to);
  } else if constexpr (std::is_same_v<T, bool>) {
    to += value ? "true" : "false";
  } else if constexpr (is_complex_type<T>) {
    to += '(';
    append_float(format, static_cast<double>(value.real()), to);
    to += ',';
    append_float(format, static_cast<double>(value.imag()), to);
    to += ')';
  } else if constexpr (std::is_integral_v<T>) {
    append_integer(format, value, to);
  } else {
    append_float(format, static_cast<double>(static_cast<ComputeType<T>>(value)), to);
  }
}

bool has_notation(DType dtype) { return is_floating(dtype) || is_complex(dtype) || dtype == DType::String; }

Result<NumberFormat> format_of(const Node& node) {
  const auto& attrs = node.attrs;
  const bool scientific = attrs.get<bool>("scientific"), shortest = attrs.get<bool>("shortest");
  const auto width = attrs.get<int64_t>("width"), precision = attrs.get<int64_t>("precision");
  const auto& fill = attrs.get<std::string>("fill");
  const DType dtype = attrs.get<DType>("T");
  if ((scientific || shortest || precision >= 0) && !has_notation(dtype))
    return invalid_argument("input is " + std::string(name(dtype)) +
                            ", which takes no scientific, no shortest and no precision");
  if (scientific && shortest) return invalid_argument("scientific and shortest are both set");
  if (fill.size() > 1 || std::string_view("0-+ #").find(fill) == std::string_view::npos)
    return invalid_argument("fill is " + quoted(fill) + ", expected nothing or one of '0' '-' '+' ' ' '#'");
  if (width > most_characters || precision > most_characters)
    return invalid_argument("width is " + std::to_string(width) + " and precision " +
                            std::to_string(precision) + "; at most " + std::to_string(most_characters) +
                            " is allowed");
  const bool cuts_text = width > 0 && precision >= 0;
  return NumberFormat{fill.empty() ? '\0' : fill[0], static_cast<size_t>(std::max<int64_t>(width, 0)),
                      precision < 0 ? 6 : static_cast<int>(precision),
                      shortest     ? 'g'
                      : scientific ? 'e'
                                   : 'f',
                      cuts_text ? static_cast<size_t>(precision) : SIZE_MAX};
}

Status as_string_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(format_of(context.node()).status());
  return unchanged_shape(context);
}

class AsStringCompute {
 public:
  explicit AsStringCompute(const NumberFormat& format) : format_(format) {}
  void operator()(const ElementsArguments& arguments, DeviceContext& device) const {
    const auto y = arguments.y.write<std::string>();
    with_type(ShownTypes{}, arguments.x.dtype(), [&]<class T>(std::type_identity<T>) {
      const auto x = arguments.x.as<T>();
      for_each_element(device.pool(), x.size(), 4 * string_cost,
                       [&](size_t i) { append(format_, x[i], y[i]); });
    });
  }

 private:
  NumberFormat format_;
};

}  // namespace

void add_as_string(OpLibrary& library) {
  library.op(OpDefBuilder("AsString")
                 .input("input: T")
                 .output("output: string")
                 .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, "
                       "uint64, complex64, complex128, bool, string}")
                 .attr("precision: int = -1")
                 .attr("scientific: bool = false")
                 .attr("shortest: bool = false")
                 .attr("width: int = -1")
                 .attr("fill: string = ''")
                 .constructor("as_string(input, precision, scientific, shortest, width, fill)")
                 .shape(as_string_shape)
                 .not_differentiable());
  library.kernel(
      kernel_on("CPU", "AsString", [](const PrepareContext& context) -> Result<std::unique_ptr<Kernel>> {
        TROUPE_ASSIGN(const NumberFormat format, format_of(context.node));
        return make_kernel(check_elements, AsStringCompute(format));
      }));
}

}  // namespace troupe
