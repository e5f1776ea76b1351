#include "apps/c/runtime.h"

#include <algorithm>

#include "apps/c/handles.h"
#include "apps/runtime_metrics.h"

using namespace troupe::
    c;  // NOLINT(google-build-using-namespace): the functions below belong to no namespace

namespace {

troupe::RuntimeOptions runtime_options_of(const troupe_runtime_options& from) {
  troupe::RuntimeOptions options;
  options.threads = from.threads;
  options.memory = from.memory;
  troupe::TaskOptions& task = options.tasks.front();
  if (from.cpus != 0) task.cpus = from.cpus;
  if (from.gpus < -1)
    throw troupe::Error(
        troupe::invalid_argument("the member `gpus` of the options is " + std::to_string(from.gpus) +
                                 "; -1 stands for none, and other numbers must not be negative"));
  if (from.gpus != 0) task.gpus = std::max(0, from.gpus);
  task.first_gpu = from.first_gpu;
  options.gpu_memory = from.gpu_memory;
  options.tf32 = from.tf32 != 0;
  if (from.cluster) {
    options.cluster = from.cluster->spec;
    task.job = from.cluster->job;
    task.task = from.cluster->task;
  }
  if (from.listen) options.listen = from.listen;
  options.roots = texts(from.roots, from.root_count, "roots");
  return options;
}

}  // namespace

troupe_code troupe_runtime_create(const troupe_runtime_options* options, troupe_runtime** runtime) {
  return guarded([&] {
    auto& result = needed(runtime, "runtime");
    auto handle = std::make_unique<troupe_runtime>();
    handle->runtime = std::make_shared<troupe::Runtime>(runtime_options_of(known(options)));
    handle->devices = handle->runtime->devices();
    result = handle.release();
  });
}

void troupe_runtime_destroy(troupe_runtime* runtime) { delete runtime; }

troupe_code troupe_runtime_device_count(const troupe_runtime* runtime, size_t* count) {
  return guarded([&] { needed(count, "count") = needed(runtime, "runtime").devices.size(); });
}

troupe_code troupe_runtime_device(const troupe_runtime* runtime, size_t index, const char** name) {
  return guarded(
      [&] { needed(name, "name") = element(needed(runtime, "runtime").devices, index, "device").c_str(); });
}

troupe_code troupe_runtime_status(const troupe_runtime* runtime) {
  return guarded([&] { throw_if_failed(needed(runtime, "runtime").runtime->status()); });
}

troupe_code troupe_runtime_metrics(const troupe_runtime* runtime, char** text, size_t* size) {
  return guarded([&] {
    const troupe::Runtime& measured = *needed(runtime, "runtime").runtime;
    auto& result = needed(text, "text");
    auto& length = needed(size, "size");
    hand_over(metrics_text(measured), result, length);
  });
}

troupe_code troupe_cancellation_create(troupe_cancellation** cancellation) {
  return guarded([&] {
    auto& result = needed(cancellation, "cancellation");
    result = new troupe_cancellation;
  });
}

void troupe_cancellation_destroy(troupe_cancellation* cancellation) { delete cancellation; }

troupe_code troupe_cancellation_cancel(troupe_cancellation* cancellation) {
  return guarded([&] { needed(cancellation, "cancellation").value.cancel(); });
}
