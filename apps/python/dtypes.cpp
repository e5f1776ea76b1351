#include "apps/python/dtypes.h"

#include <pybind11/numpy.h>

#include <array>

namespace troupe::python {
namespace py = pybind11;
namespace {

using Api = py::detail::npy_api;

struct Names {
  DType dtype;
  const char* python;  ///< the name in the module
  const char* numpy;   ///< the NumPy type of the same bytes; null: none
};

constexpr std::array names = {
    Names{DType::Float, "float32", "float32"}, Names{DType::Double, "float64", "float64"},
    Names{DType::Int32, "int32", "int32"},     Names{DType::UInt8, "uint8", "uint8"},
    Names{DType::Int16, "int16", "int16"},     Names{DType::Int8, "int8", "int8"},
    Names{DType::String, "string", "object"},  Names{DType::Complex64, "complex64", "complex64"},
    Names{DType::Int64, "int64", "int64"},     Names{DType::Bool, "bool", "bool"},
    Names{DType::QInt8, "qint8", "int8"},      Names{DType::QUInt8, "quint8", "uint8"},
    Names{DType::QInt32, "qint32", "int32"},   Names{DType::BFloat16, "bfloat16", "uint16"},
    Names{DType::QInt16, "qint16", "int16"},   Names{DType::QUInt16, "quint16", "uint16"},
    Names{DType::UInt16, "uint16", "uint16"},  Names{DType::Complex128, "complex128", "complex128"},
    Names{DType::Half, "float16", "float16"},  Names{DType::Resource, "resource", nullptr},
    Names{DType::Variant, "variant", nullptr}, Names{DType::UInt32, "uint32", "uint32"},
    Names{DType::UInt64, "uint64", "uint64"},
};

const Names* names_of(DType dtype) {
  for (const Names& entry : names)
    if (entry.dtype == dtype) return &entry;
  return nullptr;
}

/// Returns the type bfloat16 of ml_dtypes, or null if ml_dtypes is not installed.
PyObject* ml_bfloat16() {
  static PyObject* const type = []() -> PyObject* {
    try {
      const py::object scalar = py::module_::import("ml_dtypes").attr("bfloat16");
      return py::module_::import("numpy").attr("dtype")(scalar).release().ptr();
    } catch (py::error_already_set& error) {
      if (!error.matches(PyExc_ImportError)) throw;
      return nullptr;
    }
  }();
  return type;
}

PyObject* make_numpy_type(DType dtype) {
  const Names* const entry = names_of(dtype);
  if (!entry || !entry->numpy) return nullptr;
  if (dtype == DType::BFloat16 && ml_bfloat16()) return ml_bfloat16();
  return py::module_::import("numpy").attr("dtype")(entry->numpy).release().ptr();
}

int number_of(PyObject* type) { return py::detail::array_descriptor_proxy(type)->type_num; }

DType dtype_of_number(int number) {
  switch (number) {
    case Api::NPY_BOOL_: return DType::Bool;
    case Api::NPY_BYTE_: return DType::Int8;
    case Api::NPY_UBYTE_: return DType::UInt8;
    case Api::NPY_SHORT_: return DType::Int16;
    case Api::NPY_USHORT_: return DType::UInt16;
    case Api::NPY_INT_: return DType::Int32;
    case Api::NPY_UINT_: return DType::UInt32;
    case Api::NPY_LONG_: return sizeof(long) == 8 ? DType::Int64 : DType::Int32;
    case Api::NPY_ULONG_: return sizeof(long) == 8 ? DType::UInt64 : DType::UInt32;
    case Api::NPY_LONGLONG_: return DType::Int64;
    case Api::NPY_ULONGLONG_: return DType::UInt64;
    case Api::NPY_FLOAT_: return DType::Float;
    case Api::NPY_DOUBLE_: return DType::Double;
    case Api::NPY_CFLOAT_: return DType::Complex64;
    case Api::NPY_CDOUBLE_: return DType::Complex128;
    case Api::NPY_OBJECT_:
    case Api::NPY_STRING_:
    case Api::NPY_UNICODE_: return DType::String;
    case 23: return DType::Half;  // NPY_HALF
    default: return DType::Invalid;
  }
}

/// Returns what a type of Python stands for, or Invalid.
DType dtype_of_class(py::handle value) {
  const auto* const type = reinterpret_cast<const PyTypeObject*>(value.ptr());
  if (type == &PyFloat_Type) return DType::Float;
  if (type == &PyLong_Type) return DType::Int32;
  if (type == &PyBool_Type) return DType::Bool;
  if (type == &PyComplex_Type) return DType::Complex64;
  if (type == &PyUnicode_Type || type == &PyBytes_Type) return DType::String;
  return DType::Invalid;
}

}  // namespace

PyObject* numpy_type(DType dtype) {
  static std::array<PyObject*, 32> types{};
  const auto number = static_cast<size_t>(dtype);
  if (number < types.size() && types[number]) return types[number];
  PyObject* const type = number < types.size() ? make_numpy_type(dtype) : nullptr;
  if (!type) throw Error(invalid_argument("NumPy cannot hold elements of type " + std::string(name(dtype))));
  return types[number] = type;
}

DType dtype_of_numpy(PyObject* type) {
  const DType dtype = dtype_of_number(number_of(type));
  if (dtype != DType::Invalid) return dtype;
  return ml_bfloat16() && number_of(type) == number_of(ml_bfloat16()) ? DType::BFloat16 : DType::Invalid;
}

DType to_dtype(py::handle value) {
  if (py::isinstance<DType>(value)) return value.cast<DType>();
  if (py::isinstance<py::str>(value)) {
    const auto text = value.cast<std::string>();
    for (const Names& entry : names)
      if (text == entry.python) return entry.dtype;
    if (const auto dtype = dtype_from_name(text)) return *dtype;
    if (text == "int") return dtype_of_class(reinterpret_cast<PyObject*>(&PyLong_Type));
    if (text == "complex") return dtype_of_class(reinterpret_cast<PyObject*>(&PyComplex_Type));
  }
  if (const DType dtype = dtype_of_class(value); dtype != DType::Invalid) return dtype;
  PyObject* type = nullptr;
  if (!Api::get().PyArray_DescrConverter_(value.ptr(), &type) || !type) {
    PyErr_Clear();
    throw Error(invalid_argument(py::repr(value).cast<std::string>() + " is no type of elements"));
  }
  const auto held = py::reinterpret_steal<py::object>(type);
  const DType dtype = dtype_of_numpy(type);
  if (dtype == DType::Invalid)
    throw Error(
        invalid_argument("Troupe has no elements of the NumPy type " + py::str(held).cast<std::string>()));
  return dtype;
}

void bind_dtypes(py::module_& module) {
  py::enum_<DType> type(module, "DType", "The type of the elements of a tensor.");
  for (const Names& entry : names) type.value(entry.python, entry.dtype);
  type.def_property_readonly(
      "numpy", [](DType dtype) { return py::reinterpret_borrow<py::object>(numpy_type(dtype)); },
      "The NumPy type that holds these elements.");
  module.def("as_dtype", &to_dtype, py::arg("value"),
             "Returns the DType that a name, a type of Python or a type of NumPy stands for.");
}

}  // namespace troupe::python
