"""What training changes in its process, and puts back as it was."""

import contextlib
import importlib
import os
import warnings
from collections.abc import Iterator
from typing import Any

import torch


@contextlib.contextmanager
def unchanged_process() -> Iterator[None]:
    """Fast matrix products within; afterwards the process is as before."""
    load_compiler()
    with warnings.catch_warnings():  # evaluations need it, and it adds a filter when it is loaded
        importlib.import_module("scipy.special")
    with _fast_products():
        yield


def load_compiler() -> None:
    """Loads what torch else loads with the first optimiser, without its traces.

    It sets TORCHINDUCTOR_CACHE_DIR, which every child process would inherit, and adds a filter of
    warnings.
    """
    before = set(os.environ)
    with warnings.catch_warnings():
        importlib.import_module("torch._dynamo")
    for name in set(os.environ) - before:
        del os.environ[name]


@contextlib.contextmanager
def _fast_products() -> Iterator[None]:
    """Matrix products in bfloat16 within; where a processor has them they take half as long."""
    # The processor's own setting where torch has one (2.9 and later): the setting for all devices
    # can neither be read once a user has set one of them, nor put back as it was.
    products: Any = getattr(torch.backends.mkldnn, "matmul", None)
    if products is None:
        before = torch.get_float32_matmul_precision()
        torch.set_float32_matmul_precision("medium")
    else:
        before = products.fp32_precision
        products.fp32_precision = "bf16"
    try:
        yield
    finally:
        if products is None:
            torch.set_float32_matmul_precision(before)
        else:
            products.fp32_precision = before
