"""Audio that tests share: small synthetic music, and files that are none."""

from io import BytesIO

import numpy as np
import pytest
import soundfile


def play(genre: str, seed: int, seconds: float = 7.0, rate: int = 44100) -> np.ndarray:
    """Synthetic music, stereo: 'drums' beat twice a second over noise, 'organ' holds slowly changing chords."""
    rng = np.random.default_rng(seed)
    time = np.arange(int(seconds * rate)) / rate
    if genre == "drums":
        beat = np.exp(-((time * rng.uniform(1.8, 2.2)) % 1.0) * rng.uniform(6, 10))
        sound = beat * rng.normal(scale=0.3, size=len(time))
    else:
        pitches = rng.uniform(110, 440, size=3)
        swell = 1 + 0.3 * np.sin(2 * np.pi * rng.uniform(0.1, 0.5) * time)
        sound = swell * sum(np.sin(2 * np.pi * pitch * k * time) / k for pitch in pitches for k in (1, 2, 3)) / 8
    sound = sound + rng.normal(scale=0.003, size=len(time))
    return np.column_stack([sound, 0.8 * sound]).astype(np.float32)


def encoded(samples: np.ndarray, kind: str, rate: int = 44100) -> bytes:
    """The content of a file of some kind."""
    file = BytesIO()
    soundfile.write(file, samples, rate, format=kind.upper())
    return file.getvalue()


@pytest.fixture(scope="session")
def music_folder(tmp_path_factory):
    """A folder with two genres of six clips each, by three artists."""
    root = tmp_path_factory.mktemp("music")
    for genre in ("drums", "organ"):
        (root / genre).mkdir()
        for number in range(6):
            path = root / genre / f"artist{number % 3}-song{number}.wav"
            soundfile.write(path, play(genre, seed=number), 44100)
    return root


@pytest.fixture(scope="session")
def music_paths(music_folder):
    """Paths of all clips, sorted, drums first."""
    return sorted(str(path) for path in music_folder.rglob("*.wav"))


@pytest.fixture
def bad_files(tmp_path):
    """Files that are no audio, by what is wrong with them."""
    folder = tmp_path / "bad"
    folder.mkdir()
    (folder / "empty.mp3").touch()
    (folder / "text.wav").write_text("this is not music\n" * 100)
    (folder / "zeros.mp3").write_bytes(bytes(5000))
    soundfile.write(folder / "no-samples.wav", np.zeros((0, 2)), 44100)
    soundfile.write(folder / "not-finite.wav", np.array([0.0, np.nan, 1.0]), 44100, subtype="FLOAT")
    noise = np.random.default_rng(0).bytes(5000)
    for name in ("headerless.raw", "bytes.mp3", "bytes.wav"):
        (folder / name).write_bytes(noise)
    (folder / "page.mp3").write_text("<html><body>404: nichts gefunden, désolé</body></html>" * 20, encoding="utf-8")
    (folder / "picture.mp3").write_bytes(b"\xff\xd8\xff\xe0\x00\x10JFIF" + noise)
    whole = {kind: encoded(np.zeros(44100) + np.arange(44100) % 7 / 70, kind) for kind in ("mp3", "wav", "flac")}
    for kind, content in whole.items():
        (folder / f"header.{kind}").write_bytes(content[: {"mp3": 100, "wav": 30, "flac": 30}[kind]])
    (folder / "half.flac").write_bytes(whole["flac"][: len(whole["flac"]) // 2])
    return folder
