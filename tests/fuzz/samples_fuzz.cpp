// Whatever the bytes are, reading them as the header of a cache, as its samples, or as Examples ends with samples or with a
// Status. For libFuzzer (tests/fuzz/CMakeLists.txt).
#include "apps/data/cache/stored_samples.h"
#include "apps/data/convert/examples.h"

namespace troupe::data {
namespace {

void check_cache(std::string_view bytes) {
  const auto header = parse_cache_header(bytes);
  if (header && to_bytes(*header) != bytes) __builtin_trap();
  const Dataset columns({{"x", value_or_throw(Tensor::allocate(DType::Float, Shape{0, 2}))},
                         {"b", value_or_throw(Tensor::allocate(DType::Bool, Shape{0}))},
                         {"s", value_or_throw(Tensor::allocate(DType::String, Shape{0}))}});
  const auto samples = parse_samples(bytes, columns);
  if (samples && to_bytes(*samples) != bytes) __builtin_trap();
}

void check_example(std::string_view bytes) {
  const auto columns = columns_of_example(bytes);
  if (!columns) return;
  const std::string records[] = {std::string(bytes)};
  const auto samples = parse_examples(records, *columns);
  if (!samples) return;
  const auto again = to_example(*samples, 0);
  if (!again || !columns_of_example(*again)) __builtin_trap();
}

}  // namespace
}  // namespace troupe::data

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {  // NOLINT: libFuzzer's name
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  troupe::data::check_cache(bytes);
  troupe::data::check_example(bytes);
  return 0;
}
