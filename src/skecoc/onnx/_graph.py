"""Write nodes and constants of an ONNX graph by name of the operator, as a converter of skl2onnx."""

from collections.abc import Callable, Hashable, Iterable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto
from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType

#: Operators are used as this version of ONNX defines them (ScatterElements with a reduction is its latest).
SMALLEST_OPSET = 18

_TENSOR_TYPES = {
    "f": TensorProto.DOUBLE,
    "i": TensorProto.INT64,
    "u": TensorProto.INT64,
    "b": TensorProto.BOOL,
    "U": TensorProto.STRING,
}

Floats = NDArray[np.float64]
Key = TypeVar("Key", bound=Hashable)

#: An input of a node: the name of another node's output, or a constant.
Value = str | float | NDArray[Any]


class Graph:
    """The part of a graph that one converter of skl2onnx writes: tensors by name, everything in double precision."""

    def __init__(self, scope: Any, container: Any) -> None:
        if container.target_opset < SMALLEST_OPSET:
            raise ValueError(
                f"target_opset must be at least {SMALLEST_OPSET} for output codes, got {container.target_opset}"
            )
        self.scope = scope
        self.container = container

    def constant(self, values: Any) -> str:
        """Add a constant: floats as doubles, integers as int64, strings."""
        array = np.asarray(values)
        kind = _TENSOR_TYPES[array.dtype.kind]
        content = [text.encode() for text in array.ravel()] if kind == TensorProto.STRING else array.ravel()
        name = self.scope.get_unique_variable_name("constant")
        self.container.add_initializer(name, kind, list(array.shape), content)
        return str(name)

    def node(self, operator: str, *inputs: Value, **attributes: Any) -> str:
        """Add a node, inputs that are numbers or arrays as constants; return the name of its output."""
        return self.nodes(operator, 1, *inputs, **attributes)[0]

    def nodes(self, operator: str, n_outputs: int, *inputs: Value, **attributes: Any) -> list[str]:
        """Add a node with several outputs; return their names."""
        names = [value if isinstance(value, str) else self.constant(value) for value in inputs]
        outputs = [str(self.scope.get_unique_variable_name(operator.lower())) for _ in range(n_outputs)]
        self.write(operator, names, outputs, **attributes)
        return outputs

    def write(self, operator: str, inputs: list[str], outputs: list[str], **attributes: Any) -> None:
        """Add a node whose outputs have names already."""
        name = self.scope.get_unique_operator_name(operator)
        self.container.add_node(operator, inputs, outputs, name=name, **attributes)

    def cast(self, tensor: str, kind: int) -> str:
        """Convert the entries of a tensor to another type."""
        return self.node("Cast", tensor, to=kind)

    def double(self, tensor: str) -> str:
        """Convert the entries of a tensor to double precision."""
        return self.cast(tensor, TensorProto.DOUBLE)

    def part(self, tensor: str, first: int, end: int) -> str:
        """Take the columns from `first` up to `end`; a negative `end` counts from the last one."""
        return self.node("Slice", tensor, np.array([first]), np.array([end]), np.array([1]))

    def joined(self, tensors: list[str]) -> str:
        """Put tensors side by side."""
        return tensors[0] if len(tensors) == 1 else self.node("Concat", *tensors, axis=1)

    def grouped(self, keys: Iterable[Key], write: Callable[[Key, list[int]], str]) -> str:
        """Write the columns that have the same key together, by `write(key, columns)`; put all in their order again."""
        groups: dict[Key, list[int]] = {}
        for number, key in enumerate(keys):
            groups.setdefault(key, []).append(number)
        tensor = self.joined([write(key, columns) for key, columns in groups.items()])
        order = np.concatenate([np.array(columns) for columns in groups.values()])
        return tensor if (np.diff(order) == 1).all() else self.node("Gather", tensor, np.argsort(order), axis=1)

    def variable(self, tensor: str, n_columns: int, *, single: bool = False) -> Any:
        """Declare a tensor as a variable that other converters take; with `single`, in single precision."""
        kind = FloatTensorType if single else DoubleTensorType
        variable = self.scope.declare_local_variable("rows", kind([None, n_columns]))
        self.write("Cast", [tensor], [variable.onnx_name], to=TensorProto.FLOAT if single else TensorProto.DOUBLE)
        return variable

    def converted(self, alias: str, part: Any, variable: Any, **outputs: Any) -> list[Any]:
        """Let another converter write a transformer or classifier; return its outputs, named with their types."""
        operator = self.scope.declare_local_operator(alias, part)
        operator.inputs.append(variable)
        results = [self.scope.declare_local_variable(name, kind) for name, kind in outputs.items()]
        operator.outputs.extend(results)
        return results
