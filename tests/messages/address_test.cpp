#include "messages/values/address.h"

#include <boost/test/unit_test.hpp>

#include <unordered_set>

namespace troupe::address_test {
namespace {

BOOST_AUTO_TEST_SUITE(address)

BOOST_AUTO_TEST_CASE(every_part_tells_actors_apart) {
  const Address base{"/job:ps/replica:0/task:0", 0x1f2e, "variable", "w"};
  Address other_task = base, other_life = base, other_role = base, other_key = base;
  other_task.task = "/job:ps/replica:0/task:1";
  ++other_life.incarnation;
  other_role.role = "queue";
  other_key.key = "b";
  const std::unordered_set<Address> all = {base, other_task, other_life, other_role, other_key, base};
  BOOST_TEST(all.size() == 5u);
  BOOST_TEST(all.contains(Address{"/job:ps/replica:0/task:0", 0x1f2e, "variable", "w"}));
  BOOST_TEST((base < other_life));
}

BOOST_AUTO_TEST_CASE(tells_its_parts) {
  BOOST_TEST((Address{"/job:ps/task:0", 0x1f2e, "variable", "layer1/w"}.text()) ==
             "/job:ps/task:0#1f2e variable layer1/w");
  BOOST_TEST((Address{"/job:a/task:0", 0, "master", ""}.text()) == "/job:a/task:0#0 master");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::address_test
