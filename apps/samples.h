// The samples of run files in programs, installed as <troupe/samples.h>: the batches that a training would get, with data.map,
// data.ragged and the other keys applied. Failures are thrown as troupe::Error. Public header: it uses only std and Troupe's own
// types.
//
//   const auto samples = troupe::Samples::read("digits.toml", "train");
//   auto batches = samples.batches({.size = 32});
//   for (int64_t i = 0; i < batches.per_epoch(); ++i)
//     for (const auto& [name, values] : batches.at(i)) ...
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/ops/partial_shape.h"
#include "messages/values/tensor.h"

#pragma GCC visibility push(default)
namespace troupe {

struct SampleColumn {
  std::string name;
  DType dtype = DType::Invalid;
  PartialShape shape;  ///< of one sample
};

struct BatchOptions {
  /// The number of samples of a batch; 0: data.batch of the run file. If there are fewer samples, a batch has all of them.
  int64_t size = 0;
  /// Whether each epoch has an order of its own. Nothing: data.shuffle of the run file says it for the part "train", and that of
  /// "valid" stays in order.
  std::optional<bool> shuffle = {};
  std::optional<uint64_t> seed = {};  ///< of the orders; nothing: run.seed of the run file
};

/// The batches of samples. The same options give the same batches. One thread at a time.
class SampleBatches {
 public:
  /// Returns the number of batches of an epoch; the last one may be smaller than the others.
  int64_t per_epoch() const;
  /// Returns whether threads of this process make batches ahead of their use.
  bool has_threads() const;
  /// Returns the columns of a batch by name; batches are counted from 0 over all epochs. A ragged column has its elements, and
  /// then its splits as a column NAME_splits. The tensors may share memory with the samples. Throws what reading files yields.
  std::vector<std::pair<std::string, Tensor>> at(uint64_t batch);

 private:
  friend class Samples;
  struct Impl;
  explicit SampleBatches(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<Impl> impl_;
};

/// Samples of a run file, or in memory. Immutable and cheap to copy; any thread.
class Samples {
 public:
  /// Opens the samples of a part of a run file, "train" or "valid". `settings` change values of it as --set does. Throws
  /// InvalidArgument if the run file is wrong or has no such part, and NotFound or DataLoss if files are missing or damaged.
  static Samples read(const std::string& path, const std::string& part = "train",
                      const std::vector<std::string>& settings = {});
  /// Does the same for the text of a run file. Paths in it are relative to `folder`, and errors call it `name`.
  static Samples parse(const std::string& text, const std::string& part = "train",
                       const std::string& folder = ".", const std::vector<std::string>& settings = {},
                       const std::string& name = "run file");

  /// Returns samples in memory, which share the memory of their columns, tensors [samples, ...] by name. Batches have 32 samples in
  /// the order of the columns, unless BatchOptions says otherwise. Throws InvalidArgument if there are no columns, a name is empty
  /// or occurs twice, or the columns have different numbers of samples.
  static Samples from_tensors(const std::vector<std::pair<std::string, Tensor>>& columns);

  int64_t size() const;  ///< the number of samples
  std::vector<SampleColumn> columns() const;
  /// Throws InvalidArgument if there are no samples or the size of batches is negative.
  SampleBatches batches(const BatchOptions& options = {}) const;

 private:
  struct Impl;
  explicit Samples(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

}  // namespace troupe
#pragma GCC visibility pop
