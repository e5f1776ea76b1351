// Charts as drawings in SVG, which take their colours from the style sheet of a page. Hovering over a point shows its values.
// Values that are not finite are left out. Pure functions; any thread.
#pragma once

#include <string>
#include <vector>

namespace troupe::report {

struct Point {
  double x = 0, y = 0;
  std::string title = {};  ///< shown when hovering; empty: the values
};

struct Series {
  std::string name;
  std::vector<Point> points;  ///< in the order of x
};

/// The names of a chart and of its axes, as text.
struct Labels {
  std::string chart, x, y;
};

/// Returns lines over a common x axis, with a legend. Values of y that are all positive and differ more
/// than fiftyfold get a logarithmic axis. Long series are thinned out.
std::string line_chart(const Labels& labels, const std::vector<Series>& series);

/// Returns points, and the line on which x and y are equal.
std::string scatter_chart(const Labels& labels, const std::vector<Point>& points);

/// Returns how many of the values lie in each of up to 30 ranges of equal width.
std::string histogram(const Labels& labels, const std::vector<double>& values);

}  // namespace troupe::report
