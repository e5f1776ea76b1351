// Texts of Unicode in other encodings, and characters as numbers (code points). characters.h says which encodings there are.
//   UnicodeTranscode(input)                      each text in output_encoding: 'UTF-8', 'UTF-16-BE' or 'UTF-32-BE'
//   UnicodeEncode(input_values, input_splits)    a text of each row of the ragged matrix of characters
//   UnicodeScript(input)                         the script to which each character belongs, as ICU counts scripts; -1 for a number
//                                                that is no code point
// An ill-formed sequence becomes replacement_char with errors 'replace', nothing with 'ignore', and fails with
// InvalidArgument with 'strict'; so does, in UnicodeEncode, a number outside of Unicode. With replace_control_characters,
// U+0000 to U+001F count as ill-formed, too.
#include <unicode/uscript.h>

#include "graph/build/shape_context.h"
#include "kernels/core/arguments.h"
#include "kernels/ops/ragged/splits.h"
#include "kernels/ops/sparse/sparse_tensor.h"
#include "kernels/ops/strings/characters.h"
#include "kernels/ops/strings/elements.h"

namespace troupe {
namespace {

using Policy = CharacterErrors::Policy;

// ---- UnicodeTranscode

struct TranscodeArguments {
  ElementsArguments elements;
  const std::string& from;
  Encoding to;
  CharacterErrors errors;
};

Status transcode_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(character_errors(context.node()).status());
  TROUPE_RETURN_IF_FAILED(TextReader::make(context.attr<std::string>("input_encoding")).status());
  return unchanged_shape(context);
}

Result<TranscodeArguments> check_transcode(KernelContext& context) {
  const Node& node = context.node();
  TROUPE_ASSIGN(const CharacterErrors errors, character_errors(node));
  TROUPE_ASSIGN(const ElementsArguments elements, check_elements(context));
  return TranscodeArguments{elements, node.attrs.get<std::string>("input_encoding"), output_encoding(node),
                            errors};
}

/// Returns false if the text is ill-formed and the policy is strict.
bool transcode(const TranscodeArguments& arguments, TextReader& reader, const std::string& from,
               std::string& to) {
  const CharacterErrors& errors = arguments.errors;
  std::u16string units;
  bool is_right = true;
  reader.read(from, [&](const NextCharacter& next) {
    const bool is_error = errors.concerns(next);
    if (is_error && errors.policy == Policy::Strict) is_right = false;
    if (!is_error || errors.policy != Policy::Ignore)
      append_units(is_error ? errors.replacement : next.value, units);
  });
  to = encoded(units, arguments.to);
  return is_right;
}

Status compute_transcode(const TranscodeArguments& arguments, DeviceContext& /*device*/) {
  TROUPE_ASSIGN(TextReader reader, TextReader::make(arguments.from));
  const auto from = arguments.elements.x.as<std::string>();
  const auto to = arguments.elements.y.write<std::string>();
  for (size_t i = 0; i < from.size(); ++i)
    if (!transcode(arguments, reader, from[i], to[i]))
      return invalid_argument(element_name("input", arguments.elements.x.shape(), static_cast<int64_t>(i)) +
                              " = " + quoted(from[i]) + " is ill-formed in " + arguments.from);
  return {};
}

// ---- UnicodeEncode

struct EncodeArguments {
  const Tensor &values, &splits;
  Tensor& output;
  Encoding encoding;
  CharacterErrors errors;
};

Status encode_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(character_errors(context.node()).status());
  TROUPE_RETURN_IF_FAILED(context.with_rank(0, 1).status());
  TROUPE_ASSIGN(const PartialShape splits, context.with_rank(1, 1));
  if (splits[0] == 0) return check_splits({}, 0, "input_splits");
  context.set_output(0, PartialShape{std::max(splits[0] - 1, unknown_dim)});
  return {};
}

Result<EncodeArguments> check_encode(KernelContext& context) {
  for (size_t i = 0; i < 2; ++i) TROUPE_RETURN_IF_FAILED(check_rank(context, i, 1));
  TROUPE_ASSIGN(const CharacterErrors errors, character_errors(context.node()));
  const Tensor& splits = context.input(1);
  if (splits.elements() == 0) return check_splits({}, 0, "input_splits");
  TROUPE_ASSIGN(Tensor* const output, context.output(0, Shape::vector(splits.elements() - 1)));
  return EncodeArguments{context.input(0), splits, *output, output_encoding(context.node()), errors};
}

/// Returns the text of some characters. Fails with InvalidArgument for a number that is none if the policy is strict.
Result<std::string> encoded_row(std::span<const int32_t> row, const EncodeArguments& arguments) {
  std::u16string units;
  for (const int32_t value : row) {
    const bool is_inside = is_character(static_cast<uint32_t>(value));
    if (!is_inside && arguments.errors.policy == Policy::Strict)
      return invalid_argument("input_values has " + std::to_string(value) +
                              ", which is no character of Unicode");
    if (is_inside || arguments.errors.policy == Policy::Replace)
      append_units(is_inside ? static_cast<uint32_t>(value) : arguments.errors.replacement, units);
  }
  return encoded(units, arguments.encoding);
}

Status compute_encode(const EncodeArguments& arguments, DeviceContext& /*device*/) {
  const Dims splits = integers(arguments.splits);
  const auto values = arguments.values.as<int32_t>();
  TROUPE_RETURN_IF_FAILED(check_splits(splits, arguments.values.elements(), "input_splits"));
  const auto output = arguments.output.write<std::string>();
  for (size_t i = 0; i < output.size(); ++i) {
    const auto row =
        values.subspan(static_cast<size_t>(splits[i]), static_cast<size_t>(splits[i + 1] - splits[i]));
    TROUPE_ASSIGN(output[i], encoded_row(row, arguments));
  }
  return {};
}

// ---- UnicodeScript

void compute_script(const ElementsArguments& arguments, DeviceContext& device) {
  const auto from = arguments.x.as<int32_t>();
  const auto to = arguments.y.write<int32_t>();
  for_each_element(device.pool(), from.size(), 32, [&](size_t i) {
    UErrorCode status = U_ZERO_ERROR;
    const UScriptCode script = uscript_getScript(from[i], &status);
    to[i] = U_SUCCESS(status) ? script : -1;
  });
}

}  // namespace

void add_unicode_ops(OpLibrary& library) {
  library.op(OpDefBuilder("UnicodeTranscode")
                 .input("input: string")
                 .output("output: string")
                 .attr("input_encoding: string")
                 .attr("output_encoding: {'UTF-8', 'UTF-16-BE', 'UTF-32-BE'}")
                 .attr("errors: {'strict', 'replace', 'ignore'} = 'replace'")
                 .attr("replacement_char: int = 65533")
                 .attr("replace_control_characters: bool = false")
                 .constructor("unicode_transcode(input, input_encoding, output_encoding, errors, "
                              "replacement_char, replace_control_characters)")
                 .shape(transcode_shape)
                 .not_differentiable());
  library.kernel(cpu_kernel("UnicodeTranscode", check_transcode, compute_transcode));
  library.op(OpDefBuilder("UnicodeEncode")
                 .input("input_values: int32")
                 .input("input_splits: Tsplits")
                 .output("output: string")
                 .attr("errors: {'ignore', 'replace', 'strict'} = 'replace'")
                 .attr("output_encoding: {'UTF-8', 'UTF-16-BE', 'UTF-32-BE'}")
                 .attr("replacement_char: int = 65533")
                 .attr("Tsplits: {int32, int64} = int64")
                 .shape(encode_shape)
                 .not_differentiable());
  library.kernel(cpu_kernel("UnicodeEncode", check_encode, compute_encode));
  library.op(OpDefBuilder("UnicodeScript")
                 .input("input: int32")
                 .output("output: int32")
                 .constructor("unicode_script(input)")
                 .shape(unchanged_shape)
                 .not_differentiable());
  library.kernel(cpu_kernel("UnicodeScript", check_elements, compute_script));
}

}  // namespace troupe
