#include "tests/op_fuzz/random_values.h"

#include <cstring>
#include <limits>

#include "tests/support/ops/op_case.h"

namespace troupe::fuzz {
namespace {

using test::converted;

PartialShape random_partial_shape(Choices& choices, std::span<const int64_t> sizes) {
  if (choices.once_in(6)) return {};
  std::vector<int64_t> dims(choices.below(7));
  for (int64_t& dim : dims) dim = std::max(random_integer(choices, sizes), unknown_dim);
  return PartialShape(std::move(dims));
}

float random_float(Choices& choices) { return static_cast<float>(random_number(choices)); }

int64_t random_int(Choices& choices, const AttrDef& attr, int64_t old, std::span<const int64_t> sizes) {
  switch (choices.below(4)) {
    case 0: return old == INT64_MAX ? old : old + 1;
    case 1: return attr.minimum.value_or(1);
    case 2: return attr.minimum && choices.once_in(2) ? *attr.minimum - 1 : random_integer(choices, sizes);
    default: return random_integer(choices, sizes);
  }
}

std::string random_string(Choices& choices, const AttrDef& attr) {
  if (!attr.allowed.empty() && !choices.once_in(8))
    if (const auto* text = std::get_if<std::string>(&choices.pick(attr.allowed))) return *text;
  return random_text(choices);
}

/// Changes one element of a list, or its length.
template <class T, class Element>
std::vector<T> changed(Choices& choices, const AttrValue* old, const Element& element) {
  const auto* const list = old ? std::get_if<std::vector<T>>(old) : nullptr;
  std::vector<T> result = list ? *list : std::vector<T>();
  switch (result.empty() ? 1 : choices.below(6)) {
    case 0: result.pop_back(); break;
    case 1: result.insert(result.end(), 1 + choices.below(5), element()); break;
    case 2: result.clear(); break;
    default: result[choices.below(result.size())] = element(); break;
  }
  return result;
}

AttrValue random_list(Choices& choices, const AttrDef& attr, const AttrValue* old,
                      std::span<const int64_t> sizes) {
  switch (attr.kind) {
    case AttrKind::Strings:
      return changed<std::string>(choices, old, [&] { return random_string(choices, attr); });
    case AttrKind::Ints:
      return changed<int64_t>(choices, old, [&] { return random_int(choices, attr, 1, sizes); });
    case AttrKind::Floats: return changed<float>(choices, old, [&] { return random_float(choices); });
    case AttrKind::Bools: return changed<bool>(choices, old, [&] { return choices.once_in(2); });
    case AttrKind::Types: return changed<DType>(choices, old, [&] { return random_type(choices, &attr); });
    case AttrKind::Shapes:
      return changed<PartialShape>(choices, old, [&] { return random_partial_shape(choices, sizes); });
    default: return std::vector<Tensor>();
  }
}

}  // namespace

int64_t random_integer(Choices& choices, std::span<const int64_t> sizes) {
  static constexpr int64_t edges[] = {INT64_MAX,
                                      INT64_MIN,
                                      INT32_MAX,
                                      INT32_MIN,
                                      int64_t{1} << 31,
                                      int64_t{1} << 32,
                                      int64_t{1} << 40,
                                      int64_t{1} << 62,
                                      -(int64_t{1} << 31) - 1,
                                      1 << 24,
                                      100'000,
                                      255,
                                      256,
                                      -128,
                                      65535,
                                      1000};
  switch (choices.below(8)) {
    case 0: return choices.pick(edges);
    case 1:
    case 2:
      if (!sizes.empty()) {
        const int64_t size = choices.pick(sizes);
        return choices.once_in(3) ? size - 1 : choices.once_in(3) ? -size : size;
      }
      [[fallthrough]];
    default: return static_cast<int64_t>(choices.below(7)) - 1;
  }
}

double random_number(Choices& choices) {
  using Limits = std::numeric_limits<double>;
  static constexpr double edges[] = {0,
                                     -0.0,
                                     Limits::quiet_NaN(),
                                     Limits::infinity(),
                                     -Limits::infinity(),
                                     5e-324,
                                     1e-310,
                                     1e-40,
                                     -1e-40,
                                     1e300,
                                     -1e300,
                                     3.4e38,
                                     65504,
                                     1e-8,
                                     1e18,
                                     2147483648.0,
                                     -1e18,
                                     1e6,
                                     0.5,
                                     -0.5};
  if (choices.once_in(4)) return choices.pick(edges);
  return static_cast<double>(choices.below(25)) / 2 - 4;
}

std::string random_text(Choices& choices) {
  static const std::string texts[] = {"",      "a",        "SAME",     "VALID",
                                      "NHWC",  "NCHW",     "EXPLICIT", "1",
                                      "-1",    "1e99",     "nan",      "x y",
                                      "%s%n",  "\xc3\xa9", "\xff\xfe", std::string(3, '\0'),
                                      "ab,cd", "REFLECT",  "min_max",  std::string(300, 'b')};
  return choices.pick(texts);
}

DType random_type(Choices& choices, const AttrDef* attr) {
  if (attr && !attr->allowed.empty() && !choices.once_in(16))
    if (const auto* dtype = std::get_if<DType>(&choices.pick(attr->allowed))) return *dtype;
  return static_cast<DType>(1 + choices.below(static_cast<uint64_t>(DType::UInt64)));
}

bool is_small(DType dtype, std::span<const int64_t> dims) {
  const auto shape = Shape::make(dims, dtype);
  return shape &&
         shape->elements() * static_cast<int64_t>(std::max<size_t>(size_of(dtype), 1)) < tensor_bytes;
}

Shape random_shape(Choices& choices, DType dtype, std::span<const int64_t> sizes) {
  std::vector<int64_t> dims(choices.below(7));
  for (int64_t& dim : dims) {
    dim = sizes.empty() || choices.once_in(4) ? static_cast<int64_t>(choices.below(5)) : choices.pick(sizes);
    if (choices.once_in(60)) dim = int64_t{1} << choices.below(40);
  }
  while (!is_small(dtype, dims)) dims.pop_back();
  return value_or_throw(Shape::make(dims, dtype));
}

Tensor random_tensor(Choices& choices, DType dtype, const Shape& shape, std::span<const int64_t> sizes) {
  if (dtype == DType::Resource || dtype == DType::Invalid) dtype = DType::Float;
  Tensor tensor = value_or_throw(Tensor::allocate(dtype, shape));
  if (dtype == DType::Variant || shape.elements() == 0) return tensor;
  if (dtype != DType::String) std::memset(tensor.mutable_data(), 0, tensor.bytes());
  const auto elements = static_cast<size_t>(shape.elements());
  const bool counts = choices.once_in(3);
  std::vector<double> values;
  for (size_t i = 0; i < elements; ++i)
    values.push_back(counts   ? static_cast<double>(i)
                     : i < 32 ? static_cast<double>(choices.below(8))
                              : values[i - 32]);
  tensor = converted(Tensor::of<double>(shape, std::span<const double>(values)), dtype);
  for (uint64_t changes = choices.below(4); changes > 0; --changes)
    set_random_element(choices, tensor, sizes);
  return tensor;
}

void set_random_element(Choices& choices, Tensor& tensor, std::span<const int64_t> sizes) {
  const auto element = static_cast<size_t>(choices.below(static_cast<uint64_t>(tensor.elements())));
  const DType dtype = tensor.dtype();
  if (dtype == DType::String) {
    tensor.write<std::string>()[element] = random_text(choices);
  } else if (is_plain(dtype)) {
    const Tensor value = is_floating(dtype) || is_complex(dtype)
                             ? converted(Tensor::scalar(random_number(choices)), dtype)
                             : converted(Tensor::scalar(random_integer(choices, sizes)), dtype);
    std::memcpy(tensor.mutable_data() + element * size_of(dtype), value.data(), size_of(dtype));
  }
}

AttrValue random_attribute(Choices& choices, const AttrDef& attr, const AttrValue* value,
                           std::span<const int64_t> sizes) {
  const auto* const integer = value ? std::get_if<int64_t>(value) : nullptr;
  switch (attr.kind) {
    case AttrKind::String: return random_string(choices, attr);
    case AttrKind::Int: return random_int(choices, attr, integer ? *integer : 1, sizes);
    case AttrKind::Float: return random_float(choices);
    case AttrKind::Bool: return choices.once_in(2);
    case AttrKind::Type: return random_type(choices, &attr);
    case AttrKind::Shape: return random_partial_shape(choices, sizes);
    case AttrKind::Tensor: {
      const DType dtype = random_type(choices, nullptr);
      return random_tensor(choices, dtype, random_shape(choices, dtype, sizes), sizes);
    }
    case AttrKind::Function: return FunctionName{"f"};
    default: return random_list(choices, attr, value, sizes);
  }
}

}  // namespace troupe::fuzz
