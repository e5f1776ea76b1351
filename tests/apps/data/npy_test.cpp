// Files as NumPy writes them, and damaged ones.
#include "apps/data/arrays/npy.h"
#include "apps/data/arrays/npz.h"

#include <boost/test/unit_test.hpp>

#include <cstring>

#include "apps/data/arrays/npz_writer.h"
#include "tests/support/ops/run_op.h"
#include "tests/support/project_files.h"

namespace troupe::data::npy_test {
namespace {

/// Returns a file of version 1.0 as numpy.save writes it.
std::string npy(const std::string& dictionary, const std::string& elements) {
  std::string header = dictionary;
  header.resize(117, ' ');
  header += '\n';
  return std::string("\x93NUMPY\1\0\x76\0", 10) + header + elements;
}

template <class T>
std::string bytes_of(std::initializer_list<T> numbers) {
  std::string bytes(numbers.size() * sizeof(T), '\0');
  std::memcpy(bytes.data(), numbers.begin(), bytes.size());
  return bytes;
}

std::vector<Tensor> every_type() {
  using C64 = std::complex<float>;
  using C128 = std::complex<double>;
  return {Tensor::scalar(1.5f),
          Tensor::of<double>(Shape{2, 2}, {1, 2, 3, 4}),
          Tensor::of<int32_t>(Shape{3, 0}, {}),
          Tensor::vector<uint8_t>({0, 255}),
          Tensor::vector<int8_t>({-128, 127}),
          Tensor::vector<int16_t>({-3}),
          Tensor::vector<uint16_t>({65535}),
          Tensor::vector<uint32_t>({UINT32_MAX}),
          Tensor::vector<uint64_t>({UINT64_MAX, 1}),
          Tensor::vector<int64_t>({INT64_MIN, INT64_MAX}),
          Tensor::of<bool>(Shape{1, 2, 1}, {true, false}),
          Tensor::vector<Half>({Half(0.5f)}),
          Tensor::vector<C64>({C64(1, -1)}),
          Tensor::vector<C128>({C128(1, -1), C128(0, 2)})};
}

/// What numpy.savez_compressed wrote (tests/golden/make_arrays.py).
std::string compressed_archive() { return test::project_file("tests/golden/arrays.npz"); }

/// Returns an archive of one array whose sizes and places stand in records of zip64, as those of more than 4 GiB do.
std::string wide(const std::string& archive) {
  constexpr size_t entry_size = 46;
  const size_t begin = archive.find("PK\1\2"), end = archive.find("PK\5\6");
  std::string entry = archive.substr(begin, end - begin), last = archive.substr(end);
  const std::string stored = entry.substr(20, 4), bytes = entry.substr(24, 4), at = entry.substr(42, 4),
                    rest(4, '\0');
  for (const size_t place : {20, 24, 42}) entry.replace(place, 4, "\xff\xff\xff\xff");
  const std::string fields =
      bytes_of<uint16_t>({0x7777, 2, 0, 1, 24}) + bytes + rest + stored + rest + at + rest;
  entry.replace(30, 2, bytes_of({static_cast<uint16_t>(fields.size())}));
  uint16_t name = 0;
  std::memcpy(&name, entry.data() + 28, sizeof name);
  entry.insert(entry_size + name, fields);
  const std::string directory = "PK\6\6" + bytes_of<uint64_t>({44}) + bytes_of<uint16_t>({45, 45}) +
                                bytes_of<uint32_t>({0, 0}) + bytes_of<uint64_t>({1, 1, entry.size(), begin});
  const std::string locator = "PK\6\7" + bytes_of<uint32_t>({0}) +
                              bytes_of<uint64_t>({begin + entry.size()}) + bytes_of<uint32_t>({1});
  last.replace(8, 12, 12, '\xff');
  return archive.substr(0, begin) + entry + directory + locator + last;
}

std::string refusal(const std::string& bytes) { return read_npy(bytes, "x.npy").status().message(); }
bool says(const std::string& message, const std::string& what) {
  return message.find(what) != std::string::npos;
}

BOOST_AUTO_TEST_SUITE(npy_files)

BOOST_AUTO_TEST_CASE(every_type_comes_back_as_it_was) {
  for (const Tensor& tensor : every_type()) {
    const std::string bytes = value_or_throw(write_npy(tensor));
    BOOST_TEST(identical(value_or_throw(read_npy(bytes, "x.npy")), tensor), tensor.signature());
  }
  BOOST_TEST(!write_npy(Tensor::scalar(std::string("text"))).ok());
}

BOOST_AUTO_TEST_CASE(what_numpy_writes_is_read) {
  const Tensor rows = Tensor::of<int16_t>(Shape{2, 3}, {1, 2, 3, 4, 5, 6});
  const std::string plain = npy("{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }",
                                bytes_of<int16_t>({1, 2, 3, 4, 5, 6}));
  const std::string columns = npy("{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3), }",
                                  bytes_of<int16_t>({1, 4, 2, 5, 3, 6}));
  const std::string scalar =
      npy("{'descr': '<i2', 'fortran_order': False, 'shape': (), }", bytes_of<int16_t>({7}));
  const std::string vector =
      npy("{'descr': '<i2', 'fortran_order': False, 'shape': (1,), }", bytes_of<int16_t>({7}));
  BOOST_TEST(identical(value_or_throw(read_npy(plain, "x.npy")), rows));
  BOOST_TEST(identical(value_or_throw(read_npy(columns, "x.npy")), rows));
  BOOST_TEST(identical(value_or_throw(read_npy(scalar, "x.npy")), Tensor::scalar<int16_t>(7)));
  BOOST_TEST(identical(value_or_throw(read_npy(vector, "x.npy")), Tensor::vector<int16_t>({7})));
  BOOST_TEST(value_or_throw(write_npy(rows)) == plain);
}

BOOST_AUTO_TEST_CASE(three_dimensions_with_columns_first_are_turned) {
  const std::string bytes = npy("{'descr': '<i2', 'fortran_order': True, 'shape': (2, 2, 2), }",
                                bytes_of<int16_t>({0, 4, 2, 6, 1, 5, 3, 7}));
  const Tensor expected = Tensor::of<int16_t>(Shape{2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
  BOOST_TEST(identical(value_or_throw(read_npy(bytes, "x.npy")), expected));
}

BOOST_AUTO_TEST_CASE(bfloat16_lies_in_uint16) {
  const Tensor tensor = Tensor::vector<BFloat16>({BFloat16(1.5f), BFloat16(-2.0f)});
  const Tensor bits = value_or_throw(read_npy(value_or_throw(write_npy(tensor)), "x.npy"));
  BOOST_TEST(identical(value_or_throw(as_bfloat16(bits)), tensor));
  BOOST_TEST(!as_bfloat16(Tensor::scalar(1.0f)).ok());
}

BOOST_AUTO_TEST_CASE(what_is_wrong_is_told) {
  const std::string header = "{'descr': '<i2', 'fortran_order': False, 'shape': ";
  BOOST_TEST(
      says(refusal(npy(header + "(2, 3), }", bytes_of<int16_t>({1}))), "needs 12 bytes, but 2 follow"));
  BOOST_TEST(
      says(refusal(npy(header + "(1,), }", bytes_of<int16_t>({1, 2}))), "needs 2 bytes, but 4 follow"));
  BOOST_TEST(says(refusal(npy(header + "(-1,), }", bytes_of<int16_t>({1}))), "-1"));
  BOOST_TEST(says(refusal(npy(header + "(4611686018427387904, 4), }", {})), "DataLoss"));
  BOOST_TEST(
      says(refusal(npy(header + "(99999999999999999999,), }", {})), "shape in the header cannot be read"));
  BOOST_TEST(says(refusal(npy(header + "(1, }", {})), "shape in the header cannot be read"));
  BOOST_TEST(says(refusal(npy("{'descr': '>f3', 'fortran_order': False, 'shape': (1,), }", {})), "'>f3'"));
  BOOST_TEST(says(refusal(npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", {})), "'|O'"));
  BOOST_TEST(says(refusal(npy("{'descr': '|b1', 'fortran_order': False, 'shape': (1,), }", "\2")), "a bool"));
  BOOST_TEST(says(refusal(npy("{}", {})), "lacks"));
  BOOST_TEST(says(refusal("PK"), "not a .npy file"));
}

BOOST_AUTO_TEST_CASE(a_file_cut_short_anywhere_is_refused) {
  const std::string array = value_or_throw(write_npy(Tensor::of<double>(Shape{2, 2}, {1, 2, 3, 4})));
  for (size_t size = 0; size < array.size(); ++size)
    BOOST_TEST_REQUIRE(!read_npy(array.substr(0, size), "x.npy").ok());
  const std::string archive =
      value_or_throw(write_npz({{"a", Tensor::scalar(1.0f)}, {"b", Tensor::vector<int32_t>({1, 2})}}));
  for (size_t size = 0; size < archive.size(); ++size)
    BOOST_TEST_REQUIRE(!read_npz(archive.substr(0, size), "x.npz").ok());
}

BOOST_AUTO_TEST_CASE(an_archive_comes_back_as_it_was) {
  std::map<std::string, Tensor> arrays;
  for (const Tensor& tensor : every_type()) arrays["array " + std::to_string(arrays.size())] = tensor;
  const auto read = value_or_throw(read_npz(value_or_throw(write_npz(arrays)), "x.npz"));
  BOOST_TEST_REQUIRE(read.size() == arrays.size());
  for (const auto& [name, tensor] : arrays) BOOST_TEST(identical(read.at(name), tensor), name);
  BOOST_TEST(value_or_throw(read_npz(value_or_throw(write_npz({})), "x.npz")).empty());
}

BOOST_AUTO_TEST_CASE(a_compressed_archive_is_read) {
  const auto arrays = value_or_throw(read_npz(compressed_archive(), "x.npz"));
  BOOST_TEST_REQUIRE(arrays.size() == 2u);
  const Tensor &image = arrays.at("image"), &label = arrays.at("label");
  BOOST_TEST((image.shape() == Shape{200, 3}));
  for (size_t i = 0; i < 600; ++i) BOOST_TEST_REQUIRE(image.as<float>()[i] == static_cast<float>(i));
  for (size_t i = 0; i < 200; ++i) BOOST_TEST_REQUIRE(label.as<int64_t>()[i] == static_cast<int64_t>(i % 7));
}

BOOST_AUTO_TEST_CASE(an_archive_of_large_arrays_is_read) {
  const Tensor array = Tensor::vector<int32_t>({1, 2});
  const std::string archive = wide(value_or_throw(write_npz({{"image", array}})));
  BOOST_TEST(identical(value_or_throw(read_npz(archive, "x.npz")).at("image"), array));
  for (size_t size = 0; size < archive.size(); ++size)
    BOOST_TEST_REQUIRE(!read_npz(archive.substr(0, size), "x.npz").ok());
}

/// Writes arrays as if four bytes held only numbers below `wide_from`.
std::string written(const std::map<std::string, Tensor>& arrays, uint32_t wide_from) {
  std::string bytes;
  NpzWriter archive(
      [&](std::string_view more) {
        bytes += more;
        return Status();
      },
      wide_from);
  for (const auto& [name, tensor] : arrays) {
    throw_if_failed(archive.begin(name));
    throw_if_failed(archive.add(value_or_throw(write_npy(tensor))));
    throw_if_failed(archive.end());
  }
  throw_if_failed(archive.finish());
  return bytes;
}

// Of "large", only the size is wide from 500 on; of "small", which is behind it, only the place.
BOOST_AUTO_TEST_CASE(numbers_that_four_bytes_do_not_hold_are_written_as_zip64) {
  const std::map<std::string, Tensor> arrays = {
      {"large", Tensor::of<double>(Shape{50}, std::vector<double>(50, 3))},
      {"small", Tensor::vector<int32_t>({1, 2})}};
  for (const uint32_t wide_from : {0u, 2u, 300u, 500u, 700u, UINT32_MAX}) {
    const std::string archive = written(arrays, wide_from);
    const auto read = value_or_throw(read_npz(archive, "x.npz"));
    BOOST_TEST_REQUIRE(read.size() == 2u);
    for (const auto& [name, tensor] : arrays) BOOST_TEST(identical(read.at(name), tensor), name);
    const bool is_wide = wide_from != UINT32_MAX;
    BOOST_TEST((archive.find("PK\6\6") != std::string::npos) == is_wide, wide_from);
    const size_t directory = archive.find("PK\1\2");
    BOOST_TEST((archive.substr(directory + 20, 4) == "\xff\xff\xff\xff") == (is_wide && wide_from != 700u));
    for (size_t size = 0; size < archive.size(); ++size)
      BOOST_TEST_REQUIRE(!read_npz(archive.substr(0, size), "x.npz").ok());
  }
}

BOOST_AUTO_TEST_CASE(an_archive_may_have_more_members_than_two_bytes_count) {
  constexpr size_t members = 65536;
  std::map<std::string, Tensor> arrays;
  for (size_t i = 0; i < members; ++i)
    arrays.emplace(std::to_string(i), Tensor::scalar(static_cast<int32_t>(i)));
  const auto read = value_or_throw(read_npz(value_or_throw(write_npz(arrays)), "x.npz"));
  BOOST_TEST_REQUIRE(read.size() == members);
  BOOST_TEST(read.at("65535").item<int32_t>() == 65535);
}

BOOST_AUTO_TEST_CASE(a_name_that_an_archive_cannot_hold_is_refused) {
  const Tensor array = Tensor::vector<int32_t>({1, 2});
  const std::string longest(65531, 'x');
  const auto read = value_or_throw(read_npz(value_or_throw(write_npz({{longest, array}})), "x.npz"));
  BOOST_TEST_REQUIRE(read.contains(longest));
  BOOST_TEST(identical(read.at(longest), array));
  const Status refused = write_npz({{"first", array}, {longest + 'x', array}}).status();
  BOOST_TEST((refused.code() == Code::InvalidArgument));
  BOOST_TEST(refused.text() ==
             "the name of array 2 of the archive has 65532 bytes; in an .npz file it may have at most 65531");
}

// A change of any byte of an archive, except for padding, leads to an error or to another array.
BOOST_AUTO_TEST_CASE(a_damaged_archive_does_no_harm) {
  const std::string plain = value_or_throw(write_npz({{"image", Tensor::vector<int32_t>({1, 2})}}));
  for (const std::string& archive : {plain, compressed_archive(), wide(plain)}) {
    const auto intact = value_or_throw(read_npz(archive, "x.npz"));
    for (size_t i = 0; i < archive.size(); ++i)
      for (const int flip : {0x01, 0x80, 0xff}) {
        std::string damaged = archive;
        damaged[i] = static_cast<char>(damaged[i] ^ flip);
        const auto read = read_npz(damaged, "x.npz");
        if (read && read->contains("image"))
          BOOST_TEST_REQUIRE(identical(read->at("image"), intact.at("image")), "byte " << i);
      }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::data::npy_test
