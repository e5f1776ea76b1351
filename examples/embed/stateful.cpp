// The smallest program with state: the variable y is part of the graph, and every step adds to it. Prints 3, 7, 15.
#include <troupe/troupe.h>
#include <iostream>

int main() try {
  troupe::Runtime runtime;
  troupe::Graph graph{runtime.ops()};
  const troupe::Scope g{graph};

  const auto x = ones(g, {10}), y = variable(g, ones(g, {10}), "y");
  const auto z = add(g, x, y);
  const auto update = assign_add(g, y, z);

  auto session = runtime.session(graph);
  session.run({initializer(g)});
  for (int i = 0; i < 3; ++i) std::cout << session.run({update})[0].as<float>()[0] << '\n';
} catch (const troupe::Error& error) {
  std::cerr << error.what() << '\n';
  return error.exit_code();
}
