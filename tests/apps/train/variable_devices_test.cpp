// Where the variables of a training are: wherever their ops run best in one process, and on the CPUs of their tasks if several
// sessions use them.
#include <boost/test/unit_test.hpp>

#include "apps/train/graphs/training_graph.h"
#include "messages/env/real_disk.h"
#include "tests/support/ops/op_library.h"
#include "tests/support/project_files.h"

namespace troupe::train::variable_devices_test {
namespace {

/// Returns the devices that the variables of digits.toml request.
std::vector<std::string> devices(const std::map<std::string, int64_t>& processes) {
  RealDisk disk;
  auto config = value_or_throw(
      config::load_run_config(disk, test::project_path("examples/digits.toml"), {}, test::op_library()->ops));
  if (!processes.empty()) config.use_tasks(processes, true);
  const data::Dataset data({{"image", value_or_throw(Tensor::allocate(DType::Float, Shape{1, 64}))},
                            {"label", value_or_throw(Tensor::allocate(DType::Int32, Shape{1}))}});
  Graph graph(test::op_library()->ops);
  const auto model = value_or_throw(build_training_graph(config, data, graph));
  std::vector<std::string> result;
  for (const Output& variable : model.variables)
    if (const Node& node = graph.node(variable.node); node.colocate_with.empty())
      result.push_back(node.device);
  BOOST_TEST(result.size() >= 4u);
  return result;
}

BOOST_AUTO_TEST_SUITE(variable_devices)

BOOST_AUTO_TEST_CASE(in_one_process_they_may_be_on_a_gpu) {
  for (const std::string& device : devices({})) BOOST_TEST(device.find("CPU") == device.npos, device);
}

BOOST_AUTO_TEST_CASE(in_several_processes_they_are_on_cpus) {
  for (const std::map<std::string, int64_t>& tasks :
       {std::map<std::string, int64_t>{{"ps", 1}, {"worker", 2}}, {{"worker", 2}}})
    for (const std::string& device : devices(tasks)) BOOST_TEST(device.ends_with("CPU:0"), device);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::train::variable_devices_test
