#include "messages/values/device_name.h"

#include <boost/test/unit_test.hpp>

#include <climits>
#include <vector>

namespace troupe::device_name_test {
namespace {

BOOST_AUTO_TEST_SUITE(device_name)

// A name as written, and its meaning in the full form
BOOST_AUTO_TEST_CASE(parses_every_form) {
  struct Case {
    std::string written, meant;
  };
  const std::vector<Case> cases = {
      {"", ""},
      {"/", ""},
      {"/job:worker/replica:0/task:1/device:GPU:3", "/job:worker/replica:0/task:1/device:GPU:3"},
      {"/device:GPU:3/task:1/replica:0/job:worker", "/job:worker/replica:0/task:1/device:GPU:3"},
      {"/job:ps", "/job:ps"},
      {"/job:p_s2/task:07", "/job:p_s2/task:7"},
      {"/job:A", "/job:A"},
      {"/replica:12", "/replica:12"},
      {"/device:TPU", "/device:TPU"},
      {"/device:TPU:*", "/device:TPU"},
      {"/device:*:2", "/device:*:2"},
      {"/device:*", ""},
      {"/job:*/replica:*/task:*/device:*:*", ""},
      {"/cpu:0", "/device:CPU:0"},
      {"/CPU:1", "/device:CPU:1"},
      {"/gpu:*", "/device:GPU"},
      {"/job:ps/GPU:2", "/job:ps/device:GPU:2"},
      {"/job:a/job:b", "/job:b"},
      {"/job:a/job:*", ""},
      {"/task:1/device:CPU:0/task:2/cpu:5", "/task:2/device:CPU:5"},
      {"/device:GPU:1/device:CPU", "/device:CPU"},
      {"/device:cpu:0", "/device:cpu:0"},
      {"/task:2147483647", "/task:2147483647"},
  };
  for (const auto& [written, meant] : cases) {
    BOOST_TEST_CONTEXT("'" << written << "'") {
      const auto name = DeviceName::parse(written);
      BOOST_TEST_REQUIRE(name.ok());
      BOOST_TEST(name->text() == meant);
      const auto again = DeviceName::parse(name->text());
      BOOST_TEST_REQUIRE(again.ok());
      BOOST_TEST((*again == *name));
    }
  }
}

BOOST_AUTO_TEST_CASE(refuses_what_is_no_name) {
  for (const std::string written : {"worker",
                                    "//",
                                    "/job",
                                    "/job:",
                                    "/job:1a",
                                    "/job:_a",
                                    "/job:a-b",
                                    "/job:a ",
                                    " /job:a",
                                    "/replica:",
                                    "/replica:x",
                                    "/task:-1",
                                    "/task:+1",
                                    "/task:2147483648",
                                    "/task:99999999999999999999",
                                    "/device:",
                                    "/device:1",
                                    "/device:GPU:",
                                    "/device:GPU:x",
                                    "/device:GPU:1:2",
                                    "/cpu",
                                    "/cpu:",
                                    "/cpu:x",
                                    "/Cpu:0",
                                    "/tpu:0",
                                    "/job:a/",
                                    "job:a",
                                    "/job:a*"}) {
    BOOST_TEST_CONTEXT("'" << written << "'") {
      const auto name = DeviceName::parse(written);
      BOOST_TEST_REQUIRE(!name.ok());
      BOOST_TEST((name.status().code() == Code::InvalidArgument));
      BOOST_TEST(name.status().text().find("'" + written + "'") != std::string::npos);
    }
  }
}

BOOST_AUTO_TEST_CASE(is_full_only_with_every_component) {
  BOOST_TEST(DeviceName::parse("/job:a/replica:0/task:0/device:CPU:0")->fully_specified());
  for (const char* partial :
       {"", "/job:a/replica:0/task:0/device:CPU", "/replica:0/task:0/cpu:0", "/job:a/task:0/cpu:0",
        "/job:a/replica:0/cpu:0", "/job:a/replica:0/task:0/device:*:0"})
    BOOST_TEST(!DeviceName::parse(partial)->fully_specified(), partial);
  BOOST_TEST(DeviceName::parse("/job:a/replica:0/task:3/cpu:0")->task_name().text() ==
             "/job:a/replica:0/task:3");
}

BOOST_AUTO_TEST_CASE(a_name_includes_those_that_say_more) {
  const auto includes = [](const char* a, const char* b) {
    return DeviceName::parse(a)->includes(*DeviceName::parse(b));
  };
  BOOST_TEST(includes("", "/job:a"));
  BOOST_TEST(!includes("/job:a", ""));
  BOOST_TEST(includes("/job:a", "/job:a/cpu:0"));
  BOOST_TEST(!includes("/job:a/cpu:0", "/job:a/cpu:1"));
  BOOST_TEST(!includes("/device:GPU", "/job:a/cpu:1"));
}

BOOST_AUTO_TEST_CASE(merges_to_the_union) {
  struct Case {
    std::string a, b, strict, soft;  // "-" stands for InvalidArgument
  };
  const std::vector<Case> cases = {
      {"", "", "", ""},
      {"/job:a", "/gpu:0", "/job:a/device:GPU:0", "/job:a/device:GPU:0"},
      {"/job:a/task:1", "/job:a/replica:0", "/job:a/replica:0/task:1", "/job:a/replica:0/task:1"},
      {"/device:GPU", "/device:*:3", "/device:GPU:3", "/device:GPU:3"},
      {"/job:a", "/job:b", "-", "-"},
      {"/replica:0", "/replica:1", "-", "-"},
      {"/task:0", "/task:1", "-", "-"},
      {"/job:a/gpu:0", "/cpu:0", "-", "/job:a"},
      {"/job:a/gpu:0", "/job:a/device:CPU", "-", "/job:a"},
      {"/job:a/gpu:0", "/gpu:1", "-", "/job:a/device:GPU"},
      {"/gpu:0/task:1", "/cpu:1/task:2", "-", "-"},
  };
  for (const auto& [a, b, strict, soft] : cases) {
    BOOST_TEST_CONTEXT(a << " + " << b) {
      for (const auto placement : {Placement::Strict, Placement::Soft}) {
        const auto merged = merge(*DeviceName::parse(a), *DeviceName::parse(b), placement);
        const std::string& expected = placement == Placement::Strict ? strict : soft;
        BOOST_TEST((merged.ok() ? merged->text() : "-") == expected);
        if (!merged.ok()) {
          BOOST_TEST((merged.status().code() == Code::InvalidArgument));
          BOOST_TEST(merged.status().text().find(DeviceName::parse(b)->text()) != std::string::npos);
        }
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::device_name_test
