// NodeCosts: estimates of how long nodes take on devices, and how long tensors take between them, for placement (white paper,
// section 3.2.1). A time that was measured comes before one that follows from the shapes; one that was measured on another type of
// device is scaled. A dimension that is not known counts as 32. The speeds of devices and connections are rough, because placement
// compares times only. Plain values; any thread.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/build/graph.h"
#include "graph/passes/place/placer.h"

namespace troupe {

/// Times of nodes that steps have measured: the mean seconds of a run by the node's name, for each type of device.
class MeasuredTimes {
 public:
  void add(const std::string& node, const std::string& device_type, double seconds, uint64_t runs);
  struct Mean {
    std::string_view device_type;
    double seconds;
  };
  /// Returns the mean on this type of device or, if nothing was measured there, on another one.
  std::optional<Mean> mean(const std::string& node, std::string_view device_type) const;

 private:
  struct Sum {
    double seconds = 0;
    uint64_t runs = 0;
  };
  std::map<std::string, std::map<std::string, Sum, std::less<>>> times_;
};

class NodeCosts {
 public:
  /// `graph` and `devices` must outlive this object, and so must `measured`, which may be null.
  NodeCosts(const Graph& graph, std::span<const DeviceInfo> devices, const MeasuredTimes* measured)
      : graph_(graph), devices_(devices), measured_(measured) {}

  /// Returns whether the node computes nothing wherever it runs: it has a value already, or passes one on.
  bool is_free(NodeId node) const;
  /// Returns the seconds of one run of the node.
  double seconds(NodeId node, DeviceId device) const;
  double bytes(Output output) const;
  static double bytes(DType dtype, const PartialShape& shape);
  /// Returns the seconds that a tensor takes from one device to another.
  double transfer_seconds(double bytes, DeviceId from, DeviceId to) const;

 private:
  double elements(Output output) const;
  double estimate(const Node& node, std::string_view device_type) const;
  double multiply_adds(const Node& node) const;

  const Graph& graph_;
  std::span<const DeviceInfo> devices_;
  const MeasuredTimes* measured_;
};

}  // namespace troupe
