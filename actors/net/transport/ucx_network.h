// UcxNetwork: connections through UCX, over whatever it finds: RDMA, TCP, the memory of a host; and those of another network. Two
// nodes always meet on the other network. When they have identified each other there, the node that listens offers its address in
// UCX, and a token. What travels through UCX is not encrypted. Used on the thread that runs the io_context.
#pragma once

#include <memory>

#include "actors/engine/polled.h"
#include "messages/env/network.h"

namespace boost::asio {
class io_context;
}

namespace troupe {

/// Whether this program was built with UCX.
bool has_ucx();

/// A network, and what a thread that spins asks whether something has arrived.
struct UcxNetwork {
  std::unique_ptr<Network> network;
  std::shared_ptr<Polled> polled;
};

/// Makes a network on a thread that may wait. The io_context must outlive it and its connections. Fails with FailedPrecondition if
/// this program was built without UCX, or does not find its library, and with Unavailable if UCX finds no device to use.
Result<UcxNetwork> make_ucx_network(boost::asio::io_context& io, std::unique_ptr<Network> others);

}  // namespace troupe
