// Examples of examples/ that no other test trains: they reach the scores that examples/README.md says, and predict.
#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/apps/commands/troupe_program.h"
#include "tests/apps/train/digits_runs.h"
#include "tests/support/project_files.h"

namespace troupe::examples_test {
namespace {

using test::Program;
using Json = nlohmann::json;

struct Fixture : test::DigitsRuns {
  std::string output_of(const Arguments& arguments) const {
    Program program(test::troupe_program(), arguments);
    BOOST_TEST_REQUIRE(program.end() == 0, program.output());
    return program.output();
  }
  /// Trains an example. Returns what the program reports.
  Json train(const std::string& example, const Arguments& more = {}) const {
    Arguments all = {"--json"};
    all.insert(all.end(), more.begin(), more.end());
    return Json::parse(output_of(run("train", example, all, example)));
  }
  /// Returns the rows of predictions for a file or pattern of examples/, the first of which has the names.
  std::vector<std::string> predictions(const std::string& example, const std::string& file) const {
    const std::string to = folder.path() + "/predictions.csv";
    output_of({"predict", folder.path() + '/' + example, test::project_path("examples/") + file, "-o", to,
               "--force"});
    std::ifstream stream(to);
    std::vector<std::string> rows;
    for (std::string row; std::getline(stream, row);) rows.push_back(row);
    return rows;
  }
};

BOOST_FIXTURE_TEST_SUITE(examples, Fixture)

BOOST_AUTO_TEST_CASE(pictures_of_a_folder_are_told_apart) {
  const Json result = train("shapes");
  BOOST_TEST(result.at("valid/accuracy").get<double>() >= 0.95);
  const auto rows = predictions("shapes", "shapes");
  BOOST_TEST_REQUIRE(rows.size() == 241u);
  BOOST_TEST(rows[0].starts_with("class"), rows[0]);
  BOOST_TEST(rows[1].starts_with("circle"), rows[1]);
  BOOST_TEST(rows[240].starts_with("triangle"), rows[240]);
  // Pictures without labels: a folder, files by a pattern.
  BOOST_TEST(predictions("shapes", "shapes/square").size() == 81u);
  const auto squares = predictions("shapes", "shapes/square/0?.png");
  BOOST_TEST_REQUIRE(squares.size() == 11u);
  BOOST_TEST(std::ranges::count(squares, "square") >= 9);
  const std::string pictures = test::project_path("examples/shapes/square");
  const std::string kept = output_of({"predict", folder.path() + "/shapes", pictures, "--keep", "file"});
  BOOST_TEST(kept.starts_with("file,class\n" + pictures + "/00.png,square\n"), kept);
  const std::string some =
      output_of({"predict", folder.path() + "/shapes", pictures + "/0[1-3].png", "--keep", "file"});
  BOOST_TEST(std::ranges::count(some, '\n') == 4, some);
  BOOST_TEST(some.starts_with("file,class\n" + pictures + "/01.png,"), some);

  const std::string mixed = folder.path() + "/mixed", broken = mixed + "/01.png";
  std::filesystem::create_directory(mixed);
  std::filesystem::copy(pictures + "/00.png", mixed);
  std::ofstream(broken) << "no picture";
  Program program(test::troupe_program(), {"predict", folder.path() + "/shapes", mixed});
  BOOST_TEST(program.end() == 3);
  BOOST_TEST(program.output().find(broken + ": ") != std::string::npos, program.output());
}

BOOST_AUTO_TEST_CASE(sounds_of_a_folder_are_told_apart) {
  const Json result = train("sounds");
  BOOST_TEST(result.at("valid/accuracy").get<double>() >= 0.95);
  const auto rows = predictions("sounds", "sounds");
  BOOST_TEST_REQUIRE(rows.size() == 151u);
  BOOST_TEST(rows[0].starts_with("class"), rows[0]);
  BOOST_TEST(std::ranges::count(rows, "chirp") >= 45);
  const std::string broken = folder.write("01.wav", "RIFF, but no sound");
  Program program(test::troupe_program(), {"predict", folder.path() + "/sounds", broken});
  BOOST_TEST(program.end() == 3);
  BOOST_TEST(program.output().find(broken + ": ") != std::string::npos, program.output());
  BOOST_TEST(program.output().find("WAV: ") != std::string::npos, program.output());
}

BOOST_AUTO_TEST_CASE(digits_are_drawn_from_eight_numbers) {
  const Json result = train("autoencoder");
  BOOST_TEST(result.at("valid/r2").get<double>() >=
             0.6);  // the mean over 64 points, some of them nearly constant
  const auto rows = predictions("autoencoder", "digits.csv");
  BOOST_TEST(rows.size() == 1798u);
  BOOST_TEST(rows[0].starts_with("code_0,code_1,"), rows[0]);
}

BOOST_AUTO_TEST_CASE(a_time_series_is_foretold) {
  const Json result = train("sunspots");
  BOOST_TEST(result.at("valid/error").get<double>() <= 18);  // "as in the year before" is wrong by 25
  const auto rows = predictions("sunspots", "sunspots.csv");
  BOOST_TEST(rows.size() == 1u + 309 - 33 + 1);  // the last one is that of the year after
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::examples_test
