// Whatever the bytes are, reading them as NumPy's files ends with arrays or a Status, and what was read can be written and read
// again. For libFuzzer (tests/fuzz/CMakeLists.txt).
#include "apps/data/arrays/npy.h"
#include "apps/data/arrays/npz.h"
#include "tests/fuzz/read_records.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {  // NOLINT: libFuzzer's name
  using namespace troupe;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const char* format : {"npy", "npz"}) test::read_records(format, bytes);
  static_cast<void>(data::read_npz(bytes, "fuzz.npz"));
  const auto array = data::read_npy(bytes, "fuzz.npy");
  if (!array) return 0;
  const auto again = data::read_npy(*data::write_npy(*array), "again.npy");
  if (!again || !identical(*again, *array)) __builtin_trap();
  return 0;
}
