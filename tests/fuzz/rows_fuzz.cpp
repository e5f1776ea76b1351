// Whatever the bytes are, parsing them as lines and as rows, of numbers or of a feature of an Example, ends with elements or a
// Status, and the length of a row is that of the padded column. For libFuzzer (tests/fuzz/CMakeLists.txt).
#include "apps/data/ragged/row_parser.h"
#include "messages/env/real_disk.h"
#include "tests/fuzz/read_records.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {  // NOLINT: libFuzzer's name
  using namespace troupe;
  const std::string text(reinterpret_cast<const char*>(data), size);
  test::read_records("lines", text);
  Tensor strings = value_or_throw(Tensor::allocate(DType::String, Shape{2}));
  strings.write<std::string>()[0] = text;
  RealDisk disk;
  for (const std::string feature : {"", "x"})
    for (const DType dtype : {DType::Float, DType::Double, DType::Int32, DType::Int64}) {
      const auto parser =
          value_or_throw(data::RowParser::make(disk, {"row", "text", dtype, {}, feature, 0.0}));
      const auto columns = parser->parse(strings);
      const auto length = parser->length_of(text);
      if (columns && (!length || (*columns)[0].values.shape()[1] != *length)) __builtin_trap();
    }
  return 0;
}
