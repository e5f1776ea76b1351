// UcxLibrary: the functions of libucp that Troupe uses. The library is loaded when a process first needs it, so that others do
// without it, and without what it does to a process that loads it. For the files ucx_* only; any thread.
#pragma once

#include <ucp/api/ucp.h>

#include <string>

#include "messages/values/status.h"

namespace troupe {

struct UcxLibrary {
  /// Loads the library once per process. Takes back the handlers of signals that it installs meanwhile, unless the user has asked
  /// for them (UCX_HANDLE_ERRORS). Fails with FailedPrecondition if it cannot be loaded.
  static Result<const UcxLibrary*> load();

  decltype(::ucp_get_version)* get_version;
  decltype(::ucp_config_read)* config_read;
  decltype(::ucp_config_release)* config_release;
  decltype(::ucp_init_version)* init_version;
  decltype(::ucp_cleanup)* cleanup;
  decltype(::ucp_worker_create)* worker_create;
  decltype(::ucp_worker_destroy)* worker_destroy;
  decltype(::ucp_worker_get_address)* worker_get_address;
  decltype(::ucp_worker_release_address)* worker_release_address;
  decltype(::ucp_worker_get_efd)* worker_get_efd;
  decltype(::ucp_worker_arm)* worker_arm;
  decltype(::ucp_worker_progress)* worker_progress;
  decltype(::ucp_worker_set_am_recv_handler)* worker_set_am_recv_handler;
  decltype(::ucp_ep_create)* ep_create;
  decltype(::ucp_ep_flush_nbx)* ep_flush_nbx;
  decltype(::ucp_ep_close_nbx)* ep_close_nbx;
  decltype(::ucp_am_send_nbx)* am_send_nbx;
  decltype(::ucp_am_recv_data_nbx)* am_recv_data_nbx;
  decltype(::ucp_am_data_release)* am_data_release;
  decltype(::ucp_request_free)* request_free;
  decltype(::ucs_status_string)* status_string;
};

}  // namespace troupe
