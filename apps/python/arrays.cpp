#include "apps/python/arrays.h"

#include <pybind11/numpy.h>

#include <cstring>
#include <map>
#include <utility>

#include "apps/python/borrowed.h"
#include "apps/python/dtypes.h"
#include "apps/python/gil.h"
#include "apps/python/strings.h"
#include "apps/python/values.h"

namespace troupe::python {
namespace py = pybind11;
namespace {

using Api = py::detail::npy_api;

/// Arrays of at most so many bytes are copied, which costs less than keeping a tensor alive.
constexpr size_t small = 512;
constexpr int wanted_flags = Api::NPY_ARRAY_C_CONTIGUOUS_ | Api::NPY_ARRAY_ALIGNED_;

const py::detail::PyArray_Proxy& fields(py::handle array) { return *py::detail::array_proxy(array.ptr()); }

bool is_array(py::handle value) { return Api::get().PyArray_Check_(value.ptr()); }

Shape shape_of(py::handle array, DType dtype) {
  const auto& proxy = fields(array);
  return value_or_throw(Shape::make({proxy.dimensions, static_cast<size_t>(proxy.nd)}, dtype));
}

/// Returns whether the bytes of the array are those of a tensor: contiguous, aligned and in the order of this machine.
bool has_tensor_bytes(py::handle array) {
  const char order = py::detail::array_descriptor_proxy(fields(array).descr)->byteorder;
  return (fields(array).flags & wanted_flags) == wanted_flags && order != '>';
}

/// Throws what NumPy has raised; as an Error, to which callers add what the value is for, if the value is wrong.
[[noreturn]] void throw_mistake_of_numpy() {
  const py::error_already_set raised;
  if (!raised.matches(PyExc_ValueError)) throw raised;
  throw Error(
      invalid_argument("NumPy makes no array of the value: " + py::str(raised.value()).cast<std::string>()));
}

/// Returns the array that NumPy makes of a value.
py::object array_of_any(py::handle value) {
  PyObject* const array = Api::get().PyArray_FromAny_(value.ptr(), nullptr, 0, 0, 0, nullptr);
  if (!array) throw_mistake_of_numpy();
  return py::reinterpret_steal<py::object>(array);
}

/// Returns what NumPy makes of a value of Python. Its wide numbers become those that Troupe's graphs use.
py::object array_of_python(py::handle value, DType wanted) {
  py::object array = array_of_any(value);
  const DType natural = dtype_of_numpy(fields(array).descr);
  if (wanted != DType::Invalid && natural != DType::String) return array;
  if (py::hasattr(value, "dtype")) return array;
  const py::module_ numpy = py::module_::import("numpy");
  switch (natural) {
    case DType::String: return numpy.attr("asarray")(value, "object");  // other types drop zeros at the end
    case DType::Double: return array.attr("astype")("float32");
    case DType::Complex128: return array.attr("astype")("complex64");
    case DType::Int64: {
      const py::object narrow = array.attr("astype")("int32");
      return numpy.attr("array_equal")(narrow, array).cast<bool>() ? narrow : array;
    }
    default: return array;
  }
}

/// Returns the scalar tensor of a float or an integer of Python, or an invalid one if NumPy has to convert it.
Tensor scalar_of_python(py::handle value, DType wanted) {
  if (PyFloat_CheckExact(value.ptr())) {
    const double number = PyFloat_AS_DOUBLE(value.ptr());
    if (wanted == DType::Double) return Tensor::scalar(number);
    if (wanted == DType::Float || wanted == DType::Invalid) return Tensor::scalar(static_cast<float>(number));
  } else if (PyLong_CheckExact(value.ptr()) && (wanted == DType::Int32 || wanted == DType::Int64)) {
    int overflow = 0;
    const int64_t number = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
    if (overflow == 0 && wanted == DType::Int64) return Tensor::scalar(number);
    if (overflow == 0 && std::in_range<int32_t>(number)) return Tensor::scalar(static_cast<int32_t>(number));
  }
  return {};
}

/// Returns the array with integers of another type. Throws InvalidArgument if one of them does not fit.
py::object converted_integers(const py::object& array, py::handle type, DType wanted) {
  py::object result = array.attr("astype")(type, py::arg("order") = "C", py::arg("casting") = "unsafe",
                                           py::arg("copy") = true);
  const py::object differs = result.attr("__ne__")(array);
  if (differs.attr("any")().cast<bool>()) {
    const py::object first = array[differs].attr("flat")[py::int_(0)];
    throw Error(invalid_argument("the integer " + py::str(first).cast<std::string>() + " does not fit in " +
                                 std::string(name(wanted))));
  }
  return result;
}

/// Returns the array with elements of the wanted type, in the order of a tensor.
py::object converted(const py::object& array, DType wanted) {
  const py::object type = py::reinterpret_borrow<py::object>(numpy_type(wanted));
  const DType present = dtype_of_numpy(fields(array).descr);
  if (wanted == DType::BFloat16 && present == DType::UInt16)  // the bits of the numbers
    return py::module_::import("numpy").attr("ascontiguousarray")(array).attr("view")(type);
  if (is_integer(wanted) && present != DType::Invalid && is_integer(present))
    return converted_integers(array, type, wanted);
  const py::module_ numpy = py::module_::import("numpy");
  const bool fits = numpy.attr("can_cast")(py::handle(fields(array).descr), type, "same_kind").cast<bool>() ||
                    (wanted == DType::BFloat16 && is_floating(present));
  if (!fits)
    throw Error(invalid_argument("elements of type " +
                                 py::str(py::handle(fields(array).descr)).cast<std::string>() +
                                 " do not become elements of type " + std::string(name(wanted))));
  return array.attr("astype")(type, py::arg("order") = "C", py::arg("casting") = "unsafe",
                              py::arg("copy") = true);
}

Tensor copy_of(py::handle array, DType dtype, const Shape& shape) {
  Tensor tensor = value_or_throw(Tensor::allocate(dtype, shape));
  if (tensor.bytes() > 0) std::memcpy(tensor.mutable_data(), fields(array).data, tensor.bytes());
  return tensor;
}

/// Says what the elements of an array are of which numbers cannot be made.
std::string elements_text(const py::object& array) {
  const auto type = py::reinterpret_borrow<py::dtype>(fields(array).descr);
  if (type.kind() == 'O')
    for (const py::handle element : array.attr("flat"))
      if (!PyFloat_Check(element.ptr()) && !PyLong_Check(element.ptr()))
        return "a value of type " + type_text(element) +
               ": a tensor is made of numbers, arrays and nested lists of them that have equal lengths";
  return py::str(py::handle(type));
}

Tensor tensor_of_array(py::object array, DType wanted, Bytes bytes, bool is_fresh) {
  const DType present = dtype_of_numpy(fields(array).descr);
  if (wanted == DType::Invalid) wanted = present;
  if (wanted == DType::Invalid)
    throw Error(invalid_argument("Troupe has no elements of the NumPy type " +
                                 py::str(py::handle(fields(array).descr)).cast<std::string>()));
  if ((wanted == DType::String) != (present == DType::String))
    throw Error(invalid_argument("elements of type " + std::string(name(wanted)) + " are needed, not " +
                                 elements_text(array)));
  const Shape shape = shape_of(array, wanted);
  if (wanted == DType::String) return strings_of_array(array, shape);
  if (dtype_of_numpy(numpy_type(wanted)) != present) {
    array = converted(array, wanted);
    is_fresh = true;
  }
  if (!has_tensor_bytes(array)) {
    array =
        array.attr("astype")(py::reinterpret_borrow<py::object>(numpy_type(wanted)), py::arg("order") = "C");
    is_fresh = true;
  }
  const size_t size = static_cast<size_t>(shape.elements()) * size_of(wanted);
  if ((bytes == Bytes::Copied && !is_fresh) || size <= small) return copy_of(array, wanted, shape);
  void* const data = fields(array).data;
  return {wanted, shape, borrow(std::move(array), data, size)};
}

/// What an array that refers to the memory of a tensor keeps alive.
struct Kept {
  std::shared_ptr<void> keep;  // outlives the tensor
  Tensor tensor;
};

void release_kept(void* kept) {
  const GilReleased released;  // the last holder may be a runtime, which waits for its threads
  delete static_cast<Kept*>(kept);
}

py::object new_array(const Tensor& tensor, PyObject* type, void* data, int flags) {
  const auto dims = tensor.shape().dims();
  Py_INCREF(type);
  PyObject* const array = Api::get().PyArray_NewFromDescr_(
      Api::get().PyArray_Type_, type, static_cast<int>(dims.size()),
      reinterpret_cast<const Py_intptr_t*>(dims.data()), nullptr, data, flags, nullptr);
  if (!array) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(array);
}

/// Returns a new array with a copy of the bytes, or a scalar of NumPy.
py::object copied_array(const Tensor& tensor, PyObject* type) {
  py::object array = new_array(tensor, type, nullptr, 0);
  if (tensor.bytes() > 0) std::memcpy(fields(array).data, tensor.data(), tensor.bytes());
  if (!tensor.shape().is_scalar()) return array;
  static PyObject* const whole = PyTuple_New(0);
  PyObject* const scalar = PyObject_GetItem(array.ptr(), whole);
  if (!scalar) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(scalar);
}

/// The tensors of steps that have ended whose arrays are still in use, one for each buffer. Guarded by the GIL, and never
/// destroyed.
std::map<const Buffer*, Tensor>& used_tensors() {
  static auto* const tensors = new std::map<const Buffer*, Tensor>;
  return *tensors;
}

Tensor tensor_of_value(py::handle value, const py::object& dtype, bool copy) {
  return to_tensor(value, dtype.is_none() ? DType::Invalid : to_dtype(dtype),
                   copy ? Bytes::Copied : Bytes::Shared);
}

}  // namespace

Tensor to_tensor(py::handle value, DType wanted, Bytes bytes) {
  release_arrays();
  if (is_array(value))
    return tensor_of_array(py::reinterpret_borrow<py::object>(value), wanted, bytes, false);
  if (py::isinstance<Tensor>(value)) {
    const auto& tensor = value.cast<const Tensor&>();
    if (wanted == DType::Invalid || wanted == tensor.dtype())
      return bytes == Bytes::Copied && is_borrowed(tensor.buffer()) ? tensor.copy() : tensor;
    throw Error(invalid_argument("the tensor is " + tensor.signature() + ", but elements of type " +
                                 std::string(name(wanted)) + " are needed"));
  }
  if (Tensor scalar = scalar_of_python(value, wanted); scalar.valid()) return scalar;
  py::object array = array_of_python(value, wanted);
  const bool is_list = !py::hasattr(value, "__array__");
  if (is_list && wanted != DType::Invalid)
    if (const Shape shape = shape_of(array, wanted); shape.elements() == 0)  // no element says a type
      return value_or_throw(Tensor::allocate(wanted, shape));
  return tensor_of_array(std::move(array), wanted, bytes, is_list);
}

py::object to_array(Tensor tensor, const std::shared_ptr<void>& keep) {
  if (!tensor.valid()) return py::none();
  if (tensor.memory() == MemoryKind::Device || tensor.layout() != 0)
    throw Error(invalid_argument("the tensor " + tensor.signature() + " is not in the memory of the host"));
  if (tensor.dtype() == DType::String) return array_of_strings(tensor);
  PyObject* const type = numpy_type(tensor.dtype());
  if (tensor.bytes() <= small || is_borrowed(tensor.buffer())) return copied_array(tensor, type);
  const bool writable = tensor.unique();
  auto* const kept = new Kept{keep, std::move(tensor)};
  const py::capsule base(kept, release_kept);
  py::object array = new_array(kept->tensor, type, kept->tensor.mutable_data(),
                               wanted_flags | (writable ? Api::NPY_ARRAY_WRITEABLE_ : 0));
  Py_INCREF(base.ptr());
  if (Api::get().PyArray_SetBaseObject_(array.ptr(), base.ptr()) != 0) throw py::error_already_set();
  return array;
}

void keep_while_used(std::vector<Tensor>&& tensors) {
  auto& used = used_tensors();
  if (!used.empty()) std::erase_if(used, [](const auto& entry) { return entry.second.unique(); });
  for (Tensor& tensor : tensors)
    if (is_borrowed(tensor.buffer()) && !tensor.unique())
      used.emplace(tensor.buffer().get(), std::move(tensor));
  tensors.clear();
  release_arrays();
}

void bind_tensors(py::module_& module) {
  module.def(
      "load_numpy", [] { py::dtype::of<float>(); },
      "Loads numpy's interface of C. Two threads that did so at once, when they need it, would wait for each "
      "other.");
  py::class_<Tensor>(module, "Tensor",
                     "A value of Troupe. It shares the memory of the array that it is made of.")
      .def(py::init(&tensor_of_value), py::arg("value"), py::arg("dtype") = py::none(),
           py::arg("copy") = false)
      .def_property_readonly("dtype", &Tensor::dtype)
      .def_property_readonly("shape",
                             [](const Tensor& tensor) {
                               py::tuple dims(tensor.shape().rank());
                               for (size_t i = 0; i < dims.size(); ++i) dims[i] = tensor.shape()[i];
                               return dims;
                             })
      .def(
          "numpy", [](const Tensor& tensor) { return to_array(tensor); }, "Returns the value as an array.")
      .def("__repr__", [](const Tensor& tensor) { return "<troupe.Tensor " + tensor.signature() + ">"; });
}

}  // namespace troupe::python
