// Stands for ucx_network.cpp in a program that is built without UCX.
#include "actors/net/transport/ucx_network.h"

namespace troupe {

bool has_ucx() { return false; }

Result<UcxNetwork> make_ucx_network(boost::asio::io_context&, std::unique_ptr<Network>) {
  return failed_precondition(
      "this program was built without UCX: it needs the package libucx-dev and the CMake option "
      "TROUPE_UCX=ON");
}

}  // namespace troupe
