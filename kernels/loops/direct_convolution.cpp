#include "kernels/loops/direct_convolution.h"

#include <omp.h>
#include <dnnl.hpp>

#include <algorithm>
#include <array>
#include <deque>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "kernels/core/parallel.h"
#include "kernels/loops/scratch.h"

namespace troupe {
namespace {

using dnnl::memory;

/// Multiply-adds that are worth a piece of their own: about 200 us.
constexpr int64_t piece_work = 8'000'000;
constexpr int64_t max_parts = 8;  ///< of a filter's gradient: sums that are added at the end
constexpr size_t kept_sizes = 8;

int64_t multiply_adds(const ConvolutionSizes& sizes) {
  return sizes.batch * sizes.output_elements() / sizes.out_channels * sizes.filter_elements();
}

// ---- How oneDNN describes the operands

memory::desc image_desc(const ConvolutionSizes& sizes, bool output) {
  memory::dims dims{sizes.batch, output ? sizes.out_channels : sizes.in_channels};
  for (const ConvolutionAxis& axis : sizes.axes) dims.push_back(output ? axis.output : axis.input);
  constexpr std::array tags{memory::format_tag::nwc, memory::format_tag::nhwc, memory::format_tag::ndhwc};
  return {dims, memory::data_type::f32, tags[sizes.axes.size() - 1]};
}

memory::dims filter_dims(const ConvolutionSizes& sizes) {
  memory::dims dims{sizes.out_channels / sizes.groups, sizes.in_channels / sizes.groups};
  if (sizes.groups != 1) dims.insert(dims.begin(), sizes.groups);
  for (const ConvolutionAxis& axis : sizes.axes) dims.push_back(axis.window);
  return dims;
}

/// [window..., in_channels / groups, out_channels]
memory::desc filter_desc(const ConvolutionSizes& sizes) {
  const int64_t row = sizes.out_channels, group_in = sizes.in_channels / sizes.groups;
  memory::dims strides{1, row};
  if (sizes.groups != 1) strides.insert(strides.begin(), sizes.out_channels / sizes.groups);
  int64_t stride = row * group_in;
  memory::dims spatial(sizes.axes.size());
  for (size_t i = sizes.axes.size(); i-- > 0; stride *= sizes.axes[i].window) spatial[i] = stride;
  strides.insert(strides.end(), spatial.begin(), spatial.end());
  return {filter_dims(sizes), memory::data_type::f32, strides};
}

memory::desc any_filter(const ConvolutionSizes& sizes) {
  return {filter_dims(sizes), memory::data_type::f32, memory::format_tag::any};
}

/// A primitive for some images, or some rows of them.
struct Primitive {
  ConvolutionSizes sizes;
  dnnl::primitive primitive;
  memory::desc filter, scratchpad;
};

Primitive make_primitive(ConvolutionPass pass, const dnnl::engine& engine, const ConvolutionSizes& sizes,
                         const memory::desc& filter) {
  memory::dims strides, dilations, before, after;
  for (const ConvolutionAxis& axis : sizes.axes) {
    strides.push_back(axis.stride);
    dilations.push_back(axis.dilation - 1);
    before.push_back(axis.pad_before);
    after.push_back(std::max<int64_t>(axis.pad_after(), 0));
  }
  const auto images = image_desc(sizes, false), outputs = image_desc(sizes, true);
  constexpr auto direct = dnnl::algorithm::convolution_direct;
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const auto forward_filter = pass == ConvolutionPass::Forward ? filter : any_filter(sizes);
  const dnnl::convolution_forward::primitive_desc forward(
      {dnnl::prop_kind::forward_training, direct, images, forward_filter, outputs, strides, dilations, before,
       after},
      attributes, engine);
  if (pass == ConvolutionPass::Forward)
    return {sizes, dnnl::convolution_forward(forward), forward.weights_desc(), forward.scratchpad_desc()};
  if (pass == ConvolutionPass::ImageGradient) {
    const dnnl::convolution_backward_data::primitive_desc backward(
        {direct, images, filter, outputs, strides, dilations, before, after}, attributes, engine, forward);
    return {sizes, dnnl::convolution_backward_data(backward), backward.weights_desc(),
            backward.scratchpad_desc()};
  }
  const dnnl::convolution_backward_weights::primitive_desc backward(
      {direct, images, filter, outputs, strides, dilations, before, after}, attributes, engine, forward);
  return {sizes, dnnl::convolution_backward_weights(backward), backward.diff_weights_desc(),
          backward.scratchpad_desc()};
}

// ---- How the work is cut

/// Part of the images, or some rows of the outputs of one image.
struct Piece {
  size_t primitive = 0;
  int64_t image = 0;              ///< the first
  int64_t input = 0, output = 0;  ///< the first row along the first axis
};

int64_t pieces_of(const ConvolutionSizes& sizes, int64_t max) {
  return std::clamp<int64_t>(multiply_adds(sizes) / piece_work, 1, max);
}

/// The sizes of some rows of the outputs, along the first axis; `input` receives the first row of the images that they need.
ConvolutionSizes rows_of(ConvolutionSizes sizes, int64_t begin, int64_t end, int64_t& input) {
  ConvolutionAxis& axis = sizes.axes[0];
  const int64_t first = begin * axis.stride - axis.pad_before;
  const int64_t last = (end - 1) * axis.stride - axis.pad_before + (axis.window - 1) * axis.dilation + 1;
  input = std::clamp<int64_t>(first, 0, axis.input - 1);
  axis.pad_before = std::max<int64_t>(-first, 0);
  axis.input = std::max<int64_t>(std::min(last, axis.input) - input, 1);
  axis.output = end - begin;
  return sizes;
}

/// All that is known before there are elements.
struct Plan {
  uint64_t form = 0;  ///< of its filters: different for each plan of a cache
  ConvolutionSizes sizes;
  std::vector<Primitive> primitives;
  std::vector<Piece> pieces;
  memory::desc packed;  ///< the layout of the filter that all primitives use
  bool packs = false;   ///< it differs from the given one
  dnnl::reorder reorder;

  size_t add(ConvolutionPass pass, const dnnl::engine& engine, const ConvolutionSizes& wanted) {
    for (size_t i = 0; i < primitives.size(); ++i)
      if (primitives[i].sizes == wanted) return i;
    const auto filter = primitives.empty() ? any_filter(wanted) : packed;
    primitives.push_back(make_primitive(pass, engine, wanted, filter));
    packed = primitives[0].filter;
    return primitives.size() - 1;
  }
};

void cut_images(Plan& plan, ConvolutionPass pass, const dnnl::engine& engine, int64_t pieces) {
  const int64_t at_once = (plan.sizes.batch + pieces - 1) / pieces;
  for (int64_t image = 0; image < plan.sizes.batch; image += at_once) {
    ConvolutionSizes part = plan.sizes;
    part.batch = std::min(at_once, plan.sizes.batch - image);
    plan.pieces.push_back({plan.add(pass, engine, part), image, 0, 0});
  }
}

void cut_rows(Plan& plan, const dnnl::engine& engine, int64_t pieces) {
  const int64_t rows = plan.sizes.axes[0].output, at_once = (rows + pieces - 1) / pieces;
  ConvolutionSizes one = plan.sizes;
  one.batch = 1;
  for (int64_t image = 0; image < plan.sizes.batch; ++image)
    for (int64_t row = 0; row < rows; row += at_once) {
      Piece piece{0, image, 0, row};
      const auto part = rows_of(one, row, std::min(row + at_once, rows), piece.input);
      piece.primitive = plan.add(ConvolutionPass::Forward, engine, part);
      plan.pieces.push_back(piece);
    }
}

std::shared_ptr<const Plan> make_plan(ConvolutionPass pass, const dnnl::engine& engine,
                                      const ConvolutionSizes& sizes, uint64_t form) {
  auto plan = std::make_shared<Plan>();
  plan->form = form;
  plan->sizes = sizes;
  if (pass == ConvolutionPass::FilterGradient)
    cut_images(*plan, pass, engine, pieces_of(sizes, std::min(sizes.batch, max_parts)));
  else if (pass == ConvolutionPass::Forward && sizes.batch < max_parts)
    cut_rows(*plan, engine,
             std::max<int64_t>(pieces_of(sizes, sizes.batch * sizes.axes[0].output / 2) / sizes.batch, 1));
  else
    cut_images(*plan, pass, engine, pieces_of(sizes, sizes.batch));
  const auto given = filter_desc(sizes);
  plan->packs = plan->packed != given;
  if (plan->packs) {
    const bool back = pass == ConvolutionPass::FilterGradient;
    plan->reorder = dnnl::reorder(dnnl::reorder::primitive_desc(engine, back ? plan->packed : given, engine,
                                                                back ? given : plan->packed));
  }
  return plan;
}

Result<Tensor> bytes(DeviceContext& device, size_t count) {
  return scratch_vector<uint8_t>(device, static_cast<int64_t>(count));
}

}  // namespace

/// What was prepared for the sizes used last.
struct DirectConvolution::Cache {
  const dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  std::mutex mutex;
  std::deque<std::shared_ptr<const Plan>> plans;
  uint64_t next_form = first_plan_form;

  Result<std::shared_ptr<const Plan>> find(ConvolutionPass pass, const ConvolutionSizes& sizes) {
    const std::lock_guard lock(mutex);
    for (const auto& plan : plans)
      if (plan->sizes == sizes) return plan;
    omp_set_num_threads(1);  // a primitive cuts its work for the threads of the moment at which it is made
    try {
      plans.push_front(make_plan(pass, engine, sizes, next_form++));
    } catch (const dnnl::error& error) {
      return unimplemented(std::string("oneDNN: ") + error.what());
    }
    if (plans.size() > kept_sizes) plans.pop_back();
    return plans.front();
  }
};

namespace {

/// One run of a plan.
class Run {
 public:
  Run(DeviceContext& device, const dnnl::engine& engine, const Plan& plan)
      : device_(device), engine_(engine), plan_(plan) {}

  Status with_filter(ConvolutionPass pass, const float* images, const Tensor& given, const PostOps& post,
                     float* out, KeptFilter* kept) {
    TROUPE_ASSIGN(const Tensor filter, plan_.packs ? packed(given, kept) : given);
    const bool forward = pass == ConvolutionPass::Forward;
    const auto fill = [&](const Piece& piece, const Primitive& primitive, Arguments& arguments) {
      const float* const from = images + (forward ? input_offset(piece) : output_offset(piece));
      float* const to = out + (forward ? output_offset(piece) : input_offset(piece));
      arguments.add(forward ? DNNL_ARG_SRC : DNNL_ARG_DIFF_DST, image_desc(primitive.sizes, !forward), from);
      arguments.add(DNNL_ARG_WEIGHTS, plan_.packed, filter.data());
      arguments.add(forward ? DNNL_ARG_DST : DNNL_ARG_DIFF_SRC, image_desc(primitive.sizes, forward), to);
    };
    return each_piece(fill, [&](const Piece& piece, const ConvolutionSizes& sizes) {
      const int64_t channels = sizes.out_channels;
      if (forward)
        apply_post_ops(post,
                       {output_offset(piece) / channels, sizes.batch * sizes.output_elements() / channels, 0,
                        channels, channels},
                       out);
    });
  }

  Status filter_gradient(const float* images, const float* gradients, float* out) {
    const size_t size = plan_.packed.get_size() / sizeof(float), parts = plan_.pieces.size();
    std::optional<Tensor> scratch;
    float* sums = out;
    if (plan_.packs || parts > 1) {
      TROUPE_ASSIGN(scratch, bytes(device_, parts * size * sizeof(float)));
      sums = reinterpret_cast<float*>(scratch->mutable_data());
    }
    const auto fill = [&](const Piece& piece, const Primitive& primitive, Arguments& arguments) {
      arguments.add(DNNL_ARG_SRC, image_desc(primitive.sizes, false), images + input_offset(piece));
      arguments.add(DNNL_ARG_DIFF_DST, image_desc(primitive.sizes, true), gradients + output_offset(piece));
      arguments.add(DNNL_ARG_DIFF_WEIGHTS, plan_.packed,
                    sums + static_cast<size_t>(&piece - plan_.pieces.data()) * size);
    };
    TROUPE_RETURN_IF_FAILED(each_piece(fill, [](const Piece&, const ConvolutionSizes&) {}));
    add_parts(sums, size, parts);
    if (plan_.packs)
      reorder(plan_.packed, sums, filter_desc(plan_.sizes), out);
    else if (sums != out)
      std::copy_n(sums, size, out);
    return {};
  }

 private:
  /// Returns the filter in the layout of the plan.
  Result<Tensor> packed(const Tensor& filter, KeptFilter* kept) {
    if (kept)
      if (auto found = kept->find(filter, plan_.form)) return *std::move(found);
    TROUPE_ASSIGN(Tensor result, bytes(device_, plan_.packed.get_size()));
    reorder(filter_desc(plan_.sizes), filter.data(), plan_.packed, result.mutable_data());
    if (kept && kept->wants(filter)) kept->keep(filter, plan_.form, result);
    return result;
  }

  class Arguments {
   public:
    explicit Arguments(const dnnl::engine& engine) : engine_(engine) {}
    void add(int argument, const memory::desc& desc, const void* data) {
      map_.emplace(argument, memory(desc, engine_, const_cast<void*>(data)));
    }
    const std::unordered_map<int, memory>& map() const { return map_; }

   private:
    const dnnl::engine& engine_;
    std::unordered_map<int, memory> map_;
  };

  int64_t input_offset(const Piece& piece) const {
    const int64_t image = plan_.sizes.image_elements();
    return piece.image * image + piece.input * (image / plan_.sizes.axes[0].input);
  }
  int64_t output_offset(const Piece& piece) const {
    const int64_t image = plan_.sizes.output_elements();
    return piece.image * image + piece.output * (image / plan_.sizes.axes[0].output);
  }

  /// Executes the primitive of each piece on a thread of the pool, then calls finish(piece, its sizes).
  template <class Fill, class Finish>
  Status each_piece(const Fill& fill, const Finish& finish) {
    std::vector<Status> failures(plan_.pieces.size());
    device_.pool().chunks(plan_.pieces.size(), [&](size_t i) {
      const Piece& piece = plan_.pieces[i];
      failures[i] = execute(
          plan_.primitives[piece.primitive],
          [&](const Primitive& primitive, Arguments& arguments) { fill(piece, primitive, arguments); });
      finish(piece, plan_.primitives[piece.primitive].sizes);
    });
    for (Status& failure : failures) TROUPE_RETURN_IF_FAILED(std::move(failure));
    return {};
  }

  template <class Fill>
  Status execute(const Primitive& primitive, const Fill& fill) const {
    TROUPE_ASSIGN(Tensor scratchpad, bytes(device_, primitive.scratchpad.get_size()));
    try {
      omp_set_num_threads(1);  // of this thread's calls: the pool shares out the work
      Arguments arguments(engine_);
      fill(primitive, arguments);
      arguments.add(DNNL_ARG_SCRATCHPAD, primitive.scratchpad, scratchpad.mutable_data());
      dnnl::stream stream(engine_);
      primitive.primitive.execute(stream, arguments.map());
      stream.wait();
    } catch (const dnnl::error& error) {
      return resource_exhausted(std::string("oneDNN: ") + error.what());
    }
    return {};
  }

  void reorder(const memory::desc& from_desc, const void* from, const memory::desc& to_desc, void* to) const {
    omp_set_num_threads(1);
    dnnl::stream stream(engine_);
    memory source(from_desc, engine_, const_cast<void*>(from)), target(to_desc, engine_, to);
    plan_.reorder.execute(stream, source, target);
    stream.wait();
  }

  /// Adds the other parts to the first, in their order.
  void add_parts(float* sums, size_t size, size_t parts) const {
    if (parts == 1) return;
    parallel_items(device_.pool(), size, 4 * (parts + 1), [&](size_t begin, size_t end) {
      for (size_t part = 1; part < parts; ++part) {
        const float* const term = sums + part * size;
        for (size_t i = begin; i < end; ++i) sums[i] += term[i];
      }
    });
  }

  DeviceContext& device_;
  const dnnl::engine& engine_;
  const Plan& plan_;
};

}  // namespace

DirectConvolution::DirectConvolution(ConvolutionPass pass) : pass_(pass), cache_(std::make_unique<Cache>()) {}
DirectConvolution::~DirectConvolution() = default;

Status DirectConvolution::run(DeviceContext& device, const ConvolutionSizes& sizes, const Tensor& a,
                              const Tensor& b, const PostOps& post, float* out, KeptFilter* kept) const {
  TROUPE_ASSIGN(const auto plan, cache_->find(pass_, sizes));
  Run run(device, cache_->engine, *plan);
  const float* const images = a.as<float>().data();
  return pass_ == ConvolutionPass::FilterGradient ? run.filter_gradient(images, b.as<float>().data(), out)
                                                  : run.with_filter(pass_, images, b, post, out, kept);
}

}  // namespace troupe
