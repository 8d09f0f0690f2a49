"""Random numbers. The same seed gives the same figures on every machine."""

import numpy as np

SEED = 20261122


def build_generator(seed: int = SEED) -> np.random.Generator:
    """Returns the generator that every randomised function of this package uses."""
    return np.random.Generator(np.random.PCG64(seed))
