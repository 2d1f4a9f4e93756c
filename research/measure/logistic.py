"""A weighted logistic regression, and how good its probabilities are: area under the curve, Brier score, deviation."""

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float64]


def chances(features: Matrix, coefficients: Matrix) -> Matrix:
    """Probabilities (n,) of rows (n, k)."""
    said: Matrix = 1 / (1 + np.exp(-(features @ coefficients)))
    return said


def fitted(features: Matrix, truth: Matrix, weight: Matrix, *, ridge: float = 1e-4, rounds: int = 40) -> Matrix:
    """Return coefficients (k,) of the weighted maximum likelihood, by Newton's steps; the last is the constant."""
    weight = weight / weight.sum()
    penalty = ridge * np.diag([1.0] * (features.shape[1] - 1) + [0.0])
    found = np.zeros(features.shape[1])
    for _ in range(rounds):
        said = chances(features, found)
        slope = features.T @ (weight * (truth - said)) - penalty @ found
        curve = (features * (weight * said * (1 - said))[:, None]).T @ features + penalty
        step = np.linalg.solve(curve, slope)
        found = found + step
        if np.abs(step).max() < 1e-8:
            break
    return found


def area(said: Matrix, truth: Matrix, weight: Matrix) -> float:
    """Return the area under the ROC curve; ties count half."""
    right, wrong = truth > 0, truth <= 0
    if not right.any() or not wrong.any():
        return float("nan")
    order = np.argsort(said[wrong])
    low, mass = said[wrong][order], np.concatenate([[0.0], np.cumsum(weight[wrong][order])])
    below = mass[np.searchsorted(low, said[right], side="left")]
    upto = mass[np.searchsorted(low, said[right], side="right")]
    return float((weight[right] * (below + upto) / 2).sum() / (weight[right].sum() * mass[-1]))


def brier(said: Matrix, truth: Matrix, weight: Matrix) -> float:
    """Return the mean squared error of a probability (Brier, 1950)."""
    return float(np.average((said - truth) ** 2, weights=weight))


def deviation(said: Matrix, truth: Matrix, weight: Matrix) -> float:
    """Return what is said on average, less what is true."""
    return float(np.average(said - truth, weights=weight))
