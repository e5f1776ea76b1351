#include "apps/data/statistics.h"

#include <boost/test/unit_test.hpp>
#include <cmath>

namespace troupe::data::statistics_test {
namespace {

Dataset samples(std::vector<float> x, std::vector<int32_t> label) {
  const auto count = static_cast<int64_t>(label.size());
  return Dataset({{"x", Tensor::vector<float>(std::span<const float>(x)).reshaped(Shape{count, 2})},
                  {"label", Tensor::vector<int32_t>(std::span<const int32_t>(label))}});
}

BOOST_AUTO_TEST_SUITE(statistics)

BOOST_AUTO_TEST_CASE(batches_add_up_to_the_statistics_of_all_samples) {
  const Dataset first = samples({-1, 2, 5, 4}, {7, 3}), second = samples({0, 2}, {7});
  Statistics all(first);
  all.add(first);
  all.add(second);
  const auto columns = all.result();
  BOOST_TEST_REQUIRE(columns.size() == 2u);
  BOOST_TEST(columns[0].name == "x");
  BOOST_TEST((columns[0].dtype == DType::Float));
  BOOST_TEST(columns[0].shape == std::vector<int64_t>{2}, boost::test_tools::per_element());
  BOOST_TEST(columns[0].elements == 6);
  BOOST_TEST(columns[0].least == -1.0);
  BOOST_TEST(columns[0].greatest == 5.0);
  BOOST_TEST(columns[0].mean == 2.0, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(columns[0].deviation == std::sqrt(26.0 / 6), boost::test_tools::tolerance(1e-12));
  BOOST_TEST(!columns[0].counts.has_value());
  BOOST_TEST((columns[1].counts == std::map<int64_t, int64_t>{{3, 1}, {7, 2}}));
}

BOOST_AUTO_TEST_CASE(values_are_counted_only_if_there_are_few) {
  std::vector<int32_t> many(Statistics::most_values + 1);
  for (size_t i = 0; i < many.size(); ++i) many[i] = static_cast<int32_t>(i);
  const Dataset labels({{"label", Tensor::vector<int32_t>(std::span<const int32_t>(many))}});
  Statistics all(labels);
  all.add(labels);
  BOOST_TEST(!all.result()[0].counts.has_value());
  BOOST_TEST(all.result()[0].greatest == 1000.0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::data::statistics_test
