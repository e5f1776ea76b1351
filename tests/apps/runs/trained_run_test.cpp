// Trained models in use: the program evaluates them as the training did, predicts for files with and without labels, and exports
// them. What the training computes is the measure, in every kind of run.
#include <boost/test/unit_test.hpp>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "apps/data/arrays/npy.h"
#include "apps/data/arrays/npz.h"
#include "apps/inference/model.h"
#include "messages/env/real_disk.h"
#include "messages/tensor_files/bundle.h"
#include "tests/apps/commands/troupe_program.h"
#include "tests/apps/train/digits_runs.h"
#include "tests/support/ops/golden_values.h"
#include "tests/support/project_files.h"

namespace troupe::trained_run_test {
namespace {

namespace fs = std::filesystem;
using test::Program;
using Arguments = test::DigitsRuns::Arguments;
using Json = nlohmann::json;

const std::string examples = test::project_path("examples/");

Arguments operator+(Arguments left, const Arguments& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Fixture : test::DigitsRuns {
  /// Runs the program, which must succeed, and returns its output.
  static std::string output_of(const Arguments& arguments, int code = 0) {
    Program program(test::troupe_program(), arguments);
    BOOST_TEST(program.end() == code, program.output());
    return program.output();
  }
  static Json json_of(const Arguments& arguments, int code = 0) {
    return Json::parse(output_of(arguments + Arguments{"--json"}, code));
  }
  /// Trains an example. Returns what the program reports.
  Json train(const std::string& name, const Arguments& more, const std::string& example = "digits") const {
    return json_of(run("train", name, more, example));
  }
  std::string path(const std::string& name) const { return folder.path() + '/' + name; }

  /// Trains an example, and checks that the model in its folder has the scores on the validation samples that the training found.
  void check_scores(const std::string& name, const Arguments& more,
                    const std::string& example = "digits") const {
    const Json trained = train(name, more, example);
    const Json scores = json_of({"eval", path(name), "--on", "valid"}).at("scores");
    BOOST_TEST(scores.size() >= 1u);
    for (const auto& [metric, value] : scores.items())
      BOOST_TEST(value.get<double>() == trained.at("valid/" + metric).get<double>(), name << ": " << metric);
  }

  /// Writes the first rows of the digits to a file, with or without their labels.
  std::string digits(const std::string& name, size_t rows, bool labelled) const {
    std::ifstream file(examples + "digits.csv");
    std::string text, line;
    for (size_t i = 0; i < rows && std::getline(file, line); ++i)
      text += (labelled ? line : line.substr(0, line.rfind(','))) + '\n';
    return folder.write(name, text);
  }
};

const Arguments brief = {"--set", "train.max_epochs=3"};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(trained_run, Fixture)

// Scores.

BOOST_AUTO_TEST_CASE(a_model_has_the_scores_of_its_training) {
  check_scores("plain", {});
  check_scores("averaged", brief + Arguments{"--set", "train.average=0.9"});
  check_scores("mapped", brief + Arguments{"--set", "data.map={image='image * 2.0 - 1.0'}"});
  const Arguments dense = {"--set",
                           "model.graph.logits='matmul(hidden, w2) + b2 + nn.dense(image, units=10)'"};
  check_scores("mapped_dense",  // a layer must know how many features there are
               brief + dense + Arguments{"--set", "data.map={image='image / 16.0'}"});
  check_scores("layers", {"--set", "train.max_epochs=1"}, "digits_cnn");
  check_scores("words", {"--set", "train.max_epochs=1"}, "reviews");
  check_scores("numbers", {"--set", "train.max_epochs=2"}, "linear");
  check_scores("cluster", brief + Arguments{"--local", "ps=2,worker=2"});
}

BOOST_AUTO_TEST_CASE(a_model_with_loops_yields_nothing_from_inside_of_them) {
  train("reversal", {"--set", "train.max_epochs=1", "--set", "model.outputs={}"}, "reversal");
  const auto lines = lines_of(output_of({"predict", path("reversal"), examples + "reversal.csv"}));
  BOOST_TEST(lines.size() == 3001u);
  BOOST_TEST(lines.front().starts_with("output_0,"));
}

BOOST_AUTO_TEST_CASE(samples_for_testing_are_those_of_eval) {
  const std::string test = digits("test.csv", 100, true);
  const Json trained = train("tested", brief + Arguments{"--set", "data.test={files=['" + test + "']}"});
  Json kept = Json::parse(text_of(path("tested/001/result.json")));
  BOOST_TEST(kept.erase("time") == 1u);  // of the file
  BOOST_TEST(kept == trained);
  const Json by_run = json_of({"eval", path("tested")}), by_file = json_of({"eval", path("tested"), test});
  BOOST_TEST(by_run.at("on") == "test");
  BOOST_TEST(by_run.at("samples") == 100);
  for (const char* const metric : {"loss", "accuracy"}) {
    BOOST_TEST(trained.at(std::string("test/") + metric) == by_run.at("scores").at(metric));
    BOOST_TEST(by_file.at("scores").at(metric) == by_run.at("scores").at(metric));
  }
}

BOOST_AUTO_TEST_CASE(each_checkpoint_can_be_evaluated) {
  train("steps", {"--set", "train.max_steps=20", "--set", "train.checkpoint.every=10 steps"});
  std::vector<std::string> checkpoints;
  for (const auto& entry : fs::directory_iterator(path("steps") + "/001/checkpoints"))
    checkpoints.push_back(entry.path().string());
  std::ranges::sort(checkpoints);
  BOOST_TEST_REQUIRE(checkpoints.size() >= 2u);
  const Json first = json_of({"eval", checkpoints.front()}), last = json_of({"eval", path("steps") + "/001"});
  BOOST_TEST(first.at("checkpoint") == checkpoints.front());
  BOOST_TEST(first.at("scores").at("loss").get<double>() > last.at("scores").at("loss").get<double>());
}

BOOST_AUTO_TEST_CASE(a_checkpoint_that_refers_to_an_older_one_is_whole) {
  const Json trained =
      train("frozen", {"--set", "train.max_epochs=2", "--set", "train.early_stop.keep_best=false", "--set",
                       "model.variables.w1.trainable=false", "--set", "train.checkpoint.every=10 steps"});
  const Json scores = json_of({"eval", path("frozen"), "--on", "valid"});
  BOOST_TEST(text_of(scores.at("checkpoint").get<std::string>() + "/manifest.json").find("\"folder\"") !=
             std::string::npos);
  BOOST_TEST(scores.at("scores").at("loss") == trained.at("valid/loss"));
}

// Predictions.

BOOST_AUTO_TEST_CASE(files_with_and_without_labels_have_the_same_predictions) {
  train("predicted", {});
  const std::string labelled = digits("labelled.csv", 600, true), plain = digits("plain.csv", 600, false);
  const std::string classes = output_of({"predict", path("predicted"), labelled});
  BOOST_TEST(classes == output_of({"predict", path("predicted"), plain}));
  const auto rows = lines_of(classes), given = lines_of(text_of(labelled));
  BOOST_TEST_REQUIRE(rows.size() == 601u);
  BOOST_TEST(rows[0] == "class");
  size_t right = 0;
  for (size_t i = 0; i < given.size(); ++i) right += given[i].substr(given[i].rfind(',') + 1) == rows[i + 1];
  const double accuracy = static_cast<double>(right) / 600;
  const Json scores = json_of({"eval", path("predicted"), labelled}).at("scores");
  BOOST_TEST(std::abs(scores.at("accuracy").get<double>() - accuracy) < 1e-6);
}

BOOST_AUTO_TEST_CASE(samples_of_the_run_file_are_predicted_beside_their_labels) {
  const auto share_right = [&](const std::string& run) {
    const auto lines = lines_of(output_of({"predict", path(run), "--on", "valid"}));
    BOOST_TEST(lines.front() == "class,label");
    double right = 0;
    for (const std::string& line : lines)
      right += line.substr(0, line.find(',')) == line.substr(line.find(',') + 1);
    return right / static_cast<double>(lines.size() - 1);
  };
  for (const std::string example : {"digits", "penguins"}) {
    const Json trained = train(example, brief, example);
    BOOST_TEST(share_right(example) == trained.at("valid/accuracy").get<double>(),
               boost::test_tools::tolerance(1e-6));
  }
}

BOOST_AUTO_TEST_CASE(predictions_in_every_form) {
  train("forms", brief);
  const std::string in = digits("in.csv", 300, false), csv = path("out.csv"), json = path("out.jsonl"),
                    npz = path("out.npz");
  for (const std::string& to : {csv, json, npz})
    output_of({"predict", path("forms"), in, "--probabilities", "-o", to});
  const auto rows = lines_of(text_of(csv)), objects = lines_of(text_of(json));
  BOOST_TEST_REQUIRE(rows.size() == 301u);
  BOOST_TEST_REQUIRE(objects.size() == 300u);
  BOOST_TEST(rows[0].starts_with("class,probabilities_0,probabilities_1,"));
  const auto arrays = value_or_throw(data::read_npz(text_of(npz), npz));
  const auto probabilities = arrays.at("probabilities").as<float>();
  for (size_t i = 0; i < objects.size(); ++i) {
    const Json object = Json::parse(objects[i]);
    BOOST_TEST(rows[i + 1].starts_with(std::to_string(object.at("class").get<int>()) + ','));
    BOOST_TEST(arrays.at("class").as<int64_t>()[i] == object.at("class").get<int64_t>());
    for (size_t k = 0; k < 10; ++k)
      BOOST_TEST(object.at("probabilities").at(k).get<float>() == probabilities[10 * i + k]);
  }
  BOOST_TEST(output_of({"predict", path("forms"), in, "-o", csv}, 2).find("exists") != std::string::npos);
  output_of({"predict", path("forms"), in, "-o", csv, "--force"});
  BOOST_TEST(lines_of(text_of(csv))[0] == "class");
}

BOOST_AUTO_TEST_CASE(classes_have_the_names_of_the_run_file) {
  train("named", {"--set", "train.max_epochs=2"}, "reviews");
  const auto rows =
      lines_of(output_of({"predict", path("named"), examples + "reviews.tsv", "--probabilities"}));
  BOOST_TEST(rows[0] == "class,probabilities_bad,probabilities_good");
  for (size_t i = 1; i < rows.size(); ++i)
    BOOST_TEST((rows[i].starts_with("bad,") || rows[i].starts_with("good,")), rows[i]);
}

BOOST_AUTO_TEST_CASE(numbers_are_predicted_by_name) {
  train("line", {"--set", "train.max_epochs=20"}, "linear");
  const std::string in = folder.write("points.csv", "x1,x2\n1,0\n0,1\n0,0\n");
  const auto rows = lines_of(output_of({"predict", path("line"), in}));
  BOOST_TEST_REQUIRE(rows.size() == 4u);
  BOOST_TEST(rows[0] == "prediction_0");
  const double expected[] = {3, -2, 1};  // y = 2 x1 - 3 x2 + 1
  for (size_t i = 0; i < 3; ++i)
    BOOST_TEST(std::abs(std::stod(rows[i + 1]) - expected[i]) < 0.2, rows[i + 1]);
}

// Objects are rows of a table with names or texts, in any order, and otherwise inputs of the model.
BOOST_AUTO_TEST_CASE(lines_of_json_have_the_predictions_of_other_files) {
  train("people", {"--set", "train.max_epochs=2"}, "penguins");
  std::string objects;
  const auto table = lines_of(text_of(examples + "penguins.csv"));
  for (size_t i = 1; i < table.size(); ++i) {
    std::istringstream fields(table[i]);
    Json object;
    for (const char* const name : {"species", "island", "bill_length_mm", "bill_depth_mm",
                                   "flipper_length_mm", "body_mass_g", "sex"}) {
      std::string field;
      std::getline(fields, field, ',');
      if (name != std::string("species")) object[name] = field == "NA" ? Json() : Json(field);
    }
    objects += object.dump() + '\n';
  }
  BOOST_TEST(output_of({"predict", path("people"), folder.write("in.jsonl", objects)}) ==
             output_of({"predict", path("people"), examples + "penguins.csv"}));

  train("pictures", brief);
  std::istringstream pixels(lines_of(text_of(examples + "digits.csv"))[0]);
  Json image = Json::array();
  for (std::string pixel; image.size() < 64 && std::getline(pixels, pixel, ',');)
    image.push_back(std::stod(pixel));
  const std::string one = Json{{"image", image}}.dump();
  BOOST_TEST(output_of({"predict", path("pictures"), folder.write("one.jsonl", one + "\n\n" + one)}) ==
             output_of({"predict", path("pictures"), digits("in.csv", 1, false)}) +
                 lines_of(output_of({"predict", path("pictures"), digits("in.csv", 1, false)}))[1] + '\n');
  BOOST_TEST(output_of({"predict", path("pictures"), folder.write("wrong.jsonl", "{\"img\": 1}")}, 3)
                 .find("has no input 'img'; its inputs are image (float[?,64])") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_run_file_says_what_the_model_yields) {
  train("outputs", brief + Arguments{"--set", "model.outputs={best='argmax(logits, 1)', hidden='hidden'}"});
  const auto rows =
      lines_of(output_of({"predict", path("outputs"), digits("in.csv", 3, false), "--outputs", "best"}));
  BOOST_TEST_REQUIRE(rows.size() == 4u);
  BOOST_TEST(rows[0] == "best");
  BOOST_TEST(output_of({"predict", path("outputs"), digits("in.csv", 3, false), "--outputs", "beest"}, 2)
                 .find("the model has no output 'beest'; it has best, hidden") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_predicted_is_said) {
  train("refusing", brief);
  const std::string narrow = folder.write("narrow.csv", "1,2,3\n");
  const auto says = [&](const Arguments& arguments, int code, const std::string& what) {
    const std::string output = output_of(arguments, code);
    BOOST_TEST(output.find(what) != std::string::npos, output);
  };
  says({"predict", path("refusing"), narrow}, 3,
       "a sample has 3 numbers; the model takes 64, and a label beside them");
  says({"predict", path("refusing"), path("none.csv")}, 3, "none.csv");
  says({"predict", path("none"), narrow}, 2, "none");
  says({"eval", path("refusing"), "--on", "test"}, 2, "the run file names no files for testing, data.test");
  says({"eval", path("refusing"), narrow, "--on", "valid"}, 2, "--on names samples of the run file");
  says({"predict", path("refusing"), narrow, "--on", "valid"}, 2, "--on names samples of the run file");
  says({"predict", path("refusing")}, 2, "name files, or write --on train, valid or test");
  fs::remove_all(path("refusing") + "/001/checkpoints");
  says({"predict", path("refusing"), narrow}, 2,
       "has no checkpoint: it has not saved one yet, or it diverged\n");
  train("refusing", brief);
  fs::rename(path("refusing") + "/001", path("refusing") + "/003");
  says({"predict", path("refusing"), narrow}, 2,
       "refusing/003 has no checkpoint: it has not saved one yet, or it diverged; " + path("refusing/002") +
           " has one");
}

// Exports.

BOOST_AUTO_TEST_CASE(an_exported_model_is_the_model) {
  train("exported", brief);
  const std::string model = path("model/1"), in = digits("in.csv", 50, false);
  output_of({"export", path("exported"), model});
  BOOST_TEST(json_of({"eval", model}).at("scores") == json_of({"eval", path("exported")}).at("scores"));
  BOOST_TEST(output_of({"predict", model, in, "--probabilities"}) ==
             output_of({"predict", path("exported"), in, "--probabilities"}));
  BOOST_TEST(output_of({"export", path("exported"), model}, 2).find("exists") != std::string::npos);
}

// What is written for other programs is not read as a model, and the error says so whatever the subcommand.
BOOST_AUTO_TEST_CASE(exported_files_that_are_no_models_are_refused) {
  train("exported", brief);
  for (const std::string name : {"model.onnx", "weights.safetensors"}) {
    const std::string file = path(name);
    output_of({"export", path("exported"), file});
    const std::string input = digits("in.csv", 1, false);
    for (const Arguments& arguments : std::vector<Arguments>{{"predict", file, input},
                                                             {"eval", file},
                                                             {"export", file, path("again")},
                                                             {"serve", file, "--port", "0"},
                                                             {"graph", file}}) {
      const std::string output = output_of(arguments, 2);
      BOOST_TEST(output.find(file + " is ") != std::string::npos, output);
      BOOST_TEST(output.find("`troupe export RUN FOLDER` writes a saved model") != std::string::npos, output);
      BOOST_TEST((output.find("model.init_from") != std::string::npos) == name.ends_with(".safetensors"),
                 output);
    }
  }
}

BOOST_AUTO_TEST_CASE(weights_are_exported_as_safetensors) {
  train("weights", brief);
  const std::string file = path("weights.safetensors");
  output_of({"export", path("weights"), file});
  const std::string bytes = text_of(file);
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  const Json header = Json::parse(bytes.substr(sizeof length, length));
  for (const char* const name : {"w1", "b1", "w2", "b2"}) {
    const auto saved = weights("weights").tensors;
    const auto expected = std::ranges::find(saved, name, &SavedTensor::name);
    BOOST_TEST_REQUIRE((expected != saved.end()));
    const auto range = header.at(name).at("data_offsets").get<std::vector<size_t>>();
    BOOST_TEST(range[1] - range[0] == expected->value.bytes());
    BOOST_TEST(std::memcmp(bytes.data() + sizeof length + length + range[0], expected->value.data(),
                           range[1] - range[0]) == 0);
  }
}

BOOST_AUTO_TEST_CASE(exported_files_are_replaced_with_force_alone) {
  train("weights", brief);
  const std::string file = path("weights.safetensors");
  folder.write("weights.safetensors", "something else");
  BOOST_TEST(output_of({"export", path("weights"), file}, 2).find("exists; --force replaces it") !=
             std::string::npos);
  BOOST_TEST(text_of(file) == "something else");
  output_of({"export", path("weights"), file, "--force"});
  BOOST_TEST(text_of(file).find("data_offsets") != std::string::npos);
  output_of({"export", path("weights"), path("saved")});
  BOOST_TEST(output_of({"export", path("weights"), path("saved"), "--force"}, 2)
                 .find("is a folder that exists; export to another one") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_model_of_tensorflow_predicts_from_arrays) {
  const std::string model = test::project_path("tests/golden/models/functions");
  const Tensor x = Tensor::vector<float>({1, 2, 3});
  const Tensor rows = x.reshaped({1, 3});
  std::ofstream(path("x.npz"), std::ios::binary) << value_or_throw(data::write_npz({{"x", rows}}));
  const auto lines = lines_of(output_of({"predict", model, path("x.npz"), "--outputs", "best,scores"}));
  BOOST_TEST_REQUIRE(lines.size() == 2u);
  BOOST_TEST(lines[0] == "best,scores_0,scores_1");
  BOOST_TEST(lines[1] == "1,34,48");
  const Tensor doubles = Tensor::vector<double>({1, 2, 3});  // NumPy's own type for such numbers
  std::ofstream(path("x.npy"), std::ios::binary) << value_or_throw(data::write_npy(doubles.reshaped({1, 3})));
  BOOST_TEST(lines_of(output_of({"predict", model, path("x.npy"), "--outputs", "best,scores"})) == lines);
  output_of({"export", model, path("copy")});
  BOOST_TEST(lines_of(output_of({"predict", path("copy"), path("x.npz"), "--outputs", "best,scores"})) ==
             lines);
}

// A model of two inputs, whose target is a vector.
BOOST_AUTO_TEST_CASE(a_model_takes_several_arrays_of_an_archive) {
  constexpr int64_t samples = 40;
  std::vector<int32_t> ids;
  std::vector<float> images, targets;
  for (int64_t i = 0; i < samples; ++i) {
    ids.push_back(static_cast<int32_t>(i % 4));
    for (int64_t k = 0; k < 8; ++k) images.push_back(static_cast<float>((i * 7 + k * 3) % 11) / 11);
    for (int64_t k = 0; k < 2; ++k)
      targets.push_back(images[static_cast<size_t>(i * 8 + k)] + static_cast<float>(i % 4));
  }
  const Tensor id = Tensor::vector<int32_t>(ids),
               picture = Tensor::of<float>(Shape({samples, 2, 2, 2}), images),
               target = Tensor::of<float>(Shape({samples, 2}), targets);
  std::ofstream(path("train.npz"), std::ios::binary)
      << value_or_throw(data::write_npz({{"id", id}, {"picture", picture}, {"target", target}}));
  std::ofstream(path("new.npz"), std::ios::binary)
      << value_or_throw(data::write_npz({{"picture", picture}, {"id", id}}));
  folder.write(
      "arrays.toml",
      "run = { name = \"arrays\", seed = 1, directory = \"" + folder.path() +
          "\" }\n"
          "[data]\nformat = \"npz\"\ntrain = [\"train.npz\"]\narrays = [\"id\", \"picture\", \"target\"]\n"
          "label = \"none\"\nbatch = 8\ninputs = { id = { cast = \"int32\" } }\nvalid = { split = 0.2 }\n"
          "[model.graph]\nfeatures = \"nn.flatten(nn.conv2d(picture, filters=4, kernel=2))\"\n"
          "output = \"nn.dense(concat([features, nn.embedding(id, rows=4, units=3)], -1), units=2)\"\n"
          "[model.outputs]\noutput = \"output\"\n"
          "[train]\nloss = \"nn.mean_squared_error(output, target)\"\nmax_epochs = 30\noptimizer = { type = "
          "\"adam\", lr = 0.05 }\n");
  const Json trained = json_of({"train", path("arrays.toml")});
  BOOST_TEST(trained.at("valid/loss").get<double>() < 0.5);
  const Json scores = json_of({"eval", path("arrays"), path("train.npz")}).at("scores");
  BOOST_TEST(scores.at("loss").get<double>() < 0.5);
  const auto lines = lines_of(output_of({"predict", path("arrays"), path("new.npz")}));
  BOOST_TEST_REQUIRE(lines.size() == samples + 1);
  BOOST_TEST(lines[0] == "output_0,output_1");
  BOOST_TEST(output_of({"predict", path("arrays"), path("train.npz")}).find(lines[1]) != std::string::npos);
  BOOST_TEST(output_of({"check", path("arrays.toml"), "--set", "data.arrays=[\"id\",\"id\"]"}, 2)
                 .find("stands there twice") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(an_exported_model_of_tensorflow_has_what_its_signatures_need) {
  const std::string model = test::project_path("tests/golden/models/convolution");
  output_of({"export", model, path("copy")});
  const auto variables_of = [&](const std::string& exported) {
    return value_or_throw(Bundle::open(disk, exported + "/variables/variables")).entries().size();
  };
  BOOST_TEST(variables_of(path("copy")) ==
             8u);  // the original has those of the optimizer's and of Keras' own, too
  BOOST_TEST(variables_of(model) > 8u);
  const Tensor image = Tensor::of<float>(Shape({1, 8, 8, 1}), std::vector<float>(64, 0.5F));
  const auto expected = load(model).run(std::vector<Tensor>{image}),
             got = load(path("copy")).run(std::vector<Tensor>{image});
  BOOST_TEST(test::difference(got.at(0), expected.at(0), {1e-6, 1e-6}) == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::trained_run_test
