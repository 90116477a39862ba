"""Export to ONNX: fitted classifiers that run without Python.

Importing this module registers converters for the classifiers of this library with skl2onnx, also for use inside
pipelines and other meta-estimators. It needs the ``onnx`` extra: ``pip install "scikit-ecoc[onnx]"``.
"""

from skecoc.support.errors import import_extra

import_extra("skl2onnx", "onnx", "export to ONNX")

from skecoc.onnx._export import ExportCheck, check_export, register_converters, to_onnx  # noqa: E402

__all__ = ["ExportCheck", "check_export", "register_converters", "to_onnx"]

register_converters()
