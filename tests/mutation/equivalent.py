PROVABLE = set()
NOT_YET = ()
EQUIVALENT = {}


def survivors_of(file, function):
    return set()
