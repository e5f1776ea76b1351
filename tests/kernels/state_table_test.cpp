// Tests of the table of states: a name stands for one cell in each container, and a container is removed as a whole.
#include <boost/test/unit_test.hpp>

#include "kernels/core/state.h"

namespace troupe::state_table_test {
namespace {

struct Fixture {
  std::shared_ptr<StateCell> require(const std::string& container, const std::string& name) {
    return value_or_throw(table.require(container, name, DType::Float, PartialShape{2}));
  }
  StateTable table;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(state_table, Fixture)

BOOST_AUTO_TEST_CASE(a_name_is_one_cell_in_each_container) {
  const auto shared = require("", "w"), own = require("7", "w");
  BOOST_TEST(shared != own);
  BOOST_TEST(shared->id() != own->id());
  BOOST_TEST(require("7", "w") == own);
  BOOST_TEST(table.find("7", "w") == own);
  BOOST_TEST(table.find("", "w") == shared);
  BOOST_TEST(table.find("8", "w") == nullptr);
  BOOST_TEST(table.find("7", "v") == nullptr);
  BOOST_TEST(table.at(own->id()) == own);
  BOOST_TEST(table.cells("7").size() == 1u);
  BOOST_TEST(table.cells("8").empty());
  BOOST_TEST(table.cells().size() == 2u);
}

BOOST_AUTO_TEST_CASE(a_container_is_dropped_and_its_numbers_are_not_used_again) {
  const auto shared = require("", "w"), own = require("7", "w"), more = require("7", "v");
  BOOST_TEST(table.drop("7").size() == 2u);
  BOOST_TEST(table.drop("7").empty());
  BOOST_TEST(table.find("7", "w") == nullptr);
  BOOST_TEST(table.at(own->id()) == nullptr);
  BOOST_TEST(table.at(shared->id()) == shared);
  BOOST_TEST(table.cells().size() == 1u);
  BOOST_TEST(require("7", "w")->id() > more->id());
}

BOOST_AUTO_TEST_CASE(a_cell_of_another_type_is_refused_by_its_plain_name) {
  require("7", "w");
  const Status status = table.require("7", "w", DType::Double, PartialShape{2}).status();
  BOOST_TEST(status.text() == "the state 'w' exists as float[2] and cannot be used as double[2]");
  BOOST_TEST(table.require("8", "w", DType::Double, PartialShape{2}).ok());
}

BOOST_AUTO_TEST_CASE(a_reset_drops_what_nodes_put_into_the_named_containers) {
  const auto plain = require("", "w"), own = require("7", "w"), there = require("", "there;w"),
             here = require("7", "here;w"), local = require("", "localhost;w");
  const std::vector<std::string> named = {"there", "nowhere"}, both = {"here", "localhost"};
  BOOST_TEST((table.reset(named) == std::vector{there}));
  BOOST_TEST(table.find("", "there;w") == nullptr);
  BOOST_TEST(table.cells().size() == 4u);
  BOOST_TEST(table.reset(both).size() == 4u);
  BOOST_TEST(table.cells().empty());
  BOOST_TEST(table.at(own->id()) == nullptr);
  require("", "there;w");
  require("7", "w");
  BOOST_TEST(table.reset({}).size() == 2u);
  BOOST_TEST(table.reset({}).empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::state_table_test
