// Variables that TensorFlow saved in parts (tests/golden/make_checkpoint.py): read whole, by slices, into graphs that have them
// whole or in other parts; and indexes whose parts are wrong.
#include "apps/interop/partitioned.h"

#include <boost/test/unit_test.hpp>

#include <numeric>

#include "apps/golden/graph_file.h"
#include "messages/env/real_disk.h"
#include "messages/tensor_files/sorted_table.h"
#include "tests/support/failure_of.h"
#include "tests/support/ops/run_op.h"
#include "tests/support/project_files.h"
#include "tests/support/sorted_table_bytes.h"
#include "tests/support/temporary_folder.h"

namespace troupe::interop::partitioned_test {
namespace {

using test::project_file;

const std::string folder_of_samples = "tests/golden/checkpoint/";

/// 0, 1, 2 and so on, plus `first`.
Tensor numbers(const Shape& shape, float first = 0) {
  std::vector<float> values(static_cast<size_t>(shape.elements()));
  std::iota(values.begin(), values.end(), first);
  return Tensor::of<float>(shape, std::span<const float>(values));
}
const Tensor rows = numbers({5, 3}, -1), columns = numbers({2, 300}), middle = numbers({2, 4, 3}),
             words = Tensor::vector<std::string>({"0", "1", "2", "3", "4"});

struct Fixture {
  Fixture() {
    for (const char* file : {"parts.index", "parts.data-00000-of-00002", "parts.data-00001-of-00002",
                             "tiles.index", "tiles.data-00000-of-00001"})
      folder.write(file, project_file(folder_of_samples + file));
  }
  std::string prefix(const std::string& name) const { return folder.path() + "/" + name; }
  Bundle open(const std::string& name) { return value_or_throw(Bundle::open(disk, prefix(name))); }

  /// What reading `name` of "tiles" says once `change` was at the entries of its index.
  template <class Change>
  std::string failure(const std::string& name, Change change) {
    auto table =
        value_or_throw(read_sorted_table(project_file(folder_of_samples + "tiles.index"), "tiles.index"));
    change(table);
    folder.write("tiles.index", test::sorted_table_bytes(table));
    const auto bundle = Bundle::open(disk, prefix("tiles"));
    return bundle ? bundle->read(name).status().message() : bundle.status().message();
  }
  /// The same with the entry of a variable or part changed.
  template <class Change>
  std::string failure_with_entry(const std::string& key, Change change) {
    return failure("table", [&](auto& table) {
      BundleEntry entry = value_or_throw(read_bundle_entry(table.at(key), 1));
      change(entry);
      table[key] = write_bundle_entry(entry);
    });
  }

  test::TemporaryFolder folder;
  RealDisk disk;
};

/// The first of the parts of "table".
const std::string corner = slice_key("table", {{0, 0}, {2, 3}});

void check_says(const std::string& message, const std::string& expected) {
  BOOST_TEST(message.find(expected) != std::string::npos, message << " does not say: " << expected);
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(partitioned, Fixture)

BOOST_AUTO_TEST_CASE(parts_of_two_files_are_put_together) {
  const Bundle bundle = open("parts");
  const auto is = [&](const std::string& name, const Tensor& expected) {
    BOOST_TEST(identical(value_or_throw(bundle.read(name)), expected), name);
  };
  BOOST_TEST(bundle.entries().size() == 5u);
  is("rows", rows);
  is("layer/columns", columns);
  is("middle", middle);
  is("words", words);
  is("rows/Momentum", Tensor::of<float>({5, 3}, std::vector<float>(15, 1)));
}

BOOST_AUTO_TEST_CASE(slices_of_any_parts) {
  const Bundle parts = open("parts"), tiles = open("tiles");
  const auto is = [](const Bundle& bundle, const std::string& name, const TensorSlice& slice,
                     const Tensor& expected) {
    BOOST_TEST(identical(value_or_throw(bundle.read(name, slice)), expected), name << ' ' << slice.text());
  };
  is(parts, "words", {{1}, {3}}, Tensor::vector<std::string>({"1", "2", "3"}));
  is(parts, "rows", {{1, 1}, {3, 2}}, Tensor::of<float>({3, 2}, {3, 4, 6, 7, 9, 10}));
  is(parts, "layer/columns", {{1, 198}, {1, 4}}, Tensor::of<float>({1, 4}, {498, 499, 500, 501}));
  is(parts, "middle", {{0, 1, 2}, {2, 2, 1}}, Tensor::of<float>({2, 2, 1}, {5, 8, 17, 20}));
  for (const char* name : {"table", "bands"}) {
    is(tiles, name, {{0, 0}, {3, 4}}, numbers({3, 4}));
    is(tiles, name, {{1, 2}, {2, 2}}, Tensor::of<float>({2, 2}, {6, 7, 10, 11}));
    is(tiles, name, {{1, 4}, {2, 0}}, Tensor::of<float>({2, 0}, {}));
  }
  BOOST_TEST((tiles.read("table", {{1, 2}, {3, 2}}).status().code() == Code::InvalidArgument));
  BOOST_TEST((tiles.read("table", {{0}, {1}}).status().code() == Code::InvalidArgument));
}

BOOST_AUTO_TEST_CASE(graphs_with_these_parts_and_others_and_none) {
  for (const char* graph : {"parts_3.pb", "parts_2.pb", "parts_0.pb"}) {
    golden::GraphFileOptions options;
    options.file = folder.write(graph, project_file(folder_of_samples + graph));
    options.checkpoint = prefix("parts");
    options.fetches = {"read/rows:0", "read/columns:0", "read/middle:0", "read/words:0"};
    const auto values = golden::GraphFile(disk, options).run();
    BOOST_TEST(identical(values[0], rows), graph);
    BOOST_TEST(identical(values[1], columns), graph);
    BOOST_TEST(identical(values[2], middle), graph);
    BOOST_TEST(identical(values[3], words), graph);
  }
}

BOOST_AUTO_TEST_CASE(slots_of_parts) {
  golden::GraphFileOptions options;
  options.file = folder.write("graph.pb", project_file(folder_of_samples + "parts_2.pb"));
  options.checkpoint = prefix("parts");
  options.fetches = {"rows/part_0/Momentum:0", "rows/part_1/Momentum:0"};
  const auto values = golden::GraphFile(disk, options).run();
  BOOST_TEST(identical(values[0], Tensor::of<float>({3, 3}, {1, 1, 1, 1, 1, 1, 1, 1, 1})));
  BOOST_TEST(identical(values[1], Tensor::of<float>({2, 3}, {1, 1, 1, 1, 1, 1})));
}

BOOST_AUTO_TEST_CASE(where_variables_are_saved) {
  const Bundle bundle = open("parts");
  const auto found = value_or_throw(find_saved({{"rows/part_0", {4, 3}},
                                                {"rows/part_1", {1, 3}},
                                                {"layer/columns/part_0", {2, 300}},
                                                {"rows/part_0/Momentum", {5, 2}},
                                                {"rows/part_1/Momentum", {5, 1}},
                                                {"other/part_0", {2, 3}},
                                                {"words", {5}},
                                                {"part_0", {5}}},
                                               bundle));
  BOOST_TEST(found.size() == 6u);
  BOOST_TEST(found.at("rows/part_1").name == "rows");
  BOOST_TEST(found.at("rows/part_1").slice->text() == "4,1:0,3");
  BOOST_TEST(found.at("layer/columns/part_0").slice->text() == "0,2:0,300");
  BOOST_TEST(found.at("rows/part_1/Momentum").name == "rows/Momentum");
  BOOST_TEST(found.at("rows/part_1/Momentum").slice->text() == "0,5:2,1");
  BOOST_TEST(!found.at("words").slice);
}

BOOST_AUTO_TEST_CASE(parts_of_a_graph_that_make_up_no_variable) {
  const Bundle bundle = open("parts");
  using Variables = std::map<std::string, PartialShape>;
  for (const Variables& variables :
       {Variables{{"rows/part_0", {4, 3}}}, Variables{{"rows/part_1", {5, 3}}},
        Variables{{"rows/part_0", {4, 3}}, {"rows/part_2", {1, 3}}},
        Variables{{"rows/part_0", {4, 3}}, {"rows/part_1", {2, 3}}},
        Variables{{"rows/part_0", {4, 3}}, {"rows/part_1", {1, 2}}},
        Variables{{"rows/part_0", {4, 3}}, {"rows/part_1", {1, -1}}},
        Variables{{"rows/part_0", PartialShape()}}, Variables{{"rows/part_0", {15}}},
        Variables{{"rows/part_0", {INT64_MAX, 3}}, {"rows/part_1", {INT64_MAX, 3}}}}) {
    const Status status = find_saved(variables, bundle).status();
    BOOST_TEST((status.code() == Code::InvalidArgument), status.message());
    check_says(status.text(), "variable 'rows' has shape [5,3] in the checkpoint");
    check_says(status.text(), variables.begin()->first);
  }
}

BOOST_AUTO_TEST_CASE(keys_of_slices) {
  const auto key = [](std::string_view name, int64_t start, int64_t length) {
    return slice_key(name, {{start}, {length}});
  };
  const auto bytes = [](std::initializer_list<int> values) {
    return std::string(values.begin(), values.end());
  };
  BOOST_TEST(key("w", 0, -1) == bytes({0, 'w', 0, 1, 1, 1, 0x80, 0x7f}));
  BOOST_TEST(key("", 63, 64) == bytes({0, 0, 1, 1, 1, 0xbf, 0xc0, 0x40}));
  BOOST_TEST(key("", 8191, 8192) == bytes({0, 0, 1, 1, 1, 0xdf, 0xff, 0xe0, 0x20, 0x00}));
  BOOST_TEST(key("", int64_t{1} << 55, INT64_MAX) ==
             bytes({0, 0, 1,    1,    1,    0xff, 0x80, 0x80, 0,    0,    0,    0,
                    0, 0, 0xff, 0xc0, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}));
  BOOST_TEST(slice_key(std::string_view("a\0\xff", 3), {}) == bytes({0, 'a', 0, 0xff, 0xff, 0, 0, 1, 0}));
}

BOOST_AUTO_TEST_CASE(an_index_written_anew_is_the_same) {
  BOOST_TEST(failure("table", [](auto&) {}) == "Ok");
  BOOST_TEST(failure("bands", [](auto&) {}) == "Ok");
}

BOOST_AUTO_TEST_CASE(parts_that_are_missing_or_overlap) {
  check_says(failure("table", [](auto& table) { table.erase(corner); }),
             "DataLoss: 'table' of " + prefix("tiles") + ": its part 0,2:0,3 is missing");
  check_says(failure_with_entry("table", [](auto& entry) { entry.parts.pop_back(); }),
             "'table' of " + prefix("tiles") + ": its parts hold ");
  check_says(failure_with_entry("table", [](auto& entry) { entry.parts.push_back(entry.parts[0]); }),
             " overlap");
  check_says(failure_with_entry("table",
                                [](auto& entry) {
                                  entry.shape = Shape{4, 4};
                                }),
             "'table' of " + prefix("tiles") + ": its parts hold 12 of its 16 elements");
}

BOOST_AUTO_TEST_CASE(parts_that_lie_outside_of_their_variable) {
  struct Extent {
    int64_t start, length;
  };
  for (const Extent& wrong : {Extent{2, 2}, {-1, 1}, {4, 0}, {0, -2}, {INT64_MAX, INT64_MAX}})
    check_says(failure_with_entry("table",
                                  [&](auto& entry) {
                                    entry.parts[0].start[0] = wrong.start;
                                    entry.parts[0].length[0] = wrong.length;
                                  }),
               "tiles.index: table: its part " + std::to_string(wrong.start));
  check_says(failure_with_entry("table",
                                [](auto& entry) {
                                  entry.parts[0].start.push_back(0);
                                  entry.parts[0].length.push_back(TensorSlice::all);
                                }),
             "table: its part ");
  check_says(failure_with_entry("table",
                                [](auto& entry) {
                                  entry.parts[0].length[0] = TensorSlice::all;
                                  entry.parts[0].start[0] = 1;
                                }),
             "table: its part 1,-1:");
}

BOOST_AUTO_TEST_CASE(parts_that_are_something_else) {
  const auto with_corner = [&](auto change) { return failure_with_entry(corner, change); };
  check_says(with_corner([](auto& entry) { entry.dtype = i32; }),
             "'table' of " + prefix("tiles") +
                 ": its part 0,2:0,3 has a type or shape that does not match the variable");
  check_says(with_corner([](auto& entry) {
               entry.shape = Shape{3, 3};
             }),
             "has a type or shape that does not match the variable");
  check_says(with_corner([](auto& entry) { entry.size = 20; }),
             "its part 0,2:0,3 has fewer bytes than its elements take");
  check_says(with_corner([](auto& entry) { entry.shard = 1; }),
             "a part of table: its shard is number 1, counted from 0, but the checkpoint has 1 shards");
  check_says(with_corner([](auto& entry) { entry.offset = 1 << 20; }), "ends before byte");
  check_says(with_corner([](auto& entry) { entry.offset = entry.offset == 0 ? 20 : 0; }),
             "two of its parts share bytes of a file");
  check_says(with_corner([](auto& entry) { entry.checksum = 1; }), "the checksum of its bytes is wrong");
}

BOOST_AUTO_TEST_CASE(few_bytes_that_announce_many) {
  const auto huge = [](auto& entry) {
    entry.shape = Shape{int64_t{1} << 35, 4};
    entry.parts = {{{0, 0}, {TensorSlice::all, TensorSlice::all}}};
  };
  check_says(failure_with_entry("table", huge), "its part 0,-1:0,-1 is missing");
  check_says(failure("table",
                     [&](auto& table) {
                       BundleEntry entry = value_or_throw(read_bundle_entry(table.at("table"), 1));
                       huge(entry);
                       table["table"] = write_bundle_entry(entry);
                       entry.parts.clear();
                       table[slice_key("table", {{0, 0}, {-1, -1}})] = write_bundle_entry(entry);
                     }),
             "has fewer bytes than its elements take");
  check_says(failure_with_entry("table", [](auto& entry) { entry.parts.resize(1000, entry.parts[0]); }),
             "tiles.index: table: the variables up to this one have more parts than the index has entries");
}

BOOST_AUTO_TEST_CASE(too_many_parts) {
  const std::string message = failure("w", [](auto& table) {
    const auto parts = static_cast<int64_t>(max_tensor_parts) + 1;
    BundleEntry whole, part;
    whole.dtype = part.dtype = f32;
    whole.shape = Shape{parts};
    part.shape = Shape{1};
    for (int64_t i = 0; i < parts; ++i) {
      whole.parts.push_back({{i}, {1}});
      table[slice_key("w", {{i}, {1}})] = write_bundle_entry(part);
    }
    table["w"] = write_bundle_entry(whole);
  });
  check_says(message, "ResourceExhausted: 'w' of " + prefix("tiles") + ": it has more than 4096 parts");
}

BOOST_AUTO_TEST_CASE(data_of_parts_that_is_damaged) {
  const Bundle bundle = open("parts");
  const auto all_are_read = [&] {
    return std::ranges::all_of(bundle.entries(),
                               [&](const auto& entry) { return bundle.read(entry.first).ok(); });
  };
  for (const std::string file : {"parts.data-00000-of-00002", "parts.data-00001-of-00002"}) {
    const std::string bytes = project_file(folder_of_samples + file);
    for (size_t i = 0; i < bytes.size(); i += 7) {
      std::string changed = bytes;
      changed[i] = static_cast<char>(changed[i] ^ 1);
      folder.write(file, changed);
      BOOST_TEST(!all_are_read(), file << " byte " << i);
    }
    folder.write(file, bytes.substr(0, bytes.size() - 1));
    BOOST_TEST(!all_are_read(), file << " cut");
    folder.write(file, bytes);
  }
  BOOST_TEST(all_are_read());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::interop::partitioned_test
