"""How numba compiles a kernel: the passes it needs, and the kernels it calls as parts that are linked into it.

A part is neither optimised nor made machine code alone. Everything is linked once, into the kernel that Python calls.
"""

from __future__ import annotations

import gc
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from filelock import lock_descriptor
from llvmlite.binding import Linkage  # type: ignore[import-untyped]
from numba.core import caching, event, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.registry import CPUDispatcher
from numba.core.typed_passes import (
    AnnotateTypes,
    IRLegalization,
    NativeLowering,
    NoPythonBackend,
    NopythonRewrites,
    NoPythonSupportedFeatureValidation,
    NopythonTypeInference,
    PreLowerStripPhis,
)
from numba.core.untyped_passes import (
    DeadBranchPrune,
    FixupArgs,
    GenericRewrites,
    IRProcessing,
    ReconstructSSA,
    RewriteDynamicRaises,
    RewriteSemanticConstants,
    TranslateByteCode,
)

from crypsis.kernels.sealed_cache import KernelCache

_NAME = re.compile(r"\w+")


class _PartLibrary(JITCodeLibrary):
    """Code that is only ever linked into that of a kernel, with which it is optimised and made machine code."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def finalize(self) -> None:
        """Nothing is linked yet: a kernel takes every part once, whichever of them call it."""
        self._raise_if_finalized()  # type: ignore[no-untyped-call]
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == Linkage.external:
                function.linkage = "linkonce_odr"  # unused ones go, the same one may come twice
        self._finalize_dynamic_globals()  # type: ignore[no-untyped-call]
        self._finalized = True

    def _get_module_for_linking(self) -> Any:
        """For code that is no kernel's: with all the parts it calls."""
        if self._shared_module is None:
            self._shared_module = self._final_module.clone()
            for library in _find_called(self):
                self._shared_module.link_in(library._final_module, preserve=True)
        return self._shared_module

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()  # type: ignore[no-untyped-call]
        return 0

    @property
    def codegen(self) -> _PartLibrary:
        return self

    def set_env(self, env_name: str, env: object) -> None:
        """Nothing: as in a kernel that comes from the cache, only Python's own entry has an environment."""


class _KernelLibrary(JITCodeLibrary):
    """The code of a kernel that Python calls."""

    def finalize(self) -> None:
        called = _find_called(self)
        for library in called:
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._final_module, preserve=True)
        self._linking_libraries = [each for each in self._linking_libraries if each not in called]
        super().finalize()  # type: ignore[no-untyped-call]


def _find_called(library: Any) -> dict[Any, None]:
    """The parts that code calls, directly or not, in order."""
    found: dict[Any, None] = {}
    waiting = list(library._linking_libraries)
    while waiting:
        each = waiting.pop(0)
        if isinstance(each, _PartLibrary) and each not in found:
            found[each] = None
            waiting.extend(each._linking_libraries)
    return found


@register_pass(mutates_CFG=True, analysis_only=False)  # type: ignore[no-untyped-call]
class _ArrayExpressions(NopythonRewrites):
    """numba's own rewriting of sums of arrays into loops, only where there is such a sum."""

    _name = "array_expressions"

    def run_pass(self, state: Any) -> bool:
        made = (
            isinstance(getattr(made, "return_type", None), types.Array)
            for call, made in state.calltypes.items()
            if getattr(call, "op", "") in ("binop", "inplace_binop", "unary", "call")
        )
        return any(made) and bool(super().run_pass(state))  # type: ignore[no-untyped-call]


class _Passes(PassManager):
    """The passes a kernel needs: it has no closures, contexts, generators, parallel loops or calls to be inlined."""

    _ENFORCING = False  # each pass rebuilds what the next one reads


@cache
def _passes() -> _Passes:
    made = _Passes("kernel")  # type: ignore[no-untyped-call]
    for each in (
        TranslateByteCode, FixupArgs, IRProcessing, RewriteSemanticConstants, DeadBranchPrune, GenericRewrites,
        RewriteDynamicRaises, ReconstructSSA, DeadBranchPrune, NopythonTypeInference, PreLowerStripPhis,
        _ArrayExpressions, NoPythonSupportedFeatureValidation, IRLegalization, AnnotateTypes, NativeLowering,
        NoPythonBackend,
    ):  # fmt: skip
        made.add_pass(each, each._name)  # type: ignore[no-untyped-call]
    made.finalize()  # type: ignore[no-untyped-call]
    return made


class PartCompiler(CompilerBase):
    """numba's own passes. What counts no references may not give an array away: nobody would own it."""

    def define_pipelines(self) -> list[_Passes]:
        return [_passes()]

    def _compile_bytecode(self) -> Any:
        made = super()._compile_bytecode()  # type: ignore[no-untyped-call]
        if not self.state.flags.nrt:
            if _holds_array(made.signature.return_type):
                raise TypeError(f"{made.fndesc.qualname} returns an array that it does not allocate")
            for call, signature in self.state.calltypes.items():
                called = self.state.typemap[call.func.name] if getattr(call, "op", "") == "call" else None
                if isinstance(called, types.Dispatcher) and _holds_array(signature.return_type):
                    raise TypeError(f"{made.fndesc.qualname} takes an array from a kernel and does not own it")
        return made


class KernelCompiler(PartCompiler):
    """The same for a kernel that Python calls: whatever else is compiled on the way, also of numba's own, is a part."""

    def __init__(self, typingctx: Any, targetctx: Any, library: Any, *rest: Any) -> None:
        own = _KernelLibrary(targetctx.codegen(), "kernel")  # type: ignore[no-untyped-call]
        own.enable_object_caching()  # type: ignore[no-untyped-call]
        super().__init__(typingctx, targetctx, own, *rest)  # type: ignore[no-untyped-call]

    def _compile_bytecode(self) -> Any:
        with _making_parts(self.state.targetctx.codegen()):
            return super()._compile_bytecode()


class _Making(threading.local):
    """Whether this thread compiles a kernel."""

    parts = False


_making = _Making()


@contextmanager
def _making_parts(codegen: Any) -> Iterator[None]:
    """Compile into parts, and without garbage collection: nothing that is made on the way is garbage for long."""
    part: Any = _PartLibrary
    codegen.create_library = lambda name: (part if _making.parts else type(codegen)._library_class)(codegen, name)
    collecting, _making.parts = gc.isenabled(), True
    gc.disable()
    try:
        yield
    finally:
        _making.parts = False
        if collecting:
            gc.enable()


def _holds_array(kind: Any) -> bool:
    """Whether a value of a type is, or holds, an array."""
    held: Any = kind if isinstance(kind, types.BaseTuple) else ()
    return isinstance(kind, types.Array) or any(_holds_array(each) for each in held)


class _Part(CPUDispatcher):
    """A kernel as other kernels call it: compiled once for all whole numbers, whatever their width, also constants.

    It is never called from Python and never kept alone, so that it has no wrapper for arguments and results and no
    file of its own: half of what a small function costs to compile.
    """

    def get_call_template(self, args: Any, kws: Any) -> Any:
        return super().get_call_template(tuple(map(_widen, args)), kws)


class Kernel(CPUDispatcher):
    """A kernel as Python calls it; other kernels that call it get a `_Part`, made only when one of them does."""

    @property
    def _numba_type_(self) -> types.Dispatcher:
        if not hasattr(self, "_part"):
            options = {**_options(self.py_func), "no_cpython_wrapper": True}
            self._part = _Part(self.py_func, targetoptions=options, pipeline_class=PartCompiler)
        return types.Dispatcher(self._part)

    @property
    def _cache(self) -> Any:
        """Where compiled code is kept, looked up at the first call: a command imports every kernel and calls few.

        Where neither the folder beside the source nor the user's cache folder can be written (a read-only install
        without a home), or others may write them, every process compiles: correct if slower to start.
        """
        if "_place" not in self.__dict__:
            place: Any = caching.NullCache()
            with suppress(RuntimeError, OSError):
                place = KernelCache(self.py_func)
            self.__dict__.setdefault("_place", place)  # at once: two threads may call a kernel for the first time
        return self.__dict__["_place"]

    @_cache.setter
    def _cache(self, place: Any) -> None:
        """Nothing: numba sets one when a kernel is made."""

    def compile(self, sig: Any) -> Any:
        with _alone(self):
            return super().compile(sig)


@contextmanager
def _alone(kernel: Any) -> Iterator[None]:
    """One process at a time compiles a kernel; the next finds it in the cache. Waiting counts as compiling."""
    folder, lock = getattr(kernel._cache, "cache_path", None), None
    if folder is not None:
        with suppress(OSError):  # without a lock two processes may compile the same
            lock = (Path(folder) / f"{kernel.py_func.__name__}.lock").open("ab")
            if not lock_descriptor(lock.fileno(), blocking=False):
                with event.trigger_event("numba:compile", data={"dispatcher": kernel}):
                    lock_descriptor(lock.fileno())
    try:
        yield
    finally:
        if lock is not None:
            lock.close()


def _widen(kind: Any) -> Any:
    """The type an argument is compiled for: a constant like any number, signed whole numbers as the widest."""
    kind = types.unliteral(kind)  # type: ignore[no-untyped-call]
    return types.int64 if kind in types.signed_domain else kind


_OPTIONS = {"nopython": True, "nogil": True, "boundscheck": None, "no_cfunc_wrapper": True}
_ALLOCATING = {"arange", "argsort", "copy", "empty", "full", "sort", "zeros"}
_SCALARS = {"None", "bool", "float", "int", "np", "tuple", "uint64"}


def _options(function: Callable[..., Any]) -> dict[str, Any]:
    """How numba compiles a function: one that owns no array counts no references, which are half of its code.

    It owns what it allocates, and what a kernel gives it that returns more than numbers.
    """
    names = set(function.__code__.co_names)
    called = [each for each in map(function.__globals__.get, names) if isinstance(each, Kernel)]
    given = (str(each.py_func.__annotations__.get("return", "array")) for each in called)
    owns = names & _ALLOCATING or any(set(_NAME.findall(kind)) - _SCALARS for kind in given)
    return {**_OPTIONS, "_nrt": bool(owns)}


def compile_kernel(function: Callable[..., Any]) -> Kernel:
    """A kernel of a plain function."""
    return Kernel(function, targetoptions=_options(function), pipeline_class=KernelCompiler)


def keeps_numba_kernel(kernel: Kernel) -> bool:
    """Whether the code of a kernel, as the kernel compiler made it with numba, is kept on disk."""
    place = kernel._cache
    folders = {getattr(each, "cache_path", None) for each in (place, getattr(place, "_shipped", None))} - {None}
    return any(next(Path(str(each)).glob(f"*.{kernel.py_func.__name__}-*.nbi"), None) for each in folders)
