"""What every part of the package needs: clear errors, whole files, workers that stop, columns of text."""
