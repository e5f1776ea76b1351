#include "apps/nn/layers.h"

#include "apps/nn/activations.h"
#include "apps/python/calls.h"
#include "apps/python/nn.h"
#include "apps/python/values.h"

namespace troupe::python {
namespace py = pybind11;
namespace {

/// Returns what a function of troupe/scopes.py returns.
template <class... Arguments>
py::object from_scopes(const char* function, const Arguments&... arguments) {
  return py::module_::import("troupe.scopes").attr(function)(arguments...);
}

struct NetworkHandle {
  GraphRef graph;
  nn::Network network;
  /// Returns the network whose layers go to the scope in use.
  NetworkHandle here() const {
    const py::object scope = from_scopes("scope_in_use");
    if (scope.is_none()) return *this;
    const auto& used = scope.cast<const ScopeHandle&>();
    if (used.graph != graph)
      throw Error(invalid_argument("the network belongs to another graph than the one in use"));
    return {graph, network.within(used.scope)};
  }
  ScopeHandle scope() const { return {graph, network.scope()}; }
  Output input(const py::object& value) const {
    if (is_list(value) && first_output(value))
      throw Error(invalid_argument("a layer takes one tensor, not a " + type_text(value) +
                                   " with outputs: give it an element of the " + type_text(value) +
                                   ", or join the elements by troupe.ops.concat or troupe.ops.stack"));
    return as_output(scope(), value, DType::Invalid);
  }
  OutputHandle handle(Output output) const { return {graph, output}; }
};

/// The name of an initializer, a number that all elements get, or None.
nn::Initial initial_of(const py::object& value) {
  if (value.is_none()) return nullptr;
  if (!py::isinstance<py::str>(value)) return nn::all_equal(value.cast<double>());
  const auto name = value.cast<std::string>();
  nn::Initial initial = nn::find_initializer(name);
  if (!initial)
    throw Error(invalid_argument("there is no initializer '" + name + "'; there are " +
                                 std::string(nn::weight_initializers)));
  return initial;
}

/// A number for height and width, or two.
nn::Pair pair_of(const py::object& value) {
  if (!is_list(value)) return value.cast<int64_t>();
  const auto [height, width] = value.cast<std::pair<int64_t, int64_t>>();
  return {height, width};
}

NetworkHandle make_network(const ScopeHandle& scope, bool training) {
  const auto add_weight = [graph = scope.graph](const nn::Weight& weight) {
    return nn::add_variable(from_scopes("scope_of_weights", graph).cast<const ScopeHandle&>().scope, weight);
  };
  return {scope.graph,
          nn::Network(scope.scope, training ? nn::Mode::Training : nn::Mode::Inference, add_weight)};
}

py::dict weights_of(const NetworkHandle& network) {
  py::dict weights;
  for (const auto& [weight, output] : network.network.weights())
    weights[py::str(weight.name)] = network.handle(output);
  return weights;
}

using NetworkClass = py::class_<NetworkHandle>;

/// Binds a layer without options.
void bind_plain(NetworkClass& network, const char* name, Output (*layer)(const nn::Network&, Output)) {
  network.def(
      name,
      [layer](const NetworkHandle& self, const py::object& x) {
        const NetworkHandle n = self.here();
        return n.handle(layer(n.network, n.input(x)));
      },
      py::arg("x"));
}

void bind_dense_layers(NetworkClass& network) {
  network.def(
      "dense",
      [](const NetworkHandle& self, const py::object& x, int64_t units, const std::string& activation,
         bool bias, const py::object& init) {
        const NetworkHandle n = self.here();
        return n.handle(
            nn::dense(n.network, n.input(x),
                      {.units = units, .activation = activation, .bias = bias, .init = initial_of(init)}));
      },
      py::arg("x"), py::arg("units"), py::arg("activation") = "linear", py::arg("bias") = true,
      py::arg("init") = "glorot_uniform");
  network.def(
      "embedding",
      [](const NetworkHandle& self, const py::object& ids, int64_t rows, int64_t units,
         const std::string& combiner, const py::object& init, int64_t partitions, double max_norm) {
        const NetworkHandle n = self.here();
        return n.handle(nn::embedding(n.network, n.input(ids),
                                      {.rows = rows,
                                       .units = units,
                                       .init = initial_of(init),
                                       .partitions = partitions,
                                       .combiner = combiner,
                                       .max_norm = max_norm}));
      },
      py::arg("ids"), py::arg("rows"), py::arg("units"), py::arg("combiner") = "none",
      py::arg("init") = py::none(), py::arg("partitions") = 0, py::arg("max_norm") = 0.0);
  network.def(
      "dropout",
      [](const NetworkHandle& self, const py::object& x, double rate) {
        const NetworkHandle n = self.here();
        return n.handle(nn::dropout(n.network, n.input(x), {.rate = rate}));
      },
      py::arg("x"), py::arg("rate") = nn::Dropout{}.rate);
  bind_plain(network, "flatten", &nn::flatten);
}

void bind_norms(NetworkClass& network) {
  network.def(
      "batch_norm",
      [](const NetworkHandle& self, const py::object& x, double decay, double epsilon, bool scale,
         bool offset, const std::string& activation) {
        const NetworkHandle n = self.here();
        return n.handle(nn::batch_norm(n.network, n.input(x),
                                       {.decay = decay,
                                        .epsilon = epsilon,
                                        .scale = scale,
                                        .offset = offset,
                                        .activation = activation}));
      },
      py::arg("x"), py::arg("decay") = nn::BatchNorm{}.decay, py::arg("epsilon") = nn::BatchNorm{}.epsilon,
      py::arg("scale") = true, py::arg("offset") = true, py::arg("activation") = "linear");
  network.def(
      "layer_norm",
      [](const NetworkHandle& self, const py::object& x, double epsilon, bool scale, bool offset) {
        const NetworkHandle n = self.here();
        return n.handle(
            nn::layer_norm(n.network, n.input(x), {.epsilon = epsilon, .scale = scale, .offset = offset}));
      },
      py::arg("x"), py::arg("epsilon") = nn::LayerNorm{}.epsilon, py::arg("scale") = true,
      py::arg("offset") = true);
  network.def(
      "rms_norm",
      [](const NetworkHandle& self, const py::object& x, double epsilon, bool scale) {
        const NetworkHandle n = self.here();
        return n.handle(nn::rms_norm(n.network, n.input(x), {.epsilon = epsilon, .scale = scale}));
      },
      py::arg("x"), py::arg("epsilon") = nn::RmsNorm{}.epsilon, py::arg("scale") = true);
  network.def(
      "lrn",
      [](const NetworkHandle& self, const py::object& x, int64_t depth_radius, double bias, double alpha,
         double beta) {
        const NetworkHandle n = self.here();
        return n.handle(nn::lrn(n.network, n.input(x),
                                {.depth_radius = depth_radius, .bias = bias, .alpha = alpha, .beta = beta}));
      },
      py::arg("x"), py::arg("depth_radius") = nn::Lrn{}.depth_radius, py::arg("bias") = nn::Lrn{}.bias,
      py::arg("alpha") = nn::Lrn{}.alpha, py::arg("beta") = nn::Lrn{}.beta);
  network.def(
      "group_norm",
      [](const NetworkHandle& self, const py::object& x, int64_t groups, double epsilon, bool scale,
         bool offset) {
        const NetworkHandle n = self.here();
        return n.handle(nn::group_norm(
            n.network, n.input(x), {.groups = groups, .epsilon = epsilon, .scale = scale, .offset = offset}));
      },
      py::arg("x"), py::arg("groups"), py::arg("epsilon") = nn::GroupNorm{}.epsilon, py::arg("scale") = true,
      py::arg("offset") = true);
}

void bind_gates(NetworkClass& network) {
  network.def(
      "glu",
      [](const NetworkHandle& self, const py::object& x, const std::string& activation) {
        const NetworkHandle n = self.here();
        return n.handle(nn::glu(n.network, n.input(x), {.activation = activation}));
      },
      py::arg("x"), py::arg("activation") = nn::Glu{}.activation);
  network.def(
      "prelu",
      [](const NetworkHandle& self, const py::object& x, double slope) {
        const NetworkHandle n = self.here();
        return n.handle(nn::prelu(n.network, n.input(x), {.slope = slope}));
      },
      py::arg("x"), py::arg("slope") = nn::Prelu{}.slope);
}

using PoolLayer = Output (*)(const nn::Network&, Output, const nn::Pool&);

void bind_image_layers(NetworkClass& network) {
  network.def(
      "conv2d",
      [](const NetworkHandle& self, const py::object& x, int64_t filters, const py::object& kernel,
         const py::object& strides, const py::object& dilations, const std::string& padding,
         const py::object& pad, int64_t groups, const std::string& activation, bool bias,
         const py::object& init) {
        const NetworkHandle n = self.here();
        return n.handle(nn::conv2d(n.network, n.input(x),
                                   {.filters = filters,
                                    .kernel = pair_of(kernel),
                                    .strides = pair_of(strides),
                                    .dilations = pair_of(dilations),
                                    .padding = padding,
                                    .pad = pair_of(pad),
                                    .groups = groups,
                                    .activation = activation,
                                    .bias = bias,
                                    .init = initial_of(init)}));
      },
      py::arg("x"), py::arg("filters"), py::arg("kernel"), py::arg("strides") = 1, py::arg("dilations") = 1,
      py::arg("padding") = "SAME", py::arg("pad") = 0, py::arg("groups") = 1,
      py::arg("activation") = "linear", py::arg("bias") = true, py::arg("init") = "glorot_uniform");
  network.def(
      "depthwise_conv2d",
      [](const NetworkHandle& self, const py::object& x, const py::object& kernel, int64_t multiplier,
         const py::object& strides, const py::object& dilations, const std::string& padding,
         const std::string& activation, bool bias, const py::object& init) {
        const NetworkHandle n = self.here();
        return n.handle(nn::depthwise_conv2d(n.network, n.input(x),
                                             {.kernel = pair_of(kernel),
                                              .strides = pair_of(strides),
                                              .dilations = pair_of(dilations),
                                              .multiplier = multiplier,
                                              .padding = padding,
                                              .activation = activation,
                                              .bias = bias,
                                              .init = initial_of(init)}));
      },
      py::arg("x"), py::arg("kernel"), py::arg("multiplier") = 1, py::arg("strides") = 1,
      py::arg("dilations") = 1, py::arg("padding") = "SAME", py::arg("activation") = "linear",
      py::arg("bias") = true, py::arg("init") = "glorot_uniform");
  network.def(
      "conv2d_transpose",
      [](const NetworkHandle& self, const py::object& x, int64_t filters, const py::object& kernel,
         const py::object& strides, const std::string& padding, const std::string& activation, bool bias,
         const py::object& init) {
        const NetworkHandle n = self.here();
        return n.handle(nn::conv2d_transpose(n.network, n.input(x),
                                             {.filters = filters,
                                              .kernel = pair_of(kernel),
                                              .strides = pair_of(strides),
                                              .padding = padding,
                                              .activation = activation,
                                              .bias = bias,
                                              .init = initial_of(init)}));
      },
      py::arg("x"), py::arg("filters"), py::arg("kernel"), py::arg("strides") = 1,
      py::arg("padding") = "SAME", py::arg("activation") = "linear", py::arg("bias") = true,
      py::arg("init") = "glorot_uniform");
  const auto bind_pool = [&](const char* name, PoolLayer pool) {
    network.def(
        name,
        [pool](const NetworkHandle& self, const py::object& x, const py::object& window,
               const py::object& strides, const std::string& padding) {
          const NetworkHandle n = self.here();
          return n.handle(pool(n.network, n.input(x),
                               {.window = pair_of(window), .strides = pair_of(strides), .padding = padding}));
        },
        py::arg("x"), py::arg("window") = 2, py::arg("strides") = 0, py::arg("padding") = "VALID");
  };
  bind_pool("max_pool2d", &nn::max_pool2d);
  bind_pool("avg_pool2d", &nn::avg_pool2d);
  bind_plain(network, "global_avg_pool2d", &nn::global_avg_pool2d);
  bind_plain(network, "global_max_pool2d", &nn::global_max_pool2d);
  network.def(
      "upsample2d",
      [](const NetworkHandle& self, const py::object& x, const py::object& size, const std::string& method) {
        const NetworkHandle n = self.here();
        return n.handle(nn::upsample2d(n.network, n.input(x), {.size = pair_of(size), .method = method}));
      },
      py::arg("x"), py::arg("size") = 2, py::arg("method") = "nearest");
}

using Pool1dLayer = Output (*)(const nn::Network&, Output, const nn::Pool1d&);

void bind_temporal_layers(NetworkClass& network) {
  network.def(
      "conv1d",
      [](const NetworkHandle& self, const py::object& x, int64_t filters, int64_t kernel, int64_t strides,
         int64_t dilations, const std::string& padding, int64_t groups, const std::string& activation,
         bool bias, const py::object& init) {
        const NetworkHandle n = self.here();
        return n.handle(nn::conv1d(n.network, n.input(x),
                                   {.filters = filters,
                                    .kernel = kernel,
                                    .strides = strides,
                                    .dilations = dilations,
                                    .padding = padding,
                                    .groups = groups,
                                    .activation = activation,
                                    .bias = bias,
                                    .init = initial_of(init)}));
      },
      py::arg("x"), py::arg("filters"), py::arg("kernel"), py::arg("strides") = 1, py::arg("dilations") = 1,
      py::arg("padding") = "SAME", py::arg("groups") = 1, py::arg("activation") = "linear",
      py::arg("bias") = true, py::arg("init") = "glorot_uniform");
  const auto bind_pool = [&](const char* name, Pool1dLayer pool) {
    network.def(
        name,
        [pool](const NetworkHandle& self, const py::object& x, int64_t window, int64_t strides,
               const std::string& padding) {
          const NetworkHandle n = self.here();
          return n.handle(
              pool(n.network, n.input(x), {.window = window, .strides = strides, .padding = padding}));
        },
        py::arg("x"), py::arg("window") = 2, py::arg("strides") = 0, py::arg("padding") = "VALID");
  };
  bind_pool("max_pool1d", &nn::max_pool1d);
  bind_pool("avg_pool1d", &nn::avg_pool1d);
  bind_plain(network, "global_avg_pool1d", &nn::global_avg_pool1d);
  bind_plain(network, "global_max_pool1d", &nn::global_max_pool1d);
}

using RecurrentLayer = Output (*)(const nn::Network&, Output, const nn::Recurrent&);

/// An option that one recurrent layer has and the others do not.
template <class T>
struct OwnOption {
  const char* name;
  T nn::Recurrent::*member;
};

template <class... Own>
void bind_recurrent(NetworkClass& network, const char* name, RecurrentLayer layer, OwnOption<Own>... own) {
  network.def(
      name,
      [=](const NetworkHandle& self, const py::object& x, int64_t units, bool sequences, bool loop,
          const py::object& lengths, const py::object& init, bool bidirectional, const Own&... values) {
        const NetworkHandle n = self.here();
        nn::Recurrent options{.units = units,
                              .sequences = sequences,
                              .bidirectional = bidirectional,
                              .loop = loop,
                              .init = initial_of(init)};
        if (!lengths.is_none()) options.lengths = n.input(lengths);
        ((options.*own.member = values), ...);
        return n.handle(layer(n.network, n.input(x), options));
      },
      py::arg("x"), py::arg("units"), py::arg("sequences") = false, py::arg("loop") = false,
      py::arg("lengths") = py::none(), py::arg("init") = "glorot_uniform", py::arg("bidirectional") = false,
      (py::arg(own.name) = nn::Recurrent().*own.member)...);
}

void bind_sequence_layers(NetworkClass& network) {
  bind_recurrent(network, "rnn", &nn::rnn, OwnOption<std::string>{"activation", &nn::Recurrent::activation});
  bind_recurrent(network, "lstm", &nn::lstm);
  bind_recurrent(network, "gru", &nn::gru, OwnOption<bool>{"reset_after", &nn::Recurrent::reset_after});
  network.def(
      "attention_lstm",
      [](const NetworkHandle& self, const py::object& x, const py::object& memory, int64_t units, bool loop,
         const py::object& memory_lengths, const py::object& init) {
        const NetworkHandle n = self.here();
        nn::AttentionLstm options{.units = units, .loop = loop, .init = initial_of(init)};
        if (!memory_lengths.is_none()) options.memory_lengths = n.input(memory_lengths);
        const Output first = n.input(x);
        return n.handle(nn::attention_lstm(n.network, first, n.input(memory), options));
      },
      py::arg("x"), py::arg("memory"), py::arg("units"), py::arg("loop") = false,
      py::arg("memory_lengths") = py::none(), py::arg("init") = "glorot_uniform");
  network.def(
      "attention",
      [](const NetworkHandle& self, const py::object& query, const py::object& memory, int64_t heads,
         int64_t units, bool causal, const py::object& memory_lengths, int64_t kv_heads, bool rotary) {
        const NetworkHandle n = self.here();
        const Output x = n.input(query);
        nn::Attention options{
            .heads = heads, .units = units, .causal = causal, .kv_heads = kv_heads, .rotary = rotary};
        if (!memory_lengths.is_none()) options.memory_lengths = n.input(memory_lengths);
        return n.handle(nn::attention(n.network, x, memory.is_none() ? x : n.input(memory), options));
      },
      py::arg("query"), py::arg("memory") = py::none(), py::arg("heads") = 1, py::arg("units") = 0,
      py::arg("causal") = false, py::arg("memory_lengths") = py::none(), py::arg("kv_heads") = 0,
      py::arg("rotary") = false);
  network.def(
      "position_embedding",
      [](const NetworkHandle& self, const py::object& x, int64_t steps, const py::object& init) {
        const NetworkHandle n = self.here();
        return n.handle(
            nn::position_embedding(n.network, n.input(x), {.steps = steps, .init = initial_of(init)}));
      },
      py::arg("x"), py::arg("steps"), py::arg("init") = py::none());
}

void bind_activations(py::module_& module) {
  for (const nn::Activation& activation : nn::activations())
    module.def(
        activation.name.data(),
        [apply = activation.apply](const ScopeHandle& scope, const py::object& x) {
          return scope.handle(apply(scope.scope, as_output(scope, x, DType::Invalid)));
        },
        py::arg("scope"), py::arg("x"));
}

}  // namespace

/// Adds a loss that compares labels with drawn classes.
template <class Loss>
void bind_sampled_loss(NetworkClass& network, const char* name, Loss loss) {
  network.def(
      name,
      [loss](const NetworkHandle& self, const py::object& x, const py::object& labels, int64_t classes,
             int64_t sampled, const std::string& distribution, const std::vector<double>& frequencies,
             double distortion, const py::object& init) {
        const NetworkHandle n = self.here();
        return n.handle(loss(n.network, n.input(x), n.input(labels),
                             nn::SampledLoss{.classes = classes,
                                             .sampled = sampled,
                                             .distribution = distribution,
                                             .frequencies = frequencies,
                                             .distortion = distortion,
                                             .init = initial_of(init)}));
      },
      py::arg("x"), py::arg("labels"), py::arg("classes"), py::arg("sampled") = nn::SampledLoss{}.sampled,
      py::arg("distribution") = nn::SampledLoss{}.distribution,
      py::arg("frequencies") = std::vector<double>(), py::arg("distortion") = nn::SampledLoss{}.distortion,
      py::arg("init") = "glorot_uniform");
}

void bind_class_losses(NetworkClass& network) {
  network.def(
      "softmax_loss",
      [](const NetworkHandle& self, const py::object& x, const py::object& labels, int64_t classes,
         const py::object& init) {
        const NetworkHandle n = self.here();
        return n.handle(nn::softmax_loss(n.network, n.input(x), n.input(labels),
                                         {.classes = classes, .init = initial_of(init)}));
      },
      py::arg("x"), py::arg("labels"), py::arg("classes"), py::arg("init") = "glorot_uniform");
  bind_sampled_loss(network, "sampled_softmax_loss", nn::sampled_softmax_loss);
  bind_sampled_loss(network, "nce_loss", nn::nce_loss);
}

void bind_layers(py::module_& module) {
  NetworkClass network(module, "Network");
  network.def(py::init(&make_network), py::arg("scope"), py::arg("training"))
      .def(
          "rebuilt",
          [](const NetworkHandle& n, bool training) {
            const nn::Mode mode = training ? nn::Mode::Training : nn::Mode::Inference;
            return NetworkHandle{n.graph, n.network.rebuilt(n.network.scope(), mode)};
          },
          py::arg("training") = false)
      .def(
          "at",
          [](const NetworkHandle& n, const std::string& name) {
            return NetworkHandle{n.graph, n.network.at(name)};
          },
          py::arg("name"))
      .def(
          "named",
          [](const NetworkHandle& n, const std::string& name) {
            return NetworkHandle{n.graph, n.network.named(name)};
          },
          py::arg("name"))
      .def("update_averages",
           [](const NetworkHandle& n) {
             return NodeHandle{n.graph, n.here().network.update_averages().node};
           })
      .def_property_readonly("training", [](const NetworkHandle& n) { return n.network.training(); })
      .def_property_readonly("weights", &weights_of);
  bind_activations(module);
  bind_dense_layers(network);
  bind_norms(network);
  bind_gates(network);
  bind_image_layers(network);
  bind_temporal_layers(network);
  bind_sequence_layers(network);
  bind_class_losses(network);
}

}  // namespace troupe::python
