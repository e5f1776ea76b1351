"""Every family of cases, in the order of tests/golden/ops.txt."""
import array_op_cases
import convolution_op_cases
import layout_op_cases
import lookup_op_cases
import nn_op_cases
import op_cases
import training_op_cases

FAMILIES = (op_cases.FAMILIES + training_op_cases.FAMILIES + array_op_cases.FAMILIES + convolution_op_cases.FAMILIES +
            layout_op_cases.FAMILIES + lookup_op_cases.FAMILIES + nn_op_cases.FAMILIES)
