// A model of examples/models as a process that bench/peers/models.py steers, beside the same model in TensorFlow and PyTorch:
//   models_bench MODEL BATCH THREADS [tf32|f16|bf16]
// On a machine with a GPU, in a build with CUDA, the model runs there, and its inputs stay there. `tf32` lets products round to
// TF32; with `f16` and `bf16` the layers compute in half and bfloat16, with weights of float.
// Prints {"weights": [[NAME, [DIM...], TRAINABLE]...], "dims": [those of the inputs], "tokens": how many there are, 0 for images,
// "classes": COUNT}, then answers each line of its input with one line:
//   load FILE        reads the weights, float32 in that order, and the inputs: images of float32, or tokens of int32; the label of
//                    row i of the logits is i % classes
//   loss             {"loss": the mean cross entropy of the training form}
//   gradients FILE   writes the gradients of the loss with respect to the trainable weights
//   training N       {"seconds": [of N steps, forward and backward]}
//   inference N      {"seconds": [of N steps, forward in the inference form]}
//   update N         {"seconds": [of N steps, forward, backward, and gradient descent with rate 0; only the loss is fetched]}
//   null N           {"seconds": [of N steps that fetch a scalar from where the model runs]}
//   profile WHAT     {OP: the mean seconds of its nodes in a step} for WHAT "training", "inference" or "update"; with the name of
//                    an op as a second word, {NODE: its mean seconds} for the nodes of this op
//   places           {DEVICE: {OP: how many nodes of this op run there in a step of "update"}}
//   memory           {"bytes": the most memory that the process has had on the host}
#include <chrono>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "convnets.h"
#include "language.h"

namespace troupe {
namespace {

using Json = nlohmann::json;

struct Model {
  std::vector<int64_t> dims;  ///< of one input
  int64_t tokens;             ///< how many tokens there are; 0: the inputs are images
  int64_t classes;
  /// Returns the logits [n, classes]. Images are of the dtype in which the layers are to compute.
  std::function<Output(const nn::Network&, Output inputs, DType compute)> build;

  DType dtype() const { return tokens == 0 ? f32 : i32; }
};

Model convnet(int64_t image, std::function<Output(const nn::Network&, Output)> build) {
  return {{image, image, 3},
          0,
          1000,
          [build = std::move(build)](const nn::Network& network, Output images, DType) {
            return build(network, images);
          }};
}

Model convnet(int64_t image, Output (*model)(const nn::Network&, Output, int64_t)) {
  return convnet(image,
                 [model](const nn::Network& network, Output images) { return model(network, images, 1000); });
}

Output as_rows(const nn::Network& network, Output logits, int64_t classes) {
  return reshape(network.scope(), logits, {-1, classes});
}

/// A perceptron with one hidden layer for images of 28 x 28 pixels.
Model mlp() {
  return {{784}, 0, 10, [](const nn::Network& network, Output images, DType) {
            const Output hidden = relu(network.scope(), nn::dense(network, images, {.units = 100}));
            return nn::dense(network, hidden, {.units = 10});
          }};
}

/// 20 steps of an LSTM with 512 units, as in OSDI 2016, and a softmax over 10,000 words.
Model lstm512() {
  return {{20}, 10'000, 10'000, [](const nn::Network& network, Output tokens, DType) {
            return as_rows(network,
                           models::lstm_language_model(network, tokens, {.vocabulary = 10'000, .units = 512}),
                           10'000);
          }};
}

/// 200 steps of an LSTM with 128 units in a loop, and a softmax over 10 classes.
Model dynamic_lstm() {
  return {{200}, 1000, 10, [](const nn::Network& network, Output tokens, DType) {
            const Output x = nn::embedding(network, tokens, {.rows = 1000, .units = 128});
            const Output states = nn::lstm(network, x, {.units = 128, .sequences = true, .loop = true});
            return as_rows(network, nn::dense(network, states, {.units = 10}), 10);
          }};
}

/// The base form of Vaswani et al. 2017 for 64 tokens out of 1,000, which it classifies.
Model transformer(bool recompute) {
  return {{64}, 1000, 1000, [recompute](const nn::Network& network, Output tokens, DType compute) {
            const models::TransformerOptions options{
                .vocabulary = 1000, .max_time = 64, .dropout = 0, .dtype = compute, .recompute = recompute};
            return as_rows(network, models::transformer_language_model(network, tokens, options), 1000);
          }};
}

const std::map<std::string, Model>& all_models() {
  static const std::map<std::string, Model> all = {
      {"alexnet", convnet(224, models::alexnet)},
      {"overfeat", convnet(231, models::overfeat)},
      {"oxfordnet", convnet(224, models::oxfordnet)},
      {"googlenet", convnet(224, models::googlenet)},
      {"resnet50", convnet(224, models::resnet50)},
      {"inception_v3",
       convnet(299,
               [](const nn::Network& network, Output images) {
                 return models::inception_v3(network, images, {.dropout = 0, .auxiliary = false}).logits;
               })},
      {"mlp", mlp()},
      {"lstm512", lstm512()},
      {"dynamic_lstm", dynamic_lstm()},
      {"transformer", transformer(false)},
      {"transformer_recomputed", transformer(true)}};
  return all;
}

/// Reads the elements of a tensor, float or int32, from a file.
Tensor read_tensor(std::ifstream& file, DType dtype, const std::vector<int64_t>& dims) {
  Tensor result = value_or_throw(Tensor::allocate(dtype, value_or_throw(Shape::make(dims, dtype))));
  file.read(reinterpret_cast<char*>(result.mutable_data()), static_cast<std::streamsize>(result.bytes()));
  if (!file) throw Error(data_loss("the file of the weights is too short"));
  return result;
}

class Bench {
 public:
  Bench(const Model& model, int64_t batch, size_t threads, const std::string& numbers)
      : model_(model), batch_(batch), runtime_({.threads = threads, .tf32 = numbers == "tf32"}),
        graph_(runtime_.ops()), scope_(graph_), network_(scope_.with_prefix("training"), nn::Mode::Training),
        on_gpu_(runtime_.devices().size() > 1) {
    std::vector<int64_t> dims = model.dims;
    dims.insert(dims.begin(), on_gpu_ ? batch : unknown_dim);
    inputs_ = placeholder(scope_, model.dtype(), PartialShape(dims));
    labels_ = placeholder(scope_, i32, {on_gpu_ ? rows() : unknown_dim});
    if (on_gpu_) {
      inputs_ = kept(inputs_);
      labels_ = kept(labels_);
    }
    const DType compute = numbers == "f16" ? DType::Half : numbers == "bf16" ? DType::BFloat16 : f32;
    const Output logits = build(network_, compute);
    const auto inference = network_.rebuilt(scope_.with_prefix("inference"), nn::Mode::Inference);
    logits_ = {build(inference, compute)};
    loss_ = mean(scope_, sparse_softmax_cross_entropy_with_logits(scope_, logits, labels_));
    std::vector<Output> trainable;
    for (const auto& [weight, edge] : network_.weights())
      if (weight.trainable) trainable.push_back(edge);
    const auto gradients = nn::compute_gradients(scope_, loss_, trainable);
    for (const auto& [gradient, variable] : gradients) backward_.push_back(nn::values_of(gradient));
    const Output rate = scope_.constant(Tensor::scalar(0.0f));
    std::vector<Output> updates;
    for (const auto& [gradient, variable] : nn::all_dense(scope_, gradients)) {
      gradients_.push_back(nn::values_of(gradient));
      updates.push_back(scope_.add_one("ApplyGradientDescent", {variable, rate, gradients_.back()}));
    }
    update_ = scope_.group(updates);
    for (const auto& [weight, edge] : network_.weights()) {
      values_.push_back(placeholder(scope_, weight.dtype, weight.shape));
      assigns_.push_back(assign(scope_, edge, values_.back()));
    }
    scalar_ = scope_.add_one("VariableV2", {}, {{"dtype", f32}, {"shape", PartialShape(Shape{})}});
    assigns_.push_back(assign(scope_, scalar_, scope_.constant(Tensor::scalar(0.0f))));
    session_.emplace(runtime_.session(graph_));
    session_->run({scope_.group({assigns_.back()})});
  }

  Json description() const {
    Json weights = Json::array();
    for (const auto& [weight, edge] : network_.weights())
      weights.push_back({weight.name, weight.shape.dims(), weight.trainable});
    return {
        {"weights", weights}, {"dims", model_.dims}, {"tokens", model_.tokens}, {"classes", model_.classes}};
  }

  Json answer(const std::string& command, const std::string& argument, const std::string& op) {
    if (command == "load") return load(argument);
    if (command == "loss") return {{"loss", session_->run(feeds_, {loss_})[0].item<float>()}};
    if (command == "gradients") return write_gradients(argument);
    if (command == "training") return {{"seconds", seconds(backward_, std::stoi(argument))}};
    if (command == "inference") return {{"seconds", seconds(logits_, std::stoi(argument))}};
    if (command == "profile") return profile(steps_of(argument), op);
    if (command == "places") return places();
    if (command == "update") return {{"seconds", seconds({loss_}, std::stoi(argument), {update_})}};
    if (command == "null") return {{"seconds", seconds({scalar_}, std::stoi(argument))}};
    if (command == "memory") return {{"bytes", peak_memory()}};
    throw Error(invalid_argument("there is no command '" + command + "'"));
  }

 private:
  Output build(const nn::Network& network, DType compute) const {
    const Scope& scope = network.scope();
    const Output inputs = model_.tokens == 0 ? cast(scope, inputs_, compute) : inputs_;
    return cast(scope, model_.build(network, inputs, compute), f32);
  }

  /// The number of labels.
  int64_t rows() const { return model_.tokens == 0 ? batch_ : batch_ * model_.dims[0]; }

  /// Returns a variable that keeps what is fed once, where the model runs.
  Output kept(Output fed) {
    const Output variable =
        scope_.add_one("VariableV2", {}, {{"dtype", graph_.dtype(fed)}, {"shape", graph_.shape(fed)}});
    kept_.emplace_back(fed, assign(scope_, variable, fed));
    return variable;
  }

  Json load(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    for (size_t i = 0; i < values_.size(); ++i) {
      const nn::Weight& weight = network_.weights()[i].first;
      const auto dims = weight.shape.dims();
      session_->run({{values_[i], read_tensor(file, weight.dtype, {dims.begin(), dims.end()})}},
                    {scope_.group({assigns_[i]})});
    }
    std::vector<int64_t> dims = model_.dims;
    dims.insert(dims.begin(), batch_);
    std::vector<int32_t> labels(static_cast<size_t>(rows()));
    for (size_t i = 0; i < labels.size(); ++i)
      labels[i] = static_cast<int32_t>(static_cast<int64_t>(i) % model_.classes);
    const Tensor inputs = read_tensor(file, model_.dtype(), dims), rows = Tensor::vector<int32_t>(labels);
    if (on_gpu_)
      session_->run({{kept_[0].first, inputs}, {kept_[1].first, rows}},
                    {scope_.group({kept_[0].second, kept_[1].second})});
    else
      feeds_ = {{inputs_, inputs}, {labels_, rows}};
    return Json::object();
  }

  Json write_gradients(const std::string& path) {
    std::ofstream file(path, std::ios::binary);
    for (const Tensor& gradient : session_->run(feeds_, gradients_))
      file.write(reinterpret_cast<const char*>(gradient.data()),
                 static_cast<std::streamsize>(gradient.bytes()));
    return Json::object();
  }

  /// The results are fetched, because the pass that simplifies a step leaves out what the step only waits for.
  std::vector<double> seconds(std::vector<Output> results, int steps,
                              const std::vector<Output>& targets = {}) {
    using Clock = std::chrono::steady_clock;
    std::vector<double> result;
    results.insert(results.end(), targets.begin(), targets.end());
    for (int i = 0; i < steps; ++i) {
      const auto start = Clock::now();
      session_->run(feeds_, results);
      if (on_gpu_ && i + 1 == steps)
        session_->run({labels_});  // arrives when the GPU has done all that was issued
      result.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    }
    return result;
  }

  Json profile(const std::vector<Output>& results, const std::string& op) {
    constexpr int steps = 10;
    std::map<std::string, double> result;
    seconds(results, 4);  // the first steps prepare
    for (int i = 0; i < steps; ++i) {
      std::vector<DeviceProfile> devices;
      session_->run(feeds_, results, {.profile = &devices});
      for (const DeviceProfile& device : devices)
        for (const NodeProfile& node : device.nodes)
          if (op.empty() || op == node.op)
            result[op.empty() ? node.op : node.name] +=
                std::chrono::duration<double>(node.time).count() / steps;
    }
    return result;
  }

  std::vector<Output> steps_of(const std::string& what) const {
    if (what == "update") return {loss_, update_};
    return what == "training" ? backward_ : logits_;
  }

  Json places() {
    Json result;
    std::vector<DeviceProfile> devices;
    session_->run(feeds_, {loss_, update_}, {.profile = &devices});
    for (const DeviceProfile& device : devices)
      for (const NodeProfile& node : device.nodes) {
        Json& count = result[device.device][node.op];
        count = count.is_null() ? 1 : count.get<int>() + 1;
      }
    return result;
  }

  static int64_t peak_memory() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
      if (line.starts_with("VmHWM:")) return std::stoll(line.substr(6)) * 1024;
    return 0;
  }

  const Model& model_;
  const int64_t batch_;
  Runtime runtime_;
  Graph graph_;
  const Scope scope_;
  const nn::Network network_;
  const bool on_gpu_;
  std::vector<std::pair<Output, Output>> kept_;  ///< what is fed once, and its assignment
  Output inputs_, labels_, loss_, update_, scalar_;
  std::vector<Output> backward_,
      logits_;  ///< the results of a step: gradients as they come, rows or dense, and logits
  std::vector<Output> gradients_, values_, assigns_;
  std::vector<std::pair<Output, Tensor>> feeds_;
  std::optional<Session> session_;
};

int run(const std::vector<std::string>& arguments) {
  const std::string numbers = arguments.size() == 4 ? arguments[3] : "float";
  const bool valid = arguments.size() == 3 || numbers == "tf32" || numbers == "f16" || numbers == "bf16";
  const auto model = valid ? all_models().find(arguments[0]) : all_models().end();
  if (model == all_models().end()) {
    std::cerr << "usage: models_bench MODEL BATCH THREADS [tf32|f16|bf16]; models:";
    for (const auto& [name, known] : all_models()) std::cerr << ' ' << name;
    std::cerr << '\n';
    return 2;
  }
  Bench bench(model->second, std::stoll(arguments[1]), std::stoul(arguments[2]), numbers);
  std::cout << bench.description().dump() << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string command, argument, op;
    words >> command >> argument >> op;
    std::cout << bench.answer(command, argument, op).dump() << std::endl;
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
