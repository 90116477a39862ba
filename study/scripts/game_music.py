"""Collect freely licensed real music: soundtracks of games as ten-second clips, one folder per soundtrack.

    python study/scripts/game_music.py FOLDER [--packages NAME ...] [--seconds 10] [--clips 10]

Needs Debian or a distribution based on it (``apt-get``, ``dpkg-deb``) and 5 GB of disk, but no root rights: packages
are downloaded and unpacked, not installed. The licence of each is in
FOLDER/unpacked/NAME/usr/share/doc/NAME/copyright. Existing files are kept. Then

    skecoc music compare FOLDER/clips --group-by track
    python study/scripts/music_results.py FOLDER

cross-validate with all clips of a track on the same side of every split; the second one runs the whole experiment and
stores the results of study/docs/music_results.md.
"""

import argparse
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import soundfile
from tqdm import tqdm

#: Debian package of each soundtrack.
PACKAGES = {
    "colobot": "colobot-common-sounds",
    "freedroidrpg": "freedroidrpg-data",
    "hedgewars": "hedgewars-data",
    "hyperrogue": "hyperrogue-music",
    "singularity": "singularity-music",
    "supertux": "supertux-data",
    "unknown-horizons": "unknown-horizons",
    "warzone2100": "warzone2100-music",
    "wesnoth": "wesnoth-1.16-music",
}
SUFFIXES = {".flac", ".mp3", ".oga", ".ogg", ".opus", ".wav"}
MUSIC_FOLDER = "music"
#: Shorter files are jingles.
SHORTEST_TRACK = 30.0


def main() -> int:
    """Download, unpack and cut; return the exit code."""
    options = parse_arguments()
    chosen = {name: package for name, package in PACKAGES.items() if package in options.packages}
    for name, package in chosen.items():
        unpacked = options.folder / "unpacked" / package
        try:
            if not unpacked.is_dir():
                unpack(download(package, options.folder / "packages"), unpacked)
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"{package}: {error}", file=sys.stderr)
            return 1
        tracks = list(find_tracks(unpacked))
        clips = options.folder / "clips" / name
        n_clips = sum(cut(track, title, clips, options) for track, title in tqdm(tracks, name, disable=None))
        print(f"{name}: {len(tracks)} tracks, {n_clips} clips")
    return 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where everything goes")
    parser.add_argument("--packages", nargs="+", metavar="NAME", default=list(PACKAGES.values()))
    parser.add_argument("--seconds", type=float, default=10.0, help="length of a clip (default: 10)")
    parser.add_argument("--clips", type=int, default=10, help="most clips of a track (default: 10)")
    options = parser.parse_args()
    unknown = sorted(set(options.packages) - set(PACKAGES.values()))
    if unknown:
        parser.error(f"unknown packages: {', '.join(unknown)}; expected some of {', '.join(PACKAGES.values())}")
    return options


def download(package: str, folder: Path) -> Path:
    """Fetch a package's file, unless it is there."""
    folder.mkdir(parents=True, exist_ok=True)
    found = sorted(folder.glob(f"{package}_*.deb"))
    if not found:
        subprocess.run(["apt-get", "download", package], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        found = sorted(folder.glob(f"{package}_*.deb"))
    return found[-1]


def unpack(file: Path, folder: Path) -> None:
    """Unpack a package; the folder appears when it is complete."""
    partial = folder.with_name(f"{folder.name}.partial")
    partial.mkdir(parents=True, exist_ok=True)
    subprocess.run(["dpkg-deb", "-x", file, partial], check=True)
    partial.rename(folder)


def find_tracks(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield the pieces of music in a package and a name for each: its path below the folder of the music."""
    for path in sorted(folder.rglob("*")):
        parts = [part.lower() for part in path.relative_to(folder).parts[:-1]]
        if path.suffix.lower() not in SUFFIXES or MUSIC_FOLDER not in parts or path.is_symlink():
            continue
        if soundfile.info(path).duration >= SHORTEST_TRACK:
            below = path.relative_to(folder).parts[parts.index(MUSIC_FOLDER) + 1 :]
            yield path, Path("_".join(below)).stem.replace("@", "_")


def cut(track: Path, title: str, folder: Path, options: argparse.Namespace) -> int:
    """Cut clips that do not overlap, evenly spread over the track, and return their number."""
    folder.mkdir(parents=True, exist_ok=True)
    with soundfile.SoundFile(track) as audio:
        length = int(options.seconds * audio.samplerate)
        n_clips = min(options.clips, audio.frames // length)
        for start in np.linspace(0, audio.frames - length, n_clips).astype(int).tolist():
            clip = folder / f"{title}@{start // audio.samplerate}.flac"
            if not clip.exists():
                audio.seek(start)
                partial = clip.with_suffix(".partial")
                soundfile.write(partial, audio.read(length, dtype="int16"), audio.samplerate, format="FLAC")
                partial.rename(clip)
    return n_clips


if __name__ == "__main__":
    sys.exit(main())
