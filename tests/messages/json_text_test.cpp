// JSON as text: which characters are escaped, replaced or refused.
#include "messages/values/json_text.h"

#include <boost/test/unit_test.hpp>

#include <limits>
#include <nlohmann/json.hpp>

namespace troupe::json_text_test {
namespace {

const std::string hostile = "a\"b\\c\nd\x01\xc3\xa4";

BOOST_AUTO_TEST_SUITE(json_text)

BOOST_AUTO_TEST_CASE(strings_and_keys_are_escaped_on_one_line) {
  const std::string line = json_line({{hostile, hostile}});
  BOOST_TEST(line.find('\n') == std::string::npos);
  BOOST_TEST(nlohmann::json::parse(line).at(hostile) == hostile);
  const std::string strict = value_or_throw(strict_json_line({{hostile, hostile}}));
  for (const char c : strict) BOOST_TEST((c >= 0x20 && c < 0x7f));
  BOOST_TEST(nlohmann::json::parse(strict).at(hostile) == hostile);
}

BOOST_AUTO_TEST_CASE(what_is_no_utf8_is_replaced_or_refused) {
  BOOST_TEST(json_line({{"a", "x\xff"}}) == "{\"a\":\"x\xef\xbf\xbd\"}");
  BOOST_TEST((strict_json_line({{"a", "x\xff"}}).status().code() == Code::InvalidArgument));
}

BOOST_AUTO_TEST_CASE(numbers_that_json_lacks_are_null) {
  BOOST_TEST(json_line({{"a", std::numeric_limits<double>::infinity()}, {"b", std::nan("")}, {"c", 0.1}}) ==
             "{\"a\":null,\"b\":null,\"c\":0.1}");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::json_text_test
