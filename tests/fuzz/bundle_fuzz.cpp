// Whatever the bytes are, reading them as the index of a checkpoint of TensorFlow's ends with its entries or a Status. For
// libFuzzer (tests/fuzz/CMakeLists.txt).
#include "messages/tensor_files/bundle_index.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {  // NOLINT: libFuzzer's name
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  static_cast<void>(troupe::BundleIndex::parse(bytes, "fuzz.index"));
  return 0;
}
