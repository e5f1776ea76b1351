// Regular expressions of RE2, whose time is linear in the size of the text; texts and patterns are UTF-8.
//   RegexReplace(input, pattern, rewrite)  each string with the first match, or with replace_global each, replaced by the rewrite,
//                                          in which \1 to \9 stand for groups, \0 for the match and \\ for a backslash
//   RegexFullMatch(input, pattern)         whether each string as a whole matches
//   StaticRegexReplace(input), StaticRegexFullMatch(input)   the same with pattern and rewrite as attributes
// InvalidArgument for a pattern that RE2 does not take, or whose automaton needs more than 8 MiB, and for a rewrite with other
// escapes, or groups that the pattern does not have.
#include <re2/re2.h>

#include <mutex>

#include "graph/build/shape_context.h"
#include "kernels/ops/strings/elements.h"

namespace troupe {
namespace {

using Regex = std::shared_ptr<const RE2>;

Result<Regex> compile(const std::string& pattern) {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(int64_t{8} << 20);
  auto regex = std::make_shared<const RE2>(pattern, options);
  if (regex->ok()) return Regex(std::move(regex));
  return invalid_argument("pattern " + quoted(pattern) + " is invalid: " + regex->error());
}

Status check_rewrite(const RE2& regex, const std::string& rewrite) {
  std::string error;
  if (regex.CheckRewriteString(rewrite, &error)) return {};
  return invalid_argument("rewrite " + quoted(rewrite) + " does not fit pattern " + quoted(regex.pattern()) +
                          ": " + error);
}

/// Keeps the last pattern of a node compiled, for the next step.
class KeptRegex {
 public:
  Result<Regex> of(const std::string& pattern) {
    {
      const std::scoped_lock lock(mutex_);
      if (regex_ && regex_->pattern() == pattern) return regex_;
    }
    TROUPE_ASSIGN(Regex regex, compile(pattern));
    const std::scoped_lock lock(mutex_);
    regex_ = regex;
    return regex;
  }

 private:
  std::mutex mutex_;
  Regex regex_;
};

bool is_static(const Node& node) { return node.type().starts_with("Static"); }

/// Returns a text that is an input or, of the static ops, an attribute.
Result<const std::string*> text_argument(const KernelContext& context, size_t input, const char* name) {
  if (is_static(context.node())) return &context.node().attrs.get<std::string>(name);
  const Tensor& text = context.input(input);
  if (text.shape().is_scalar()) return text.as<std::string>().data();
  return invalid_argument(std::string(name) + " of shape " + text.shape().text() + " has rank " +
                          std::to_string(text.shape().rank()) + ", expected 0");
}

struct RegexArguments {
  ElementsArguments elements;
  Regex regex;
  const std::string* rewrite = nullptr;
  bool replaces_all = false;
};

/// The check of all four ops. Steps that run at once share what is kept of the pattern.
class RegexCheck {
 public:
  explicit RegexCheck(const PrepareContext& context)
      : replaces_(context.node.type().ends_with("Replace")), kept_(std::make_shared<KeptRegex>()) {}

  Result<RegexArguments> operator()(KernelContext& context) const {
    TROUPE_ASSIGN(const std::string* const pattern, text_argument(context, 1, "pattern"));
    TROUPE_ASSIGN(Regex regex, kept_->of(*pattern));
    const std::string* rewrite = nullptr;
    if (replaces_) {
      TROUPE_ASSIGN(rewrite, text_argument(context, 2, "rewrite"));
      TROUPE_RETURN_IF_FAILED(check_rewrite(*regex, *rewrite));
    }
    TROUPE_ASSIGN(const ElementsArguments elements, check_elements(context));
    return RegexArguments{elements, std::move(regex), rewrite,
                          replaces_ && context.node().attrs.get<bool>("replace_global")};
  }

 private:
  bool replaces_;
  std::shared_ptr<KeptRegex> kept_;
};

void compute_replace(const RegexArguments& arguments, DeviceContext& device) {
  const RE2& regex = *arguments.regex;
  map_strings<std::string>(arguments.elements, device, [&](const std::string& x, std::string& y) {
    y = x;
    if (arguments.replaces_all)
      RE2::GlobalReplace(&y, regex, *arguments.rewrite);
    else
      RE2::Replace(&y, regex, *arguments.rewrite);
  });
}

void compute_full_match(const RegexArguments& arguments, DeviceContext& device) {
  map_strings<bool>(arguments.elements, device,
                    [&](const std::string& x, bool& y) { y = RE2::FullMatch(x, *arguments.regex); });
}

// ---- Shapes

Status regex_shape(ShapeContext& context) {
  for (size_t i = 1; i < context.inputs(); ++i) TROUPE_RETURN_IF_FAILED(context.with_rank(i, 0).status());
  return unchanged_shape(context);
}

Status static_regex_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const Regex regex, compile(context.attr<std::string>("pattern")));
  if (context.node().type().ends_with("Replace"))
    TROUPE_RETURN_IF_FAILED(check_rewrite(*regex, context.attr<std::string>("rewrite")));
  return unchanged_shape(context);
}

/// Adds both forms of an op, whose arguments beside `input` are inputs, or attributes of the static form.
template <class Compute>
void add_forms(OpLibrary& library, OpDefBuilder op, OpDefBuilder static_op, const std::string& name,
               std::initializer_list<const char*> arguments, Compute compute) {
  for (const char* const argument : arguments) {
    op.host_input(std::string(argument) + ": string");
    static_op.attr(std::string(argument) + ": string");
  }
  library.op(op.shape(regex_shape).not_differentiable());
  library.op(static_op.shape(static_regex_shape).not_differentiable());
  library.kernel(cpu_kernel<RegexCheck>(name, compute));
  library.kernel(cpu_kernel<RegexCheck>("Static" + name, compute));
}

}  // namespace

void add_regex_ops(OpLibrary& library) {
  const auto replace = [](const char* name) {
    return OpDefBuilder(name)
        .input("input: string")
        .output("output: string")
        .attr("replace_global: bool = true");
  };
  const auto full_match = [](const char* name) {
    return OpDefBuilder(name).input("input: string").output("output: bool");
  };
  add_forms(library,
            replace("RegexReplace").constructor("regex_replace(input, pattern, rewrite, replace_global)"),
            replace("StaticRegexReplace"), "RegexReplace", {"pattern", "rewrite"}, compute_replace);
  add_forms(library, full_match("RegexFullMatch").constructor("regex_full_match(input, pattern)"),
            full_match("StaticRegexFullMatch"), "RegexFullMatch", {"pattern"}, compute_full_match);
}

}  // namespace troupe
