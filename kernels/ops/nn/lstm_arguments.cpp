#include "kernels/ops/nn/lstm_arguments.h"

#include <algorithm>

#include "kernels/core/arguments.h"

namespace troupe {
namespace {

float number(const Node& node, std::string_view name) {
  const AttrValue* const value = node.attrs.find(name);
  return value ? std::get<float>(*value) : 0;
}

Status check_dims(const KernelContext& context, size_t i, std::initializer_list<int64_t> dims) {
  if (std::ranges::equal(context.input(i).shape().dims(), dims)) return {};
  return invalid_argument(context.node().op->inputs[i].name + " has shape " +
                          context.input(i).shape().text() + ", expected " +
                          text_of(std::span(dims.begin(), dims.size())));
}

}  // namespace

bool is_sequence(const Node& node) { return node.type().starts_with("BlockLSTM"); }
bool has_later_gates(const Node& node) { return node.type().ends_with("V2"); }

Result<LstmArguments> check_lstm(KernelContext& context) {
  const Node& node = context.node();
  const bool sequence = is_sequence(node);
  const size_t first = sequence ? 1 : 0;
  const Shape &x = context.input(first).shape(), &w = context.input(first + lstm_inputs::w).shape(),
              &b = context.input(first + lstm_inputs::b).shape();
  if (x.rank() != first + 2 || w.rank() != 2 || b.rank() != 1 || b[0] % 4 != 0 || w[0] < b[0] / 4 ||
      x[first + 1] != w[0] - b[0] / 4)
    return invalid_argument(
        "x of shape " + x.text() + ", w of shape " + w.text() + " and b of shape " + b.text() +
        (sequence ? " must have shapes [time,batch,inputs]" : " must have shapes [batch,inputs]") +
        ", [inputs + cells,4 cells] and [4 cells]");
  const int64_t batch = x[first], inputs = x[first + 1], cells = b[0] / 4;
  const auto check = [&](size_t i, std::initializer_list<int64_t> dims) {
    return check_dims(context, first + i, dims);
  };
  TROUPE_RETURN_IF_FAILED(check(lstm_inputs::cs_prev, {batch, cells}));
  TROUPE_RETURN_IF_FAILED(check(lstm_inputs::h_prev, {batch, cells}));
  TROUPE_RETURN_IF_FAILED(check(lstm_inputs::w, {w[0], b[0]}));
  const bool peepholes = node.attrs.get<bool>("use_peephole");
  if (peepholes)
    for (const size_t i : {lstm_inputs::wci, lstm_inputs::wcf, lstm_inputs::wco})
      TROUPE_RETURN_IF_FAILED(check(i, {cells}));
  for (size_t i = first + lstm_inputs::first_after; i < context.inputs(); ++i)
    TROUPE_RETURN_IF_FAILED(sequence ? check_dims(context, i, {x[0], batch, cells})
                                     : check_dims(context, i, {batch, cells}));
  LstmCell cell;
  cell.sizes = {static_cast<size_t>(batch), static_cast<size_t>(inputs), static_cast<size_t>(cells)};
  cell.forget_bias = number(node, "forget_bias");
  cell.clip = number(node, "cell_clip");
  cell.peepholes = peepholes;
  if (has_later_gates(node)) std::swap(cell.ci_gate, cell.f_gate);
  LstmArguments arguments{context.input_slots(first, context.inputs() - first), context.outputs(), cell, 1,
                          1};
  if (!sequence) return arguments;
  TROUPE_ASSIGN(const int64_t most, integer_scalar(context.input(0), "seq_len_max"));
  if (most < 0 || most > x[0])
    return invalid_argument("seq_len_max is " + std::to_string(most) + ", which is not in [0, " +
                            std::to_string(x[0]) + "], the number of steps of x");
  arguments.time = static_cast<size_t>(x[0]);
  arguments.most = static_cast<size_t>(most);
  return arguments;
}

LstmCell cell_of(const LstmArguments& arguments, const FloatBuffers& buffers) {
  LstmCell cell = arguments.cell;
  cell.w = buffers.in(lstm_inputs::w);
  cell.wci = buffers.in(lstm_inputs::wci);
  cell.wcf = buffers.in(lstm_inputs::wcf);
  cell.wco = buffers.in(lstm_inputs::wco);
  cell.b = buffers.in(lstm_inputs::b);
  return cell;
}

LstmBefore before_step(const LstmSizes& sizes, const FloatBuffers& buffers, size_t t,
                       std::span<const float> cs, std::span<const float> h) {
  const size_t size = sizes.batch * sizes.cells, row = sizes.batch * sizes.inputs;
  const auto x = buffers.in(lstm_inputs::x).subspan(t * row, row);
  if (t == 0) return {x, buffers.in(lstm_inputs::cs_prev), buffers.in(lstm_inputs::h_prev)};
  return {x, cs.subspan((t - 1) * size, size), h.subspan((t - 1) * size, size)};
}

OpDefBuilder lstm_op(const char* name, bool sequence) {
  OpDefBuilder op(name);
  if (sequence) op.host_input("seq_len_max: int64");
  add_inputs(op, {"x", "cs_prev", "h_prev", "w", "wci", "wcf", "wco", "b"});
  op.attr("T: {half, float}");
  return op;
}

void add_inputs(OpDefBuilder& op, std::initializer_list<const char*> names) {
  for (const char* const name : names) op.input(std::string(name) + ": T");
}

void add_outputs(OpDefBuilder& op, std::initializer_list<const char*> names) {
  for (const char* const name : names) op.output(std::string(name) + ": T");
}

}  // namespace troupe
