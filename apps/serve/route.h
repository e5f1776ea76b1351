// Routes: which model the path of a request is about, and what it asks. A pure function; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "apps/serve/served_model.h"

namespace troupe::serve {

/// What a request asks of a model.
enum class Asked {
  States,  // in TensorFlow Serving's interface
  Metadata,
  Predict,
  Classify,
  Regress,
  Description,  // in the Open Inference Protocol
  Readiness,
  Inference,
};

struct Route {
  std::string model;
  Wanted version;
  Asked what = Asked::States;

  /// Returns whether the model must compute, so that the method is POST.
  bool computes() const {
    return what == Asked::Predict || what == Asked::Classify || what == Asked::Regress ||
           what == Asked::Inference;
  }
};

/// The paths that have routes, for errors.
inline constexpr std::string_view known_routes =
    "/v1/models/NAME[/versions/N|/labels/LABEL][/metadata|:predict|:classify|:regress], "
    "/v2/models/NAME[/versions/N][/ready|/infer]";

/// Returns the route of a path, in which no %XX is left; nothing if it has another form.
std::optional<Route> parse_route(std::string_view path);

}  // namespace troupe::serve
