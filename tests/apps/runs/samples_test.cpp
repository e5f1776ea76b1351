// Samples in a program: the batches of a run file, as its trainer gets them.
#include <boost/test/unit_test.hpp>

#include "apps/samples.h"
#include "tests/support/failure_of.h"
#include "tests/support/project_files.h"

namespace troupe::samples_test {
namespace {

const std::string digits = test::project_path("examples/digits.toml");

std::vector<int32_t> labels_of(SampleBatches batches, uint64_t epoch) {
  std::vector<int32_t> labels;
  const auto per_epoch = static_cast<uint64_t>(batches.per_epoch());
  for (uint64_t i = 0; i < per_epoch; ++i)
    for (const auto& [name, values] : batches.at(epoch * per_epoch + i))
      if (name == "label") {
        const auto part = values.as<int32_t>();
        labels.insert(labels.end(), part.begin(), part.end());
      }
  return labels;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(samples)

BOOST_AUTO_TEST_CASE(batches_have_the_columns_of_the_run_file) {
  const Samples train = Samples::read(digits), valid = Samples::read(digits, "valid");
  BOOST_TEST(train.size() + valid.size() == 1797);
  const auto columns = train.columns();
  BOOST_TEST_REQUIRE(columns.size() == 2u);
  BOOST_TEST(columns[0].name == "image");
  BOOST_TEST(columns[0].shape.text() == "[64]");
  auto batches = valid.batches({.size = 50});
  BOOST_TEST(batches.per_epoch() == (valid.size() + 49) / 50);
  BOOST_TEST(batches.at(0)[0].second.shape().text() == "[50,64]");
}

BOOST_AUTO_TEST_CASE(samples_may_be_in_memory) {
  const Tensor label = Tensor::vector<int32_t>({3, 1, 2});
  const Samples samples = Samples::from_tensors({{"label", label}});
  BOOST_TEST(samples.size() == 3);
  BOOST_TEST(labels_of(samples.batches({.size = 2}), 0) == (std::vector<int32_t>{3, 1, 2}),
             boost::test_tools::per_element());
  BOOST_TEST(samples.batches({.size = 2}).at(0)[0].second.data() == label.data());
  const auto refused = [](const std::vector<std::pair<std::string, Tensor>>& columns) {
    return test::failure_of([&] { Samples::from_tensors(columns); }).code() == Code::InvalidArgument;
  };
  BOOST_TEST(refused({}));
  BOOST_TEST(refused({{"a", label}, {"a", label}}));
  BOOST_TEST(refused({{"a", label}, {"b", Tensor::scalar(1)}}));
  BOOST_TEST(refused({{"a", label}, {"b", label.rows(0, 2)}}));
}

BOOST_AUTO_TEST_CASE(threads_make_the_batches_of_streams) {
  const std::string table = test::project_path("examples/digits.csv");
  const auto opened = [&](const std::string& read) {
    const std::string text = "[data]\nbatch = 32\nformat = 'csv'\nlabel = 'last'\ntrain = ['" + table +
                             "']\nread = '" + read +
                             "'\n[model.variables]\nw = { shape = [1], init = 'zeros' }\n"
                             "[model.graph]\nl = 'sum(w)'\n[train]\nloss = 'l'\n"
                             "optimizer = { type = 'sgd', lr = 1.0 }\nmax_steps = 1\n";
    return Samples::parse(text).batches();
  };
  BOOST_TEST(opened("stream").has_threads());
  BOOST_TEST(!opened("whole").has_threads());
}

BOOST_AUTO_TEST_CASE(a_batch_has_all_samples_at_most) {
  const Samples valid = Samples::read(digits, "valid");
  for (const int64_t size : {valid.size(), valid.size() + 1, INT64_MAX}) {
    auto batches = valid.batches({.size = size});
    BOOST_TEST(batches.per_epoch() == 1);
    BOOST_TEST(batches.at(1)[0].second.shape()[0] == valid.size());
  }
}

BOOST_AUTO_TEST_CASE(orders_follow_from_the_seed) {
  const Samples train = Samples::read(digits);
  const auto first = labels_of(train.batches({.seed = 1}), 0);
  BOOST_TEST((first == labels_of(train.batches({.seed = 1}), 0)));
  BOOST_TEST((first != labels_of(train.batches({.seed = 1}), 1)));
  BOOST_TEST((first != labels_of(train.batches({.seed = 2}), 0)));
  const auto in_order = labels_of(train.batches({.shuffle = false}), 0);
  BOOST_TEST((in_order == labels_of(train.batches({.shuffle = false, .seed = 3}), 1)));
}

BOOST_AUTO_TEST_CASE(mistakes) {
  BOOST_TEST((test::failure_of([] { Samples::read(digits, "test"); }).code() == Code::InvalidArgument));
  BOOST_TEST((test::failure_of([] { Samples::read("none.toml"); }).code() == Code::InvalidArgument));
  BOOST_TEST((test::failure_of([] { Samples::read(digits, "train", {"data.batch=0"}); }).code() ==
              Code::InvalidArgument));
  BOOST_TEST((test::failure_of([] { Samples::read(digits).batches({.size = -1}); }).code() ==
              Code::InvalidArgument));
  BOOST_TEST((test::failure_of([] { Samples::parse("nothing = 1"); }).code() == Code::InvalidArgument));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::samples_test
