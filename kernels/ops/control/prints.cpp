// Prints, which show values of a step while it runs, in the process that computes them (features.md U7).
//   Print(input, data...)   input; writes `message` and the first `summarize` elements of each of `data` as a line to the standard
//                           error output, the first `first_n` times (always, if it is negative)
//   PrintV2(input)          no output; writes a string and `end` to `output_stream`: stderr, stdout, or as TensorFlow's log
//                           log(info), log(warning) or log(error), which are the standard error output here. Files are refused.
#include <atomic>
#include <cstdio>

#include "graph/build/gradients.h"
#include "graph/build/shape_context.h"
#include "kernels/core/kernel.h"
#include "kernels/ops/control/summary_text.h"

namespace troupe {
namespace {

/// Writes a text at once, so that those of several threads do not mix.
void write_text(const std::string& text, std::FILE* stream) {
  std::fwrite(text.data(), 1, text.size(), stream);
  std::fflush(stream);
}

/// The kernel of Print. It counts its runs in all steps.
class Printer {
 public:
  explicit Printer(const PrepareContext& context)
      : first_n_(context.attr<int64_t>("first_n")), runs_(std::make_shared<std::atomic<int64_t>>(0)) {}

  Status operator()(KernelContext& context) const {
    context.set_output(0, context.input(0));
    if (first_n_ >= 0 && runs_->fetch_add(1) >= first_n_) return {};
    const auto& attrs = context.node().attrs;
    std::string text = attrs.get<std::string>("message");
    for (size_t i = 1; i < context.inputs(); ++i)
      text += summary_text(context.input(i), attrs.get<int64_t>("summarize"));
    write_text(text + '\n', stderr);
    return {};
  }

 private:
  int64_t first_n_;
  std::shared_ptr<std::atomic<int64_t>> runs_;
};

Status print_string(KernelContext& context) {
  const Tensor& input = context.input(0);
  if (!input.shape().is_scalar())
    return invalid_argument("input of shape " + input.shape().text() + " must be a scalar");
  const auto& attrs = context.node().attrs;
  const bool to_stdout = attrs.get<std::string>("output_stream") == "stdout";
  write_text(input.item<std::string>() + attrs.get<std::string>("end"), to_stdout ? stdout : stderr);
  return {};
}

Status print_string_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(0, 0).status());
  const auto& stream = context.attr<std::string>("output_stream");
  for (const char* const known : {"stderr", "stdout", "log(info)", "log(warning)", "log(error)"})
    if (stream == known) return {};
  return invalid_argument("output_stream is '" + stream +
                          "'; it must be stderr, stdout, log(info), log(warning) or log(error)");
}

void print_gradient(GradientContext& context) { context.set(0, context.gradient()); }

}  // namespace

void add_prints(OpLibrary& library) {
  library.op(OpDefBuilder("Print")
                 .input("input: T")
                 .host_input("data: U")
                 .output("output: T")
                 .attr("T: type")
                 .attr("U: list(type) >= 0")
                 .attr("message: string = ''")
                 .attr("first_n: int = -1")
                 .attr("summarize: int = 3")
                 .constructor("print(input, data, message, first_n, summarize)")
                 .effect(Effect::Io)
                 .shape(unchanged_shape)
                 .gradient(print_gradient));
  library.kernel(host_kernel<Printer>("Print").any_type());
  library.op(OpDefBuilder("PrintV2")
                 .host_input("input: string")
                 .attr("output_stream: string = 'stderr'")
                 .attr("end: string = '\n'")
                 .effect(Effect::Io)
                 .shape(print_string_shape)
                 .not_differentiable());
  library.kernel(host_kernel("PrintV2", print_string));
}

}  // namespace troupe
