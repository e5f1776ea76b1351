// The samples of every op, grouped as the ops are (kernels/ops), for tests that walk the op table. Test code; one thread.
#pragma once

#include "tests/support/ops/op_case.h"

namespace troupe::test {

/// Returns all cases, which are made once.
const OpCases& all_cases();

/// Short forms for inputs. What is random has elements between 1 and 9.
inline Tensor one(double value = 1) { return doubles({}, {value}); }
inline Tensor longs(std::initializer_list<int64_t> values) { return Tensor::vector<int64_t>(values); }
inline Tensor text(const std::string& value) { return Tensor::scalar<std::string>(value); }
inline Tensor filled(const Shape& shape, uint64_t seed = 1) { return random_doubles(shape, 1, 9, seed); }
inline Tensor rows(int64_t count, uint64_t seed = 1) { return filled(Shape{count, 5}, seed); }
inline Tensor image(const Shape& shape, DType dtype = f32) { return converted(filled(shape), dtype); }
/// Too many elements for finite differences: floats.
inline Tensor large(const Shape& shape, uint64_t seed = 1) { return converted(filled(shape, seed), f32); }

void add_array_cases(OpCases& cases);
void add_audio_cases(OpCases& cases);
void add_box_cases(OpCases& cases);
void add_clip_cases(OpCases& cases);
void add_control_cases(OpCases& cases);
void add_convolution_cases(OpCases& cases);
void add_ctc_cases(OpCases& cases);
void add_einsum_cases(OpCases& cases);
void add_example_cases(OpCases& cases);
void add_file_cases(OpCases& cases);
void add_gpu_cases(OpCases& cases);
void add_image_cases(OpCases& cases);
void add_input_cases(OpCases& cases);
void add_layout_cases(OpCases& cases);
void add_linalg_cases(OpCases& cases);
void add_local_cases(OpCases& cases);
void add_lookup_cases(OpCases& cases);
void add_math_cases(OpCases& cases);
void add_matrix_cases(OpCases& cases);
void add_nn_cases(OpCases& cases);
void add_norm_cases(OpCases& cases);
void add_parsing_cases(OpCases& cases);
void add_patch_cases(OpCases& cases);
void add_pool_cases(OpCases& cases);
void add_quantized_cases(OpCases& cases);
void add_ragged_cases(OpCases& cases);
void add_random_cases(OpCases& cases);
void add_saver_cases(OpCases& cases);
void add_recurrent_cases(OpCases& cases);
void add_selection_cases(OpCases& cases);
void add_set_cases(OpCases& cases);
void add_sparse_cases(OpCases& cases);
void add_sparse_layout_cases(OpCases& cases);
void add_special_cases(OpCases& cases);
void add_state_cases(OpCases& cases);
void add_string_cases(OpCases& cases);
void add_unicode_cases(OpCases& cases);

/// Adds the cases of an op that is a function of each element of its input, for elements between low and high.
void add_function_cases(OpCases& cases, const std::string& op, double low, double high);
/// Adds the cases of an op that is a function of the elements of two inputs of the same shape.
void add_paired_cases(OpCases& cases, const std::string& op, double low, double high);
/// Adds inputs that broadcast in every way, with elements between low and high: equal shapes, scalars, rows, columns, both
/// sides, missing axes, no elements, odd sizes.
void add_broadcast_shapes(OpCases& cases, const std::string& op, double low, double high);
/// Adds the cases of an op that is a function of the elements of two inputs that broadcast; `second` is the name of the second
/// input.
void add_broadcast_cases(OpCases& cases, const std::string& op, double low, double high,
                         const std::string& second = "y");

}  // namespace troupe::test
