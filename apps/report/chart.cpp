#include "apps/report/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "apps/report/axis.h"
#include "apps/report/html.h"

namespace troupe::report {
namespace {

// The drawing, in pixels.
constexpr double width = 560, height = 300, left = 62, right = 16, top = 34, bottom = 44;
/// The most points of a line, and the most of them that can be hovered over.
constexpr size_t most_points = 800, most_hovered = 250;
constexpr int colours = 6;

struct Bounds {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  bool empty() const { return low > high; }
};

bool is_finite(const Point& point) { return std::isfinite(point.x) && std::isfinite(point.y); }

/// Returns every n-th point and the last one, so that they are at most one more than `most`.
std::vector<Point> thinned(const std::vector<Point>& points, size_t most) {
  const size_t stride = (points.size() + most - 1) / most;
  if (stride <= 1) return points;
  std::vector<Point> kept;
  for (size_t i = 0; i < points.size(); i += stride) kept.push_back(points[i]);
  if ((points.size() - 1) % stride != 0) kept.push_back(points.back());
  return kept;
}

std::string mark_text(double value) {
  return std::abs(value) < 1e-12  ? "0"
         : std::abs(value) >= 1e5 ? fmt::format("{:.3g}", value)
                                  : fmt::format("{:.6g}", value);
}

/// A chart that is being drawn.
class Drawing {
 public:
  Drawing(const Labels& labels, const Axis& x, const Axis& y) : x_(x), y_(y) {
    fmt::format_to(out(), R"(<svg class="chart" viewBox="0 0 {:.0f} {:.0f}" role="img" aria-label="{}">)",
                   width, height, html(labels.chart));
    fmt::format_to(out(), R"(<text class="title" x="{:.0f}" y="18">{}</text>)", left, html(labels.chart));
    for (const double mark : y.marks()) {
      fmt::format_to(out(), R"(<line class="grid" x1="{:.0f}" x2="{:.0f}" y1="{:.1f}" y2="{:.1f}"/>)", left,
                     width - right, y.at(mark), y.at(mark));
      fmt::format_to(out(), R"(<text class="mark" x="{:.0f}" y="{:.1f}" text-anchor="end">{}</text>)",
                     left - 7, y.at(mark) + 4, mark_text(mark));
    }
    for (const double mark : x.marks())
      fmt::format_to(out(), R"(<text class="mark" x="{:.1f}" y="{:.0f}" text-anchor="middle">{}</text>)",
                     x.at(mark), height - bottom + 17, mark_text(mark));
    fmt::format_to(out(), R"(<line class="axis" x1="{:.0f}" x2="{:.0f}" y1="{:.0f}" y2="{:.0f}"/>)", left,
                   width - right, height - bottom, height - bottom);
    fmt::format_to(out(), R"(<text class="name" x="{:.0f}" y="{:.0f}" text-anchor="middle">{}</text>)",
                   (left + width - right) / 2, height - 8, html(labels.x));
    fmt::format_to(
        out(),
        R"svg(<text class="name" transform="translate(14 {:.0f}) rotate(-90)" text-anchor="middle">{}</text>)svg",
        (top + height - bottom) / 2, html(labels.y));
  }
  void line(const std::vector<Point>& points, size_t colour) {
    std::string path;
    bool apart = true;  // the next point begins a new piece of the line
    for (const Point& point : thinned(points, most_points)) {
      if (is_finite(point))
        fmt::format_to(std::back_inserter(path), "{}{:.1f} {:.1f}", apart ? 'M' : 'L', x_.at(point.x),
                       y_.at(point.y));
      apart = !is_finite(point);
    }
    fmt::format_to(out(), R"(<path class="line s{}" d="{}"/>)", colour % colours, path);
  }
  void dot(const Point& point, size_t colour, const char* what, const std::string& title) {
    fmt::format_to(out(),
                   R"(<circle class="{} s{}" cx="{:.1f}" cy="{:.1f}" r="2.5"><title>{}</title></circle>)",
                   what, colour % colours, x_.at(point.x), y_.at(point.y), html(title));
  }
  void bar(double from, double to, double value, const std::string& title) {
    const double x = x_.at(from), base = y_.at(0);
    fmt::format_to(
        out(),
        R"(<rect class="bar s0" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"><title>{}</title></rect>)",
        x + 0.5, y_.at(value), std::max(1.0, x_.at(to) - x - 1), base - y_.at(value), html(title));
  }
  void diagonal() {
    const double from = std::max(x_.low(), y_.low()), to = std::min(x_.high(), y_.high());
    if (from < to)
      fmt::format_to(out(), R"(<line class="diagonal" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>)",
                     x_.at(from), y_.at(from), x_.at(to), y_.at(to));
  }
  void legend(const std::vector<Series>& series) {
    double x = width - right;
    for (size_t i = series.size(); i-- > 0;) {
      constexpr double per_letter = 7, around = 26;
      x -= per_letter * static_cast<double>(series[i].name.size()) + around;
      fmt::format_to(out(), R"(<line class="line s{}" x1="{:.0f}" x2="{:.0f}" y1="14" y2="14"/>)",
                     i % colours, x, x + 14);
      fmt::format_to(out(), R"(<text class="mark" x="{:.0f}" y="18">{}</text>)", x + 18,
                     html(series[i].name));
    }
  }
  std::string finish() && { return std::move(text_) + "</svg>"; }

 private:
  std::back_insert_iterator<std::string> out() { return std::back_inserter(text_); }

  std::string text_;
  const Axis &x_, &y_;
};

Axis horizontal(const Bounds& bounds) { return {bounds.low, bounds.high, left, width - right}; }
Axis vertical(const Bounds& bounds, Axis::Scale scale = Axis::Scale::Linear) {
  return {bounds.low, bounds.high, height - bottom, top, scale};
}

std::string nothing_to_draw(const Labels& labels) {
  return "<p class=\"missing\">" + html(labels.chart) + ": no value is a finite number.</p>";
}

}  // namespace

std::string line_chart(const Labels& labels, const std::vector<Series>& series) {
  Bounds xs, ys;
  for (const Series& one : series)
    for (const Point& point : one.points) {
      if (!is_finite(point)) continue;
      xs.add(point.x);
      ys.add(point.y);
    }
  if (xs.empty()) return nothing_to_draw(labels);
  constexpr double much = 50;
  const bool is_logarithmic = ys.low > 0 && ys.high > much * ys.low;
  constexpr double margin = 1.1;
  if (is_logarithmic) ys = {ys.low / margin, ys.high * margin};
  const Axis x = horizontal(xs),
             y = vertical(ys, is_logarithmic ? Axis::Scale::Logarithmic : Axis::Scale::Linear);
  Labels named = labels;
  if (is_logarithmic) named.y += " (logarithmic)";
  Drawing drawing(named, x, y);
  for (size_t i = 0; i < series.size(); ++i) {
    drawing.line(series[i].points, i);
    const bool is_short = series[i].points.size() < 3;  // no line shows where the points are
    for (const Point& point : thinned(series[i].points, most_hovered))
      if (is_finite(point))
        drawing.dot(point, i, is_short ? "spot" : "dot",
                    fmt::format("{}\n{} {}: {}", series[i].name, labels.x, short_number(point.x),
                                short_number(point.y)));
  }
  drawing.legend(series);
  return std::move(drawing).finish();
}

std::string scatter_chart(const Labels& labels, const std::vector<Point>& points) {
  Bounds xs, ys;
  for (const Point& point : points) {
    if (!is_finite(point)) continue;
    xs.add(point.x);
    ys.add(point.y);
  }
  if (xs.empty()) return nothing_to_draw(labels);
  const Axis x = horizontal(xs), y = vertical(ys);
  Drawing drawing(labels, x, y);
  drawing.diagonal();
  for (const Point& point : points)
    if (is_finite(point)) drawing.dot(point, 0, "spot", point.title);
  return std::move(drawing).finish();
}

std::string histogram(const Labels& labels, const std::vector<double>& values) {
  Bounds bounds;
  size_t finite = 0;
  for (const double value : values)
    if (std::isfinite(value)) {
      bounds.add(value);
      ++finite;
    }
  if (bounds.empty()) return nothing_to_draw(labels);
  const Axis x = horizontal(bounds);
  const auto bins = static_cast<size_t>(std::clamp(2 * std::sqrt(static_cast<double>(finite)), 1.0, 30.0));
  std::vector<size_t> counts(bins);
  const double size = (x.high() - x.low()) / static_cast<double>(bins);
  for (const double value : values)
    if (std::isfinite(value))
      ++counts[std::min(bins - 1, static_cast<size_t>(std::max(0.0, (value - x.low()) / size)))];
  const Axis y = vertical({0, static_cast<double>(std::ranges::max(counts))});
  Drawing drawing(labels, x, y);
  for (size_t i = 0; i < bins; ++i) {
    if (counts[i] == 0) continue;
    const double from = x.low() + size * static_cast<double>(i);
    drawing.bar(from, from + size, static_cast<double>(counts[i]),
                fmt::format("{} to {}: {}", short_number(from), short_number(from + size), counts[i]));
  }
  return std::move(drawing).finish();
}

}  // namespace troupe::report
