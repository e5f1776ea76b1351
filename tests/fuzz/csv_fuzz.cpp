// Whatever the bytes are, reading them as rows of numbers ends with records or a Status. For libFuzzer (tests/fuzz/CMakeLists.txt).
#include "tests/fuzz/read_records.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {  // NOLINT: libFuzzer's name
  troupe::test::read_records("csv", {reinterpret_cast<const char*>(data), size});
  return 0;
}
