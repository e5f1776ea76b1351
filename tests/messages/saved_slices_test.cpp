// Checkpoints of format V1: what is written is read, by any slices, and damaged or hostile files are refused.
#include "messages/tensor_files/saved_slices.h"

#include <boost/test/unit_test.hpp>

#include <set>

#include "messages/env/real_disk.h"
#include "messages/protobuf/fields.h"
#include "messages/tensor_files/bundle_index.h"
#include "messages/tensor_files/checkpoint_v1.h"
#include "tests/messages/stored_samples.h"
#include "tests/support/sorted_table_bytes.h"
#include "tests/support/temporary_folder.h"

namespace troupe::saved_slices_test {
namespace {

constexpr int64_t all = TensorSlice::all;

SliceToSave whole(const std::string& name, const Tensor& tensor) {
  const size_t rank = tensor.shape().rank();
  return {name, tensor.shape(), {std::vector<int64_t>(rank, 0), std::vector<int64_t>(rank, all)}, tensor};
}

struct Fixture {
  std::string path(const std::string& name) const { return folder.path() + "/" + name; }
  CheckpointV1 open(const std::string& pattern) {
    return value_or_throw(CheckpointV1::open(disk, path(pattern)));
  }
  Tensor read(const CheckpointV1& checkpoint, const std::string& name) {
    return value_or_throw(
        checkpoint.read(name, TensorSlice::whole(value_or_throw(checkpoint.find(name))->shape)));
  }
  /// What opening the file and reading "w" whole says.
  Status failure(const std::string& bytes) {
    folder.write("damaged", bytes);
    const auto checkpoint = CheckpointV1::open(disk, path("damaged"));
    if (!checkpoint) return checkpoint.status();
    const auto found = checkpoint->find("w");
    return found ? checkpoint->read("w", TensorSlice::whole((*found)->shape)).status() : found.status();
  }

  test::TemporaryFolder folder;
  RealDisk disk;
  const Tensor six = Tensor::of<float>(Shape{2, 3}, {0, 1, 2, 3, 4, 5});
  const SliceToSave left{"w", Shape{2, 3}, {{0, 0}, {all, 2}}, Tensor::of<float>(Shape{2, 2}, {0, 1, 3, 4})},
      right{"w", Shape{2, 3}, {{0, 2}, {all, 1}}, Tensor::of<float>(Shape{2, 1}, {2, 5})};
};

void check_fails(const Status& status, Code code, const std::string& text) {
  BOOST_TEST((status.code() == code && status.text().find(text) != std::string::npos),
             status.message() << " does not say: " << text);
}

std::string field(uint32_t number, std::string_view value) {
  std::string message;
  protobuf::append_bytes_field(message, number, value);
  return message;
}
std::string field(uint32_t number, uint64_t value) {
  std::string message;
  protobuf::append_varint_field(message, number, value);
  return message;
}

/// A list of variables with one float variable "w" of a shape of rank 1, saved whole.
std::string meta_of(int64_t dim, uint64_t dtype = 1) {
  const std::string shape = field(2, field(1, static_cast<uint64_t>(dim)));
  const std::string slice = write_slice_proto({{0}, {all}});
  return field(1, field(1, field(1, "w") + field(2, shape) + field(3, dtype) + field(4, slice)));
}
/// The elements of "w": the fields of a TensorProto.
std::string data_of(const std::string& values, const std::string& name = "w") {
  return field(2, field(1, name) + field(2, write_slice_proto({{0}, {all}})) + field(3, values));
}
const std::string key = slice_key("w", {{0}, {all}});
const std::string two_floats = field(5, std::string(8, '\0'));

BOOST_FIXTURE_TEST_SUITE(saved_slices, Fixture)

BOOST_AUTO_TEST_CASE(tensors_of_every_type_come_back) {
  std::vector<SliceToSave> saved;
  const std::set<std::string> unknown = {"bfloat16", "qint16", "quint16", "uint32",
                                         "uint64"};  // the format does not have them
  for (const auto& [name, tensor] : test::stored_samples())
    if (!unknown.contains(name)) saved.push_back(whole(name, tensor));
  throw_if_failed(write_saved_slices(disk, path("model"), saved));
  const CheckpointV1 in = open("model");
  for (const SliceToSave& one : saved) BOOST_TEST(identical(read(in, one.name), one.tensor), one.name);
  for (const std::string& name : unknown)
    check_fails(write_saved_slices(disk, path("other"), {whole(name, test::stored_samples().at(name))}),
                Code::Unimplemented, name);
}

BOOST_AUTO_TEST_CASE(slices_of_several_files_are_put_together) {
  throw_if_failed(write_saved_slices(disk, path("model-00000-of-00002"), {left, whole("a", six)}));
  throw_if_failed(write_saved_slices(disk, path("model-00001-of-00002"), {right}));
  const CheckpointV1 in = open("model-*-of-00002");
  BOOST_TEST(identical(read(in, "w"), six));
  BOOST_TEST(identical(read(in, "a"), six));
  BOOST_TEST(
      identical(value_or_throw(in.read("w", {{1, 1}, {1, 2}})), Tensor::of<float>(Shape{1, 2}, {4, 5})));
  BOOST_TEST(identical(value_or_throw(in.read("w", {{0, 2}, {2, 1}})), right.tensor));
  check_fails(in.find("b").status(), Code::NotFound, "not found in checkpoint files " + path("model-*"));
  check_fails(in.read("w", {{1, 1}, {2, 2}}).status(), Code::InvalidArgument, "outside its shape [2,3]");
  check_fails(open("model-00000-*").read("w", {{0, 0}, {2, 3}}).status(), Code::DataLoss,
              "hold 4 of its 6 elements");
  check_fails(CheckpointV1::open(disk, path("none-*")).status(), Code::NotFound, "none-*");
}

BOOST_AUTO_TEST_CASE(what_contradicts_itself_is_not_saved) {
  SliceToSave other = right;
  other.shape = Shape{2, 4};
  check_fails(write_saved_slices(disk, path("m"), {left, left}), Code::InvalidArgument, "saved twice");
  check_fails(write_saved_slices(disk, path("m"), {left, other}), Code::InvalidArgument,
              "float[2,3] and float[2,4]");
}

BOOST_AUTO_TEST_CASE(files_that_are_well_formed_are_read) {
  BOOST_TEST(failure(test::sorted_table_bytes({{"", meta_of(2)}, {key, data_of(two_floats)}})).message() ==
             "Ok");
}

BOOST_AUTO_TEST_CASE(files_that_contradict_themselves_are_refused) {
  const auto says = [&](const std::map<std::string, std::string>& entries, Code code,
                        const std::string& text) {
    const Status status = failure(test::sorted_table_bytes(entries));
    check_fails(status, code, text);
    BOOST_TEST(status.text().find(path("damaged")) != std::string::npos, status.message());
  };
  says({{key, data_of(two_floats)}}, Code::DataLoss, "no list of variables");
  says({{"", meta_of(2)}}, Code::DataLoss, "part 0,-1 is missing");
  says({{"", meta_of(3)}, {key, data_of(two_floats)}}, Code::DataLoss, "has 2 values for 3 elements");
  says({{"", meta_of(int64_t{1} << 37)}, {key, data_of(two_floats)}}, Code::DataLoss,
       "has 2 values for 137438953472");
  says({{"", meta_of(int64_t{1} << 62)}, {key, data_of(two_floats)}}, Code::DataLoss, "");
  says({{"", meta_of(-1)}, {key, data_of(two_floats)}}, Code::DataLoss, "not fully known");
  says({{"", meta_of(2, 3)}, {key, data_of(two_floats)}}, Code::DataLoss, "");
  says({{"", meta_of(2, 21)}, {key, data_of(two_floats)}}, Code::Unimplemented, "variant");
  says({{"", meta_of(2, 77)}, {key, data_of(two_floats)}}, Code::Unimplemented, "77");
  says({{"", meta_of(2)}, {key, data_of(two_floats, "v")}}, Code::DataLoss, "another part");
  says({{"", "\xff\xff"}, {key, data_of(two_floats)}}, Code::DataLoss, "cannot be read");
  says({{"", meta_of(2)}, {key, "\xff\xff"}}, Code::DataLoss, "cannot be read");
}

BOOST_AUTO_TEST_CASE(a_changed_or_truncated_file_is_refused) {
  throw_if_failed(write_saved_slices(disk, path("model"), {left, right}));
  const std::string bytes = value_or_throw(read_file(disk, path("model"), 1 << 20));
  BOOST_TEST(failure(bytes).ok());
  for (size_t size = 0; size < bytes.size(); ++size)
    BOOST_TEST((failure(bytes.substr(0, size)).code() == Code::DataLoss), size);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::saved_slices_test
