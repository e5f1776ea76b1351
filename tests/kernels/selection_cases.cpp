// Select, Cast, AddN, ZerosLike and OnesLike, broadcasting by itself.
#include <limits>

#include "tests/kernels/all_cases.h"

namespace troupe::test {
namespace {

constexpr DType plain_types[] = {DType::Float, DType::Double, DType::Half,      DType::BFloat16,
                                 DType::Int32, DType::Int64,  DType::Int8,      DType::UInt8,
                                 DType::Int16, DType::UInt16, DType::Complex64, DType::Complex128,
                                 DType::Bool,  DType::UInt32, DType::UInt64};

void add_select_cases(OpCases& cases) {
  const Tensor a = random_doubles(Shape{3, 2}, 0, 1, 1), b = random_doubles(Shape{3, 2}, 0, 1, 2);
  cases.good("Select", {bools(Shape{3, 2}, {true, false, false, true, true, false}), a, b});
  cases.good("Select", {bools(Shape{3}, {true, false, true}), a, b});
  cases.good("Select", {bools({}, {false}), a, b});
  cases.good("Select", {bools(Shape{2}, {false, true}), strings({"a", "b"}), strings({"c", "d"})});
  cases.good("Select", {bools(Shape{0}, {}), floats(Shape{0, 2}, {}), floats(Shape{0, 2}, {})});
  cases.good_in_every_type("Select", {bools(Shape{3}, {true, false, true}), a, b});
  cases.bad("Select", {bools(Shape{2}, {true, false}), a, b}, {}, "[2]");
  cases.bad("Select", {bools({}, {true}), a, random_doubles(Shape{2, 3}, 0, 1)}, {}, "[2,3]");
  cases.bad("Select", {ints({1}), a, b}, {}, "input condition is int32, expected bool");
}

void add_select_v2_cases(OpCases& cases) {
  const Tensor condition = bools(Shape{3, 1, 1}, {true, false, true}), some = bools(Shape{2}, {false, true});
  const Tensor box = random_doubles(Shape{3, 5, 2}, 1, 9, 1), other = random_doubles(Shape{3, 5, 2}, 1, 9, 2),
               column = random_doubles(Shape{5, 1}, 1, 9, 3), number = doubles({}, {7});
  for (const Tensor& holds : {condition, some, bools({}, {true}), bools({}, {false})}) {
    for (const Tensor& t : {box, column, number})
      for (const Tensor& e : {other, column, number}) cases.good("SelectV2", {holds, t, e});
  }
  cases.good_in_every_type("SelectV2", {condition, box, column});
  cases.good_in_every_type("SelectV2", {some, box, number});
  cases.good("SelectV2", {bools(Shape{0}, {}), number, number});
  cases.good("SelectV2", {bools(Shape{2, 1}, {true, false}), random_doubles(Shape{1, 0}, 0, 1), number});
  cases.bad("SelectV2", {some, random_doubles(Shape{3}, 0, 1), number}, {}, "not broadcast");
  cases.bad("SelectV2", {bools({}, {true}), box, random_doubles(Shape{3}, 0, 1)}, {}, "not broadcast");
  cases.bad("SelectV2", {ints({1}), box, other}, {}, "input condition is int32, expected bool");
}

void add_unique_cases(OpCases& cases) {
  cases.good_in_every_type("Unique", {doubles(Shape{7}, {3, 1, 3, 2, 1, 1, 9})});
  cases.good("Unique", {strings({"b", "a", "b"})}, {{"out_idx", i64}});
  cases.good("Unique", {doubles(Shape{0}, {})});
  cases.bad("Unique", {doubles({}, {1})}, {}, "[]");
  cases.bad("Unique", {doubles(Shape{1, 2}, {1, 2})}, {}, "[1,2]");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  cases.good("Unique", {doubles(Shape{5}, {nan, -0.0, nan, 0.0, 1})});
  cases.good("Unique", {converted(random_doubles(Shape{5001}, 0, 999), i32)});
  cases.good_in_every_type("UniqueWithCounts", {doubles(Shape{7}, {3, 1, 3, 2, 1, 1, 9})});
  cases.good("UniqueWithCounts", {doubles(Shape{0}, {})});
  cases.bad("UniqueWithCounts", {doubles({}, {1})}, {}, "[]");
  const Tensor some = doubles(Shape{3}, {1, 9, 4});
  cases.good_in_every_type("ListDiff", {doubles(Shape{7}, {3, 1, 3, 2, 1, 1, 9}), some});
  cases.good("ListDiff", {doubles(Shape{0}, {}), some});
  cases.good("ListDiff", {some, doubles(Shape{0}, {})});
  cases.good("ListDiff", {doubles(Shape{5}, {nan, -0.0, nan, 7, 1}), doubles(Shape{2}, {nan, 0.0})});
  cases.bad("ListDiff", {doubles({}, {1}), some}, {}, "[]");
  cases.bad("ListDiff", {some, doubles(Shape{1, 2}, {1, 2})}, {}, "[1,2]");
}

void add_cast_cases(OpCases& cases) {
  const Tensor values = random_doubles(Shape{41}, -300, 70000);
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor special = doubles(
      Shape{9}, {nan, inf, -inf, 1e300, -1e300, 2147483648.0, -2147483649.0, 9223372036854775808.0, -0.0});
  for (const DType from : plain_types)
    for (const DType to : plain_types) {
      cases.good("Cast", {converted(values, from)}, {{"DstT", to}});
      cases.good("Cast", {converted(values, from)}, {{"DstT", to}, {"Truncate", true}});
      if (is_floating(from) && to != DType::Double)
        cases.good("Cast", {converted(special, from)}, {{"DstT", to}});
    }
  cases.good("Cast", {random_doubles(Shape{0, 3}, 0, 1)}, {{"DstT", i32}});
  cases.good("Cast", {doubles({}, {3})}, {{"DstT", f64}});
  cases.good("Cast", {converted(random_doubles(Shape{300, 1001}, -9, 9), DType::Float)}, {{"DstT", i32}});
  cases.bad("Cast", {strings({"1"})}, {{"DstT", f32}}, "no kernel serves CPU with DstT: float, SrcT: string",
            Code::NotFound);
}

}  // namespace

void add_selection_cases(OpCases& cases) {
  add_select_cases(cases);
  add_select_v2_cases(cases);
  add_unique_cases(cases);
  add_cast_cases(cases);
  const Tensor x = random_doubles(Shape{2, 3}, -1, 1, 1), y = random_doubles(Shape{2, 3}, -1, 1, 2);
  cases.good("AddN", {x});
  cases.good("AddN", {x, y, y});
  cases.good_in_every_type("AddN", {x, y, x});
  cases.good("AddN", {doubles({}, {1}), doubles({}, {2})});
  cases.good("AddN", {random_doubles(Shape{0, 3}, 0, 1), random_doubles(Shape{0, 3}, 0, 1)});
  const Tensor large = converted(random_doubles(Shape{150000}, -1, 1), DType::Float);
  cases.good("AddN", {large, large, large});
  cases.bad("AddN", {x, random_doubles(Shape{3, 2}, 0, 1)}, {}, "input 1");
  cases.bad("AddN", {}, {}, "attribute N is 0");
  for (const char* op : {"ZerosLike", "OnesLike"}) {
    cases.good_in_every_type(op, {x});
    cases.good(op, {floats(Shape{0}, {})});
    cases.good(op, {doubles({}, {2})});
    cases.good(op, {large});
  }
  cases.bad("ZerosLike", {}, {}, "takes 1 inputs, got 0");
  cases.bad("OnesLike", {strings({"a"})}, {}, "T is string");

  cases.good("BroadcastTo", {x, ints({2, 3})});
  cases.good_in_every_type("BroadcastTo", {random_doubles(Shape{3, 1}, 1, 9), ints({2, 3, 4})});
  cases.good("BroadcastTo", {random_doubles(Shape{1, 5}, 1, 9), ints({3, 5})});
  cases.good("BroadcastTo", {random_doubles(Shape{0, 1}, 1, 9), ints({0, 5})});
  cases.good("BroadcastTo", {doubles({}, {2}), Tensor::vector<int64_t>({3})});
  cases.good("BroadcastTo", {random_doubles(Shape{1, 2}, 0, 1), ints({0, 2})});
  cases.bad("BroadcastTo", {x, ints({3, 2})}, {}, "does not broadcast to [3,2]");
  cases.bad("BroadcastTo", {x, ints({3})}, {}, "does not broadcast to [");
  cases.bad("BroadcastTo", {x, ints({-2, 3})}, {}, "[-2,3]");
  cases.good_in_every_type("BroadcastGradientArgs", {ints({2, 1, 3, 5, 1}), ints({4, 1, 5, 9})});
  cases.good("BroadcastGradientArgs", {ints({2, 3}), ints({2, 3})});
  cases.good("BroadcastGradientArgs", {Tensor::vector<int64_t>({}), Tensor::vector<int64_t>({0, 1})});
  cases.bad("BroadcastGradientArgs", {ints({2, 3}), ints({4})}, {}, "dimensions 3 and 4");
  cases.bad("BroadcastGradientArgs", {ints({-1}), ints({4})}, {}, "s0 has the dimension -1");
  cases.bad("BroadcastGradientArgs", {int_scalar(1), ints({4})}, {}, "s0 of shape []");
}

}  // namespace troupe::test
