#include "apps/observe/model_drawing.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "apps/draw/dot.h"
#include "apps/draw/draw_command.h"

namespace troupe::observe {
namespace {

constexpr size_t max_nodes = 300;  // a drawing of more takes dot many seconds

void draw(const std::string& text, const std::string& folder, RunMonitor& monitor) {
  const std::string file = folder + "/.model.dot";
  std::ofstream(file) << text;
  for (const std::string& picture : draw::make_pictures({file})) {
    std::ifstream svg(picture);
    monitor.set_drawing({std::istreambuf_iterator<char>(svg), {}});
    std::error_code ignored;
    std::filesystem::remove(picture, ignored);
  }
  std::error_code ignored;
  std::filesystem::remove(file, ignored);
}

}  // namespace

ModelDrawing::ModelDrawing(const Graph& model, const std::string& folder, RunMonitor& monitor) {
  if (model.size() > max_nodes) return;
  thread_ = std::thread([text = draw::dot(model), folder, &monitor] { draw(text, folder, monitor); });
}

ModelDrawing::~ModelDrawing() {
  if (thread_.joinable()) thread_.join();
}

}  // namespace troupe::observe
