#include "apps/serve/batcher.h"

#include <algorithm>
#include <exception>
#include <new>

#include "apps/data/dataset.h"

namespace troupe::serve {
namespace {

/// Returns whether the inputs of a request have its rows as their first dimension, and differ from those of another one in no
/// other.
bool fits(const ModelRequest& request, const ModelRequest& other) {
  if (request.signature != other.signature) return false;
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    const Shape &shape = request.inputs[i].shape(), &wanted = other.inputs[i].shape();
    if (shape.rank() == 0 || shape.rank() != wanted.rank() || shape[0] != request.rows ||
        !std::ranges::equal(shape.dims().subspan(1), wanted.dims().subspan(1)))
      return false;
  }
  return true;
}

/// Returns whether a signature takes any number of rows.
bool takes_rows(const ModelSignature& signature) {
  const auto has_rows = [](const ModelTensor& tensor) {
    return tensor.shape.known_rank() && tensor.shape.rank() > 0 && tensor.shape[0] == unknown_dim;
  };
  return !signature.inputs.empty() && std::ranges::all_of(signature.inputs, has_rows) &&
         std::ranges::all_of(signature.outputs, has_rows);
}

Batcher::Outputs run_model(const Model& model, const std::vector<Tensor>& inputs,
                           const std::string& signature) try {
  return model.run(inputs, signature);
} catch (const Error& error) {
  return error.status();
} catch (const std::exception& error) {
  return Status(Code::Unknown, error.what());
}

/// Returns input i of all requests as one tensor.
template <class Batch>
Result<Tensor> joined(const Batch& batch, size_t i, int64_t rows) {
  const Tensor& first = batch.front().request.inputs[i];
  std::vector<int64_t> dims(first.shape().dims().begin(), first.shape().dims().end());
  dims[0] = rows;
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, first.dtype()));
  TROUPE_ASSIGN(Tensor all, Tensor::allocate(first.dtype(), shape));
  int64_t row = 0;
  for (const auto& one : batch) {
    data::copy_rows(one.request.inputs[i], all, row);
    row += one.request.rows;
  }
  return all;
}

}  // namespace

size_t Batcher::waiting() const {
  const std::lock_guard guard(mutex_);
  return waiting_.size();
}

void Batcher::run(ModelRequest request, Clock::time_point deadline, std::function<void(Outputs)> done) {
  std::unique_lock lock(mutex_);
  if (waiting_.size() >= options_.max_waiting) {
    lock.unlock();
    return done(
        resource_exhausted(std::to_string(options_.max_waiting) + " requests wait for the model already"));
  }
  waiting_.push_back({std::move(request), deadline, std::move(done)});
  if (active_ == options_.parallel) return;
  ++active_;
  lock.unlock();
  options_.submit([self = shared_from_this()] { self->drain(); });
}

/// Computes batches until no request waits. Where memory ends, the requests of a batch end without outputs.
void Batcher::drain() {
  for (;;) try {
      std::vector<Waiting> batch = take();
      if (batch.empty()) return;
      compute(std::move(batch));
    } catch (const std::bad_alloc&) {
      continue;
    }
}

/// Takes the first request and those behind it that fit; none if no request waits.
std::vector<Batcher::Waiting> Batcher::take() {
  const std::lock_guard guard(mutex_);
  std::vector<Waiting> batch;
  int64_t rows = 0;
  while (!waiting_.empty()) {
    Waiting& next = waiting_.front();
    if (!batch.empty()) {
      const ModelRequest& first = batch.front().request;
      if (rows + next.request.rows > options_.max_rows || !fits(next.request, first) || !fits(first, first) ||
          !takes_rows(model_.signature(first.signature)))
        break;
    }
    rows += next.request.rows;
    batch.push_back(std::move(next));
    waiting_.pop_front();
  }
  if (batch.empty()) --active_;
  return batch;
}

void Batcher::compute(std::vector<Waiting> batch) {
  const auto now = Clock::now();
  std::erase_if(batch, [&](Waiting& one) {
    const bool late = one.deadline < now;
    if (late) one.done(deadline_exceeded("the request has waited for the model until its deadline"));
    return late;
  });
  if (batch.empty()) return;
  const std::string signature = batch.front().request.signature;
  int64_t rows = 0;
  for (const Waiting& one : batch) rows += one.request.rows;
  if (options_.observe) options_.observe(batch.size(), rows);
  if (batch.size() == 1)
    return batch.front().done(run_model(model_, batch.front().request.inputs, signature));
  std::vector<Tensor> inputs;
  Status failure;
  for (size_t i = 0; i < batch.front().request.inputs.size() && failure.ok(); ++i) {
    auto input = joined(batch, i, rows);
    failure = input.status();
    if (input) inputs.push_back(std::move(*input));
  }
  const Outputs all = failure.ok() ? run_model(model_, inputs, signature) : Outputs(failure);
  const bool has_rows = all && std::ranges::all_of(*all, [&](const Tensor& output) {
                          return output.shape().rank() > 0 && output.shape()[0] == rows;
                        });
  int64_t row = 0;
  for (const Waiting& one : batch) {
    const int64_t end = row + one.request.rows;
    if (!has_rows) {  // one request may have spoilt the batch for all
      one.done(run_model(model_, one.request.inputs, signature));
    } else {
      std::vector<Tensor> outputs;
      for (const Tensor& output : *all) outputs.push_back(output.rows(row, end));
      one.done(std::move(outputs));
    }
    row = end;
  }
}

}  // namespace troupe::serve
