#include "tests/op_fuzz/op_sample.h"

#include <algorithm>
#include <cstring>

#include "tests/op_fuzz/random_values.h"

namespace troupe::fuzz {
namespace {

bool is_variadic(const ArgDef& argument) {
  return !argument.number_attr.empty() || !argument.type_list_attr.empty();
}

/// Makes changes to a sample, each by the choices.
class Mutation {
 public:
  Mutation(OpSample& sample, Choices& choices) : sample_(sample), choices_(choices) { gather_sizes(); }

  void run() {
    // A quarter of the samples keep their values; only what the graph knows of them changes.
    for (uint64_t changes = choices_.below(5); changes > 0; --changes) change();
    for (size_t i = 0; i < sample_.inputs.size(); ++i) sample_.known.push_back(knowledge(i));
  }

 private:
  static constexpr DType element_types[] = {DType::Float, DType::Double, DType::Int32,     DType::Int64,
                                            DType::Bool,  DType::String, DType::Complex64, DType::Half,
                                            DType::UInt8, DType::Int8,   DType::BFloat16,  DType::UInt64};

  void gather_sizes() {
    sizes_.clear();
    for (const Tensor& input : sample_.inputs)
      for (const int64_t dim : input.shape().dims())
        if (std::ranges::find(sizes_, dim) == sizes_.end()) sizes_.push_back(dim);
  }

  void change() {
    switch (choices_.below(12)) {
      case 0:
      case 1:
      case 2: change_attribute(); break;
      case 3:
      case 4:
      case 5: change_elements(); break;
      case 6: change_shape(); break;
      case 7:
      case 8: change_size(); break;
      case 9: change_all_types(); break;
      case 10: change_one_type(); break;
      default: change_arity(); break;
    }
    gather_sizes();
  }

  /// Returns one of the inputs, or null if there are none.
  Tensor* input() {
    return sample_.inputs.empty() ? nullptr : &sample_.inputs[choices_.below(sample_.inputs.size())];
  }

  void change_attribute() {
    const auto& attrs = sample_.op->attrs;
    if (attrs.empty()) return change_elements();
    const AttrDef& attr = choices_.pick(attrs);
    if (choices_.once_in(24)) return sample_.attrs.erase(attr.name);
    const AttrValue* const old = sample_.attrs.find(attr.name);
    const AttrValue* const start = old ? old : attr.default_value ? &*attr.default_value : nullptr;
    sample_.attrs.set(attr.name, random_attribute(choices_, attr, start, sizes_));
  }

  void change_elements() {
    Tensor* const tensor = input();
    if (!tensor || tensor->elements() == 0) return;
    *tensor = tensor->copy();
    for (uint64_t changes = 1 + choices_.below(3); changes > 0; --changes)
      set_random_element(choices_, *tensor, sizes_);
  }

  /// Gives an input another shape, with as many elements or with others.
  void change_shape() {
    Tensor* const tensor = input();
    if (!tensor) return;
    const auto old = tensor->shape().dims();
    std::vector<int64_t> dims(old.begin(), old.end());
    switch (choices_.below(6)) {
      case 0: dims.insert(dims.begin() + static_cast<long>(choices_.below(dims.size() + 1)), 1); break;
      case 1:
        if (!dims.empty()) dims.erase(dims.begin() + static_cast<long>(choices_.below(dims.size())));
        break;
      case 2: dims.assign(1, tensor->elements()); break;
      case 3: std::ranges::reverse(dims); break;
      case 4: dims.clear(); break;
      default: {
        const Shape shape = random_shape(choices_, tensor->dtype(), sizes_);
        dims.assign(shape.dims().begin(), shape.dims().end());
      }
    }
    resize(*tensor, dims);
  }

  /// Changes one size wherever it occurs among the dimensions, and sometimes among the values, so that shapes still agree.
  void change_size() {
    if (sizes_.empty()) return;
    const int64_t from = choices_.pick(sizes_);
    int64_t to = static_cast<int64_t>(choices_.below(20));
    if (choices_.once_in(12)) to = int64_t{1} << choices_.below(40);  // for tensors without elements
    const auto replaced = [&](const Tensor& tensor) {
      std::vector<int64_t> dims(tensor.shape().dims().begin(), tensor.shape().dims().end());
      std::ranges::replace(dims, from, to);
      return dims;
    };
    for (const Tensor& tensor : sample_.inputs)
      if (!is_small(tensor.dtype(), replaced(tensor))) return;
    const bool values_too = choices_.once_in(2);
    for (Tensor& tensor : sample_.inputs) {
      resize(tensor, replaced(tensor));
      if (values_too) replace_values(tensor, from, to);
    }
  }

  static void replace_values(Tensor& tensor, int64_t from, int64_t to) {
    if (tensor.dtype() != DType::Int32 && tensor.dtype() != DType::Int64) return;
    tensor = tensor.copy();
    if (tensor.dtype() == DType::Int64)
      std::ranges::replace(tensor.write<int64_t>(), from, to);
    else
      std::ranges::replace(tensor.write<int32_t>(), static_cast<int32_t>(from), static_cast<int32_t>(to));
  }

  /// Gives a tensor another shape and repeats its elements as far as needed.
  void resize(Tensor& tensor, const std::vector<int64_t>& dims) {
    if (!is_small(tensor.dtype(), dims)) return;
    const Shape shape = value_or_throw(Shape::make(dims, tensor.dtype()));
    const DType dtype = tensor.dtype();
    if (tensor.elements() == 0 || shape.elements() == 0 || dtype == DType::Variant) {
      tensor = random_tensor(choices_, dtype, shape, sizes_);
      return;
    }
    Tensor result = value_or_throw(Tensor::allocate(dtype, shape));
    for (int64_t i = 0; i < shape.elements(); ++i) copy_element(tensor, i % tensor.elements(), result, i);
    tensor = std::move(result);
  }

  static void copy_element(const Tensor& from, int64_t source, Tensor& to, int64_t target) {
    const auto read = static_cast<size_t>(source), write = static_cast<size_t>(target);
    const size_t bytes = size_of(from.dtype());
    if (from.dtype() == DType::String)
      to.write<std::string>()[write] = from.as<std::string>()[read];
    else
      std::memcpy(to.mutable_data() + write * bytes, from.data() + read * bytes, bytes);
  }

  /// Converts every input of one dtype to another dtype, and the attributes that name it.
  void change_all_types() {
    const Tensor* const first = input();
    if (!first) return;
    const DType from = first->dtype(), to = choices_.pick(element_types);
    for (Tensor& tensor : sample_.inputs)
      if (tensor.dtype() == from) convert(tensor, to);
    for (const AttrDef& attr : sample_.op->attrs)
      if (const AttrValue* const value = sample_.attrs.find(attr.name); value && equal(*value, from))
        sample_.attrs.set(attr.name, to);
  }

  void change_one_type() {
    Tensor* const tensor = input();
    if (tensor) convert(*tensor, choices_.pick(element_types));
  }

  void convert(Tensor& tensor, DType to) {
    const bool converts = is_number(tensor.dtype()) || tensor.dtype() == DType::Bool;
    if (converts && is_small(to, tensor.shape().dims()))
      tensor = test::converted(tensor, to);
    else
      tensor = random_tensor(choices_, to, random_shape(choices_, to, sizes_), sizes_);
  }

  void change_arity() {
    auto& inputs = sample_.inputs;
    if (inputs.empty()) return;
    const auto at = static_cast<long>(choices_.below(inputs.size()));
    switch (choices_.below(4)) {
      case 0: inputs.erase(inputs.begin() + at); break;
      case 1: inputs.insert(inputs.begin() + at, inputs[at]); break;
      case 2: std::swap(inputs[at], inputs[choices_.below(inputs.size())]); break;
      default: inputs[at] = inputs[choices_.below(inputs.size())]; break;
    }
  }

  std::optional<PartialShape> knowledge(size_t input) {
    const Shape& shape = sample_.inputs[input].shape();
    switch (choices_.below(5)) {
      case 0:
      case 1: return std::nullopt;
      case 2: return shape;
      case 3: return PartialShape{};
      default: {
        std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
        for (int64_t& dim : dims)
          if (choices_.once_in(2)) dim = unknown_dim;
        return PartialShape(std::move(dims));
      }
    }
  }

  OpSample& sample_;
  Choices& choices_;
  std::vector<int64_t> sizes_;  ///< the dimensions of the inputs
};

/// Makes a sample from the declaration alone.
class Declared {
 public:
  Declared(OpSample& sample, Choices& choices) : sample_(sample), choices_(choices) {}

  void run() {
    for (const AttrDef& attr : sample_.op->attrs)
      if (!attr.default_value || choices_.once_in(3))
        sample_.attrs.set(attr.name, random_attribute(choices_, attr, nullptr, sizes));
    for (const ArgDef& argument : sample_.op->inputs) add(argument);
  }

 private:
  static constexpr int64_t sizes[] = {1, 2, 3, 4};

  DType type_of(const ArgDef& argument) {
    if (argument.type != DType::Invalid) return argument.type;
    const AttrValue* const value = sample_.attrs.find(argument.type_attr);
    const auto* const dtype = value ? std::get_if<DType>(value) : nullptr;
    return dtype ? *dtype : DType::Float;
  }

  void add(const ArgDef& argument) {
    const DType dtype = type_of(argument);
    const uint64_t count = is_variadic(argument) ? choices_.below(4) : 1;
    if (!argument.number_attr.empty()) sample_.attrs.set(argument.number_attr, static_cast<int64_t>(count));
    for (uint64_t i = 0; i < count; ++i)
      sample_.inputs.push_back(random_tensor(choices_, dtype, random_shape(choices_, dtype, sizes), sizes));
    if (!argument.type_list_attr.empty())
      sample_.attrs.set(argument.type_list_attr, std::vector<DType>(count, dtype));
  }

  OpSample& sample_;
  Choices& choices_;
};

bool is_small(const test::OpCase& sample) {
  return std::ranges::all_of(sample.inputs,
                             [](const Tensor& x) { return fuzz::is_small(x.dtype(), x.shape().dims()); });
}

}  // namespace

std::string OpSample::text() const {
  std::string result = op->name;
  for (const auto& [name, value] : attrs) result += "\n  " + name + " = " + troupe::text(value);
  for (size_t i = 0; i < inputs.size(); ++i)
    result += "\n  input " + std::to_string(i) + ": " + test::text_of(inputs[i]) +
              ", known: " + (known[i] ? known[i]->text() : "value");
  return result;
}

const ArgDef* argument_of(const OpDef& op, size_t input, size_t inputs) {
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    const size_t later = op.inputs.size() - i - 1;
    const size_t count = is_variadic(op.inputs[i]) ? inputs - std::min(inputs, later) : 1;
    if (input < count) return &op.inputs[i];
    input -= count;
    inputs -= std::min(inputs, count);
  }
  return nullptr;
}

OpSamples::OpSamples(const test::OpCases& cases) {
  for (const auto& [name, def] : test::op_library()->ops->ops())
    if (def->effect != Effect::Io) add(*def, cases);  // prints would hide what the fuzzer says
}

void OpSamples::add(const OpDef& def, const test::OpCases& cases) {
  Op op{&def, {}, {}};
  for (const test::OpCase& sample : cases.good(def.name))
    if (is_small(sample)) op.good.push_back(&sample);
  for (const test::ServedCase& served : cases.served(def.name)) op.good.push_back(&served.sample);
  for (const test::BadCase& bad : cases.bad(def.name))
    if (is_small(bad.sample)) op.bad.push_back(&bad.sample);
  ops_.push_back(std::move(op));
}

OpSample OpSamples::next(Choices& choices) const {
  const Op& op = choices.pick(ops_);
  OpSample sample{op.def, {}, {}, {}};
  const uint64_t kind = choices.below(16);
  const auto& cases = kind < 3 && !op.bad.empty() ? op.bad : op.good;
  if (kind == 15 || cases.empty()) {
    Declared(sample, choices).run();
  } else {
    const test::OpCase& start = *choices.pick(cases);
    sample.inputs = start.inputs;
    sample.attrs = start.attrs;
  }
  Mutation(sample, choices).run();
  return sample;
}

}  // namespace troupe::fuzz
