"""Every optimizer of tf.compat.v1.train."""
from reference import tf

train = tf.train
OPTIMIZERS = {
    "gradient_descent": lambda: train.GradientDescentOptimizer(0.5),
    "momentum": lambda: train.MomentumOptimizer(0.5, 0.9),
    "nesterov": lambda: train.MomentumOptimizer(0.5, 0.9, use_nesterov=True),
    "adagrad": lambda: train.AdagradOptimizer(0.5),
    "adagrad_da": lambda: train.AdagradDAOptimizer(0.5, train.get_or_create_global_step(), l1_regularization_strength=0.01),
    "adadelta": lambda: train.AdadeltaOptimizer(0.5),
    "adam": lambda: train.AdamOptimizer(0.1),
    "rms_prop": lambda: train.RMSPropOptimizer(0.1, momentum=0.5),
    "centered_rms_prop": lambda: train.RMSPropOptimizer(0.1, momentum=0.5, centered=True),
    "ftrl": lambda: train.FtrlOptimizer(0.5, l1_regularization_strength=0.01, l2_regularization_strength=0.01),
    "ftrl_shrinkage": lambda: train.FtrlOptimizer(0.5, l1_regularization_strength=0.01, l2_shrinkage_regularization_strength=0.1),
    "proximal_gradient_descent": lambda: train.ProximalGradientDescentOptimizer(0.5, 0.01, 0.01),
    "proximal_adagrad": lambda: train.ProximalAdagradOptimizer(0.5, l1_regularization_strength=0.01),
}
