"""Statistics of two runs of 10,000 queries: 10,000 permutations and 10,000 resamples.

Prints CPU seconds and the peak memory of the process. Target: 1.5 s and 300 MB. The data are invented.

    python -m benchmarks.compare [--queries N] [--runs N]
"""

import argparse
import resource
import time

import numpy as np

from relevancy.statistics import Differences, compare_means, compare_paired


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=2)
    options = parser.parse_args()
    generator = np.random.default_rng(1)
    scores = np.clip(generator.normal(60, 25, (options.queries, options.runs)), 0, 100)
    for name, weights in (("equal weights", None), ("weights", generator.uniform(0.5, 4, options.queries))):
        start = time.process_time()
        comparison = compare_paired(Differences.build(scores[:, 1] - scores[:, 0], weights))
        seconds = time.process_time() - start
        print(f"{name}: {seconds:.2f} s of CPU, p {comparison.p:.4f}, interval {comparison.interval}")
    if options.runs > 2:
        start = time.process_time()
        compare_means(scores)
        print(f"all pairs of {options.runs} runs: {time.process_time() - start:.2f} s of CPU")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB; invented data")


if __name__ == "__main__":
    main()
