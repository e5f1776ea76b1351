// The checksum CRC-32C. The expected values are those of RFC 3720, appendix B.4.
#include "messages/values/crc32c.h"

#include <boost/test/unit_test.hpp>

#include <string>

namespace troupe::crc32c_test {
namespace {

BOOST_AUTO_TEST_CASE(checksums_are_those_of_the_standard) {
  std::string ascending(32, '\0');
  for (size_t i = 0; i < ascending.size(); ++i) ascending[i] = static_cast<char>(i);
  BOOST_TEST(crc32c("") == 0u);
  BOOST_TEST(crc32c("123456789") == 0xe3069283u);
  BOOST_TEST(crc32c(std::string(32, '\0')) == 0x8a9136aau);
  BOOST_TEST(crc32c(std::string(32, '\xff')) == 0x62a8ab43u);
  BOOST_TEST(crc32c(ascending) == 0x46dd794eu);
}

BOOST_AUTO_TEST_CASE(a_text_may_be_summed_in_parts) {
  const std::string_view text = "the checksum of a text does not depend on where it is cut";
  for (size_t cut = 0; cut <= text.size(); ++cut)
    BOOST_TEST(crc32c(text.substr(cut), crc32c(text.substr(0, cut))) == crc32c(text));
}

BOOST_AUTO_TEST_CASE(the_mask_changes_a_checksum) {
  BOOST_TEST(mask_crc32c(0) == 0xa282ead8u);
  BOOST_TEST(masked_crc32c("123456789") == mask_crc32c(0xe3069283u));
}

}  // namespace
}  // namespace troupe::crc32c_test
