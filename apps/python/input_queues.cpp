// Input through queues for Python (graph/build/input_queues.h, input_buckets.h). Options come as dictionaries, from the functions
// of troupe/input_queues.py.
#include <pybind11/stl.h>

#include "apps/python/calls.h"
#include "apps/python/graph.h"
#include "apps/python/values.h"
#include "graph/build/input_buckets.h"
#include "graph/build/input_queues.h"
#include "graph/build/queue_runner.h"

namespace troupe::python {
namespace py = pybind11;
namespace {

/// The options of a call. Those that are missing or None keep their defaults.
class OptionReader {
 public:
  OptionReader(const ScopeHandle& scope, const py::dict& options) : scope_(scope), options_(options) {}

  template <class T>
  void read(const char* name, T& option) const {
    const py::object value = options_.attr("get")(name);
    if (value.is_none()) return;
    try {
      option = value.cast<T>();
    } catch (const py::cast_error&) {
      throw py::type_error(std::string(name) + " cannot be " + std::string(py::repr(value)));
    }
  }
  void read_shape(const char* name, PartialShape& option) const {
    option = to_shape(options_.attr("get")(name));
  }
  void read_shapes(const char* name, std::vector<PartialShape>& option) const {
    const py::object shapes = options_.attr("get")(name);
    if (shapes.is_none()) return;
    for (const py::handle shape : shapes) option.push_back(to_shape(shape));
  }
  void read_condition(const char* name, std::optional<Output>& option) const {
    const py::object value = options_.attr("get")(name);
    if (!value.is_none()) option = as_output(scope_, value, DType::Bool);
  }

 private:
  const ScopeHandle& scope_;
  const py::dict& options_;
};

ProducerOptions producer_options(const ScopeHandle& scope, const py::dict& given) {
  const OptionReader reader(scope, given);
  ProducerOptions options;
  reader.read("num_epochs", options.num_epochs);
  reader.read("shuffle", options.shuffle);
  reader.read("seed", options.seed);
  reader.read("capacity", options.capacity);
  reader.read("shared_name", options.shared_name);
  reader.read("name", options.name);
  reader.read_shape("element_shape", options.element_shape);
  return options;
}

/// Reads what the options of all batches have in common.
template <class Options>
OptionReader read_options(const ScopeHandle& scope, const py::dict& given, Options& options) {
  const OptionReader reader(scope, given);
  reader.read("num_threads", options.num_threads);
  reader.read("capacity", options.capacity);
  reader.read_shapes("shapes", options.shapes);
  reader.read("allow_smaller_final_batch", options.allow_smaller_final_batch);
  reader.read_condition("keep_input", options.keep_input);
  reader.read("shared_name", options.shared_name);
  reader.read("name", options.name);
  return reader;
}

/// Reads what InputBatchOptions and ShuffleBatchOptions have in common.
template <class Options>
OptionReader read_batch_options(const ScopeHandle& scope, const py::dict& given, Options& options) {
  const OptionReader reader = read_options(scope, given, options);
  reader.read("batch_size", options.batch_size);
  reader.read("enqueue_many", options.enqueue_many);
  return reader;
}

InputBatchOptions batch_options(const ScopeHandle& scope, const py::dict& given) {
  InputBatchOptions options;
  read_batch_options(scope, given, options).read("dynamic_pad", options.dynamic_pad);
  return options;
}

ShuffleBatchOptions shuffle_batch_options(const ScopeHandle& scope, const py::dict& given) {
  ShuffleBatchOptions options;
  const OptionReader reader = read_batch_options(scope, given, options);
  reader.read("min_after_dequeue", options.min_after_dequeue);
  reader.read("seed", options.seed);
  return options;
}

BucketOptions bucket_options(const ScopeHandle& scope, const py::dict& given) {
  BucketOptions options;
  const OptionReader reader = read_options(scope, given, options);
  reader.read("num_buckets", options.num_buckets);
  reader.read("batch_sizes", options.batch_sizes);
  reader.read("dynamic_pad", options.dynamic_pad);
  return options;
}

std::vector<Output> listed_outputs(const ScopeHandle& scope, const py::handle& values) {
  std::vector<Output> outputs;
  for (const py::handle value : values) outputs.push_back(as_output(scope, value, DType::Invalid));
  return outputs;
}

std::vector<std::vector<Output>> lists_of(const ScopeHandle& scope, const py::list& lists) {
  std::vector<std::vector<Output>> result;
  for (const py::handle list : lists) result.push_back(listed_outputs(scope, list));
  return result;
}

/// Binds a function that returns the handle of a queue of the rows of a tensor of this type.
void bind_producer(py::module_& module, const char* name, DType dtype,
                   Output (*produce)(const Scope&, Output, const ProducerOptions&)) {
  module.def(
      name,
      [=](const ScopeHandle& scope, const py::object& rows, const py::dict& options) {
        return scope.handle(
            produce(scope.scope, as_output(scope, rows, dtype), producer_options(scope, options)));
      },
      py::arg("scope"), py::arg("rows"), py::arg("options"));
}

/// Binds a function that makes batches of several lists of tensors, or of one; `options_of` reads its options.
template <class Options>
void bind_batches(py::module_& module, const char* name,
                  Options (*options_of)(const ScopeHandle&, const py::dict&),
                  std::vector<Output> (*of_one)(const Scope&, const std::vector<Output>&, const Options&),
                  std::vector<Output> (*of_several)(const Scope&, const std::vector<std::vector<Output>>&,
                                                    const Options&)) {
  module.def(
      name,
      [=](const ScopeHandle& scope, const py::list& tensors, const py::dict& options) {
        return from_outputs(of_one(scope.scope, listed_outputs(scope, tensors), options_of(scope, options)),
                            scope.graph);
      },
      py::arg("scope"), py::arg("tensors"), py::arg("options"));
  module.def((std::string(name) + "_join").c_str(),
             [=](const ScopeHandle& scope, const py::list& lists, const py::dict& options) {
               return from_outputs(
                   of_several(scope.scope, lists_of(scope, lists), options_of(scope, options)), scope.graph);
             },
             py::arg("scope"), py::arg("lists"), py::arg("options"));
}

py::tuple build_bucket(const ScopeHandle& scope, const py::list& tensors, const py::object& which_bucket,
                       const py::dict& options) {
  const Bucketed batch = bucket(scope.scope, listed_outputs(scope, tensors),
                                as_output(scope, which_bucket, DType::Int32), bucket_options(scope, options));
  return py::make_tuple(scope.handle(batch.bucket), from_outputs(batch.tensors, scope.graph));
}

py::tuple build_bucket_by_length(const ScopeHandle& scope, const py::object& length, const py::list& tensors,
                                 const std::vector<int64_t>& boundaries, const py::dict& options) {
  const BucketedSequences batch =
      bucket_by_sequence_length(scope.scope, as_output(scope, length, DType::Int32),
                                listed_outputs(scope, tensors), boundaries, bucket_options(scope, options));
  return py::make_tuple(scope.handle(batch.lengths), from_outputs(batch.tensors, scope.graph));
}

std::optional<Output> optional_target(const py::object& value, const GraphRef& graph) {
  return value.is_none() ? std::nullopt : std::optional(to_output(value, graph));
}

}  // namespace

void bind_input_queues(py::module_& module) {
  module.def(
      "limit_epochs",
      [](const ScopeHandle& scope, const py::object& tensor, int64_t num_epochs) {
        return scope.handle(limit_epochs(scope.scope, as_output(scope, tensor, DType::Invalid), num_epochs));
      },
      py::arg("scope"), py::arg("tensor"), py::arg("num_epochs"));
  bind_producer(module, "input_producer", DType::Invalid, input_producer);
  bind_producer(module, "string_input_producer", DType::String, string_input_producer);
  bind_producer(module, "range_input_producer", DType::Int32, range_input_producer);
  module.def(
      "slice_input_producer",
      [](const ScopeHandle& scope, const py::list& tensors, const py::dict& options) {
        return from_outputs(slice_input_producer(scope.scope, listed_outputs(scope, tensors),
                                                 producer_options(scope, options)),
                            scope.graph);
      },
      py::arg("scope"), py::arg("tensors"), py::arg("options"));
  bind_batches(module, "batch", batch_options, batch, batch_join);
  bind_batches(module, "shuffle_batch", shuffle_batch_options, shuffle_batch, shuffle_batch_join);
  module.def("bucket", &build_bucket, py::arg("scope"), py::arg("tensors"), py::arg("which_bucket"),
             py::arg("options"));
  module.def("bucket_by_sequence_length", &build_bucket_by_length, py::arg("scope"), py::arg("length"),
             py::arg("tensors"), py::arg("boundaries"), py::arg("options"));
  module.def(
      "add_queue_runner",
      [](const ScopeHandle& scope, const py::object& enqueue, const py::object& close,
         const py::object& cancel) {
        add_queue_runner(scope.scope, {.enqueue = to_outputs(enqueue, scope.graph),
                                       .close = optional_target(close, scope.graph),
                                       .cancel = optional_target(cancel, scope.graph)});
      },
      py::arg("scope"), py::arg("enqueue"), py::arg("close"), py::arg("cancel"));
}

}  // namespace troupe::python
