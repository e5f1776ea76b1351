// Models that were trained from tables, in use: objects with the columns of the table, some of which may be missing, are predicted
// from files and from requests alike.
#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/apps/commands/troupe_program.h"
#include "tests/apps/http/http_client.h"
#include "tests/apps/train/digits_runs.h"

namespace troupe::table_requests_test {
namespace {

namespace fs = std::filesystem;
using test::Answer;
using test::Program;
using Arguments = test::DigitsRuns::Arguments;
using Json = nlohmann::json;
using Client = test::Client<boost::asio::ip::tcp::socket>;

/// A run file without the beginning of its [data].
constexpr const char* small_model = R"toml(
format = "csv"
train = ["small.csv"]
batch = 3
[data.inputs]
label = { cast = "float" }
[model]
layers = [{ type = "dense", units = 1, name = "output" }]
[model.graph]
value = "squeeze(output, [1])"
loss = "mean(square(value - label))"
[train]
loss = "loss"
optimizer = { type = "sgd", lr = 0.01 }
max_epochs = 2
)toml";

struct Fixture : test::DigitsRuns {
  std::string path(const std::string& name) const { return folder.path() + '/' + name; }
  static std::string output_of(const Arguments& arguments, int code = 0) {
    Program program(test::troupe_program(), arguments);
    BOOST_TEST(program.end() == code, program.output());
    return program.output();
  }
  void train(const std::string& example, const Arguments& more = {}) const {
    output_of(run("train", example, more, example));
  }
  /// Trains y = a - b from a table with three rows, whose text has names of columns. `data` are keys of the run file.
  void train_small(const std::string& data, const std::string& table = "a,b,y\n1,2,-1\n3,1,2\n5,2,3\n",
                   const Arguments& more = {}) const {
    folder.write("small.csv", table);
    const std::string file = folder.write(
        "small.toml", "run = { name = \"small\", gpus = 0 }\n[data]\n" + data + std::string(small_model));
    Arguments arguments = {"train", file, "--set", "run.directory=" + folder.path()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    output_of(arguments);
  }
  /// Returns the lines of the predictions for lines of JSON.
  std::string predicted(const std::string& run, const std::string& lines, int code = 0) const {
    return output_of({"predict", path(run), folder.write("in.jsonl", lines)}, code);
  }
  void serve(const std::string& run) {
    server.emplace(test::troupe_program(), Arguments{"serve", run, "--port", "0", "--json"});
    BOOST_TEST_REQUIRE(server->wait_for("url"), server->output());
    const std::string url = Json::parse(server->output()).at("url");
    client.emplace(static_cast<uint16_t>(std::stoi(url.substr(url.rfind(':') + 1))));
  }
  Answer ask(const std::string& what, const std::string& body) {
    return client->post("/v1/models/" + what, body);
  }
  /// Returns the predictions for instances, which must succeed.
  Json served(const std::string& what, const std::string& instances) {
    const Answer answer = ask(what, "{\"instances\": " + instances + '}');
    BOOST_TEST_REQUIRE(answer.status == 200u, instances << ": " << answer.body);
    const Json all = answer.json();
    return all.begin().value();
  }
  void check_refused(const std::string& what, const std::string& instances, const std::string& expected) {
    const Answer answer = ask(what, "{\"instances\": " + instances + '}');
    BOOST_TEST(answer.status == 400u, instances << ": " << answer.body);
    const std::string error = answer.json().at("error");
    BOOST_TEST(error.find(expected) != std::string::npos, error);
  }

  std::optional<Program> server;
  std::optional<Client> client;
};

constexpr const char* penguin =
    R"({"island": "Dream", "sex": "male", "bill_length_mm": 39.1, "bill_depth_mm": 18.7, "flipper_length_mm": 181, "body_mass_g": 3750})";

}  // namespace

BOOST_FIXTURE_TEST_SUITE(table_requests, Fixture)

// Files.

BOOST_AUTO_TEST_CASE(a_member_that_is_missing_is_null) {
  train("penguins");
  const std::string with_null =
      R"({"island": "Dream", "sex": null, "bill_length_mm": 39.1, "bill_depth_mm": null, "flipper_length_mm": 181, "body_mass_g": null})";
  const std::string without = R"({"island": "Dream", "bill_length_mm": 39.1, "flipper_length_mm": 181})";
  const std::string expected = predicted("penguins", with_null + '\n' + with_null + '\n');
  BOOST_TEST(predicted("penguins", with_null + '\n' + without) == expected);
  BOOST_TEST(predicted("penguins", without + '\n' + with_null) == expected);
  // Other columns of the table, and another spelling.
  BOOST_TEST(
      predicted("penguins", R"({"year": 2007, "species": "?", "Island": "Dream", "Bill length mm": 39.1,)"
                            R"("flipper_length_mm": 181})"
                            "\n" +
                                without) == expected);
  BOOST_TEST(predicted("penguins", R"({"island": "Dream", "bodymass_g": 3000})", 3)
                 .find("row 1: the member 'bodymass_g' is not one of the columns that are needed, but "
                       "'body_mass_g' is") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_missing_member_is_named_where_there_are_no_gaps) {
  train_small("header = true\nlabel = \"y\"\n");
  const auto says = [&](const std::string& lines, const std::string& what) {
    const std::string output = predicted("small", lines, 3);
    BOOST_TEST(output.find(what) != std::string::npos, output);
  };
  says("{\"a\": 1, \"b\": 2}\n{\"b\": 2}\n", "in.jsonl: row 2, column 1 ('a'): there is no value");
  says("{\"b\": 1}\n", "in.jsonl: row 1, column 1 ('a'): there is no value");
  says("{\"a\": 1, \"c\": 2}\n", "in.jsonl: row 1: the member 'c' is no column; the columns are a, b, y");
  const std::string in_order = predicted("small", "{\"a\": 1, \"b\": 2}\n");
  BOOST_TEST(predicted("small", "{\"b\": 2, \"a\": 1}\n") == in_order);
  BOOST_TEST(predicted("small", "{\"y\": null, \"b\": 2, \"a\": 1}\n") == in_order);
}

BOOST_AUTO_TEST_CASE(a_column_is_there_once) {
  train_small("header = true\nlabel = \"y\"\n");
  const auto says = [&](const std::string& lines, const std::string& what) {
    const std::string output = predicted("small", lines, 3);
    BOOST_TEST(output.find(what) != std::string::npos, output);
  };
  const std::string good = "{\"a\": 1, \"b\": 2}\n";
  says(good + "{\"a\": 1, \"b\": 2, \"A\": 3}\n",
       "row 2: the members 'a' and 'A' may both be the column 'a'");
  says(good + "{\"a\": 1, \"b\": 2, \"b\": 3}\n", "row 2: the member 'b' is there twice");
  says(good + "{\"a\": [1], \"b\": 2}\n", "row 2: the member 'a' is a list; only a text may be a list");
}

BOOST_AUTO_TEST_CASE(the_standard_input_is_predicted_as_a_file_is) {
  train_small("header = true\nlabel = \"y\"\n");
  const auto piped = [&](const std::string& table, const std::string& rest, int code = 0) {
    const std::string command = "cat '" + folder.write("piped.csv", table) + "' | '" +
                                test::troupe_program() + "' predict '" + path("small") + "' " + rest;
    Program shell("/bin/sh", {"-c", command});
    BOOST_TEST(shell.end() == code, shell.output());
    return shell.output();
  };
  const auto says = [](const std::string& output, const std::string& what) {
    BOOST_TEST(output.find(what) != std::string::npos, output);
  };
  const std::string good = "a,b\n4,9\n7,0.5\n", file = folder.write("in.csv", good);
  BOOST_TEST(piped(good, "- --keep a") == output_of({"predict", path("small"), file, "--keep", "a"}));
  BOOST_TEST(piped(good, "'" + file + "' -") == output_of({"predict", path("small"), file, file}));
  std::string long_table = "a,b\n";  // longer than what a pipe holds, and than what is copied at once
  for (int i = 0; i < 20'000; ++i) long_table += std::to_string(i) + ",1\n";
  BOOST_TEST((piped(long_table, "-") ==
              output_of({"predict", path("small"), folder.write("long.csv", long_table)})));
  says(piped("4,9\n", "-", 2), "standard input: there is no column 'a', which is one of data.features");
  says(piped(good, "- -", 2), "the standard input, '-', is named 2 times; it can be read once");
}

// The model takes its features by name, in the order of the table from which it was trained.
BOOST_AUTO_TEST_CASE(a_table_may_have_its_columns_in_another_order) {
  train_small("header = true\nlabel = \"y\"\n");
  const auto of_table = [&](const char* command, const std::string& table, int code = 0) {
    return output_of({command, path("small"), folder.write("in.csv", table)}, code);
  };
  const std::string in_order = of_table("predict", "a,b\n4,9\n7,0.5\n");
  BOOST_TEST(of_table("predict", "b,a\n9,4\n0.5,7\n") == in_order);
  BOOST_TEST(of_table("predict", "B,y,more,A\n9,0,1,4\n0.5,0,2,7\n") == in_order);
  BOOST_TEST(of_table("eval", "y,b,a\n-1,2,1\n5,3,8\n") == of_table("eval", "a,b,y\n1,2,-1\n8,3,5\n"));
  BOOST_TEST(of_table("predict", "4,9\n7,0.5\n", 2)
                 .find("in.csv: there is no column 'a', which is one of data.features") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(names_of_classes_may_have_commas) {
  const std::string table =
      folder.write("towns.csv", "a,y\n1,\"Paris, FR\"\n3,\"the \"\"city\"\"\"\n5,\"Paris, FR\"\n7,Rome\n");
  const std::string file = folder.write("towns.toml", R"toml(run = { name = "towns" }
[data]
format = "csv"
train = "towns.csv"
header = true
label = "y"
batch = 4
[model]
layers = [{ type = "dense", units = 3, name = "logits" }]
[train]
loss = "softmax_cross_entropy"
optimizer = { type = "sgd", lr = 0.1 }
max_epochs = 1
)toml");
  output_of({"train", file, "--set", "run.directory=" + folder.path()});
  const std::string predicted = output_of({"predict", path("towns"), table, "--probabilities"});
  BOOST_TEST(predicted.starts_with("class,\"probabilities_Paris, FR\",probabilities_Rome,"
                                   "\"probabilities_the \"\"city\"\"\"\n"),
             predicted);
}

BOOST_AUTO_TEST_CASE(metrics_of_classes_compare_each_of_several_labels) {
  folder.write("days.csv", "a,b,rain,wind\n1,0,1,0\n0,1,1,1\n3,1,0,0\n2,2,1,1\n");
  const std::string file = folder.write("days.toml", R"toml(run = { name = "days" }
[data]
format = "csv"
train = "days.csv"
header = true
label = ["rain", "wind"]
batch = 4
inputs = { label = { cast = "float" } }
[model.graph]
logits = "nn.dense(image, units=2)"
[train]
loss = "binary_cross_entropy"
optimizer = { type = "sgd", lr = 0.1 }
max_epochs = 1
[train.metrics]
accuracy = "accuracy"
accuracy_of_each = "nn.accuracy(reshape(logits, [-1]), reshape(label, [-1]))"
f1 = "f1"
f1_of_each = "nn.f1(reshape(logits, [-1]), reshape(label, [-1]))"
)toml");
  output_of({"train", file, "--set", "run.directory=" + folder.path()});
  const Json scores = Json::parse(output_of({"eval", path("days"), "--on", "train", "--json"})).at("scores");
  for (const std::string metric : {"accuracy", "f1"})
    BOOST_TEST(scores.at(metric) == scores.at(metric + "_of_each"), scores.dump());
}

BOOST_AUTO_TEST_CASE(predictions_keep_columns_of_the_files) {
  train_small("header = true\nlabel = \"y\"\n");
  const auto kept = [&](const std::string& columns, const std::string& file, const Arguments& more = {},
                        int code = 0) {
    Arguments arguments = {"predict", path("small"), file, "--keep", columns};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return output_of(arguments, code);
  };
  const std::string one = folder.write("one.csv", "id,a,name,b\n07,4,\"Ann, the first\",9\n8,7,,0.5\n");
  const std::string plain = output_of({"predict", path("small"), one});
  std::istringstream lines(plain);
  std::string header, first, second;
  std::getline(lines, header);
  std::getline(lines, first);
  std::getline(lines, second);
  BOOST_TEST(kept("name,id", one) ==
             "name,id," + header + "\n\"Ann, the first\",07," + first + "\n,8," + second + '\n');
  const std::string two = folder.write("two.csv", "name,id,b,a\nZoe,9,9,4\n");
  BOOST_TEST(kept("id", one, {two}) ==
             "id," + header + "\n07," + first + "\n8," + second + "\n9," + first + '\n');
  const std::string objects = folder.write("in.jsonl", "{\"a\": 4, \"b\": 9, \"y\": -5}\n");
  BOOST_TEST(kept("y", objects) == "y," + header + "\n-5," + first + '\n');
  BOOST_TEST(kept("idd", one, {}, 2).find("there is no column 'idd'") != std::string::npos);
  const std::string taken = folder.write("taken.csv", "a,b,value\n1,2,3\n");
  BOOST_TEST(kept(header, taken, {}, 2).find("an output of the model has the same name") !=
             std::string::npos);
  const std::string labelled = folder.write("labelled.csv", "label,a,b,note\n5,4,9,\"a \"\"b\"\"\"\n");
  BOOST_TEST(kept("label,note", labelled) == "note," + header + ",label\n\"a \"\"b\"\"\"," + first + ",5\n");
}

// Targets that are columns of the table are needed for training and evaluation alone.
BOOST_AUTO_TEST_CASE(columns_of_targets_are_not_needed_to_predict) {
  folder.write("small.csv", "a,b,sum,difference\n1,2,3,-1\n3,1,4,2\n5,2,7,3\n");
  const std::string file = folder.write("small.toml", R"toml(
run = { name = "small", gpus = 0 }
[data]
format = "csv"
header = true
label = "none"
train = ["small.csv"]
batch = 3
[data.columns]
numbers = { type = "number", columns = ["a", "b"], input = "features" }
targets = { type = "number", columns = ["sum", "difference"], input = "targets" }
[model]
layers = [{ type = "dense", units = 2, name = "output" }]
outputs = { results = "output" }
[train]
loss = "mean(square(output - targets))"
optimizer = { type = "sgd", lr = 0.01 }
max_epochs = 2
)toml");
  output_of({"train", file, "--set", "run.directory=" + folder.path()});
  const auto of_table = [&](const char* command, const std::string& table, int code = 0) {
    return output_of({command, path("small"), folder.write("in.csv", table)}, code);
  };
  const std::string expected = of_table("predict", "a,b,sum,difference\n4,9,13,-5\n");
  BOOST_TEST(of_table("predict", "a,b\n4,9\n") == expected);
  BOOST_TEST(of_table("predict", "sum,b,a\nunknown,9,4\n") == expected);
  // As many rows, since the last digit of a product may depend on their number.
  BOOST_TEST(predicted("small", "{\"a\": 4, \"b\": 9}\n{\"sum\": 1, \"b\": 9, \"a\": 4}\n") ==
             of_table("predict", "a,b\n4,9\n4,9\n"));
  BOOST_TEST(of_table("predict", "a,sum\n4,1\n", 2).find("data.columns.numbers: there is no column 'b'") !=
             std::string::npos);
  BOOST_TEST(of_table("eval", "a,b\n4,9\n", 2).find("data.columns.targets: there is no column 'sum'") !=
             std::string::npos);
  serve(path("small"));
  const Json results = served("small:predict", R"([{"a": 4, "b": 9}, {"a": 4, "b": 9, "difference": 0}])");
  BOOST_TEST(results.size() == 2u);
  BOOST_TEST((results[0] == results[1]));
}

BOOST_AUTO_TEST_CASE(files_to_train_on_may_have_different_orders) {
  const auto prediction_of = [&](const std::string& second) {
    folder.write("more.csv", second);
    train_small("header = true\nlabel = \"y\"\n", "a,b,y\n1,2,-1\n3,1,2\n",
                {"--set", "data.train=[\"small.csv\", \"more.csv\"]"});
    return predicted("small", "{\"a\": 1, \"b\": 2}\n");
  };
  const std::string same = prediction_of("a,b,y\n2,1,1\n");
  BOOST_TEST(prediction_of("b,y,a\n1,1,2\n") == same);
}

BOOST_AUTO_TEST_CASE(a_number_stands_for_a_missing_member) {
  train_small("names = [\"a\", \"b\", \"y\"]\nlabel = \"y\"\nmissing = 7\n", "1,2,-1\n3,1,2\n5,,3\n");
  BOOST_TEST(predicted("small", "{\"b\": 2}\n") == predicted("small", "{\"a\": 7, \"b\": 2}\n"));
}

// Requests.

BOOST_AUTO_TEST_CASE(objects_with_columns_are_served_as_they_are_predicted) {
  train("penguins");
  const std::vector<std::string> objects = {penguin,
                                            R"({"island": "Atlantis", "body_mass_g": "5000", "sex": "NA"})",
                                            R"({"bill_length_mm": 50, "species": "Gentoo"})", "{}"};
  std::string lines, list;
  for (const std::string& object : objects) {
    lines += object + '\n';
    list += (list.empty() ? "[" : ", ") + object;
  }
  output_of({"predict", path("penguins"), folder.write("in.jsonl", lines), "--probabilities", "-o",
             path("out.jsonl")});
  serve(path("penguins"));
  const Json got = served("penguins:predict", list + ']');
  const Json scores = served("penguins:classify", list + ']');
  std::ifstream expected(path("out.jsonl"));
  std::string line;
  for (size_t i = 0; i < objects.size() && std::getline(expected, line); ++i) {
    const Json one = Json::parse(line);
    BOOST_TEST(got.at(i).at("class") == one.at("class"));
    for (size_t k = 0; k < 3; ++k) {
      const double probability = one.at("probabilities")[k];
      BOOST_TEST(std::abs(got[i].at("probabilities")[k].get<double>() - probability) < 1e-6);
      BOOST_TEST(std::abs(scores[i][k][1].get<double>() - probability) < 1e-6);
    }
  }
  const Answer examples = ask("penguins:classify", "{\"examples\": [" + std::string(penguin) + "]}");
  BOOST_TEST(examples.json().at("results")[0] == scores[0]);
}

BOOST_AUTO_TEST_CASE(inputs_by_name_may_have_null_for_gaps) {
  train("penguins");
  serve(path("penguins"));
  BOOST_TEST(served("penguins:predict",
                    R"([{"island": "Dream", "sex": "male", "sizes": [39.1, 18.7, 181, 3750]}])") ==
             served("penguins:predict", '[' + std::string(penguin) + ']'));
  BOOST_TEST(
      served("penguins:predict", R"([{"island": "Dream", "sex": null, "sizes": [39.1, null, 181, 3750]}])") ==
      served(
          "penguins:predict",
          R"([{"island": "Dream", "bill_length_mm": 39.1, "flipper_length_mm": 181, "body_mass_g": 3750}])"));
  const Answer by_columns =
      ask("penguins:predict",
          R"({"inputs": {"island": ["Dream"], "sex": ["male"], "sizes": [[39.1, null, 181, 3750]]}})");
  BOOST_TEST(by_columns.status == 200u, by_columns.body);
  const Answer inferred = client->post(
      "/v2/models/penguins/infer",
      R"({"inputs": [{"name": "island", "datatype": "BYTES", "shape": [1], "data": ["Dream"]},)"
      R"({"name": "sex", "datatype": "BYTES", "shape": [1], "data": ["male"]},)"
      R"({"name": "sizes", "datatype": "FP32", "shape": [1, 4], "data": [39.1, null, 181, 3750]}]})");
  BOOST_TEST_REQUIRE(inferred.status == 200u, inferred.body);
  Json probabilities;
  const Json outputs = inferred.json().at("outputs");
  for (const Json& output : outputs)
    if (output.at("name") == "probabilities") probabilities = output.at("data");
  BOOST_TEST(probabilities == by_columns.json().at("outputs").at("probabilities").at(0));
}

BOOST_AUTO_TEST_CASE(mistakes_in_objects_are_named_and_end_nothing) {
  train("penguins");
  serve(path("penguins"));
  const std::string good = std::string("[") + penguin + ", ";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"island": "Dream", "bodymass": 1}])",
       "instances[1]: the member 'bodymass' is no column; the columns are bill_length_mm, bill_depth_mm, "
       "flipper_length_mm, body_mass_g, island, sex, species"},
      {R"({"body_mass_g": "heavy"}])",
       "instances[1], column 4 ('body_mass_g'): 'heavy' is not a finite number; a gap is an empty field"},
      {R"({"body_mass_g": true}])", "instances[1], column 4 ('body_mass_g'): 'true' is not a finite number"},
      {R"({"body_mass_g": [1, 2]}])",
       "instances[1]: the member 'body_mass_g' is a list; only a text may be a list, of its words"},
      {R"({"body_mass_g": 1e39}])",
       "instances[1], column 4 ('body_mass_g'): '1e+39' is too large for a float, which is at most 3.4e38"},
      {R"({"body_mass_g": {"kg": 3}}])",
       "instances[1]: the member 'body_mass_g' is no number, text, truth value, null or list of these"},
      {R"({"island": "Dream", "sex": "male", "sizes": [39.1, "x", 181, 3750]}])",
       "has no input 'bill_length_mm'"},
      {"[1, 2]]", "has no input"},
      {"3]", "has no input"},
  };
  for (const auto& [rest, expected] : cases) check_refused("penguins:predict", good + rest, expected);
  check_refused("penguins:predict",
                R"([{"island": "Dream", "sex": "male", "sizes": [39.1, "x", 181, 3750]}])",
                "instances[0].sizes[1]: expected a float, found text, for column 'bill_depth_mm'");
  check_refused("penguins:predict", R"([{"island": "Dream", "sizes": [1, 2, 3, 4], "bodymass": 3}])",
                "instead an object may have the columns bill_length_mm, bill_depth_mm");
  std::string empty = "[{}";
  for (int i = 0; i < 500'000; ++i) empty += ",{}";
  check_refused("penguins:predict", empty + ']', "500001 objects of 6 columns");
  BOOST_TEST(served("penguins:predict", '[' + std::string(penguin) + ']').size() == 1u);
}

BOOST_AUTO_TEST_CASE(gaps_are_refused_where_the_training_had_none) {
  train_small("header = true\nlabel = \"y\"\n");
  serve(path("small"));
  const Json number = served("small:predict", "[[1, 2]]");
  BOOST_TEST(served("small:predict", R"([{"b": 2, "a": 1}])") == number);
  BOOST_TEST(served("small:regress", R"([{"b": 2, "a": 1, "y": null}])") == number);
  check_refused(
      "small:predict", "[[1, 2], [1, null]]",
      "instances[1][1]: expected a float, found null, for column 'b'; the model takes no gaps here, because "
      "its run file has no data.missing");
  check_refused("small:predict", R"([{"a": 1, "b": 2}, {"a": 1}])",
                "instances[1], column 2 ('b'): there is no value; the model takes no gaps here, because its "
                "run file has "
                "no data.missing");
}

BOOST_AUTO_TEST_CASE(a_number_stands_for_null) {
  train_small("label = \"last\"\nmissing = 7\n", "1,2,-1\n3,1,2\n5,,3\n");
  serve(path("small"));
  BOOST_TEST(served("small:predict", "[[1, null]]") == served("small:predict", "[[1, 7]]"));
}

BOOST_AUTO_TEST_CASE(the_names_of_columns_are_known_without_the_table) {
  train_small("header = true\nlabel = \"y\"\n");
  fs::remove(path("small.csv"));
  serve(path("small"));
  BOOST_TEST(served("small:predict", R"([{"b": 2, "a": 1}])") == served("small:predict", "[[1, 2]]"));
}

BOOST_AUTO_TEST_CASE(without_names_of_columns_vectors_are_served) {
  train_small("label = \"last\"\n", "1,2,-1\n3,1,2\n5,2,3\n");
  serve(path("small"));
  BOOST_TEST(served("small:predict", "[[1, 2]]").size() == 1u);
  check_refused("small:predict", R"([{"a": 1, "b": 2}])",
                "has no input 'a'; its inputs are image (float[?,2])");
}

BOOST_AUTO_TEST_CASE(texts_are_served_by_rows) {
  train("reviews", {"--set", "train.max_epochs=1"});
  const std::string lines = "{\"text\": \"a great movie\"}\n{\"text\": \"boring\"}\n";
  serve(path("reviews"));
  const Json got = served("reviews:predict", R"([{"text": "a great movie"}, {"text": "boring"}])");
  BOOST_TEST(served("reviews:predict", R"(["a great movie", "boring"])") == got);
  BOOST_TEST(predicted("reviews", lines) == "class\n" + got[0].at("class").get<std::string>() + '\n' +
                                                got[1].at("class").get<std::string>() + '\n');
  check_refused("reviews:predict", R"([{"txt": "good"}])",
                "the member 'txt' is no column; the columns are text");
}

BOOST_AUTO_TEST_CASE(metadata_has_the_columns) {
  train("penguins");
  serve(path("penguins"));
  const Json columns = client->get("/v1/models/penguins/metadata").json().at("columns");
  BOOST_TEST_REQUIRE(columns.size() == 6u);
  BOOST_TEST(columns[0] ==
             Json::parse(R"({"name": "bill_length_mm", "type": "number", "may_be_missing": true})"));
  BOOST_TEST(columns[4] == Json::parse(R"({"name": "island", "type": "category", "may_be_missing": true,
                                           "values": ["Biscoe", "Dream", "Torgersen"]})"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::table_requests_test
