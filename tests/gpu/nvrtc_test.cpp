// What NVRTC, which needs no GPU, makes of the sources of kernels.
#include <boost/test/unit_test.hpp>

#include "devices/cuda/cuda_libraries.h"
#include "kernels/gpu/compiled.h"
#include "tests/gpu/elementwise_programs.h"

namespace troupe::test::nvrtc_test {
namespace {

std::string source_of_all(const ProgramText& steps, uint32_t args) {
  return gpu::compiled_source(source_of(value_or_throw(parse_program(steps, args))));
}

BOOST_AUTO_TEST_SUITE(nvrtc)

BOOST_AUTO_TEST_CASE(sources_are_compiled_for_all_gpus) {
  const auto compiler = value_or_throw(load_compiler());
  for (const int capability : {75, 80, 86, 89, 90, 100, 120})
    for (const std::string& source :
         {source_of_all(all_unary_functions(), 1), source_of_all(all_binary_functions(), 2)})
      BOOST_TEST(value_or_throw(compile_source(compiler, source, capability)).substr(1, 3) == "ELF");
}

BOOST_AUTO_TEST_CASE(gpus_that_it_does_not_know_get_ptx) {
  const auto compiler = value_or_throw(load_compiler());
  const std::string ptx =
      value_or_throw(compile_source(compiler, source_of_all(all_unary_functions(), 1), 999));
  BOOST_TEST(ptx.find(".target sm_") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::test::nvrtc_test
