// Tensors of every type that files may hold: for tests of files of tensors. Test code.
#pragma once

#include <complex>
#include <cstring>
#include <map>
#include <string>

#include "messages/values/tensor.h"

namespace troupe::test {

template <class T>
Tensor with_bits(std::initializer_list<int> values) {
  Tensor tensor = value_or_throw(Tensor::allocate(dtype_of<T>, Shape{static_cast<int64_t>(values.size())}));
  std::byte* at = tensor.mutable_data();
  std::memset(at, 0, tensor.bytes());
  for (const int value : values) {
    *at = static_cast<std::byte>(value);
    at[sizeof(T) - 1] |= static_cast<std::byte>(value & 0x80);  // some are negative
    at += sizeof(T);
  }
  return tensor;
}

/// By their names; strings, scalars and empty tensors are among them.
inline std::map<std::string, Tensor> stored_samples() {
  std::map<std::string, Tensor> samples = {
      {"scalar", Tensor::scalar(1.5f)},
      {"nothing", Tensor::of<double>(Shape{0, 4}, {})},
      {"words",
       Tensor::of<std::string>(Shape{2, 2}, {"a", "", std::string("\0\xff", 2), std::string(70'000, 'x')})},
      {"no words", Tensor::of<std::string>(Shape{0}, {})},
      {"flags", Tensor::vector<bool>({true, false, true})}};
  const auto add = [&]<class T>(T) {
    samples[std::string(name(dtype_of<T>))] = with_bits<T>({1, 0x7f, 0x80, 0, 0xff});
  };
  add(float());
  add(double());
  add(int32_t());
  add(uint8_t());
  add(int16_t());
  add(int8_t());
  add(std::complex<float>());
  add(int64_t());
  add(QInt8());
  add(QUInt8());
  add(QInt32());
  add(QInt16());
  add(QUInt16());
  add(BFloat16());
  add(uint16_t());
  add(std::complex<double>());
  add(Half());
  add(uint32_t());
  add(uint64_t());
  return samples;
}

}  // namespace troupe::test
