"""Where samples are: in memory, in blocks of files, or in the partitions of a cluster; and sums over them."""

from typing import TYPE_CHECKING

from skecoc.support.lazy import lazily

if TYPE_CHECKING:
    from skecoc.data.described import Blocks, Partitions

__all__ = ["Blocks", "Partitions"]

# Workers of a cluster, which need other modules alone, do without scikit-learn.
__getattr__, __dir__ = lazily(__name__, dict.fromkeys(__all__, "skecoc.data.described"))
