#include "apps/data/csv/decimal_comma.h"

#include "apps/data/csv/csv_row.h"

namespace troupe::data {

bool has_decimal_comma(std::string_view field) {
  const size_t comma = field.find(',');
  if (comma == std::string_view::npos || comma == 0 || comma + 1 == field.size()) return false;
  std::string number;
  for (size_t i = 0; i < field.size(); ++i) {
    const bool parts_thousands = field[i] == '.' && i < comma && (comma - i) % 4 == 0;
    if (field[i] == '.' && !parts_thousands) return false;
    if (field[i] != '.') number += i == comma ? '.' : field[i];
  }
  return CsvRow::number_of(number).has_value();
}

std::string advice_on_decimal_comma(std::string_view field, const std::string& path, char delimiter) {
  std::string what = "; a number has a point where this one has a comma";
  if (delimiter == ',') return what;
  const std::string thousands =
      field.find('.') == std::string_view::npos ? "" : R"(s/([0-9])\.([0-9]{3})/\1\2/g; )";
  const size_t ending = path.rfind('.');
  const std::string to =
      path.substr(0, ending) + "-points" + (ending == std::string::npos ? "" : path.substr(ending));
  return what + ", and `sed -E '" + thousands + R"(s/([0-9]),([0-9])/\1.\2/g' )" + path + " > " + to +
         "` writes a file with points";
}

}  // namespace troupe::data
