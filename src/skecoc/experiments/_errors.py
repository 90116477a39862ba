"""The one error that means: the request or the data is at fault, not the program."""


class InputError(ValueError):
    """Something asked for cannot be done; the message says what and names the argument.

    The command line shows its message as one line. Every other exception is a
    defect of the program and keeps its traceback.

    Examples
    --------
    >>> raise InputError("folds must be at least 2, got 1")
    Traceback (most recent call last):
    ...
    skecoc.experiments._errors.InputError: folds must be at least 2, got 1
    """
