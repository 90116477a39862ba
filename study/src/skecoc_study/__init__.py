"""The study of scikit-ecoc: the experiments of the WOLC-ECOC paper, and music genres."""

__version__ = "0.1.0"
__all__ = ["__version__"]
