#include "apps/interop/attr_value.h"

#include "apps/interop/tensor_proto.h"

namespace troupe::interop {
namespace {

using List = AttrValue::ListValue;

template <class T>
Result<troupe::AttrValue> as_attr(Result<T> value) {
  if (!value) return std::move(value).status();
  return troupe::AttrValue(std::move(*value));
}

Result<FunctionName> read_function(const NameAttrList& proto) {
  if (proto.attr_size() != 0)
    return unimplemented("it names a function with attributes, which is not available");
  return FunctionName{proto.name()};
}

template <class T, class Values, class Convert>
Result<troupe::AttrValue> read_list(const Values& protos, Convert convert) {
  std::vector<T> values;
  values.reserve(static_cast<size_t>(protos.size()));
  for (const auto& proto : protos) {
    Result<T> value = convert(proto);
    if (!value) return std::move(value).status();
    values.push_back(std::move(*value));
  }
  return troupe::AttrValue(std::move(values));
}

template <class T, class Values>
Result<troupe::AttrValue> copy_list(const Values& values) {
  return troupe::AttrValue(std::vector<T>(values.begin(), values.end()));
}

/// Returns the kind of a list, which follows from its elements. An empty list is of any kind, so of the expected one.
AttrKind kind_of(const List& list, AttrKind expected) {
  const std::pair<int, AttrKind> fields[] = {
      {list.s_size(), AttrKind::Strings},      {list.i_size(), AttrKind::Ints},
      {list.f_size(), AttrKind::Floats},       {list.b_size(), AttrKind::Bools},
      {list.type_size(), AttrKind::Types},     {list.shape_size(), AttrKind::Shapes},
      {list.tensor_size(), AttrKind::Tensors}, {list.func_size(), AttrKind::Functions}};
  for (const auto& [size, kind] : fields)
    if (size != 0 && kind != expected) return kind;
  return expected;
}

/// Returns the name of the kind of a value; empty if there is no value, or only a placeholder that was not resolved.
std::string_view kind_name(const AttrValue& proto, AttrKind expected) {
  switch (proto.value_case()) {
    case AttrValue::kS: return name(AttrKind::String);
    case AttrValue::kI: return name(AttrKind::Int);
    case AttrValue::kF: return name(AttrKind::Float);
    case AttrValue::kB: return name(AttrKind::Bool);
    case AttrValue::kType: return name(AttrKind::Type);
    case AttrValue::kShape: return name(AttrKind::Shape);
    case AttrValue::kTensor: return name(AttrKind::Tensor);
    case AttrValue::kFunc: return name(AttrKind::Function);
    case AttrValue::kList:
      return expected < AttrKind::Strings ? "list" : name(kind_of(proto.list(), expected));
    default: return {};
  }
}

Result<troupe::AttrValue> read_list_attr(const List& list, AttrKind kind, uint64_t& constant_bytes) {
  switch (kind) {
    case AttrKind::Strings: return copy_list<std::string>(list.s());
    case AttrKind::Ints: return copy_list<int64_t>(list.i());
    case AttrKind::Floats: return copy_list<float>(list.f());
    case AttrKind::Bools: return copy_list<bool>(list.b());
    case AttrKind::Types:
      return read_list<DType>(list.type(), [](int type) { return read_dtype(static_cast<DataType>(type)); });
    case AttrKind::Shapes: return read_list<PartialShape>(list.shape(), read_shape);
    case AttrKind::Tensors:
      return read_list<Tensor>(
          list.tensor(), [&](const TensorProto& tensor) { return read_tensor(tensor, constant_bytes); });
    default: return read_list<FunctionName>(list.func(), read_function);
  }
}

class AttrWriter {
 public:
  explicit AttrWriter(AttrValue& proto) : proto_(proto) {}

  void operator()(const std::string& value) { proto_.set_s(value); }
  void operator()(int64_t value) { proto_.set_i(value); }
  void operator()(float value) { proto_.set_f(value); }
  void operator()(bool value) { proto_.set_b(value); }
  void operator()(DType value) { proto_.set_type(write_dtype(value)); }
  void operator()(const PartialShape& value) { write_shape(value, *proto_.mutable_shape()); }
  void operator()(const Tensor& value) { write_tensor(value, *proto_.mutable_tensor()); }
  void operator()(const FunctionName& value) { proto_.mutable_func()->set_name(value.name); }
  template <class T>
  void operator()(const std::vector<T>& values) {
    List& list = *proto_.mutable_list();
    for (const T& value : values) add(list, value);
  }

 private:
  static void add(List& list, const std::string& value) { list.add_s(value); }
  static void add(List& list, int64_t value) { list.add_i(value); }
  static void add(List& list, float value) { list.add_f(value); }
  static void add(List& list, bool value) { list.add_b(value); }
  static void add(List& list, DType value) { list.add_type(write_dtype(value)); }
  static void add(List& list, const PartialShape& value) { write_shape(value, *list.add_shape()); }
  static void add(List& list, const Tensor& value) { write_tensor(value, *list.add_tensor()); }
  static void add(List& list, const FunctionName& value) { list.add_func()->set_name(value.name); }

  AttrValue& proto_;
};

}  // namespace

Result<troupe::AttrValue> read_attr(const AttrValue& proto, AttrKind kind, uint64_t& constant_bytes) {
  const std::string_view given = kind_name(proto, kind);
  if (given.empty())
    return invalid_argument(proto.has_placeholder() ? "it stands for attribute '" + proto.placeholder() +
                                                          "' of the function call, which does not exist"
                                                    : "it has no value");
  if (given != name(kind))
    return invalid_argument("it is of kind " + std::string(given) + ", expected " + std::string(name(kind)));
  switch (kind) {
    case AttrKind::String: return troupe::AttrValue(proto.s());
    case AttrKind::Int: return troupe::AttrValue(int64_t{proto.i()});
    case AttrKind::Float: return troupe::AttrValue(proto.f());
    case AttrKind::Bool: return troupe::AttrValue(proto.b());
    case AttrKind::Type: return as_attr(read_dtype(proto.type()));
    case AttrKind::Shape: return as_attr(read_shape(proto.shape()));
    case AttrKind::Tensor: return as_attr(read_tensor(proto.tensor(), constant_bytes));
    case AttrKind::Function: return as_attr(read_function(proto.func()));
    default: return read_list_attr(proto.list(), kind, constant_bytes);
  }
}

std::string describe(const AttrValue& proto) {
  constexpr size_t max_length = 80;
  std::string text = proto.ShortDebugString();
  if (text.size() > max_length) text.replace(max_length, std::string::npos, "...");
  return text.empty() ? "empty" : text;
}

void write_attr(const troupe::AttrValue& value, AttrValue& proto) { std::visit(AttrWriter(proto), value); }

}  // namespace troupe::interop
