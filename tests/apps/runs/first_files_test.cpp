// First run files for images and for series, and what those for tables and images say of rare classes.
#include <fmt/format.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "apps/data/csv/table_survey.h"
#include "apps/runs/first_folder_files.h"
#include "apps/runs/first_run_file.h"
#include "kernels/ops/audio/wav.h"
#include "kernels/ops/images/codecs.h"
#include "messages/env/real_disk.h"
#include "tests/apps/commands/troupe_program.h"
#include "tests/support/memory_disk.h"
#include "tests/support/program.h"
#include "tests/support/project_files.h"
#include "tests/support/says.h"
#include "tests/support/temporary_folder.h"

namespace troupe::test::first_files_test {
namespace {

/// Returns a PNG of this size.
std::string image(int64_t height, int64_t width, int64_t channels = 3) {
  const std::vector<uint8_t> pixels(static_cast<size_t>(height * width * channels), 100);
  return value_or_throw(encode_png(pixels.data(), {height, width, channels}, false, -1));
}

struct Fixture {
  void write(const std::string& file, const std::string& bytes) {
    const std::string path = folder.path() + '/' + file;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    folder.write(file, bytes);
  }
  std::string output_of(const std::vector<std::string>& arguments, int code = 0) {
    Program program(troupe_program(), arguments);
    BOOST_TEST(program.end() == code, program.output());
    return program.output();
  }
  std::string file_for(const std::string& images) {
    return runs::first_images_file(value_or_throw(data::survey_images(disk, folder.path() + '/' + images)),
                                   {images, images, images + ".toml"});
  }

  TemporaryFolder folder;
  RealDisk disk;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(first_files, Fixture)

BOOST_AUTO_TEST_CASE(a_first_run_file_for_images_trains) {
  const std::string file = folder.path() + "/shapes.toml";
  output_of({"init", project_path("examples/shapes") + '/', "-o", file});
  const std::string trained = output_of(
      {"train", file, "--set", "run.directory=" + folder.path() + "/runs", "--set", "train.max_epochs=8"});
  BOOST_TEST(says(trained, "valid/accuracy"), trained);
  const std::string predicted =
      output_of({"predict", folder.path() + "/runs/shapes", project_path("examples/shapes/circle/00.png")});
  BOOST_TEST(predicted.starts_with("class\n"), predicted);
  BOOST_TEST(says(output_of({"init", project_path("examples/shapes"), "-o", file}, 2), "exists"));
}

BOOST_AUTO_TEST_CASE(a_first_run_file_for_sounds_trains) {
  const std::string file = folder.path() + "/sounds.toml";
  output_of({"init", project_path("examples/sounds"), "-o", file});
  const std::string trained = output_of(
      {"train", file, "--set", "run.directory=" + folder.path() + "/runs", "--set", "train.max_epochs=5"});
  BOOST_TEST(says(trained, "valid/accuracy"), trained);
  const std::string predicted =
      output_of({"predict", folder.path() + "/runs/sounds", project_path("examples/sounds/tone/00.wav")});
  BOOST_TEST(predicted.starts_with("class\n"), predicted);
}

BOOST_AUTO_TEST_CASE(sounds_have_one_rate) {
  const std::vector<float> silence(100);
  write("words/no/1.wav", value_or_throw(encode_wav(silence, 1, 8000)));
  write("words/yes/1.WAV", value_or_throw(encode_wav(silence, 2, 16000)));
  const std::string output =
      output_of({"init", folder.path() + "/words", "-o", folder.path() + "/x.toml"}, 2);
  BOOST_TEST(says(output, "/words/yes/1.WAV has 16000 samples per second, and"), output);
  write("words/yes/1.WAV", "RIFF");
  BOOST_TEST(
      says(output_of({"init", folder.path() + "/words", "-o", folder.path() + "/x.toml"}, 3), "1.WAV: "));
}

BOOST_AUTO_TEST_CASE(images_of_one_small_size_keep_it) {
  for (const char* const name : {"same/a/1.png", "same/a/2.png", "same/b/1.png"})
    write(name, image(28, 20, 1));
  const std::string file = file_for("same");
  BOOST_TEST(says(file, "a (2), b (1)"), file);
  BOOST_TEST(
      says(file,
           "reshape(cast(decode_image(image, channels=1, expand_animations=false), 'float'), [28, 20, 1])"),
      file);
  BOOST_TEST(says(file, "units = 2, name = \"logits\""));
  BOOST_TEST(!says(file, "class_weights"));
}

BOOST_AUTO_TEST_CASE(images_of_different_sizes_get_one) {
  write("sizes/a/1.png", image(40, 60));
  write("sizes/b/1.png", image(100, 50));
  const std::string file = file_for("sizes");
  BOOST_TEST(says(file, "[48, 48]), [48, 48, 3]) / 255.0\"   # of about 100 x 60 in the files"), file);
  write("large/a/1.png", image(300, 300));
  write("large/b/1.png", image(300, 300));
  BOOST_TEST(says(file_for("large"), "[128, 128]), [128, 128, 3]) / 255.0\"   # of 300 x 300 in the files"));
}

BOOST_AUTO_TEST_CASE(rare_classes_are_named) {
  for (int i = 0; i < 9; ++i) write("rare/b/" + std::to_string(i) + ".png", image(8, 8));
  write("rare/a/1.png", image(8, 8));
  BOOST_TEST(says(file_for("rare"),
                  "# class_weights = \"balanced\"         # makes rare classes count more: \"a\" is 10 %"));
  std::string table = "x,y\n";
  for (int i = 0; i < 40; ++i) table += std::to_string(i * i % 7) + (i % 20 == 0 ? ",yes\n" : ",no\n");
  MemoryDisk memory;
  memory.write("/t.csv", table);
  const std::string file = value_or_throw(
      runs::first_run_file(value_or_throw(data::survey_table(memory, "/t.csv")), {"/t.csv", "t", "t.toml"}));
  BOOST_TEST(says(file, "\"yes\" is 5 % of the samples"), file);
  BOOST_TEST(says(file, "metrics = [\"accuracy\", \"f1\", \"auc\"]"));
}

BOOST_AUTO_TEST_CASE(a_first_run_file_for_objects_trains) {
  std::string lines;
  for (int i = 0; i < 100; ++i)
    lines += fmt::format("{{\"size\": {}.5, \"place\": \"{}\", \"open\": {}, \"y\": \"{}\"}}\n", i * 7 % 50,
                         i % 3 == 0 ? "a, \\\"b\\\"" : "c", i % 2 == 0 ? "true" : "false",
                         i * 7 % 50 < 25 ? "low" : "high");
  write("things.jsonl", lines + '\n');
  const std::string file = folder.path() + "/things.toml";
  output_of({"init", folder.path() + "/things.jsonl", "-o", file});
  const std::string text = value_or_throw(read_file(disk, file, 10'000));
  BOOST_TEST(says(text, "header = true                        # the members of the objects have the names"),
             text);
  BOOST_TEST(says(text, "place = \"category\"   # 2 different values"), text);
  const std::string trained = output_of(
      {"train", file, "--set", "run.directory=" + folder.path() + "/runs", "--set", "train.max_epochs=40"});
  BOOST_TEST(says(trained, "valid/accuracy 1"), trained);
  write("wrong.jsonl", "{\"a\": 1, \"y\": 2}\n{\"b\": 1}\n");
  BOOST_TEST(says(output_of({"init", folder.path() + "/wrong.jsonl", "-o", file, "--force"}, 3),
                  "wrong.jsonl: row 2: the member 'b' is no column; the columns are a, y"));
}

BOOST_AUTO_TEST_CASE(a_column_of_numbers_with_a_word_is_no_category) {
  std::string table = "size,weight,y\n";
  for (int i = 0; i < 40; ++i)
    table += fmt::format("{},{}.25,{}\n", i == 7 ? "inf" : std::to_string(i * i), i, i % 3);
  MemoryDisk memory;
  memory.write("/t.csv", table);
  const std::string file = value_or_throw(
      runs::first_run_file(value_or_throw(data::survey_table(memory, "/t.csv")), {"/t.csv", "t", "t.toml"}));
  BOOST_TEST(
      says(file,
           "# left out: \"size\": 39 of 40 values are finite numbers, but not \"inf\"; with an empty field "
           "in its place the column is numbers with gaps"),
      file);
  BOOST_TEST(says(file, "numbers = { type = \"number\", columns = [\"weight\"]"), file);
}

BOOST_AUTO_TEST_CASE(a_table_in_another_encoding_is_refused) {
  write("old.csv", "name,y\nM\xfcller,1\nMaier,2\n");
  BOOST_TEST(says(output_of({"init", folder.path() + "/old.csv", "-o", folder.path() + "/old.toml"}, 3),
                  "old.csv: row 2 is no text in UTF-8; if the file is in Latin-1, `iconv"));
}

BOOST_AUTO_TEST_CASE(a_first_run_file_for_a_series_trains) {
  const std::string file = folder.path() + "/sunspots.toml";
  output_of(
      {"init", project_path("examples/sunspots.csv"), "-o", file, "--window", "33", "--label", "sunspots"});
  const std::string trained = output_of({"train", file, "--set", "run.directory=" + folder.path() + "/runs",
                                         "--set", "run.gpus=0", "--set", "train.max_epochs=60"});
  BOOST_TEST(says(trained, "valid/r2 0."), trained);
  const std::string predicted = output_of(
      {"predict", folder.path() + "/runs/sunspots", project_path("examples/sunspots.csv"), "--keep", "year"});
  BOOST_TEST(predicted.starts_with("year,output\n1732,"), predicted);
  BOOST_TEST(says(predicted, "\n2008,"), predicted);
}

BOOST_AUTO_TEST_CASE(a_table_may_have_several_series) {
  std::string table = "sensor,time,Load %,note,state\n";
  for (const char* const sensor : {"a", "b"})
    for (int i = 0; i < 60; ++i)
      table += fmt::format("{},2026-11-{:02} {:02}:00:00,{},a note of its own number {},{}\n", sensor,
                           1 + i / 24, i % 24, i % 7, i, i % 3 == 0 ? "on" : "off");
  folder.write("load.csv", table);
  const std::string file = folder.path() + "/load.toml";
  output_of({"init", folder.path() + "/load.csv", "-o", file, "--window", "5", "--series", "sensor",
             "--label", "Load %"});
  const std::string text = value_or_throw(read_file(disk, file, 1 << 20));
  BOOST_TEST(says(text, "window = { length = 5, ahead = 1, label = \"load\", series = \"sensor\" }"), text);
  BOOST_TEST(says(text, "# left out: \"note\": a text, of which a window takes none"), text);
  const std::string trained = output_of({"train", file, "--set", "run.directory=" + folder.path() + "/runs",
                                         "--set", "run.gpus=0", "--set", "train.max_epochs=100"});
  BOOST_TEST(says(trained, "valid/r2 0.9"), trained);
  for (const std::string keep : {"time", "sensor,time"}) {
    const std::string predicted =
        output_of({"predict", folder.path() + "/runs/load", folder.path() + "/load.csv", "--keep", keep});
    const std::string of_a = keep == "time" ? "" : "a,", of_b = keep == "time" ? "" : "b,";
    BOOST_TEST(predicted.starts_with(keep + ",output\n" + of_a + "2026-11-01 04:00:00,"), predicted);
    BOOST_TEST(says(predicted, '\n' + of_a + "2026-11-03 11:00:00,"), predicted);
    BOOST_TEST(says(predicted, '\n' + of_b + "2026-11-01 04:00:00,"), predicted);
    BOOST_TEST(!says(predicted, '\n' + of_b + "2026-11-01 03:00:00,"), predicted);
  }
}

BOOST_AUTO_TEST_CASE(what_is_wrong_with_a_series_is_said) {
  folder.write("t.csv", "sensor,x,y\na,1,2\na,2,\nb,3,4\nb,4,5\n");
  const auto failure = [&](const std::vector<std::string>& options) {
    std::vector<std::string> arguments = {"init", folder.path() + "/t.csv", "-o", folder.path() + "/x.toml"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return output_of(arguments, 2);
  };
  BOOST_TEST(says(failure({"--window", "2"}), "the label 'y' is not a number in each of the 4 rows"));
  BOOST_TEST(says(failure({"--window", "4", "--label", "x"}),
                  "--window 4: the table has 4 rows; a window takes fewer"));
  BOOST_TEST(
      says(failure({"--window", "2", "--label", "x", "--series", "sensr"}), "there is no column 'sensr'"));
  BOOST_TEST(says(failure({"--window", "2", "--label", "x", "--series", "x"}),
                  "--series and --label name the same column, 'x'"));
}

BOOST_AUTO_TEST_CASE(what_is_wrong_with_a_folder_is_said) {
  const auto failure = [&](const std::string& images, int code = 2, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"init", folder.path() + '/' + images, "-o", folder.path() + "/x.toml"});
    return output_of(more, code);
  };
  write("flat/1.png", image(8, 8));
  BOOST_TEST(
      says(failure("flat"), "there must be a folder for each class, with its images, but there is none"));
  write("one/a/1.png", image(8, 8));
  BOOST_TEST(says(failure("one"), "but there is only 'a'"));
  write("one/b/notes.txt", "none");
  BOOST_TEST(says(failure("one"), "/one/b: it has no images (.jpg"));
  write("one/b/2.png", image(8, 8).substr(0, 20));
  BOOST_TEST(says(failure("one", 3), "/one/b/2.png: "));
  BOOST_TEST(says(failure("one", 2, {"--label", "y"}), "--label names a column of a table"));
  BOOST_TEST(says(failure("one", 2, {"--window", "3"}), "--window is for the rows of a table"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::test::first_files_test
