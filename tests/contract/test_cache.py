"""Compiled code is kept where that is possible, and never missed where it is not."""

from typing import Any

import numba
import pytest

from war_envs import jit


def double(x: int) -> int:
    return 2 * x


def test_without_any_place_for_a_cache_kernels_compile_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = numba.njit

    def nowhere_to_write(**options: Any) -> Any:
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available for file")
        return real(**options)

    monkeypatch.setattr(numba, "njit", nowhere_to_write)
    assert jit.kernel(double)(21) == 42
