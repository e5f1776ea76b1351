// Checkpoint files under damage, full disks, crashes and hostile content: a load returns what was saved, or the file is refused
// (robustness.md R8, I1, I7).
#include "actors/checkpoint/checkpoint_files.h"

#include <boost/test/unit_test.hpp>

#include "messages/values/crc32c.h"
#include "tests/support/simulation/simulated_disk.h"
#include "tests/support/whole_checkpoint.h"

namespace troupe::checkpoint_files_test {
namespace {

using test::WholeCheckpoint;

const std::string folder = "/runs/checkpoints";

/// Tensors of several dtypes, one of them without elements. Their values depend on the round.
WholeCheckpoint checkpoint_of(uint64_t round) {
  const auto value = static_cast<float>(round);
  return {round,
          "round " + std::to_string(round) + ": \"\\\n\x7f é",
          {{"w", Tensor::of<float>(Shape{2, 2}, {value, -0.0f, 1e-42f, value}), round},
           {"dense/b", Tensor::vector<BFloat16>({BFloat16(value), BFloat16(2)}), round + 7},
           {"global_step", Tensor::scalar(static_cast<int64_t>(round)), 1},
           {"mask é", Tensor::vector<bool>({true, false, round % 2 == 0}), 0},
           {"table/part_1", Tensor::vector<float>({value, 2 * value}), 2, RowSlice{"table", 5, 1, 3, 2}},
           {"none", Tensor::vector<double>({}), 3}}};
}

Status save(Disk& disk, uint64_t round, size_t keep, bool pinned = false) {
  return test::save(disk, folder, checkpoint_of(round), keep, 2, pinned);
}

bool equal(const WholeCheckpoint& a, const WholeCheckpoint& b) {
  return a.round == b.round && a.note == b.note &&
         std::ranges::equal(a.tensors, b.tensors, [](const SavedTensor& x, const SavedTensor& y) {
           return x.name == y.name && x.version == y.version && x.slice == y.slice &&
                  identical(x.value, y.value);
         });
}

/// Returns the round of the newest valid checkpoint, after checking all its values; 0 if there is none.
uint64_t newest(Disk& disk, std::vector<std::string>& skipped) {
  const auto loaded = test::load_newest(disk, folder, skipped);
  if (loaded.status().code() == Code::NotFound) return 0;
  BOOST_TEST_REQUIRE(loaded.ok(), loaded.status().message());
  BOOST_TEST_REQUIRE(equal(*loaded, checkpoint_of(loaded->round)));
  return loaded->round;
}
uint64_t newest(Disk& disk) {
  std::vector<std::string> skipped;
  return newest(disk, skipped);
}

std::string content(Disk& disk, const std::string& path) {
  return value_or_throw(read_file(disk, path, 1 << 20));
}
void put(Disk& disk, const std::string& path, std::string_view text) {
  throw_if_failed(value_or_throw(disk.create(path))->write(std::as_bytes(std::span(text))));
}

/// Returns all paths below a folder, one per line.
std::string tree(Disk& disk, const std::string& path) {
  std::string all;
  for (const auto& entry : value_or_throw(disk.list(path)))
    all += entry.is_folder ? tree(disk, path + '/' + entry.name) : path + '/' + entry.name + '\n';
  return all;
}

std::string tree_of(std::initializer_list<const char*> checkpoints) {
  std::string all;
  for (const std::string checkpoint : checkpoints)
    for (const char* file :
         {"manifest.json", "shard-00000-of-00002.safetensors", "shard-00001-of-00002.safetensors"})
      all += folder + '/' + checkpoint + '/' + file + '\n';
  return all;
}

/// A disk with two checkpoints, of rounds 1 and 2.
struct Saved {
  Saved() {
    throw_if_failed(save(disk, 1, 2));
    throw_if_failed(save(disk, 2, 2));
  }

  /// Gives the newer checkpoint a file with this content, and checks that it is refused and the older checkpoint is found.
  void check_refused(const std::string& path, std::string_view damaged, const std::string& how) {
    put(disk, path, damaged);
    const Status status = test::load(disk, folder, "000002-round-2").status();
    BOOST_TEST_REQUIRE((status.code() == Code::DataLoss), path << ' ' << how << ": " << status.message());
    BOOST_TEST_REQUIRE(status.text().find(path) != std::string::npos, how << ": " << status.message());
    std::vector<std::string> skipped;
    BOOST_TEST_REQUIRE(newest(disk, skipped) == 1u);
    BOOST_TEST_REQUIRE(skipped == std::vector<std::string>{status.text()}, boost::test_tools::per_element());
  }

  template <class F>
  void each_file_of_the_newer(F function) {
    for (const auto& entry : value_or_throw(disk.list(files.path("000002-round-2")))) {
      const std::string path = files.path("000002-round-2") + '/' + entry.name, whole = content(disk, path);
      function(path, whole);
      put(disk, path, whole);
      BOOST_TEST_REQUIRE(newest(disk) == 2u);
    }
  }

  SimulatedDisk disk{1};
  CheckpointFiles files{disk, folder};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(checkpoint_files)

BOOST_FIXTURE_TEST_CASE(what_was_saved_is_loaded_and_lies_where_it_should, Saved) {
  BOOST_TEST(newest(disk) == 2u);
  BOOST_TEST(equal(value_or_throw(test::load(disk, folder, "000001-round-1")), checkpoint_of(1)));
  BOOST_TEST(tree(disk, "") == tree_of({"000001-round-1", "000002-round-2"}));
}

BOOST_AUTO_TEST_CASE(without_a_checkpoint_there_is_none) {
  SimulatedDisk disk(1);
  BOOST_TEST(newest(disk) == 0u);
  throw_if_failed(CheckpointFiles(disk, folder).begin(1).status());
  BOOST_TEST(newest(disk) == 0u);
}

BOOST_FIXTURE_TEST_CASE(a_flipped_bit_in_any_byte_is_found, Saved) {
  each_file_of_the_newer([&](const std::string& path, const std::string& whole) {
    for (size_t at = 0; at < whole.size(); ++at)
      for (const int bit : {0, 5, 7}) {
        std::string damaged = whole;
        damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
        check_refused(path, damaged, "byte " + std::to_string(at) + " bit " + std::to_string(bit));
      }
  });
}

BOOST_FIXTURE_TEST_CASE(a_file_of_any_other_length_is_found, Saved) {
  each_file_of_the_newer([&](const std::string& path, const std::string& whole) {
    for (size_t bytes = 0; bytes < whole.size(); ++bytes)
      check_refused(path, whole.substr(0, bytes), "cut to " + std::to_string(bytes));
    check_refused(path, whole + '\0', "longer");
    check_refused(path, whole + whole, "twice");
  });
}

BOOST_FIXTURE_TEST_CASE(a_file_of_another_checkpoint_is_found, Saved) {
  for (const char* file : {"/shard-00000-of-00002.safetensors", "/shard-00001-of-00002.safetensors"}) {
    const std::string path = files.path("000002-round-2") + file, whole = content(disk, path);
    check_refused(path, content(disk, files.path("000001-round-1") + file), "the older one's");
    put(disk, path, whole);
  }
}

/// Returns the manifest with a change, and the checksum of what it says then.
std::string changed_manifest(const std::string& whole, const std::string& from, const std::string& to) {
  const std::string before = "{\"checkpoint\": ", after = ", \"crc32c\": \"";
  const size_t end = whole.rfind(after);
  std::string body = whole.substr(before.size(), end - before.size());
  const size_t at = body.find(from);
  BOOST_TEST_REQUIRE(at != std::string::npos, body << " lacks " << from);
  body.replace(at, from.size(), to);
  char checksum[9];
  std::snprintf(checksum, sizeof checksum, "%08x", crc32c(body));
  return before + body + after + checksum + "\"}\n";
}

// table: 5 rows, of which the part has rows 1 and 4
BOOST_FIXTURE_TEST_CASE(a_part_that_cannot_be_one_is_found, Saved) {
  const std::string manifest = files.path("000002-round-2") + "/manifest.json",
                    whole = content(disk, manifest);
  const std::vector<std::pair<std::string, std::string>> changes = {
      {"\"rows\":5", "\"rows\":4"},         {"\"rows\":5", "\"rows\":18446744073709551615"},
      {"\"first\":1", "\"first\":-1"},      {"\"first\":1", "\"first\":9223372036854775807"},
      {"\"stride\":3", "\"stride\":0"},     {"\"stride\":3", "\"stride\":9223372036854775807"},
      {"\"count\":2", "\"count\":1000000"}, {"\"count\":2", "\"count\":\"2\""},
      {"\"of\":\"table\"", "\"of\":7"}};
  for (const auto& [from, to] : changes) check_refused(manifest, changed_manifest(whole, from, to), to);
  put(disk, manifest, changed_manifest(whole, "\"count\":2", "\"count\":1"));
  BOOST_TEST((test::load(disk, folder, "000002-round-2").status().code() == Code::DataLoss));
}

BOOST_FIXTURE_TEST_CASE(a_missing_file_is_found_and_without_manifest_there_is_no_checkpoint, Saved) {
  const std::string path = files.path("000002-round-2");
  throw_if_failed(disk.remove(path + "/shard-00001-of-00002.safetensors"));
  std::vector<std::string> skipped;
  BOOST_TEST(newest(disk, skipped) == 1u);
  BOOST_TEST(skipped.size() == 1u);
  throw_if_failed(disk.remove(path + "/manifest.json"));
  skipped.clear();
  BOOST_TEST(newest(disk, skipped) == 1u);
  BOOST_TEST(skipped.empty());
}

BOOST_AUTO_TEST_CASE(on_a_disk_full_at_any_byte_the_one_before_stays_and_the_next_save_cleans_up) {
  uint64_t before = 0, after = 0;
  {
    SimulatedDisk disk(1);
    throw_if_failed(save(disk, 1, 5));
    before = disk.used();
    throw_if_failed(save(disk, 2, 5));
    after = disk.used();
  }
  for (uint64_t capacity = before; capacity <= after; ++capacity) {
    SimulatedDisk disk(capacity);
    throw_if_failed(save(disk, 1, 2));
    disk.set_capacity(capacity);
    const Status status = save(disk, 2, 2);
    BOOST_TEST_REQUIRE(status.ok() == (capacity == after));
    if (!status.ok()) BOOST_TEST_REQUIRE((status.code() == Code::ResourceExhausted));
    BOOST_TEST_REQUIRE(newest(disk) == (status.ok() ? 2u : 1u));
    disk.set_capacity(UINT64_MAX);
    throw_if_failed(save(disk, 3, 2));
    BOOST_TEST_REQUIRE(newest(disk) == 3u);
    BOOST_TEST_REQUIRE(tree(disk, "") == (status.ok() ? tree_of({"000002-round-2", "000003-round-3"})
                                                      : tree_of({"000001-round-1", "000003-round-3"})));
  }
}

BOOST_AUTO_TEST_CASE(after_a_crash_at_any_operation_the_new_or_the_old_one_is_there) {
  for (const uint64_t before : {0u, 1u, 3u}) {  // how many checkpoints exist; if three, one is removed
    uint64_t operations = 0;
    for (uint64_t seed = 1; seed <= 20; ++seed)
      for (uint64_t operation = 1; operation <= operations + 1; ++operation) {
        SimulatedDisk disk(seed);
        for (uint64_t round = 1; round <= before; ++round) throw_if_failed(save(disk, round, 3));
        const uint64_t start = disk.operations();
        if (operations == 0) {  // the first run counts the operations
          SimulatedDisk whole(seed);
          for (uint64_t round = 1; round <= before + 1; ++round) throw_if_failed(save(whole, round, 3));
          operations = whole.operations() - start;
        }
        disk.crash_at(start + operation);
        const Status status = save(disk, before + 1, 3);
        BOOST_TEST_REQUIRE(status.ok() == (operation > operations));
        if (status.ok()) disk.crash();
        disk.restart();
        const uint64_t found = newest(disk);
        BOOST_TEST_REQUIRE((found == before + 1 || (!status.ok() && found == before)),
                           "seed " << seed << " operation " << operation << ": found " << found);
        throw_if_failed(save(disk, before + 2, 1));
        BOOST_TEST_REQUIRE(newest(disk) == before + 2);
        const auto left = CheckpointFiles(disk, folder).names();
        BOOST_TEST_REQUIRE(left->size() == 1u);
        BOOST_TEST_REQUIRE(tree(disk, "") == tree_of({left->front().c_str()}));
      }
  }
}

BOOST_AUTO_TEST_CASE(the_newest_stay_by_count_and_the_one_saved_last_is_the_newest_whatever_its_round) {
  SimulatedDisk disk(1);
  for (const uint64_t round : {10, 20, 30, 5, 5}) throw_if_failed(save(disk, round, 3));
  BOOST_TEST(tree(disk, "") == tree_of({"000003-round-30", "000004-round-5", "000005-round-5"}));
  BOOST_TEST(newest(disk) == 5u);
  throw_if_failed(save(disk, 6, 0));  // keep = 0 keeps the checkpoint just saved
  BOOST_TEST(tree(disk, "") == tree_of({"000006-round-6"}));
}

BOOST_AUTO_TEST_CASE(pinned_ones_stay_beside_the_newest) {
  SimulatedDisk disk(1);
  for (const uint64_t round : {1, 2, 3, 4, 5, 6}) throw_if_failed(save(disk, round, 2, round % 2 == 1));
  BOOST_TEST(tree(disk, "") ==
             tree_of({"000001-round-1", "000003-round-3", "000005-round-5", "000006-round-6"}));
  BOOST_TEST(newest(disk) == 6u);
}

BOOST_FIXTURE_TEST_CASE(what_else_lies_in_the_folder_stays, Saved) {
  throw_if_failed(disk.make_folder(folder + "/notes"));
  throw_if_failed(disk.make_folder(folder + "/99999999999999999999999-round-1"));
  put(disk, folder + "/000009-round-9", "a file");
  throw_if_failed(save(disk, 3, 1));
  BOOST_TEST(tree(disk, "") == tree_of({"000003-round-3"}) + folder + "/000009-round-9\n");
  BOOST_TEST(disk.info(folder + "/notes").ok());
}

BOOST_AUTO_TEST_CASE(what_the_format_cannot_hold_is_refused_by_name) {
  SimulatedDisk disk(1);
  const auto refused = [&](std::vector<SavedTensor> tensors, Code code, const std::string& word) {
    const Status status = write_shard(disk, "/", shard_name(0, 1), tensors).status();
    BOOST_TEST((status.code() == code), status.message());
    BOOST_TEST(status.text().find(word) != std::string::npos, status.message());
  };
  refused({{"vocabulary", Tensor::scalar(std::string("text")), 1}}, Code::Unimplemented, "vocabulary");
  refused({{"w", Tensor::scalar(1), 1}, {"w", Tensor::scalar(2), 1}}, Code::InvalidArgument, "w");
  refused({{"__metadata__", Tensor::scalar(1), 1}}, Code::InvalidArgument, "__metadata__");
  refused({{"\xff\xfe", Tensor::scalar(1), 1}}, Code::InvalidArgument, "UTF-8");
  BOOST_TEST(tree(disk, "").empty());
}

// ---- Hostile files, whose checksums are right.

namespace {

std::string hexadecimal(uint32_t value) {
  char text[9];
  std::snprintf(text, sizeof text, "%08x", value);
  return text;
}

std::string signed_manifest(const std::string& body) {
  return "{\"checkpoint\": " + body + ", \"crc32c\": \"" + hexadecimal(crc32c(body)) + "\"}\n";
}

std::string file_entry(const std::string& name, const std::string& bytes, const std::string& content,
                       const std::string& versions) {
  return "{\"name\":\"" + name + "\",\"bytes\":" + bytes + ",\"crc32c\":\"" + hexadecimal(crc32c(content)) +
         "\",\"versions\":" + versions + "}";
}

std::string manifest_with(const std::string& files) {
  return signed_manifest("{\"format\":1,\"round\":2,\"note\":\"\",\"files\":[" + files + "]}");
}

std::string little_endian(uint64_t value) {
  std::string text;
  for (int i = 0; i < 8; ++i) text += static_cast<char>(value >> (8 * i));
  return text;
}

std::string entry(const std::string& name, const std::string& dtype, const std::string& shape,
                  const std::string& range) {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":" + range +
         "}";
}

std::string repeated(const std::string& text, size_t times) {
  std::string all;
  for (size_t i = 0; i < times; ++i) all += text;
  return all;
}

struct Hostile : Saved {
  const std::string manifest = folder + "/000002-round-2/manifest.json";
  const std::string shard = folder + "/000002-round-2/shard.safetensors";

  /// Makes a manifest that names this file and its tensors.
  void put_shard(const std::string& bytes, const std::string& versions) {
    put(disk, manifest,
        manifest_with(file_entry("shard.safetensors", std::to_string(bytes.size()), bytes, versions)));
    put(disk, shard, bytes);
  }
  void check_shard_refused(const std::string& bytes, const std::string& versions = R"({"a":1})") {
    put_shard(bytes, versions);
    check_refused(shard, bytes, bytes.substr(0, 200));
  }
  void check_header_refused(const std::string& header, size_t data = 8,
                            const std::string& versions = R"({"a":1})") {
    check_shard_refused(little_endian(header.size()) + header + std::string(data, '\2'), versions);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(the_files_made_here_are_read_when_nothing_is_wrong_with_them, Hostile) {
  const std::string header = "{\"__metadata__\":{\"by\":\"hand\"}," + entry("b", "U8", "[2,1]", "[4,6]") +
                             "," + entry("a", "F32", "[]", "[0,4]") + "}";
  put_shard(little_endian(header.size()) + header + std::string("\0\0\x80\x3f\1\2", 6), R"({"a":1,"b":2})");
  const auto loaded = value_or_throw(test::load(disk, folder, "000002-round-2"));
  BOOST_REQUIRE(loaded.tensors.size() == 2u);
  BOOST_TEST(identical(loaded.tensors[0].value, Tensor::scalar(1.0f)));
  BOOST_TEST(identical(loaded.tensors[1].value, Tensor::of<uint8_t>(Shape{2, 1}, {1, 2})));
}

BOOST_FIXTURE_TEST_CASE(a_hostile_manifest_is_refused, Hostile) {
  const std::string good = file_entry("shard-00000-of-00002.safetensors", "10", "", "{}");
  for (const std::string& body : std::initializer_list<std::string>{
           "",
           "[]",
           "7",
           "{\"format\":1",
           R"({"format":1,"round":2})",
           R"({"format":3,"round":2,"note":"","files":[]})",
           R"({"format":1,"round":-2,"note":"","files":[]})",
           R"({"format":1,"round":2.5,"note":"","files":[]})",
           R"({"format":1,"round":1e300,"note":"","files":[]})",
           R"({"format":1,"round":99999999999999999999999,"note":"","files":[]})",
           R"({"format":1,"round":2,"note":{},"files":[]})",
           R"({"format":1,"round":2,"note":"","files":7})",
           R"({"format":1,"round":2,"note":"","files":[[]]})",
           R"({"format":1,"round":2,"note":"","files":[null]})",
           R"({"format":1,"round":2,"note":"\ud800","files":[]})",
           "{\"format\":1,\"round\":2,\"note\":\"\xff\",\"files\":[]}",
           repeated("[", 1 << 20),
           repeated("{\"a\":", 1 << 20),
           "{\"format\":" + repeated("[", 1 << 20) + repeated("]", 1 << 20) + "}",
       })
    check_refused(manifest, signed_manifest(body), body.substr(0, 80));
  for (const std::string& entry : std::initializer_list<std::string>{
           file_entry("x", "-1", "", "{}"),
           file_entry("x", "1.5", "", "{}"),
           file_entry("x", "1", "", "[]"),
           file_entry("x", "1", "", R"({"a":-1})"),
           file_entry("x", "1", "", R"({"a":"1"})"),
           R"({"name":"x","bytes":1,"crc32c":"0000000g","versions":{}})",
           R"({"name":"x","bytes":1,"crc32c":"000000000","versions":{}})",
           R"({"name":"x","bytes":1,"crc32c":"","versions":{}})",
           R"({"name":7,"bytes":1,"crc32c":"00000000","versions":{}})",
           file_entry("x", "1", "", R"({"a":1})") + "," + file_entry("y", "1", "", R"({"a":1})"),
       })
    check_refused(manifest, manifest_with(entry), entry);
}

BOOST_FIXTURE_TEST_CASE(a_manifest_names_files_of_its_own_folder_only, Hostile) {
  put(disk, "/secret", "");
  for (const std::string name :
       {"../../../secret", "/secret", "..", ".", "", "a/../../../../secret", "\\u0000"}) {
    put(disk, manifest, manifest_with(file_entry(name, "0", "", "{}")));
    const Status status = test::load(disk, folder, "000002-round-2").status();
    BOOST_TEST((status.code() == Code::DataLoss), name << ": " << status.message());
    BOOST_TEST(newest(disk) == 1u);
  }
}

BOOST_FIXTURE_TEST_CASE(a_manifest_may_announce_any_length, Hostile) {
  for (const std::string bytes : {"0", "7", "9", "18446744073709551615", "1099511627776"}) {
    put(disk, shard, "12345678");
    put(disk, manifest, manifest_with(file_entry("shard.safetensors", bytes, "12345678", "{}")));
    BOOST_TEST((test::load(disk, folder, "000002-round-2").status().code() == Code::DataLoss));
    BOOST_TEST(newest(disk) == 1u);
  }
}

BOOST_FIXTURE_TEST_CASE(a_hostile_shard_is_refused, Hostile) {
  for (size_t bytes = 0; bytes < 8; ++bytes) check_shard_refused(std::string(bytes, '\0'));
  for (const uint64_t length : {uint64_t{1}, uint64_t{9}, uint64_t{1} << 32, uint64_t{1} << 63, UINT64_MAX})
    check_shard_refused(little_endian(length) + "{}" + std::string(length == 1 ? 0 : 6, ' '));
  for (const std::string& header : std::initializer_list<std::string>{
           "",
           "[]",
           "{",
           "{\"a\":7}",
           "{\"a\":{}}",
           "{\"a\":[]}",
           repeated("{\"a\":", 1 << 20),
           "{" + entry("b", "F32", "[2]", "[0,8]") + "}",                      // unknown to the manifest
           "{" + entry("a", "F99", "[2]", "[0,8]") + "}",                      // dtype
           "{" + entry("a", "F64", "[2]", "[0,8]") + "}",                      // too large for its range
           "{" + entry("a", "F32", "[3]", "[0,8]") + "}",                      //
           "{" + entry("a", "F32", "[2]", "[0,9]") + "}",                      // beyond the end
           "{" + entry("a", "F32", "[2]", "[1,9]") + "}",                      //
           "{" + entry("a", "F32", "[1]", "[0,4]") + "}",                      // bytes left over
           "{" + entry("a", "F32", "[1]", "[4,8]") + "}",                      // a gap
           "{" + entry("a", "F32", "[2]", "[8,0]") + "}",                      // backwards
           "{" + entry("a", "F32", "[2]", "[0]") + "}",                        //
           "{" + entry("a", "F32", "[2]", "[0,8,8]") + "}",                    //
           "{" + entry("a", "F32", "[2]", "{\"0\":8}") + "}",                  //
           "{" + entry("a", "F32", "[2]", "[0,-8]") + "}",                     //
           "{" + entry("a", "F32", "[2]", "[0,8.0]") + "}",                    //
           "{" + entry("a", "F32", "[2]", "[\"0\",8]") + "}",                  //
           "{" + entry("a", "F32", "2", "[0,8]") + "}",                        //
           "{" + entry("a", "F32", "{}", "[0,8]") + "}",                       //
           "{" + entry("a", "F32", "[-2]", "[0,8]") + "}",                     //
           "{" + entry("a", "F32", "[2.0]", "[0,8]") + "}",                    //
           "{" + entry("a", "F32", "[[2]]", "[0,8]") + "}",                    //
           "{" + entry("a", "BOOL", "[8]", "[0,8]") + "}",                     // bytes that are not bools
           "{" + entry("a", "F32", "[4611686018427387904,4]", "[0,0]") + "}",  // 2^64 elements
           "{" + entry("a", "F32", "[18446744073709551615]", "[0,8]") + "}",   //
           "{" + entry("a", "F32", "[" + repeated("1,", 300) + "2]", "[0,8]") + "}",
           "{" + entry("a", "F32", "[2]", "[18446744073709551608,18446744073709551615]") + "}",
           "{" + entry("a", "F32", "[2]", "[18446744073709551615,7]") + "}",
           "{" + entry("a", "U8", "[1099511627776]", "[0,1099511627776]") + "}",
           "{\"a\":{\"dtype\":\"F32\",\"shape\":[2]}}",
           "{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,8]}}",
           "{\"a\":{\"shape\":[2],\"data_offsets\":[0,8]}}",
           "{\"a\":{\"dtype\":1,\"shape\":[2],\"data_offsets\":[0,8]}}",
       })
    check_header_refused(header);
  const std::string a = entry("a", "F32", "[1]", "[0,4]");
  const std::string both = R"({"a":1,"b":1})";
  check_header_refused("{" + a + "," + entry("b", "F32", "[2]", "[0,8]") + "}", 8, both);  // overlaps
  check_header_refused("{" + a + "," + entry("b", "F32", "[1]", "[0,4]") + "}", 8, both);
  check_header_refused("{" + a + "," + entry("b", "F32", "[1]", "[5,9]") + "}", 9, both);
  check_header_refused("{" + a + "," + entry("a", "F32", "[1]", "[4,8]") + "}");  // twice
  check_header_refused("{" + a + "," + entry("c", "F32", "[1]", "[4,8]") + "}", 8, both);
  check_header_refused("{" + a + "}", 4, both);  // one that the manifest knows is missing
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::checkpoint_files_test
