// Samples of the block ops of LSTMs and GRUs.
#include "kernels/core/dims.h"
#include "tests/kernels/cases/all_cases.h"

namespace troupe::test {
namespace {

struct LstmSizes {
  int64_t batch, inputs, cells;
};

Tensor states(const Shape& shape, DType dtype, uint64_t seed) {
  return converted(random_doubles(shape, -0.9, 0.9, seed), dtype);
}

/// The inputs of an LSTM; time is -1 for one step.
std::vector<Tensor> lstm_inputs(const LstmSizes& sizes, int64_t time, DType dtype = f32) {
  const int64_t batch = sizes.batch, inputs = sizes.inputs, cells = sizes.cells;
  std::vector<Tensor> result;
  if (time >= 0) result.push_back(Tensor::vector<int64_t>({time}).reshaped(Shape()));
  result.push_back(states(time < 0 ? Shape{batch, inputs} : Shape{time, batch, inputs}, dtype, 1));
  const Shape shapes[] = {Shape{batch, cells}, Shape{batch, cells}, Shape{inputs + cells, 4 * cells},
                          Shape{cells},        Shape{cells},        Shape{cells},
                          Shape{4 * cells}};
  for (const Shape& shape : shapes) result.push_back(states(shape, dtype, 2 + result.size()));
  return result;
}

std::vector<Tensor> with_after(std::vector<Tensor> inputs, const Shape& shape, size_t count,
                               DType dtype = f32) {
  for (size_t i = 0; i < count; ++i) inputs.push_back(states(shape, dtype, 20 + i));
  return inputs;
}

void add_lstm_cases(OpCases& cases) {
  const LstmSizes small{2, 3, 4};
  for (const bool peepholes : {false, true}) {
    const Attributes attrs = {{"use_peephole", peepholes}};
    for (const DType dtype : {f32, DType::Half}) {
      cases.good("LSTMBlockCell", lstm_inputs(small, -1, dtype), attrs);
      cases.good("LSTMBlockCellGrad", with_after(lstm_inputs(small, -1, dtype), Shape{2, 4}, 8, dtype),
                 attrs);
      for (const char* const version : {"", "V2"}) {
        cases.good(std::string("BlockLSTM") + version, lstm_inputs(small, 3, dtype), attrs);
        cases.good(std::string("BlockLSTMGrad") + version,
                   with_after(lstm_inputs(small, 3, dtype), Shape{3, 2, 4}, 9, dtype), attrs);
      }
    }
    for (const LstmSizes& sizes : {LstmSizes{17, 31, 23}, LstmSizes{0, 3, 4}, LstmSizes{2, 0, 4}}) {
      cases.good("LSTMBlockCell", lstm_inputs(sizes, -1), attrs);
      cases.good("LSTMBlockCellGrad", with_after(lstm_inputs(sizes, -1), Shape{sizes.batch, sizes.cells}, 8),
                 attrs);
      for (const char* const version : {"", "V2"}) {
        cases.good(std::string("BlockLSTM") + version, lstm_inputs(sizes, 2), attrs);
        cases.good(std::string("BlockLSTMGrad") + version,
                   with_after(lstm_inputs(sizes, 2), Shape{2, sizes.batch, sizes.cells}, 9), attrs);
      }
    }
  }
}

/// Adds what an op refuses: each input with a dimension too many.
void add_bad_ranks(OpCases& cases, const std::string& op, const std::vector<Tensor>& inputs, size_t first,
                   const Attributes& attrs) {
  for (size_t i = first; i < inputs.size(); ++i) {
    std::vector<Tensor> wrong = inputs;
    Dims dims(wrong[i].shape().dims());
    dims.push_back(1);
    wrong[i] = wrong[i].reshaped(value_or_throw(Shape::make(dims, wrong[i].dtype())));
    cases.bad(op, wrong, attrs, "");
    wrong[i] = Tensor::scalar(1.0F);
    cases.bad(op, wrong, attrs, "");
  }
}

void add_bad_lstm_cases(OpCases& cases) {
  const LstmSizes small{2, 3, 4};
  const Attributes attrs = {{"use_peephole", true}};
  add_bad_ranks(cases, "LSTMBlockCell", lstm_inputs(small, -1), 0, attrs);
  add_bad_ranks(cases, "LSTMBlockCellGrad", with_after(lstm_inputs(small, -1), Shape{2, 4}, 8), 0, attrs);
  for (const char* const version : {"", "V2"}) {
    const std::string forward = std::string("BlockLSTM") + version,
                      gradient = std::string("BlockLSTMGrad") + version;
    const auto inputs = lstm_inputs(small, 3), more = with_after(inputs, Shape{3, 2, 4}, 9);
    add_bad_ranks(cases, forward, inputs, 1, attrs);
    add_bad_ranks(cases, gradient, more, 1, attrs);
    for (const auto& [op, given] : {std::pair{forward, inputs}, {gradient, more}})
      for (const int64_t steps : {-1, 4}) {
        auto wrong = given;
        wrong[0] = Tensor::vector<int64_t>({steps}).reshaped(Shape());
        cases.bad(op, wrong, attrs, "seq_len_max is " + std::to_string(steps));
      }
  }
}

void add_gru_cases(OpCases& cases) {
  const auto inputs_of = [](const LstmSizes& sizes) {
    const int64_t batch = sizes.batch, inputs = sizes.inputs, cells = sizes.cells;
    const Shape shapes[] = {
        Shape{batch, inputs},         Shape{batch, cells}, Shape{inputs + cells, 2 * cells},
        Shape{inputs + cells, cells}, Shape{2 * cells},    Shape{cells}};
    std::vector<Tensor> result;
    for (const Shape& shape : shapes) result.push_back(states(shape, f32, 1 + result.size()));
    return result;
  };
  for (const LstmSizes& sizes :
       {LstmSizes{2, 3, 4}, LstmSizes{17, 31, 23}, LstmSizes{0, 3, 4}, LstmSizes{2, 0, 4}}) {
    cases.good("GRUBlockCell", inputs_of(sizes));
    cases.good("GRUBlockCellGrad", with_after(inputs_of(sizes), Shape{sizes.batch, sizes.cells}, 4));
  }
  add_bad_ranks(cases, "GRUBlockCell", inputs_of({2, 3, 4}), 0, {});
  add_bad_ranks(cases, "GRUBlockCellGrad", with_after(inputs_of({2, 3, 4}), Shape{2, 4}, 4), 0, {});
}

}  // namespace

void add_recurrent_cases(OpCases& cases) {
  add_lstm_cases(cases);
  add_bad_lstm_cases(cases);
  add_gru_cases(cases);
}

}  // namespace troupe::test
