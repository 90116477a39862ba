"""Export to ONNX: fitted classifiers that run without Python.

Importing this module teaches skl2onnx to convert the classifiers of this library, alone or inside pipelines and other
meta-estimators. It needs the ``onnx`` extra: ``pip install "scikit-ecoc[onnx]"``.
"""

try:
    import skl2onnx as _skl2onnx  # noqa: F401
except ModuleNotFoundError as error:
    raise ImportError('export to ONNX needs skl2onnx: pip install "scikit-ecoc[onnx]"') from error

from skecoc.onnx._export import ExportCheck, check_export, register_converters, to_onnx

__all__ = ["ExportCheck", "check_export", "register_converters", "to_onnx"]

register_converters()
