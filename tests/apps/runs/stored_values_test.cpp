// The values of checkpoints whose variables were saved in parts.
#include "apps/checkpoints/stored_values.h"

#include <boost/test/unit_test.hpp>

#include "actors/checkpoint/checkpoint_files.h"
#include "actors/checkpoint/checkpoint_shard.h"
#include "messages/env/real_disk.h"
#include "tests/support/temporary_folder.h"

namespace troupe::checkpoints::stored_values_test {
namespace {

/// Rows `first`, `first` + `stride`, ... of the variable W, which has `rows` rows; each row holds its number.
SavedTensor part(int64_t rows, int64_t first, int64_t stride, int64_t count) {
  const std::vector<int64_t> dims = {count, 1};
  Tensor value =
      value_or_throw(Tensor::allocate(DType::Float, value_or_throw(Shape::make(dims, DType::Float))));
  for (int64_t i = 0; i < count; ++i)
    value.write<float>()[static_cast<size_t>(i)] = static_cast<float>(first + i * stride);
  return {"W/" + std::to_string(first), std::move(value), 0, RowSlice{"W", rows, first, stride, count}};
}

struct Fixture {
  /// Writes a checkpoint with these tensors, and reads it.
  Result<StoredValues> read_back(const SavedTensors& tensors) {
    const CheckpointFiles files(disk, folder.path());
    const std::string name = value_or_throw(files.begin(5));
    Manifest manifest{.round = 5};
    manifest.files.push_back(value_or_throw(write_shard(disk, files.path(name), shard_name(0, 1), tensors)));
    throw_if_failed(files.commit(name, manifest));
    return read_values(disk, files.path(name));
  }

  test::TemporaryFolder folder;
  RealDisk disk;
};

BOOST_FIXTURE_TEST_SUITE(stored_values, Fixture)

BOOST_AUTO_TEST_CASE(parts_are_joined) {
  const auto stored = value_or_throw(read_back({part(5, 0, 2, 3), part(5, 1, 2, 2)}));
  const Tensor& whole = stored.values.at("W");
  BOOST_TEST_REQUIRE(whole.shape().elements() == 5);
  for (size_t i = 0; i < 5; ++i) BOOST_TEST(whole.as<float>()[i] == static_cast<float>(i));
}

// The numbers of rows are those of the manifest alone: memory for them must not be taken before the rows are known to be there.
BOOST_AUTO_TEST_CASE(rows_that_no_part_has_are_named) {
  using Case = std::tuple<SavedTensors, std::string, std::string>;
  const std::vector<Case> cases = {{{part(700'000'000, 0, 1, 1)}, "700000000", "1"},
                                   {{part(5, 0, 2, 3), part(5, 3, 1, 1)}, "5", "1"},
                                   {{part(4, 0, 1, 2), part(4, 1, 1, 2)}, "4", "3"}};
  for (const auto& [tensors, rows, missing] : cases) {
    const Status status = read_back(tensors).status();
    BOOST_TEST((status.code() == Code::DataLoss), status.text());
    BOOST_TEST(
        status.text().find("W has " + rows + " rows, but no part has row " + missing) != std::string::npos,
        status.text());
  }
}

// As tf.train.Checkpoint writes them.
BOOST_AUTO_TEST_CASE(variables_of_objects_have_the_names_of_their_attributes) {
  const std::string prefix = folder.path() + "/model";
  throw_if_failed(write_values(disk,
                               {prefix,
                                0,
                                {{"layer/kernel/.ATTRIBUTES/VARIABLE_VALUE", Tensor::scalar(2.0f)},
                                 {"_CHECKPOINTABLE_OBJECT_GRAPH", Tensor::scalar(std::string("objects"))}}},
                               prefix));
  const auto stored = value_or_throw(read_values(disk, prefix));
  BOOST_TEST_REQUIRE(stored.values.size() == 1u);
  BOOST_TEST(stored.values.at("layer/kernel").as<float>()[0] == 2.0f);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::checkpoints::stored_values_test
