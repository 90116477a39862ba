"""Features of music: beside librosa on one core, and a folder with one and two jobs.

1. All three modulation features of a ten-second clip at 44.1 kHz, against librosa's `mfcc` and `spectral_contrast` of
   the same clip, with librosa's own frames (2,048 samples) and with ours (1,024) (wanted: ratio at least 1). librosa
   computes other features and no modulation spectra; it stands for the speed that one is used to. Both run on one core
   and take turns; what counts is the processor's time, which other work on the machine disturbs less.
2. A folder of MP3 files, decoded and analysed with one and with two jobs (wanted: close to 2 on two free cores), and
   once more from the cache.

    python study/benchmarks/audio.py [--clips 60]

The first part needs librosa (``pip install librosa``).
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import soundfile
from threadpoolctl import threadpool_limits

from skecoc_study.music import ModulationFeatures, modulation_features

RATE = 44_100
SECONDS = 10


def make_clip(seed: int) -> np.ndarray:
    """Noise that beats: what it sounds like does not matter for the time it takes."""
    rng = np.random.default_rng(seed)
    seconds = np.arange(SECONDS * RATE) / RATE
    return (0.1 * (1 + np.sin(2 * np.pi * 2 * seconds)) * rng.normal(size=len(seconds))).astype(np.float32)


def best_times(first: Callable[[], object], second: Callable[[], object], repeats: int = 15) -> tuple[float, float]:
    """Run both alternately and return the least processor time of each, in seconds."""
    best = [float("inf"), float("inf")]
    for _ in range(repeats):
        for which, run in enumerate((first, second)):
            start = time.process_time()
            run()
            best[which] = min(best[which], time.process_time() - start)
    return best[0], best[1]


def compare_with_librosa() -> None:
    try:
        import librosa
    except ImportError:
        print("librosa is not installed: no comparison with it\n")
        return
    signal = make_clip(0)
    print(
        "one clip of 10 s, one core: milliseconds of librosa (mfcc + spectral_contrast) and ours (all three features)"
    )
    print(f"{'frames of librosa':<22} {'librosa':>8} {'ours':>8} {'ratio':>7}")
    for name, options in (("2048, its default", {}), ("1024, as ours", {"n_fft": 1024, "hop_length": 512})):

        def theirs(options: dict[str, int] = options) -> None:
            librosa.feature.mfcc(y=signal, sr=RATE, **options)
            librosa.feature.spectral_contrast(y=signal, sr=RATE, **options)

        theirs()  # it compiles some parts when they are first used
        their_time, our_time = best_times(theirs, lambda: modulation_features(signal, RATE))
        print(f"{name:<22} {1e3 * their_time:>8.1f} {1e3 * our_time:>8.1f} {their_time / our_time:>7.2f}")
    print()


def seconds_of(features: ModulationFeatures, paths: list[str]) -> float:
    start = time.perf_counter()
    features.fit_transform(paths)
    return time.perf_counter() - start


def compare_jobs(n_clips: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(Path(folder, f"{number}.mp3")) for number in range(n_clips)]
        for number, path in enumerate(paths):
            signal = make_clip(number)
            soundfile.write(path, np.column_stack([signal, signal]), RATE)
        cache = Path(folder, "cache")
        one, two = (min(seconds_of(ModulationFeatures(n_jobs=jobs), paths) for _ in range(3)) for jobs in (1, 2))
        seconds_of(ModulationFeatures(cache_dir=cache), paths)
        again = seconds_of(ModulationFeatures(cache_dir=cache), paths)
    print(f"{n_clips} MP3 files of 10 s, stereo: clips per second")
    speeds = f"one job {n_clips / one:.1f}, two jobs {n_clips / two:.1f} (ratio {one / two:.2f})"
    print(f"{speeds}, cached {n_clips / again:.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clips", type=int, default=60, help="files of the second part")
    options = parser.parse_args()
    with threadpool_limits(1):
        compare_with_librosa()
        compare_jobs(options.clips)


if __name__ == "__main__":
    main()
