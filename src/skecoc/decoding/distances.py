"""Decoders that compare a codeword with each row of the matrix: distances, and counts of agreements."""

import numpy as np
from scipy.special import betainc, betaincinv

from skecoc.decoding.losses import LARGEST_OUTPUT, squared, sum_losses
from skecoc.decoding.scoring import BaseDecoder, Floats, Indices

# Distances between codewords are multiples of 1/2: eigenvalues this small beside the largest are rounding.
_SINGULAR = 1e-10
# The beta density's mass between the mode and the score.
_PESSIMISTIC_MASS = 1.0 / 3.0
_NO_MASS = 1e-12
# The number of outcomes, agreement and disagreement, in Laplace's correction.
_N_OUTCOMES = 2


def hamming_distances(codewords: Floats, matrix: Floats) -> Floats:
    """Return the Hamming distances between codewords and rows of a matrix; where either is zero, 1/2 is added."""
    return (matrix.shape[1] - np.sign(codewords) @ matrix.T) / 2.0


def count_agreements(codewords: Floats, matrix: Floats) -> Floats:
    """Count the non-zero positions of each row of a matrix where a codeword has the same sign, half for zero."""
    return (np.abs(matrix).sum(axis=1) + np.sign(codewords) @ matrix.T) / 2.0


class HammingDecoder(BaseDecoder):
    r"""Score a class by the negated Hamming distance to its row of the matrix.

    .. math:: s_p(x) = -\sum_q \frac{1 - \operatorname{sign}(x_q M_{pq})}{2}

    A zero in the matrix adds 1/2 to the distance for every output, and so does an output of exactly zero.

    References
    ----------
    T. G. Dietterich, G. Bakiri. Solving multiclass learning problems via error-correcting output codes.
    Journal of Artificial Intelligence Research 2, 263-286, 1995.

    Examples
    --------
    >>> from skecoc.decoding import HammingDecoder
    >>> matrix = [[1, 1, 0], [-1, 0, 1], [0, -1, -1]]
    >>> decoder = HammingDecoder().fit([[1, 1, 1]], [0], matrix)
    >>> decoder.scores([[0.9, 0.2, -0.4]])
    array([[-0.5, -2.5, -1.5]])
    """

    def _scores(self, codewords: Floats) -> Floats:
        return -hamming_distances(codewords, self.matrix_)


class InverseHammingDecoder(BaseDecoder):
    r"""Score classes by the Hamming distances, multiplied by the inverse of the distances between rows.

    .. math:: s(x) = \Delta^{-1} D(x), \quad \Delta_{pr} = \mathrm{HD}(M_p, M_r), \quad D_p(x) = \mathrm{HD}(x, M_p)

    with the Hamming distance HD of `HammingDecoder`, in which every zero adds 1/2 (also on the diagonal of
    :math:`\Delta`). If x is a row of the matrix, the scores are 1 for that row and 0 for the others.

    Attributes
    ----------
    inverse_distances_ : ndarray of shape (n_rows, n_rows)
        The inverse of :math:`\Delta`. If :math:`\Delta` is singular, as for codes with fewer than ``n_rows - 1``
        columns, the pseudo-inverse (eigenvalues below 1e-10 of the largest are set to zero); it does not depend on the
        order of the classes.

    References
    ----------
    T. Windeatt, R. Ghaderi. Coding and decoding strategies for multi-class learning problems. Information
    Fusion 4(1), 11-21, 2003.

    Examples
    --------
    >>> from skecoc.decoding import InverseHammingDecoder
    >>> matrix = [[1, -1, -1], [-1, 1, -1], [-1, -1, 1]]
    >>> decoder = InverseHammingDecoder().fit([[1, -1, -1]], [0], matrix)
    >>> decoder.scores([[0.9, 0.2, -0.4]]).round(6)
    array([[ 0.75,  0.75, -0.25]])
    """

    inverse_distances_: Floats

    def _learn(self, codewords: Floats, y: Indices, weight: Floats) -> None:  # noqa: ARG002
        """Invert the distances between the rows; the training codewords are not read."""
        between_rows = hamming_distances(self.matrix_, self.matrix_)
        self.inverse_distances_ = np.asarray(
            np.linalg.pinv(between_rows, rcond=_SINGULAR, hermitian=True), dtype=np.float64
        )

    def _scores(self, codewords: Floats) -> Floats:
        return hamming_distances(codewords, self.matrix_) @ self.inverse_distances_.T


class EuclideanDecoder(BaseDecoder):
    r"""Score a class by the negated Euclidean distance to its row of the matrix.

    .. math:: s_p(x) = -\sqrt{\sum_q (x_q - M_{pq})^2}

    Outputs are clipped to ±1e149, so that squares do not overflow.

    References
    ----------
    S. Escalera, O. Pujol, P. Radeva. On the decoding process in ternary error-correcting output codes. IEEE TPAMI
    32(1), 120-134, 2010.

    Examples
    --------
    >>> from skecoc.decoding import EuclideanDecoder
    >>> matrix = [[1, 1, 0], [-1, 0, 1], [0, -1, -1]]
    >>> decoder = EuclideanDecoder().fit([[1, 1, 1]], [0], matrix)
    >>> decoder.scores([[1, 1, 1]])
    array([[-1.        , -2.23606798, -3.        ]])
    """

    def _scores(self, codewords: Floats) -> Floats:
        # Adding squares, unlike expanding them, loses nothing to cancellation, and is exact for outputs +-1 and 0.
        outputs = np.clip(codewords, -LARGEST_OUTPUT, LARGEST_OUTPUT)
        at_zeros = np.square(outputs) @ (self.matrix_ == 0).astype(np.float64).T
        return -np.sqrt(sum_losses(squared, outputs, self.matrix_) + at_zeros)


class AttenuatedEuclideanDecoder(BaseDecoder):
    r"""Score a class by the negated Euclidean distance over the non-zero positions of its row.

    .. math:: s_p(x) = -\sqrt{\sum_q |M_{pq}| (x_q - M_{pq})^2}

    Outputs are clipped to ±1e149, so that squares do not overflow.

    References
    ----------
    S. Escalera, O. Pujol, P. Radeva. On the decoding process in ternary error-correcting output codes. IEEE TPAMI
    32(1), 120-134, 2010.

    Examples
    --------
    >>> from skecoc.decoding import AttenuatedEuclideanDecoder
    >>> matrix = [[1, 1, 0], [-1, 0, 1], [0, -1, -1]]
    >>> decoder = AttenuatedEuclideanDecoder().fit([[1, 1, 1]], [0], matrix)
    >>> decoder.scores([[1, 0, 1]])
    array([[-1.        , -2.        , -2.23606798]])
    """

    def _scores(self, codewords: Floats) -> Floats:
        return -np.sqrt(sum_losses(squared, codewords, self.matrix_))


class LaplacianDecoder(BaseDecoder):
    r"""Score a class by the Laplace-smoothed share of outputs that agree with its row of the matrix.

    .. math:: s_p(x) = \frac{a_p + 1}{a_p + b_p + 2}

    with the numbers :math:`a_p` of agreements and :math:`b_p` of disagreements in sign over the non-zero
    positions of row p. An output of exactly zero counts as half an agreement and half a disagreement. Of two rows
    without disagreements, the one with more non-zero positions scores higher.

    References
    ----------
    S. Escalera, O. Pujol, P. Radeva. Decoding of ternary error correcting output codes. Progress in Pattern
    Recognition, Image Analysis and Applications, LNCS 4225, 753-763, 2006.

    Examples
    --------
    >>> from skecoc.decoding import LaplacianDecoder
    >>> matrix = [[1, 1, 0], [-1, 0, 1], [0, -1, -1]]
    >>> decoder = LaplacianDecoder().fit([[1, 1, 1]], [0], matrix)
    >>> decoder.scores([[0.9, 0.2, -0.4]])
    array([[0.75, 0.25, 0.5 ]])
    """

    def _scores(self, codewords: Floats) -> Floats:
        n_positions = np.abs(self.matrix_).sum(axis=1)
        return (count_agreements(codewords, self.matrix_) + 1.0) / (n_positions + _N_OUTCOMES)


class BetaDensityDecoder(BaseDecoder):
    r"""Score a class by a pessimistic estimate of its share of agreements.

    The share v of agreements has the density

    .. math:: \psi_p(v) \propto v^{a_p} (1 - v)^{b_p}, \quad 0 \le v \le 1,

    of the beta distribution with parameters :math:`a_p + 1` and :math:`b_p + 1`, where :math:`a_p` and
    :math:`b_p` count the agreements and disagreements in sign over the non-zero positions of row p of the
    matrix; an output of exactly zero counts as half an agreement and half a disagreement. The mode is :math:`a_p / (a_p
    + b_p)`. The score is the point below it that has a third of the mass between itself and the mode,

    .. math:: \int_{s_p}^{a_p / (a_p + b_p)} \psi_p(v) \, dv = \frac{1}{3},

    or 0 where less than a third of the mass is below the mode.

    References
    ----------
    S. Escalera, O. Pujol, P. Radeva. On the decoding process in ternary error-correcting output codes. IEEE TPAMI
    32(1), 120-134, 2010.

    Examples
    --------
    >>> from skecoc.decoding import BetaDensityDecoder
    >>> matrix = [[1, 1, 0], [-1, 0, 1], [0, -1, -1]]
    >>> decoder = BetaDensityDecoder().fit([[1, 1, 1]], [0], matrix)
    >>> decoder.scores([[0.9, 0.2, -0.4]]).round(4)
    array([[0.8736, 0.    , 0.2591]])
    """

    def _learn(self, codewords: Floats, y: Indices, weight: Floats) -> None:  # noqa: ARG002
        """Tabulate the few scores that occur; the training codewords are not read."""
        self._n_positions, self._table_row = np.unique(np.abs(self.matrix_).sum(axis=1), return_inverse=True)
        agreements = np.arange(2.0 * self._n_positions.max() + 1.0) / 2.0
        # Entries with more agreements than positions are never looked up.
        possible = np.minimum(agreements, self._n_positions[:, np.newaxis])
        self._table = pessimistic_share(possible, self._n_positions[:, np.newaxis] - possible)

    def _scores(self, codewords: Floats) -> Floats:
        halves = np.rint(2.0 * count_agreements(codewords, self.matrix_)).astype(np.intp)
        return self._table[self._table_row, halves]


def pessimistic_share(agreements: Floats, disagreements: Floats) -> Floats:
    """Return the point below a beta density's mode with a third of the mass between both, or 0 if there is none."""
    mode = agreements / (agreements + disagreements)
    alpha, beta = agreements + 1.0, disagreements + 1.0
    mass_below = betainc(alpha, beta, mode) - _PESSIMISTIC_MASS
    # Where the mass below the mode is a third exactly, as for 1/2 and 3/2, the inverse would magnify rounding.
    return betaincinv(alpha, beta, np.where(mass_below > _NO_MASS, mass_below, 0.0))
