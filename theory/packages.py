"""What is said where a package is missing that only a part of this one needs."""


def missing(error: ModuleNotFoundError, extra: str) -> ModuleNotFoundError:
    """Return the error of an import with the command that installs what is missing.

    >>> missing(ModuleNotFoundError("No module named 'flint'", name="flint"), "verify").msg
    "flint is not installed; run: pip install 'batchnorm-theory[verify]'"
    """
    advice = f"pip install 'batchnorm-theory[{extra}]'"
    return ModuleNotFoundError(f"{error.name} is not installed; run: {advice}", name=error.name)
