// Handles of tensors that a session keeps between steps: "GetSessionHandle", "GetSessionTensor", "DeleteSessionTensor".
#include <boost/test/unit_test.hpp>

#include "actors/runtime.h"
#include "actors/step/session.h"
#include "graph/build/scope.h"
#include "tests/support/failure_of.h"

namespace troupe::session_tensors_test {
namespace {

struct Fixture {
  Runtime runtime{{.threads = 2, .tasks = {{"ps", 0, 1}, {"worker", 0, 2}}}};
  Graph graph{runtime.ops()};
  Scope g{graph};
  Scope there = g.with_device("/job:worker/device:CPU:1");
  const Output x =
      g.add_one("Placeholder", {}, {{"dtype", DType::Float}, {"shape", PartialShape{unknown_dim}}});
  const Output doubled = there.add_one("Add", {x, x});
  const Output keep = g.with_name("keep").add_one("GetSessionHandle", {doubled});
  const Output handle =
      g.add_one("Placeholder", {}, {{"dtype", DType::String}, {"shape", PartialShape::scalar()}});
  const Output here =
      g.with_device("/job:ps").add_one("GetSessionTensor", {handle}, {{"dtype", DType::Float}});
  const Output as_int = g.add_one("GetSessionTensor", {handle}, {{"dtype", DType::Int32}});
  const Output remove{g.add("DeleteSessionTensor", {handle}), Output::control};

  Tensor kept(Session& session, float value) const {
    return session.run({{x, Tensor::of<float>(Shape{1}, {value})}}, {keep}).at(0);
  }
  float got(Session& session, const Tensor& which) const {
    return session.run({{handle, which}}, {here}).at(0).as<float>()[0];
  }
  void check_refused(Session& session, const Tensor& which, Output what, const std::string& reason) const {
    const Status status = test::failure_of([&] { session.run({{handle, which}}, {what}); });
    BOOST_TEST((status.code() == Code::InvalidArgument), status.message());
    BOOST_TEST(status.text().find(reason) != std::string::npos, status.message());
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(session_tensors, Fixture)

BOOST_AUTO_TEST_CASE(a_tensor_stays_where_it_was_computed_and_is_found_from_any_device) {
  Session session = runtime.session(graph);
  const Tensor one = kept(session, 1), two = kept(session, 2);
  const std::string text = one.as<std::string>()[0];
  BOOST_TEST(text.starts_with("keep;"));
  BOOST_TEST(text.ends_with(";/job:worker/replica:0/task:0/device:CPU:1"));
  for (int i = 0; i < 2; ++i) {
    BOOST_TEST(got(session, one) == 2.0f);
    BOOST_TEST(got(session, two) == 4.0f);
  }
}

BOOST_AUTO_TEST_CASE(a_deleted_tensor_is_gone_and_its_handle_is_not_used_again) {
  Session session = runtime.session(graph);
  const Tensor one = kept(session, 1);
  session.run({{handle, one}}, {remove});
  const Tensor two = kept(session, 2);
  check_refused(session, one, here, "is not in the session store");
  check_refused(session, one, remove, "is not in the session store");
  BOOST_TEST(got(session, two) == 4.0f);
}

BOOST_AUTO_TEST_CASE(a_handle_is_good_for_its_session_and_its_dtype) {
  Session session = runtime.session(graph), other = runtime.session(graph);
  const Tensor one = kept(session, 1);
  check_refused(other, one, here, "belongs to another session");
  check_refused(session, one, as_int, "is that of a float[1], but this node yields int32");
}

BOOST_AUTO_TEST_CASE(what_is_no_handle_is_refused) {
  Session session = runtime.session(graph);
  const std::string good = kept(session, 1).as<std::string>()[0];
  const size_t first = good.find(';'), last = good.rfind(';');
  const std::string numbers = good.substr(first, last - first);
  const std::string long_one(1 << 20, 'x');
  for (const std::string& text : {std::string(), std::string("keep"), std::string(";;"), good + "x",
                                  ';' + good, good.substr(0, first) + ";1.2" + good.substr(last),
                                  good.substr(0, first) + ";-1.2.3" + good.substr(last),
                                  good.substr(0, first) + ";99999999999999999999.2.3" + good.substr(last),
                                  good.substr(0, last) + ";nowhere", long_one}) {
    const Status status = test::failure_of([&] { session.run({{handle, Tensor::scalar(text)}}, {here}); });
    BOOST_TEST(!status.ok(), text.substr(0, 100));
    BOOST_TEST(status.message().size() < 1000u);
  }
  BOOST_TEST(got(session, Tensor::scalar(good)) == 2.0f);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::session_tensors_test
