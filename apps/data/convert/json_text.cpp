#include "apps/data/convert/json_text.h"

#include <nlohmann/json.hpp>

#include "apps/text/json_tensor.h"
#include "messages/values/json_text.h"

namespace troupe::data {

Status append_json_line(const Dataset& samples, int64_t row, std::string& to) {
  to += '{';
  for (const Column& column : samples.columns()) {
    if (to.back() != '{') to += ',';
    to += json_line(column.name) + ':';
    if (const Status status = append_json_row(column.values, row, to); !status.ok())
      return Status(status.code(), "column " + column.name + ": " + status.text());
  }
  to += "}\n";
  return {};
}

}  // namespace troupe::data
