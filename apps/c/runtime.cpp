#include "apps/c/runtime.h"

#include "apps/c/handles.h"

using namespace troupe::
    c;  // NOLINT(google-build-using-namespace): the functions below belong to no namespace

troupe_code troupe_runtime_create(const troupe_runtime_options* options, troupe_runtime** runtime) {
  return guarded([&] {
    auto& result = needed(runtime, "runtime");
    const troupe_runtime_options wanted = known(options);
    troupe::RuntimeOptions made;
    made.threads = wanted.threads;
    made.memory = wanted.memory;
    if (wanted.cpus != 0) made.tasks.front().cpus = wanted.cpus;
    auto handle = std::make_unique<troupe_runtime>();
    handle->runtime = std::make_shared<troupe::Runtime>(made);
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
