#include "messages/records/tf_record.h"

#include <cstdint>

#include "messages/values/crc32c.h"

namespace troupe {
namespace {

template <class T>
void append_number(std::string& to, T number) {
  to.append(reinterpret_cast<const char*>(&number), sizeof number);
}

}  // namespace

void append_tf_record(std::string& to, std::string_view record) {
  const uint64_t length = record.size();
  append_number(to, length);
  append_number(to, masked_crc32c({reinterpret_cast<const char*>(&length), sizeof length}));
  to += record;
  append_number(to, masked_crc32c(record));
}

}  // namespace troupe
