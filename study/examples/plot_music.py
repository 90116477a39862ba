# ruff: noqa: D205, D400
"""
Music genres: from a folder of audio to a confusion matrix
==========================================================

A collection of music is usually a folder with one folder per genre. This example writes such a folder with synthetic
music and trains a classifier on it. With music of your own, start at the second part.

Needs the extras ``audio`` and ``plot``: ``pip install "scikit-ecoc-study[audio]"``.
"""

# %%
# A folder of music
# -----------------
# Four genres of eight-second clips. Every artist has a tempo and a pitch, which vary little between clips.
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np
import soundfile
from sklearn.metrics import ConfusionMatrixDisplay, accuracy_score
from sklearn.model_selection import StratifiedGroupKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from skecoc import WOLCClassifier
from skecoc.learners import TunedSVMClassifier
from skecoc_study.music import ModulationFeatures, load_audio_folder

RATE = 44_100
TIME = np.arange(8 * RATE) / RATE


def drums(rng, tempo, pitch):  # noqa: ARG001
    """Strike noise, twice as loud every fourth time."""
    beat = (TIME * tempo) % 1.0
    accent = 1.0 + ((TIME * tempo) % 4.0 < 1.0)
    return accent * np.exp(-8.0 * beat) * rng.normal(size=len(TIME))


def organ(rng, tempo, pitch):  # noqa: ARG001
    """Hold a chord that swells slowly."""
    swell = 1.0 + 0.3 * np.sin(2 * np.pi * rng.uniform(0.1, 0.3) * TIME)
    return swell * sum(np.sin(2 * np.pi * pitch * k * TIME) / k for k in (1, 1.25, 1.5, 2, 3))


def harp(rng, tempo, pitch):
    """Pluck notes, each of another pitch."""
    steps = rng.integers(0, 12, size=64)[(TIME * tempo).astype(int)]
    return np.exp(-5.0 * ((TIME * tempo) % 1.0)) * np.sin(2 * np.pi * pitch * 2.0 ** (steps / 12) * TIME)


def band(rng, tempo, pitch):
    """Play drums and organ together, which is easily confused with either."""
    return 0.4 * drums(rng, tempo, pitch) + 0.5 * organ(rng, tempo, pitch)


folder = TemporaryDirectory()
root = Path(folder.name)
for play in (drums, organ, harp, band):
    (root / play.__name__).mkdir()
    for artist in range(5):
        artist_rng = np.random.default_rng(artist)
        tempo, pitch = artist_rng.uniform(1.5, 6.0), artist_rng.uniform(110.0, 330.0)
        for song in range(4):
            rng = np.random.default_rng([artist, song])
            sound = 0.1 * play(rng, tempo * rng.uniform(0.9, 1.1), pitch * rng.uniform(0.8, 1.2))
            room = rng.normal(scale=10 ** rng.uniform(-3.5, -1.5), size=len(TIME))
            soundfile.write(root / play.__name__ / f"Artist {artist}-Song {song}.ogg", sound + room, RATE)

# %%
# Clips, genres and artists
# -------------------------
# `load_audio_folder` lists the audio files and their genres and artists. The artist is the part of the file name before
# the hyphen.
music = load_audio_folder(root)
print(music.DESCR)
print(music.artists[:3], music.target_names)

# %%
# A model, from file to genre
# ---------------------------
# `ModulationFeatures` is a transformer that turns files into rows of numbers and caches them. `WOLCClassifier` grows a
# code of support vector machines.
model = make_pipeline(
    ModulationFeatures("mosc", cache_dir=root / ".features"),
    MinMaxScaler(),
    WOLCClassifier(TunedSVMClassifier(tune="ensemble"), random_state=0),
)

# %%
# Which genres are confused?
# --------------------------
# The clips of an artist are alike. If some of them were in the training part and others in the test part, the accuracy
# would measure how well artists are recognised. So all clips of an artist are on the same side of every split.
folds = StratifiedGroupKFold(n_splits=5)
predicted = cross_val_predict(model, music.data, music.target, groups=music.artists, cv=folds)
print(f"accuracy {accuracy_score(music.target, predicted):.2f}")
display = ConfusionMatrixDisplay.from_predictions(music.target, predicted, cmap="Blues", colorbar=False)
display.ax_.set_title("Genres of new artists")
plt.tight_layout()
plt.show()

# %%
# A new file
# ----------
model.fit(music.data, music.target)
new = root / "new.wav"
soundfile.write(new, 0.1 * harp(np.random.default_rng(99), 3.0, 200.0), RATE)
for genre, probability in zip(model.classes_, model.predict_proba([new])[0], strict=True):
    print(f"{genre:6} {probability:.2f}")
folder.cleanup()
