#include "actors/net/transport/ucx_library.h"

#include <dlfcn.h>

#include <array>
#include <csignal>
#include <cstdlib>

namespace troupe {
namespace {

/// Restores the handlers of all signals in its destructor.
class SignalHandlers {
 public:
  SignalHandlers() {
    for (int number = 1; number < NSIG; ++number)
      known_[index(number)] = ::sigaction(number, nullptr, &before_[index(number)]) == 0;
  }
  ~SignalHandlers() {
    for (int number = 1; number < NSIG; ++number)
      if (known_[index(number)]) ::sigaction(number, &before_[index(number)], nullptr);
  }
  SignalHandlers(const SignalHandlers&) = delete;
  SignalHandlers& operator=(const SignalHandlers&) = delete;

 private:
  static size_t index(int number) { return static_cast<size_t>(number); }
  std::array<struct sigaction, NSIG> before_{};
  std::array<bool, NSIG> known_{};
};

/// Opens the library, never to close it.
void* open_library() {
  const auto open = [] { return ::dlopen("libucp.so.0", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE); };
  if (std::getenv("UCX_HANDLE_ERRORS")) return open();
  const SignalHandlers restored;
  return open();
}

Result<UcxLibrary> load_once() {
  void* const library = open_library();
  if (!library)
    return failed_precondition(std::string("UCX cannot be used, because its library cannot be loaded: ") +
                               ::dlerror());
  UcxLibrary functions{};
  const char* missing = nullptr;
  const auto find = [&](auto*& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
    if (!function) missing = name;
  };
  find(functions.get_version, "ucp_get_version");
  find(functions.config_read, "ucp_config_read");
  find(functions.config_release, "ucp_config_release");
  find(functions.init_version, "ucp_init_version");
  find(functions.cleanup, "ucp_cleanup");
  find(functions.worker_create, "ucp_worker_create");
  find(functions.worker_destroy, "ucp_worker_destroy");
  find(functions.worker_get_address, "ucp_worker_get_address");
  find(functions.worker_release_address, "ucp_worker_release_address");
  find(functions.worker_get_efd, "ucp_worker_get_efd");
  find(functions.worker_arm, "ucp_worker_arm");
  find(functions.worker_progress, "ucp_worker_progress");
  find(functions.worker_set_am_recv_handler, "ucp_worker_set_am_recv_handler");
  find(functions.ep_create, "ucp_ep_create");
  find(functions.ep_flush_nbx, "ucp_ep_flush_nbx");
  find(functions.ep_close_nbx, "ucp_ep_close_nbx");
  find(functions.am_send_nbx, "ucp_am_send_nbx");
  find(functions.am_recv_data_nbx, "ucp_am_recv_data_nbx");
  find(functions.am_data_release, "ucp_am_data_release");
  find(functions.request_free, "ucp_request_free");
  find(functions.status_string, "ucs_status_string");
  if (missing)
    return failed_precondition(std::string("UCX cannot be used, because its library has no function ") +
                               missing);
  return functions;
}

}  // namespace

Result<const UcxLibrary*> UcxLibrary::load() {
  static const Result<UcxLibrary> library = load_once();
  if (!library) return library.status();
  return &*library;
}

}  // namespace troupe
