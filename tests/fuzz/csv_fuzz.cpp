// Whatever the bytes are, reading them as rows of numbers ends with samples or a Status. For libFuzzer (tests/fuzz/CMakeLists.txt).
#include "apps/data/formats/csv.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {  // NOLINT: libFuzzer's name
  using namespace troupe;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const DType label : {DType::Int32, DType::Float}) {
    const auto samples = data::parse_csv(text, "fuzz.csv", {}, label);
    if (samples && samples->labels.valid() && samples->labels.shape()[0] != samples->features.shape()[0])
      __builtin_trap();
  }
  return 0;
}
