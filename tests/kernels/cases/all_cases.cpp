#include "tests/kernels/cases/all_cases.h"

namespace troupe::test {

const OpCases& all_cases() {
  static const OpCases cases = [] {
    OpCases result;
    add_array_cases(result);
    add_audio_cases(result);
    add_box_cases(result);
    add_clip_cases(result);
    add_control_cases(result);
    add_convolution_cases(result);
    add_ctc_cases(result);
    add_einsum_cases(result);
    add_example_cases(result);
    add_file_cases(result);
    add_gpu_cases(result);
    add_image_cases(result);
    add_input_cases(result);
    add_layout_cases(result);
    add_linalg_cases(result);
    add_local_cases(result);
    add_lookup_cases(result);
    add_math_cases(result);
    add_matrix_cases(result);
    add_nn_cases(result);
    add_norm_cases(result);
    add_parsing_cases(result);
    add_patch_cases(result);
    add_pool_cases(result);
    add_quantized_cases(result);
    add_ragged_cases(result);
    add_random_cases(result);
    add_saver_cases(result);
    add_recurrent_cases(result);
    add_selection_cases(result);
    add_set_cases(result);
    add_sparse_cases(result);
    add_sparse_layout_cases(result);
    add_special_cases(result);
    add_state_cases(result);
    add_string_cases(result);
    add_unicode_cases(result);
    return result;
  }();
  return cases;
}

}  // namespace troupe::test
