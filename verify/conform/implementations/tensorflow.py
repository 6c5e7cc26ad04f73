"""TensorFlow: its functions; layers are Keras's."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from verify.conform.implementations.implementation import by_function, implementation


def batch_normalization(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Call the function with the moments of the batch."""
    mean, variance = tf.nn.moments(x, list(range(x.ndim - 1)))
    return tf.nn.batch_normalization(x, mean, variance, beta, gamma, eps)


def fused_batch_norm(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Call the fused operation in training, on maps whose channels are last."""
    scale, offset = tf.cast(gamma, tf.float32), tf.cast(beta, tf.float32)
    return tf.compat.v1.nn.fused_batch_norm(x, scale, offset, epsilon=eps, is_training=True)[0]


def fused_batch_norm_step(
    x: Any, gamma: Any, beta: Any, mean: Any, variance: Any, momentum: float, eps: float
) -> tuple[Any, Any, Any]:
    """Call the fused operation in training, with its moving averages."""
    z, mean, variance, *_ = tf.raw_ops.FusedBatchNormV3(
        x=x,
        scale=tf.cast(gamma, tf.float32),
        offset=tf.cast(beta, tf.float32),
        mean=tf.cast(mean, tf.float32),
        variance=tf.cast(variance, tf.float32),
        epsilon=eps,
        exponential_avg_factor=momentum,
        is_training=True,
    )
    return z, mean, variance


def fused_batch_norm_evaluated(
    x: Any, gamma: Any, beta: Any, mean: Any, variance: Any, eps: float
) -> Any:
    """Call the fused operation in evaluation."""
    scale, offset = tf.cast(gamma, tf.float32), tf.cast(beta, tf.float32)
    return tf.compat.v1.nn.fused_batch_norm(
        x, scale, offset, mean, variance, epsilon=eps, is_training=False
    )[0]


def fused_batch_norm_channels_second(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Call the fused operation in training, on maps whose channels are second."""
    scale, offset = tf.cast(gamma, tf.float32), tf.cast(beta, tf.float32)
    return tf.compat.v1.nn.fused_batch_norm(
        x, scale, offset, epsilon=eps, data_format="NCHW", is_training=True
    )[0]


def _tensorflow(name: str, layer: Any, **parts: Any) -> Any:
    return implementation(name, layer, distribution="tensorflow-cpu", **parts)


SINGLE = ("float32",)
ADAPTER = "tensorflow"
IMPLEMENTATIONS = by_function(
    _tensorflow(
        "tf.nn.batch_normalization and moments",
        batch_normalization,
        layouts=("NC", "NLC", "NHWC"),
        may_lack_gamma=True,
    ),
    _tensorflow(
        "fused_batch_norm, NHWC",
        fused_batch_norm,
        train=fused_batch_norm_step,
        evaluate=fused_batch_norm_evaluated,
        layouts=("NHWC",),
        dtypes=SINGLE,
    ),
    _tensorflow(
        "fused_batch_norm, NCHW",
        fused_batch_norm_channels_second,
        layouts=("NCHW",),
        dtypes=SINGLE,
    ),
)
