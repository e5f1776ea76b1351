"""More calls of single ops: complex numbers, linear algebra and Fourier transforms; op_cases.py says what a case is."""
import numpy

from op_cases import CLOSE, case
from reference import COMPLEX, INF, NAN, c64, f32, f64, i32, mixed, name_of, ramp, tensorflow_outputs, zeros

WIDE = (numpy.float32, numpy.float64)
ALL = WIDE + tuple(COMPLEX)


def numbers(shape, dtype, seed=1):
    real = mixed(shape, numpy.float64, seed=seed)
    return (real + 1j * mixed(shape, numpy.float64, seed=seed + 50) if dtype in COMPLEX else real).astype(dtype)


def strong(shape, dtype, seed=1):
    """Square matrices that are far from singular, and positive definite."""
    values = numbers(shape, dtype, seed)
    return (values @ numpy.conj(numpy.swapaxes(values, -1, -2)) + 3 * numpy.eye(shape[-1])).astype(dtype)


def near(dtype, factor=64):
    tolerance = factor * CLOSE[name_of(dtype)]
    return dict(close=tolerance, near=tolerance)


def complex_numbers():
    for real, whole in zip(WIDE, COMPLEX):
        case("Complex", mixed([2, 1], real), mixed([3], real, seed=2), Tout=whole)
        case("Complex", zeros([0], real), zeros([1], real), Tout=whole)
        z = numpy.array([3 + 4j, -1, 1j, -2j, 0, complex(-1, -0.0), -0.5 + 0.25j, 1e30 + 1e30j], dtype=whole)
        for op in ("Real", "Imag", "Angle", "ComplexAbs"):
            case(op, z, Tout=real, close=CLOSE[name_of(whole)])
            case(op, zeros([2, 0], whole), Tout=real)
            case(op, numpy.array(1 - 2j, dtype=whole), Tout=real, close=CLOSE[name_of(whole)])
    special = c64([complex(INF, NAN), complex(NAN, 0), complex(-INF, 1)])
    for op in ("Real", "Imag", "Angle", "ComplexAbs"):
        case(op, special, close=1e-6)
    case("Complex", f32([1, 2]), f32([1, 2, 3]), fails=True)


def squares():
    for op in ("Cholesky", "MatrixInverse", "MatrixDeterminant", "LogMatrixDeterminant"):
        for dtype in ALL:
            case(op, strong([3, 3], dtype), **near(dtype))
            case(op, strong([2, 1, 2, 2], dtype, 2), **near(dtype))
        case(op, strong([12, 12], numpy.float64), **near(numpy.float64, 1024))
        for shape in ([0, 0], [2, 0, 0], [0, 2, 2]):
            case(op, zeros(shape))
        for shape in ([2], [2, 3], []):
            case(op, zeros(shape), fails=True)
    for dtype in ALL:
        case("MatrixInverse", numbers([2, 3, 3], dtype, 5), adjoint=True, **near(dtype, 256))
        case("MatrixDeterminant", numbers([2, 3, 3], dtype, 5), **near(dtype))
        case("LogMatrixDeterminant", numbers([2, 3, 3], dtype, 5), **near(dtype))
    for singular in ([[1, 2], [2, 4]], [[0, 0], [0, 0]], [[NAN, 1], [1, 1]]):
        case("MatrixInverse", f32(singular), fails=True)
        case("MatrixDeterminant", f32(singular), close=1e-6)
        case("LogMatrixDeterminant", f32(singular), close=1e-6)
    case("MatrixDeterminant", f32([[1e30, 0], [0, 1e30]]))
    case("LogMatrixDeterminant", f32([[1e30, 0], [0, 1e30]]), close=1e-6)
    case("Cholesky", f32([[4, NAN], [2, 5]]))
    why = "not positive definite is refused, as in TensorFlow 1.x; TensorFlow 2 yields NaN"
    for matrix in ([[1, 9], [0, -1]], [[0, 0], [0, 0]], [[1, 2], [2, 1]]):
        case("Cholesky", f32(matrix), ours="fails", why=why)
    for dtype in WIDE:
        case("CholeskyGrad", numpy.tril(strong([3, 3], dtype)), mixed([3, 3], dtype, seed=2), **near(dtype))
        case("CholeskyGrad", strong([2, 2, 2], dtype), mixed([2, 2, 2], dtype, seed=3), **near(dtype))
    case("CholeskyGrad", zeros([0, 0]), zeros([0, 0]))
    case("CholeskyGrad", zeros([2, 3]), zeros([2, 3]), fails=True)


def equations():
    for dtype in ALL:
        for adjoint in (False, True):
            case("MatrixSolve", numbers([3, 3], dtype, 5), numbers([3, 2], dtype, 6), adjoint=adjoint, **near(dtype, 256))
            case("MatrixSolve", strong([2, 2, 2], dtype), numbers([2, 2, 1], dtype, 6), adjoint=adjoint, **near(dtype))
            for lower in (False, True):
                options = dict(lower=lower, adjoint=adjoint, **near(dtype, 256))
                case("MatrixTriangularSolve", strong([3, 3], dtype), numbers([3, 2], dtype, 6), **options)
                case("MatrixTriangularSolve", strong([2, 1, 2, 2], dtype), numbers([3, 2, 1], dtype, 6), **options)
    for op in ("MatrixSolve", "MatrixTriangularSolve"):
        case(op, zeros([0, 0]), zeros([0, 3]))
        case(op, ramp([2, 2]), zeros([2, 0]))
        case(op, zeros([0, 2, 2]), zeros([0, 2, 1]))
        for matrix, rhs in (([2, 3], [2, 1]), ([2, 2], [3, 1]), ([2, 2], [2]), ([2, 2, 2], [3, 2, 1])):
            case(op, ramp(matrix), ramp(rhs), fails=True)
    case("MatrixSolve", f32([[1, 2], [2, 4]]), f32([[1], [2]]), fails=True)
    least_squares()
    why = "zeros on the diagonal are refused, as in TensorFlow 1.x; TensorFlow 2 divides by them"
    case("MatrixTriangularSolve", f32([[0, 0], [2, 4]]), f32([[1], [2]]), ours="fails", why=why)


def least_squares():
    op = "MatrixSolveLs"
    for dtype in ALL:
        for shape, right in (([3, 3], [3, 2]), ([2, 4, 2], [2, 4, 1]), ([2, 2, 4], [2, 2, 3])):
            for weight, fast in ((0.5, True), (0, True), (0, False), (1, False)):
                case(op, numbers(shape, dtype, 7), numbers(right, dtype, 8), f64(weight), fast=fast, **near(dtype, 1024))
    singular = f32([[1, 2], [2, 4]])
    case(op, singular, f32([[1], [2]]), f64(0), fails=True)
    case(op, singular, f32([[1], [2]]), f64(0.5), close=1e-4)
    case(op, singular, f32([[1], [2]]), f64(0), fast=False, close=1e-4)
    for fast in (True, False):
        case(op, zeros([0, 3]), zeros([0, 2]), f64(0), fast=fast, ours=[zeros([3, 2])],
             why="without equations the least solution is 0; TensorFlow leaves it unset")
        case(op, zeros([3, 0]), zeros([3, 2]), f64(0), fast=fast)
        case(op, ramp([2, 3]), zeros([2, 0]), f64(0), fast=fast)
    for left, right, weight in (([2, 3], [3, 1], 0), ([2, 3], [2], 0), ([2, 3], [2, 1], [0]), ([2, 3], [2, 1], -1), ([2, 2, 3], [3, 2, 1], 0)):
        case(op, ramp(left), ramp(right), f64(weight), fails=True)


def decompositions():
    for dtype in ALL:
        for shape in ([3, 3], [4, 2], [2, 2, 3]):
            for full in (False, True):
                case("Qr", numbers(shape, dtype, 7), full_matrices=full, **near(dtype))
    for full in (False, True):
        for shape in ([2, 0], [0, 2], [0, 2, 2]):
            case("Qr", zeros(shape), full_matrices=full)
            case("Svd", zeros(shape), full_matrices=full)
    for op in ("Qr", "Svd"):
        case(op, zeros([2]), fails=True)
        case(op, zeros([]), fails=True)
    nothing = "without vectors an empty vector takes their place, as TensorFlow's shape function says; its kernel leaves that output unset"
    for dtype in ALL:
        diagonal = numpy.diag([4, 3, 1]).astype(dtype)
        case("Svd", diagonal, **near(dtype))
        case("SelfAdjointEigV2", diagonal[::-1, ::-1].copy(), **near(dtype))
        matrix = strong([3, 3], dtype)
        none = zeros([0], dtype)
        case("Svd", matrix, compute_uv=False, ours=[numpy.linalg.svd(matrix, compute_uv=False).astype(dtype), none, none], why=nothing,
             **near(dtype))
        case("SelfAdjointEigV2", matrix, compute_v=False, ours=[numpy.linalg.eigvalsh(matrix).astype(dtype), none], why=nothing,
             **near(dtype))
    case("Svd", f32([[NAN, 1], [0, 1]]))
    case("SelfAdjointEigV2", zeros([0, 0]))
    case("SelfAdjointEigV2", zeros([0, 2, 2]))
    case("SelfAdjointEigV2", f32([[NAN, 1], [1, 1]]), fails=True)
    case("SelfAdjointEigV2", f32([[INF, 0], [0, 1]]), ours="fails", why="an infinity has no eigenvalues; TensorFlow yields NaN")
    for shape in ([2], [2, 3]):
        case("SelfAdjointEigV2", zeros(shape), fails=True)


def general_eigenvalues():
    for dtype in ALL:
        if name_of(dtype) == "float16":
            continue
        results = numpy.complex128 if dtype in (numpy.float64, numpy.complex128) else numpy.complex64
        triangle = numpy.triu(numpy.array([[4, 1, 2], [0, 1, 3], [0, 0, -2]])).astype(dtype)
        turning = numpy.array([[[0, -1], [1, 0]], [[2, 1], [-3, 1]]]).astype(dtype)
        for matrix, vectors in ((triangle, True), (triangle, False), (turning, False), (strong([2, 5, 5], dtype), False)):
            ours = {} if vectors else {"ours": [tensorflow_outputs("Eig", (matrix,), {"Tout": results})[0], zeros([0], results)],
                                       "why": "without vectors an empty vector takes their place, as TensorFlow's shape function says"}
            case("Eig", matrix, Tout=results, compute_v=vectors, **ours, **near(dtype, 256))
    case("Eig", zeros([0, 0]), Tout=numpy.complex64)
    case("Eig", zeros([0, 2, 2]), Tout=numpy.complex64)
    for shape in ([2], [2, 3]):
        case("Eig", zeros(shape), Tout=numpy.complex64, fails=True)
    case("Eig", f32([[NAN, 1], [1, 1]]), Tout=numpy.complex64, fails=True)


def factors():
    for dtype in ALL:
        for index in (numpy.int32, numpy.int64):
            case("Lu", numbers([3, 3], dtype, 5), output_idx_type=index, **near(dtype))
            case("Lu", numbers([2, 1, 4, 4], dtype, 6), output_idx_type=index, **near(dtype))
    for shape in ([0, 0], [2, 0, 0], [0, 2, 2]):
        case("Lu", zeros(shape))
    for shape in ([2], [2, 3], []):
        case("Lu", zeros(shape), fails=True)
    for singular in ([[1, 2], [2, 4]], [[0, 0], [0, 0]]):
        case("Lu", f32(singular), fails=True)
    for dtype in WIDE:
        diagonal = numpy.diag([4, 3, 1]).astype(dtype)
        case("SelfAdjointEig", diagonal[::-1, ::-1].copy(), **near(dtype))
    for shape in ([0, 0], [0, 2, 2]):
        case("SelfAdjointEig", zeros(shape))
    case("SelfAdjointEig", f32([[NAN, 1], [1, 1]]), fails=True)
    for shape in ([2], [2, 3]):
        case("SelfAdjointEig", zeros(shape), fails=True)


def functions_of_matrices():
    for dtype in COMPLEX:
        for matrix in (strong([3, 3], dtype), strong([2, 1, 2, 2], dtype, 2), numbers([5, 5], dtype, 5), numpy.diag([-1, 4, 2j]).astype(dtype)):
            case("MatrixLogarithm", matrix, **near(dtype, 1024))
        case("MatrixLogarithm", numpy.triu(numpy.full([4, 4], 3)).astype(dtype), **near(dtype, 1024))  # of equal eigenvalues
    for dtype in ALL:
        for matrix in (strong([3, 3], dtype), strong([2, 1, 2, 2], dtype, 2), strong([6, 6], dtype, 3) + numbers([6, 6], dtype, 4),
                       numpy.array([[0, 1], [-1, 0]], dtype=dtype), numpy.array([[1, 2], [2, 4]], dtype=dtype)):
            case("MatrixSquareRoot", matrix.astype(dtype), **near(dtype, 1024))
    for op, dtype in (("MatrixLogarithm", numpy.complex64), ("MatrixSquareRoot", numpy.float32)):
        for shape in ([0, 0], [2, 0, 0], [0, 2, 2]):
            case(op, zeros(shape, dtype))
        for shape in ([2], [2, 3], []):
            case(op, zeros(shape, dtype), fails=True)
        case(op, zeros([2, 2], dtype))
    case("MatrixSquareRoot", f32([[-1, 0], [0, 4]]))
    case("MatrixSquareRoot", f32([[NAN, 1], [0, 1]]))


def tridiagonal():
    def diagonals(shape, dtype):
        result = numbers(shape, dtype, 5)
        result[..., 1, :] += 4
        return result

    for dtype in ALL:
        for batch, n, k in (([], 5, 3), ([2, 1], 3, 2), ([], 1, 2), ([], 2, 1)):
            row = batch + [1, n]
            case("TridiagonalMatMul", *(numbers(row, dtype, seed) for seed in (1, 2, 3)), numbers(batch + [n, k], dtype, 4), **near(dtype, 4))
            for pivots in (True, False):
                case("TridiagonalSolve", diagonals(batch + [3, n], dtype), numbers(batch + [n, k], dtype, 6), partial_pivoting=pivots,
                     **near(dtype))
        case("TridiagonalSolve", numbers([3, 7], dtype, 8), numbers([7, 2], dtype, 6), **near(dtype, 256))
    case("TridiagonalSolve", f32([[1, 0], [0, 0], [0, 1]]), f32([[1, 2], [3, 4]]))
    for op, first in (("TridiagonalMatMul", [1, 3]), ("TridiagonalSolve", [3, 3])):
        count = 3 if op == "TridiagonalMatMul" else 1
        case(op, *[ramp(first)] * count, zeros([3, 0]))
        case(op, *[zeros([0] + first)] * count, zeros([0, 3, 2]))
        for shape, rhs in (([2, 3], [3, 1]), (first, [2, 1]), ([2] + first, [3, 1]), (first, [3]), ([3], [3, 1])):
            case(op, *[ramp(shape)] * count, ramp(rhs), fails=True)
    singular = dict(ours="fails", why="a pivot of zero is refused, as in TensorFlow 1.x; TensorFlow 2 divides by it")
    case("TridiagonalSolve", f32([[0], [0], [0]]), f32([[1]]), **singular)
    case("TridiagonalSolve", f32([[2, 0], [1, 4], [0, 2]]), f32([[1], [2]]), **singular)
    case("TridiagonalSolve", f32([[1, 0], [0, 0], [0, 1]]), f32([[1], [2]]), partial_pivoting=False, **singular)


def transforms():
    for rank, suffix in ((1, ""), (2, "2D"), (3, "3D")):
        for op in ("FFT" + suffix, "IFFT" + suffix):
            for dtype in COMPLEX:
                for shape in ([2, 3, 5, 4], [3, 2, 7], [1, 4, 67]):
                    case(op, numbers(shape, dtype), **near(dtype))
            case(op, zeros([2, 2, 0], numpy.complex64))
            case(op, zeros([0, 2, 3, 3], numpy.complex64))
            case(op, zeros([2] * (rank - 1), numpy.complex64), fails=True)
        for real, whole in zip(WIDE, COMPLEX):
            for sizes in ([2, 3, 8], [2, 3, 7], [1, 2, 5], [2, 1, 1]):
                lengths = i32(sizes[-rank:])
                case("RFFT" + suffix, mixed([2, 2, 3, 8], real), lengths, Tcomplex=whole, **near(whole))
                case("IRFFT" + suffix, numbers([2, 2, 3, 5], whole), lengths, Treal=real, **near(whole))
        for op, dtype in (("RFFT", numpy.float32), ("IRFFT", numpy.complex64)):
            case(op + suffix, zeros([0, 2, 2, 5], dtype), i32([2, 2, 4][-rank:]))
            case(op + suffix, zeros([2, 2, 2], dtype), i32([2, 2, 9][-rank:]), fails=True)
            case(op + suffix, zeros([2, 2, 2], dtype), i32([2, 2, -1][-rank:]), fails=True)
            case(op + suffix, zeros([2, 2, 2], dtype), i32([1] * (rank + 1)), fails=True)
            case(op + suffix, zeros([2, 2, 2], dtype), i32(1), fails=True)


FAMILIES = (complex_numbers, squares, equations, decompositions, general_eigenvalues, factors, functions_of_matrices, tridiagonal, transforms)
