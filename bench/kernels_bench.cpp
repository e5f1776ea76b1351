// Compares kernels, on one thread or THREADS, with the limits of the machine. `floor` is the time of a kernel divided by the
// least time in which its bytes can be moved (bench/floors.h), measured right after it on memory of the same sizes. For products
// and functions, `flops` is their fraction of the peak rate of multiply-adds. Outputs are allocated from a device; they never
// reuse an input.
//   kernels_bench [--benchmark_filter=Transpose] [THREADS]
#include <benchmark/benchmark.h>

#include <array>
#include <cmath>
#include <functional>
#include <iostream>
#include <random>

#include "bench/floors.h"
#include "devices/caching_allocator.h"
#include "graph/build/scope.h"
#include "kernels/core/kernel.h"
#include "kernels/core/type_dispatch.h"

namespace troupe::bench {
namespace {

/// One prepared node with its inputs.
class OneOp {
 public:
  OneOp(const OpLibrary& library, Pool& pool, const std::string& op, std::vector<Tensor> inputs,
        Attributes attrs)
      : graph_(library.ops), allocator_({}), device_(allocator_, pool), inputs_(std::move(inputs)) {
    const Scope scope(graph_);
    const OpDef& def = *value_or_throw(library.ops->require(op));
    std::vector<Output> sources;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const ArgDef& argument = def.inputs[std::min(i, def.inputs.size() - 1)];
      const Attributes type = {{"dtype", inputs_[i].dtype()}, {"shape", PartialShape(inputs_[i].shape())}};
      sources.push_back(scope.add_one(argument.is_ref ? "VariableV2" : "Placeholder", {}, type));
    }
    node_ = scope.add(op, sources, std::move(attrs));
    kernel_ = value_or_throw(value_or_throw(library.kernels.find(graph_.node(node_), "CPU"))
                                 ->prepare({graph_, graph_.node(node_), device_}));
    outputs_.resize(std::max<size_t>(graph_.node(node_).output_types.size(), 3));
  }

  void run() {
    slots_.clear();
    for (const Tensor& input : inputs_) slots_.push_back(Slot::of(input));
    for (Tensor& output : outputs_) output = Tensor();
    const StepInfo step;
    KernelContext context(graph_.node(node_), slots_.data(), slots_.size(), outputs_.data(), device_, step,
                          0);
    throw_if_failed(kernel_->run(context));
  }

  size_t bytes_in() const { return bytes_of(inputs_); }
  size_t bytes_out() const { return bytes_of(outputs_); }

 private:
  static size_t bytes_of(const std::vector<Tensor>& tensors) {
    size_t bytes = 0;
    for (const Tensor& tensor : tensors)
      if (tensor.valid()) bytes += tensor.bytes();
    return bytes;
  }

  Graph graph_;
  CachingAllocator allocator_;
  DeviceContext device_;
  std::vector<Tensor> inputs_, outputs_;
  std::vector<Slot> slots_;
  NodeId node_ = 0;
  std::unique_ptr<Kernel> kernel_;
};

Tensor numbers(const Shape& shape, DType dtype = f32) {
  Tensor tensor = value_or_throw(Tensor::allocate(dtype, shape));
  std::mt19937 random(1);
  with_type(PlainTypes{}, dtype, [&]<class T>(std::type_identity<T>) {
    for (T& value : tensor.write<T>()) {
      const float number = 1 + 8 * static_cast<float>(random() >> 8) * 0x1p-24f;
      if constexpr (std::is_same_v<T, bool>)
        value = number > 5;
      else
        value = T(static_cast<ComputeType<T>>(number));
    }
  });
  return tensor;
}
Tensor numbers(std::initializer_list<int64_t> dims, DType dtype = f32) { return numbers(Shape(dims), dtype); }
Tensor integers(std::initializer_list<int32_t> values) { return Tensor::vector<int32_t>(values); }
Tensor below(int64_t count, int32_t limit) {
  Tensor tensor = value_or_throw(Tensor::allocate(i32, Shape::vector(count)));
  std::mt19937 random(2);
  for (int32_t& value : tensor.write<int32_t>())
    value = static_cast<int32_t>(random() % static_cast<uint32_t>(limit));
  return tensor;
}

/// What a benchmark runs. It is created when the benchmark starts; the largest input has about `bytes` bytes.
struct Setup {
  std::string op;
  std::vector<Tensor> inputs;
  Attributes attrs = {};
  double flops = 0;     ///< the floating point operations of one run; 0: the kernel is bound by memory
  size_t bytes_in = 0;  ///< the bytes that one run reads; 0: all inputs
};
using MakeSetup = std::function<Setup(int64_t elements)>;

class Benches {
 public:
  Benches(std::shared_ptr<const OpLibrary> library, Pool& pool) : library_(std::move(library)), pool_(pool) {}

  /// Registers the benchmark for inputs of 1 KiB, 32 KiB, 1 MiB, 16 MiB and 100 MiB of floats.
  void add(const std::string& name, const MakeSetup& make) {
    for (const int64_t bytes :
         {int64_t{1} << 10, int64_t{1} << 15, int64_t{1} << 20, int64_t{1} << 24, int64_t{100} << 20})
      add_one(name + '/' +
                  (bytes < (1 << 20) ? std::to_string(bytes >> 10) + "K" : std::to_string(bytes >> 20) + "M"),
              make, bytes / 4);
  }
  void add_one(const std::string& name, const MakeSetup& make, int64_t elements) {
    benchmark::RegisterBenchmark(name.c_str(),
                                 [=, this](benchmark::State& state) { run(make(elements), state); });
  }

 private:
  void run(Setup setup, benchmark::State& state) const {
    const double flops = setup.flops;
    const size_t bytes_in = setup.bytes_in;
    OneOp op(*library_, pool_, setup.op, std::move(setup.inputs), std::move(setup.attrs));
    op.run();
    const double begin = thread_seconds();
    for (auto _ : state) op.run();
    const double seconds = (thread_seconds() - begin) / static_cast<double>(state.iterations());
    if (flops != 0) {
      state.counters["flops"] = flops / seconds / fma_rate();
      return;
    }
    const size_t read = bytes_in != 0 ? bytes_in : op.bytes_in(), written = op.bytes_out();
    state.counters["GB/s"] = 1e-9 * static_cast<double>(read + written) / seconds;
    state.counters["floor"] = seconds / MemoryFloor(read, written).measure(0.05);
  }

  std::shared_ptr<const OpLibrary> library_;
  Pool& pool_;
};

/// The dimensions of a matrix of n elements.
int64_t rows_of(int64_t n, int64_t columns) { return std::max<int64_t>(n / columns, 1); }
int64_t side_of(int64_t n) { return static_cast<int64_t>(std::sqrt(static_cast<double>(n))); }

void add_moving(Benches& benches) {
  benches.add("Slice rows", [](int64_t n) {
    const auto rows = static_cast<int32_t>(rows_of(n, 64));
    return Setup{"Slice",
                 {numbers({rows + 2, 64}), integers({1, 0}), integers({rows, 64})},
                 {},
                 0,
                 static_cast<size_t>(4 * 64 * rows)};
  });
  benches.add("Slice columns", [](int64_t n) {
    const auto rows = static_cast<int32_t>(rows_of(n, 64));
    return Setup{"Slice",
                 {numbers({rows, 80}), integers({0, 8}), integers({rows, 64})},
                 {},
                 0,
                 static_cast<size_t>(4 * 64 * rows)};
  });
  benches.add("StridedSlice every second column", [](int64_t n) {
    return Setup{"StridedSlice",
                 {numbers({rows_of(n, 64), 64}), integers({0, 0}), integers({0, 0}), integers({1, 2})},
                 {{"begin_mask", int64_t{3}}, {"end_mask", int64_t{3}}}};
  });
  benches.add("StridedSlice reversed", [](int64_t n) {
    return Setup{"StridedSlice",
                 {numbers({n}), integers({0}), integers({0}), integers({-1})},
                 {{"begin_mask", int64_t{1}}, {"end_mask", int64_t{1}}}};
  });
  benches.add("Concat rows", [](int64_t n) {
    return Setup{"ConcatV2",
                 {numbers({rows_of(n, 128), 64}), numbers({rows_of(n, 128), 64}), Tensor::scalar(0)}};
  });
  benches.add("Concat columns", [](int64_t n) {
    return Setup{"ConcatV2",
                 {numbers({rows_of(n, 128), 64}), numbers({rows_of(n, 128), 64}), Tensor::scalar(1)}};
  });
  benches.add("Pack last axis", [](int64_t n) {
    return Setup{"Pack", {numbers({n / 2}), numbers({n / 2})}, {{"axis", int64_t{1}}}};
  });
  benches.add("Split columns", [](int64_t n) {
    return Setup{"Split", {Tensor::scalar(1), numbers({rows_of(n, 128), 128})}, {{"num_split", int64_t{2}}}};
  });
  benches.add("Transpose square", [](int64_t n) {
    return Setup{"Transpose", {numbers({side_of(n), side_of(n)}), integers({1, 0})}};
  });
  benches.add("Transpose tall", [](int64_t n) {
    return Setup{"Transpose", {numbers({rows_of(n, 8), 8}), integers({1, 0})}};
  });
  benches.add("Transpose NHWC to NCHW", [](int64_t n) {
    return Setup{"Transpose", {numbers({rows_of(n, int64_t{64} * 3 * 8), 8, 8, 24}), integers({0, 3, 1, 2})}};
  });
  benches.add("Transpose heads", [](int64_t n) {
    return Setup{"Transpose", {numbers({rows_of(n, int64_t{8} * 32), 8, 32}), integers({1, 0, 2})}};
  });
  benches.add("Transpose square bytes", [](int64_t n) {
    return Setup{"Transpose", {numbers({side_of(4 * n), side_of(4 * n)}, DType::UInt8), integers({1, 0})}};
  });
  benches.add("Tile rows", [](int64_t n) {
    return Setup{"Tile", {numbers({rows_of(n, 256), 64}), integers({4, 1})}};
  });
  benches.add("Tile columns", [](int64_t n) {
    return Setup{"Tile", {numbers({rows_of(n, 256), 64}), integers({1, 4})}};
  });
  benches.add("BroadcastTo rows", [](int64_t n) {
    return Setup{"BroadcastTo", {numbers({64}), integers({static_cast<int32_t>(rows_of(n, 64)), 64})}};
  });
  benches.add("BroadcastTo columns", [](int64_t n) {
    return Setup{"BroadcastTo",
                 {numbers({rows_of(n, 64), 1}), integers({static_cast<int32_t>(rows_of(n, 64)), 64})}};
  });
  benches.add("Pad", [](int64_t n) {
    return Setup{"Pad", {numbers({rows_of(n, 64), 64}), Tensor::of<int32_t>(Shape({2, 2}), {1, 1, 2, 2})}};
  });
  benches.add("Fill", [](int64_t n) {
    return Setup{"Fill", {integers({static_cast<int32_t>(n)}), Tensor::scalar(1.5f)}};
  });
  benches.add("ZerosLike", [](int64_t n) { return Setup{"ZerosLike", {numbers({n})}, {}, 0, 1}; });
  for (const int64_t row : {1, 16, 256})
    benches.add("Gather rows of " + std::to_string(row), [row](int64_t n) {
      const int64_t rows = rows_of(n, row);
      return Setup{"Gather", {numbers({rows, row}), below(rows, static_cast<int32_t>(rows))}};
    });
  benches.add("UnsortedSegmentSum rows of 64", [](int64_t n) {
    return Setup{"UnsortedSegmentSum",
                 {numbers({rows_of(n, 64), 64}), below(rows_of(n, 64), 10), Tensor::scalar(10)}};
  });
}

void add_reductions(Benches& benches) {
  for (const char* op : {"Sum", "Max", "Prod", "Mean"}) {
    const std::string name = op;
    benches.add(name + " all", [=](int64_t n) { return Setup{name, {numbers({n}), integers({0})}}; });
    benches.add(name + " rows", [=](int64_t n) {
      return Setup{name, {numbers({rows_of(n, 64), 64}), integers({1})}};
    });
    benches.add(name + " columns", [=](int64_t n) {
      return Setup{name, {numbers({rows_of(n, 64), 64}), integers({0})}};
    });
  }
  benches.add("Sum short rows", [](int64_t n) {
    return Setup{"Sum", {numbers({rows_of(n, 5), 5}), integers({1})}};
  });
  benches.add("Sum narrow columns", [](int64_t n) {
    return Setup{"Sum", {numbers({rows_of(n, 5), 5}), integers({0})}};
  });
  benches.add("Sum middle", [](int64_t n) {
    return Setup{"Sum", {numbers({rows_of(n, 512), 8, 64}), integers({1})}};
  });
  benches.add("Sum NHWC to C", [](int64_t n) {
    return Setup{"Sum", {numbers({rows_of(n, 2048), 8, 8, 32}), integers({0, 1, 2})}};
  });
  for (const DType dtype : {f64, DType::Half, DType::BFloat16, i32, i64, DType::UInt8})
    benches.add("Sum rows " + std::string(name(dtype)), [=](int64_t n) {
      return Setup{"Sum", {numbers({rows_of(n, 64), 64}, dtype), integers({1})}};
    });
  benches.add("Any rows", [](int64_t n) {
    Tensor none = value_or_throw(Tensor::allocate(DType::Bool, Shape({rows_of(n, 64), 64})));
    std::ranges::fill(none.write<bool>(), false);
    return Setup{"Any", {none, integers({1})}};
  });
  for (const char* op : {"ArgMax"}) {
    const std::string name = op;
    benches.add(name + " rows", [=](int64_t n) {
      return Setup{name, {numbers({rows_of(n, 64), 64}), Tensor::scalar(1)}};
    });
    benches.add(name + " short rows", [=](int64_t n) {
      return Setup{name, {numbers({rows_of(n, 10), 10}), Tensor::scalar(1)}};
    });
    benches.add(name + " columns", [=](int64_t n) {
      return Setup{name, {numbers({rows_of(n, 64), 64}), Tensor::scalar(0)}};
    });
  }
  benches.add("L2Loss", [](int64_t n) { return Setup{"L2Loss", {numbers({n})}}; });
}

void add_elementwise(Benches& benches) {
  for (const char* op : {"Add", "Mul", "Div", "Maximum", "Less", "SquaredDifference", "Pow", "FloorMod"}) {
    const std::string name = op;
    benches.add(name, [=](int64_t n) { return Setup{name, {numbers({n}), numbers({n})}}; });
  }
  benches.add("Add row", [](int64_t n) {
    return Setup{"Add", {numbers({rows_of(n, 64), 64}), numbers({64})}};
  });
  benches.add("Add column", [](int64_t n) {
    return Setup{"Add", {numbers({rows_of(n, 64), 64}), numbers({rows_of(n, 64), 1})}};
  });
  benches.add("Add scalar", [](int64_t n) { return Setup{"Add", {numbers({n}), numbers(Shape())}}; });
  benches.add("Add channel", [](int64_t n) {
    return Setup{"Add", {numbers({rows_of(n, 2048), 32, 64}), numbers({32, 1})}};
  });
  for (const DType dtype : {f64, DType::Half, DType::BFloat16, i32, i64, DType::UInt8, DType::Complex64})
    for (const char* op : {"Add", "Mul"})
      benches.add(op + (' ' + std::string(name(dtype))), [=](int64_t n) {
        return Setup{op, {numbers({n}, dtype), numbers({n}, dtype)}};
      });
  benches.add("Equal int32", [](int64_t n) {
    return Setup{"Equal", {numbers({n}, i32), numbers({n}, i32)}};
  });
  for (const char* op : {"Neg", "Relu", "Relu6", "Elu", "Softplus", "Sqrt", "Rsqrt", "Reciprocal", "Exp",
                         "Log", "Log1p", "Sin", "Tanh", "Sigmoid", "Erf", "Floor", "Sign", "IsFinite"}) {
    const std::string name = op;
    benches.add(name, [=](int64_t n) { return Setup{name, {numbers({n})}}; });
  }
  benches.add("ReluGrad", [](int64_t n) { return Setup{"ReluGrad", {numbers({n}), numbers({n})}}; });
  benches.add("TanhGrad", [](int64_t n) { return Setup{"TanhGrad", {numbers({n}), numbers({n})}}; });
  benches.add("Relu half", [](int64_t n) { return Setup{"Relu", {numbers({n}, DType::Half)}}; });
  benches.add("Exp double", [](int64_t n) { return Setup{"Exp", {numbers({n}, f64)}}; });
  benches.add("Select", [](int64_t n) {
    return Setup{"Select", {numbers({n}, DType::Bool), numbers({n}), numbers({n})}};
  });
  benches.add("Select rows", [](int64_t n) {
    return Setup{"Select",
                 {numbers({rows_of(n, 64)}, DType::Bool), numbers({rows_of(n, 64), 64}),
                  numbers({rows_of(n, 64), 64})},
                 {},
                 0,
                 static_cast<size_t>(int64_t{4} * 64 * rows_of(n, 64))};
  });
  benches.add("AddN of 3", [](int64_t n) {
    return Setup{"AddN", {numbers({n}), numbers({n}), numbers({n})}};
  });
  benches.add("LogicalAnd", [](int64_t n) {
    return Setup{"LogicalAnd", {numbers({n}, DType::Bool), numbers({n}, DType::Bool)}};
  });
  const std::pair<DType, DType> casts[] = {{f32, i32},
                                           {i32, f32},
                                           {f32, f64},
                                           {f64, f32},
                                           {f32, DType::Half},
                                           {DType::Half, f32},
                                           {f32, DType::BFloat16},
                                           {DType::BFloat16, f32},
                                           {DType::UInt8, f32},
                                           {f32, DType::UInt8},
                                           {i64, f32},
                                           {f32, i64},
                                           {DType::Bool, f32},
                                           {i32, i64},
                                           {f32, DType::Bool}};
  for (const auto& [from, to] : casts)
    benches.add("Cast " + std::string(name(from)) + " to " + std::string(name(to)),
                [from = from, to = to](int64_t n) {
                  return Setup{"Cast", {numbers({n}, from)}, {{"DstT", to}}};
                });
}

void add_losses(Benches& benches) {
  for (const int64_t classes : {10, 1000})
    for (const char* op : {"Softmax", "LogSoftmax"})
      benches.add(op + (" of " + std::to_string(classes)), [=](int64_t n) {
        return Setup{op, {numbers({rows_of(n, classes), classes})}};
      });
  benches.add("SoftmaxCrossEntropyWithLogits", [](int64_t n) {
    return Setup{"SoftmaxCrossEntropyWithLogits",
                 {numbers({rows_of(n, 10), 10}), numbers({rows_of(n, 10), 10})}};
  });
  benches.add("SparseSoftmaxCrossEntropyWithLogits", [](int64_t n) {
    return Setup{"SparseSoftmaxCrossEntropyWithLogits",
                 {numbers({rows_of(n, 10), 10}), below(rows_of(n, 10), 10)}};
  });
}

void add_updates(Benches& benches) {
  const auto one = [] { return Tensor::scalar(0.5f); };
  benches.add("AssignAdd", [](int64_t n) { return Setup{"AssignAdd", {numbers({n}), numbers({n})}}; });
  benches.add("ApplyGradientDescent", [=](int64_t n) {
    return Setup{"ApplyGradientDescent", {numbers({n}), one(), numbers({n})}};
  });
  benches.add("ApplyMomentum", [=](int64_t n) {
    return Setup{"ApplyMomentum", {numbers({n}), numbers({n}), one(), numbers({n}), one()}};
  });
  benches.add("ApplyAdam", [=](int64_t n) {
    return Setup{
        "ApplyAdam",
        {numbers({n}), numbers({n}), numbers({n}), one(), one(), one(), one(), one(), one(), numbers({n})}};
  });
  benches.add("ScatterAdd rows of 64", [](int64_t n) {
    const int64_t rows = rows_of(n, 64);
    return Setup{"ScatterAdd",
                 {numbers({rows, 64}), below(rows, static_cast<int32_t>(rows)), numbers({rows, 64})}};
  });
}

void add_random(Benches& benches) {
  for (const char* op : {"RandomUniform", "RandomStandardNormal", "TruncatedNormal"})
    benches.add(op, [=](int64_t n) {
      return Setup{op, {integers({static_cast<int32_t>(n)})}, {{"seed", int64_t{1}}, {"dtype", f32}}};
    });
}

/// A dense layer of a Transformer for 2,048 tokens, and its gradients with respect to input and weights.
void add_dense_layer(Benches& benches) {
  static constexpr double flops = 2.0 * 2048 * 512 * 2048;
  const auto add = [&](const char* name, std::array<int64_t, 2> a, std::array<int64_t, 2> b, bool transpose_a,
                       bool transpose_b) {
    benches.add_one(
        name,
        [=](int64_t) {
          return Setup{"MatMul",
                       {numbers({a[0], a[1]}), numbers({b[0], b[1]})},
                       {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}},
                       flops};
        },
        0);
  };
  benches.add_one(
      "MatMul 32x2048 512x2048 transposed",
      [](int64_t) {
        return Setup{"MatMul",
                     {numbers({32, 2048}), numbers({512, 2048})},
                     {{"transpose_b", true}},
                     2.0 * 32 * 2048 * 512};
      },
      0);
  add("MatMul dense forward", {2048, 512}, {512, 2048}, false, false);
  add("MatMul dense gradient of input", {2048, 2048}, {512, 2048}, false, true);
  add("MatMul dense gradient of weights", {2048, 512}, {2048, 2048}, true, false);
}

void add_products(Benches& benches) {
  for (const int64_t side : {16, 64, 128, 256, 512, 1024})
    benches.add_one(
        "MatMul/" + std::to_string(side),
        [side](int64_t) {
          return Setup{"MatMul",
                       {numbers({side, side}), numbers({side, side})},
                       {},
                       2.0 * static_cast<double>(side * side * side)};
        },
        0);
  for (const bool a : {false, true})
    benches.add_one(
        a ? "MatMul transposed a/512" : "MatMul transposed b/512",
        [a](int64_t) {
          return Setup{"MatMul",
                       {numbers({512, 512}), numbers({512, 512})},
                       {{"transpose_a", a}, {"transpose_b", !a}},
                       2.0 * 512 * 512 * 512};
        },
        0);
  benches.add_one(
      "MatMul 64x784 784x100",
      [](int64_t) {
        return Setup{"MatMul", {numbers({64, 784}), numbers({784, 100})}, {}, 2.0 * 64 * 784 * 100};
      },
      0);
  add_dense_layer(benches);
  benches.add_one(
      "BatchMatMul 32 of 64",
      [](int64_t) {
        return Setup{
            "BatchMatMul", {numbers({32, 64, 64}), numbers({32, 64, 64})}, {}, 2.0 * 32 * 64 * 64 * 64};
      },
      0);
}

/// A convolution of a batch of square images, NHWC, padded to the size of the result that models of the literature have.
struct ConvolutionLayer {
  const char* name;
  int64_t size, channels, filters, kernel, stride;
  const char* padding;

  int64_t out_size() const {
    return padding == std::string("SAME") ? (size + stride - 1) / stride : (size - kernel) / stride + 1;
  }
};

constexpr int64_t images = 8;

/// `pass` is Conv2D, or its gradient with respect to the images or the filter.
Setup convolution(const ConvolutionLayer& layer, const std::string& pass) {
  const int64_t out = layer.out_size();
  const Tensor input = numbers({images, layer.size, layer.size, layer.channels}),
               filter = numbers({layer.kernel, layer.kernel, layer.channels, layer.filters}),
               output = numbers({images, out, out, layer.filters});
  const auto sizes_of = [](const Tensor& tensor) {
    std::vector<int32_t> sizes;
    for (const int64_t dim : tensor.shape().dims()) sizes.push_back(static_cast<int32_t>(dim));
    return Tensor::vector<int32_t>(std::span<const int32_t>(sizes));
  };
  Setup setup{pass,
              {input, filter},
              {{"strides", std::vector<int64_t>{1, layer.stride, layer.stride, 1}},
               {"padding", std::string(layer.padding)}},
              2.0 * static_cast<double>(output.elements() * layer.kernel * layer.kernel * layer.channels)};
  if (pass == "Conv2DBackpropInput") setup.inputs = {sizes_of(input), filter, output};
  if (pass == "Conv2DBackpropFilter") setup.inputs = {input, sizes_of(filter), output};
  return setup;
}

void add_convolutions(Benches& benches) {
  static constexpr ConvolutionLayer layers[] = {
      {"3x3 64 to 128 at 112", 112, 64, 128, 3, 1, "SAME"},
      {"3x3 256 to 256 at 56", 56, 256, 256, 3, 1, "SAME"},
      {"3x3 512 to 512 at 28", 28, 512, 512, 3, 1, "SAME"},
      {"3x3 512 to 512 at 14", 14, 512, 512, 3, 1, "SAME"},
      {"1x1 256 to 64 at 56", 56, 256, 64, 1, 1, "SAME"},
      {"1x1 512 to 2048 at 7", 7, 512, 2048, 1, 1, "SAME"},
      {"5x5 96 to 256 at 28", 28, 96, 256, 5, 1, "VALID"},
      {"7x7/2 3 to 64 at 224", 224, 3, 64, 7, 2, "SAME"},
      {"11x11/4 3 to 96 at 231", 231, 3, 96, 11, 4, "VALID"},
  };
  for (const ConvolutionLayer& layer : layers)
    for (const char* const pass : {"Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter"})
      benches.add_one(
          std::string(pass) + ' ' + layer.name, [&layer, pass](int64_t) { return convolution(layer, pass); },
          0);
}

}  // namespace
}  // namespace troupe::bench

int main(int argc, char** argv) try {
  using namespace troupe::bench;
  benchmark::Initialize(&argc, argv);
  const size_t threads = argc > 1 ? std::stoul(argv[1]) : 1;
  const auto pool = troupe::value_or_throw(troupe::ThreadPool::make(threads));
  Benches benches(troupe::make_op_library(), *pool);
  add_moving(benches);
  add_reductions(benches);
  add_elementwise(benches);
  add_losses(benches);
  add_updates(benches);
  add_random(benches);
  add_products(benches);
  add_convolutions(benches);
  benchmark::AddCustomContext("FMA limit, GFLOP/s of one core", std::to_string(fma_rate() * 1e-9));
  benchmark::RunSpecifiedBenchmarks();
} catch (const std::exception& error) {
  std::cerr << "kernels_bench: " << error.what() << '\n';
  return 1;
}
