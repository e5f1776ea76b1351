#include "apps/config/windows.h"

#include "kernels/constructors.h"

namespace troupe::config {
namespace {

/// Returns `columns`, each but the label changed by `change`, if the options have a window.
template <class Change>
Columns changed(const data::Options& options, const Columns& columns, Change change) {
  if (!options.window) return columns;
  const std::string label = data::label_input(options);
  Columns result = columns;
  for (auto& [name, value] : result)
    if (name != label) value = change(name, value);
  return result;
}

/// Returns the dimensions of a value with other ones in place of its first `replaced` ones.
std::vector<int64_t> with_leading(std::vector<int64_t> leading, const PartialShape& shape, size_t replaced) {
  for (const int64_t dim : shape.dims().subspan(replaced)) leading.push_back(dim);
  return leading;
}

}  // namespace

Columns samples_of_windows(const data::Options& options, const Scope& scope, const Columns& columns) {
  return changed(options, columns, [&](const std::string& name, Output value) {
    return reshape(scope.with_prefix(name), value,
                   Argument(with_leading({unknown_dim}, scope.shape(value), 2)));
  });
}

Columns windows_of_samples(const data::Options& options, const Scope& scope, const Columns& columns) {
  return changed(options, columns, [&](const std::string& name, Output value) {
    return reshape(scope.with_prefix(name), value,
                   Argument(with_leading({unknown_dim, options.window->length}, scope.shape(value), 1)));
  });
}

Columns placeholders_of_windows(const data::Options& options, const Scope& scope, const Columns& columns) {
  return changed(options, columns, [&](const std::string& name, Output value) {
    const PartialShape shape(with_leading({unknown_dim, options.window->length}, scope.shape(value), 1));
    return scope.with_name(name).add_one("Placeholder", {},
                                         {{"dtype", scope.dtype(value)}, {"shape", shape}});
  });
}

}  // namespace troupe::config
