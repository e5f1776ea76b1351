// Whatever the bytes are, reading them as an IDX file ends with a tensor or a Status. For libFuzzer (tests/fuzz/CMakeLists.txt).
#include "apps/data/formats/idx.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {  // NOLINT: libFuzzer's name
  using namespace troupe;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  static_cast<void>(data::parse_idx_features(bytes, "fuzz.idx", 0.5));
  static_cast<void>(data::parse_idx_labels(bytes, "fuzz.idx"));
  return 0;
}
