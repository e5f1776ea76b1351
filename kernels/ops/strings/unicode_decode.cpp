// UnicodeDecode(input): the characters of texts in input_encoding, as a ragged matrix of code points with a row for each
// element of input: row_splits and char_values. UnicodeDecodeWithOffsets also yields char_to_byte_starts: the byte of its
// text at which each character begins. unicode.cpp says what becomes of ill-formed sequences; here no control character makes
// 'strict' fail.
#include "graph/build/shape_context.h"
#include "kernels/core/arguments.h"
#include "kernels/ops/ragged/splits.h"
#include "kernels/ops/sparse/sparse_tensor.h"
#include "kernels/ops/strings/characters.h"
#include "kernels/ops/strings/elements.h"

namespace troupe {
namespace {

/// Measuring decodes; computing copies to the outputs.
struct DecodeArguments {
  const Tensor& input;
  const std::string& encoding;
  CharacterErrors errors;
  bool with_offsets;
  std::vector<int64_t> splits = {0}, offsets = {};
  std::vector<int32_t> values = {};
  std::vector<Tensor*> outputs = {};
};

Status decode_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(character_errors(context.node()).status());
  TROUPE_RETURN_IF_FAILED(TextReader::make(context.attr<std::string>("input_encoding")).status());
  const PartialShape& input = context.input(0);
  int64_t splits = unknown_dim;
  if (input.fully_known()) {
    TROUPE_ASSIGN(const Shape shape, input.to_shape(DType::String));
    splits = shape.elements() + 1;
  }
  context.set_output(0, PartialShape{splits});
  for (size_t i = 1; i < context.node().output_types.size(); ++i)
    context.set_output(i, PartialShape{unknown_dim});
  return {};
}

Result<DecodeArguments> check_decode(KernelContext& context) {
  TROUPE_ASSIGN(const CharacterErrors errors, character_errors(context.node()));
  return DecodeArguments{context.input(0), context.node().attrs.get<std::string>("input_encoding"), errors,
                         context.outputs().size() == 3};
}

/// Appends the characters of a text. Returns false if it is ill-formed and the policy is strict.
bool decode(DecodeArguments& arguments, TextReader& reader, const std::string& text) {
  using enum CharacterErrors::Policy;
  const CharacterErrors& errors = arguments.errors;
  int64_t offset = 0;
  bool is_right = true;
  reader.read(text, [&](const NextCharacter& next) {
    const bool is_error = errors.concerns(next);
    is_right = is_right && (next.is_valid || errors.policy != Strict);
    if (!is_error || errors.policy != Ignore) {
      arguments.values.push_back(static_cast<int32_t>(is_error ? errors.replacement : next.value));
      if (arguments.with_offsets) arguments.offsets.push_back(offset);
    }
    offset += static_cast<int64_t>(next.bytes);
  });
  arguments.splits.push_back(static_cast<int64_t>(arguments.values.size()));
  return is_right;
}

Status measure_decode(DecodeArguments& arguments, DeviceContext& /*device*/) {
  TROUPE_ASSIGN(TextReader reader, TextReader::make(arguments.encoding));
  const auto input = arguments.input.as<std::string>();
  for (size_t i = 0; i < input.size(); ++i)
    if (!decode(arguments, reader, input[i]))
      return invalid_argument(element_name("input", arguments.input.shape(), static_cast<int64_t>(i)) +
                              " = " + quoted(input[i]) + " is ill-formed in " + arguments.encoding);
  return {};
}

Status allocate_decode(DecodeArguments& arguments, KernelContext& context) {
  for (size_t i = 0; i < context.outputs().size(); ++i) {
    const size_t count = i == 0 ? arguments.splits.size() : arguments.values.size();
    TROUPE_ASSIGN(Tensor* const output, vector_output(context, i, static_cast<int64_t>(count)));
    arguments.outputs.push_back(output);
  }
  return {};
}

Status compute_decode(const DecodeArguments& arguments, DeviceContext& /*device*/) {
  write_integers(arguments.splits, *arguments.outputs[0]);
  std::ranges::copy(arguments.values, arguments.outputs[1]->write<int32_t>().begin());
  if (arguments.with_offsets) write_integers(arguments.offsets, *arguments.outputs[2]);
  return {};
}

OpDefBuilder decode_op(const char* name) {
  return OpDefBuilder(name)
      .input("input: string")
      .output("row_splits: Tsplits")
      .output("char_values: int32")
      .attr("input_encoding: string")
      .attr("errors: {'strict', 'replace', 'ignore'} = 'replace'")
      .attr("replacement_char: int = 65533")
      .attr("replace_control_characters: bool = false")
      .attr("Tsplits: {int32, int64} = int64")
      .shape(decode_shape)
      .not_differentiable();
}

}  // namespace

void add_unicode_decode_ops(OpLibrary& library) {
  library.op(decode_op("UnicodeDecode"));
  library.op(decode_op("UnicodeDecodeWithOffsets").output("char_to_byte_starts: int64"));
  for (const char* const op : {"UnicodeDecode", "UnicodeDecodeWithOffsets"})
    library.kernel(measured_cpu_kernel(op, check_decode, measure_decode, allocate_decode, compute_decode));
}

}  // namespace troupe
