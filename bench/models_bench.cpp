// A model of examples/models as a process that bench/peers/models.py steers, beside the same model in TensorFlow and PyTorch:
//   models_bench MODEL BATCH THREADS
// Prints {"weights": [[NAME, [DIM...], TRAINABLE]...], "image": SIZE}, then answers each line of its input with one line:
//   load FILE        reads the weights and the images, float32 in that order; the label of image i is i
//   loss             {"loss": the mean cross entropy of the training form}
//   gradients FILE   writes the gradients of the loss with respect to the trainable weights
//   training N       {"seconds": [of N steps, forward and backward]}
//   inference N      {"seconds": [of N steps, forward in the inference form]}
//   memory           {"bytes": the most memory that the process has had}
#include <chrono>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "convnets.h"

namespace troupe {
namespace {

using Json = nlohmann::json;

struct Model {
  int64_t image;
  std::function<Output(const nn::Network&, Output images)> build;
};

const std::map<std::string, Model>& all_models() {
  const auto plain = [](Output (*model)(const nn::Network&, Output, int64_t)) {
    return [model](const nn::Network& network, Output images) { return model(network, images, 1000); };
  };
  static const std::map<std::string, Model> all = {
      {"alexnet", {224, plain(models::alexnet)}},
      {"overfeat", {231, plain(models::overfeat)}},
      {"oxfordnet", {224, plain(models::oxfordnet)}},
      {"googlenet", {224, plain(models::googlenet)}},
      {"resnet50", {224, plain(models::resnet50)}},
      {"inception_v3", {299, [](const nn::Network& network, Output images) {
                          return models::inception_v3(network, images, {.dropout = 0}).logits;
                        }}}};
  return all;
}

/// Reads `shape` floats of a file.
Tensor read_floats(std::ifstream& file, const PartialShape& shape) {
  const Shape whole = value_or_throw(shape.to_shape(f32));
  std::vector<float> values(static_cast<size_t>(whole.elements()));
  file.read(reinterpret_cast<char*>(values.data()),
            static_cast<std::streamsize>(values.size() * sizeof(float)));
  if (!file) throw Error(data_loss("the file of the weights is too short"));
  return Tensor::of<float>(whole, values);
}

class Bench {
 public:
  Bench(const Model& model, int64_t batch, size_t threads)
      : batch_(batch), image_(model.image), runtime_({.threads = threads}), graph_(runtime_.ops()),
        scope_(graph_), network_(scope_.with_prefix("training"), nn::Mode::Training) {
    images_ = placeholder(scope_, f32, {-1, image_, image_, 3});
    labels_ = placeholder(scope_, i32, {-1});
    const Output logits = model.build(network_, images_);
    const auto inference = network_.rebuilt(scope_.with_prefix("inference"), nn::Mode::Inference);
    logits_ = scope_.group({model.build(inference, images_)});
    loss_ = mean(scope_, sparse_softmax_cross_entropy_with_logits(scope_, logits, labels_));
    for (const auto& [weight, edge] : network_.weights())
      if (weight.trainable) trainable_.push_back(edge);
    for (const Gradient& gradient : gradients(scope_, {loss_}, trainable_))
      gradients_.push_back(std::get<Output>(gradient));
    backward_ = scope_.group(gradients_);
    for (const auto& [weight, edge] : network_.weights()) {
      values_.push_back(placeholder(scope_, weight.dtype, weight.shape));
      assigns_.push_back(assign(scope_, edge, values_.back()));
    }
    session_.emplace(runtime_.session(graph_));
  }

  Json description() const {
    Json weights = Json::array();
    for (const auto& [weight, edge] : network_.weights())
      weights.push_back({weight.name, weight.shape.dims(), weight.trainable});
    return {{"weights", weights}, {"image", image_}};
  }

  Json answer(const std::string& command, const std::string& argument) {
    if (command == "load") return load(argument);
    if (command == "loss") return {{"loss", session_->run(feeds_, {loss_})[0].item<float>()}};
    if (command == "gradients") return write_gradients(argument);
    if (command == "training") return {{"seconds", seconds(backward_, std::stoi(argument))}};
    if (command == "inference") return {{"seconds", seconds(logits_, std::stoi(argument))}};
    if (command == "memory") return {{"bytes", peak_memory()}};
    throw Error(invalid_argument("there is no command '" + command + "'"));
  }

 private:
  Json load(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    for (size_t i = 0; i < values_.size(); ++i)
      session_->run({{values_[i], read_floats(file, network_.weights()[i].first.shape)}},
                    {scope_.group({assigns_[i]})});
    std::vector<int32_t> labels;
    for (int64_t i = 0; i < batch_; ++i) labels.push_back(static_cast<int32_t>(i));
    feeds_ = {{images_, read_floats(file, {batch_, image_, image_, 3})},
              {labels_, Tensor::of<int32_t>(Shape{batch_}, labels)}};
    return Json::object();
  }

  Json write_gradients(const std::string& path) {
    std::ofstream file(path, std::ios::binary);
    for (const Tensor& gradient : session_->run(feeds_, gradients_))
      file.write(reinterpret_cast<const char*>(gradient.data()),
                 static_cast<std::streamsize>(gradient.bytes()));
    return Json::object();
  }

  std::vector<double> seconds(Output target, int steps) {
    using Clock = std::chrono::steady_clock;
    std::vector<double> result;
    for (int i = 0; i < steps; ++i) {
      const auto start = Clock::now();
      session_->run(feeds_, {target});
      result.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    }
    return result;
  }

  static int64_t peak_memory() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
      if (line.starts_with("VmHWM:")) return std::stoll(line.substr(6)) * 1024;
    return 0;
  }

  const int64_t batch_, image_;
  Runtime runtime_;
  Graph graph_;
  const Scope scope_;
  const nn::Network network_;
  Output images_, labels_, loss_, backward_, logits_;
  std::vector<Output> trainable_, gradients_, values_, assigns_;
  std::vector<std::pair<Output, Tensor>> feeds_;
  std::optional<Session> session_;
};

int run(const std::vector<std::string>& arguments) {
  const auto model = arguments.size() == 3 ? all_models().find(arguments[0]) : all_models().end();
  if (model == all_models().end()) {
    std::cerr << "usage: models_bench MODEL BATCH THREADS; models:";
    for (const auto& [name, known] : all_models()) std::cerr << ' ' << name;
    std::cerr << '\n';
    return 2;
  }
  Bench bench(model->second, std::stoll(arguments[1]), std::stoul(arguments[2]));
  std::cout << bench.description().dump() << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string command, argument;
    words >> command >> argument;
    std::cout << bench.answer(command, argument).dump() << std::endl;
  }
  return 0;
}

}  // namespace
}  // namespace troupe

int main(int argc, char** argv) try {
  return troupe::run({argv + 1, argv + argc});
} catch (const troupe::Error& error) {
  std::cerr << error.what() << '\n';
  return error.exit_code();
}
