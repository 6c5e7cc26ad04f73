"""Why a mutant says the same as the original, so that none can notice it."""

SAME_LENGTH = "all batches of a formula have one length"
CENTRED = "the inner product of a centred vector with another sees only the other's centred part"
ADDED_NUMBER = "a number added to a vector is added to each entry: the vector of ones may go"
ZERO = "zero times one thing is zero times another, where it has the same shape"
VANISHES = "the statement says that this term vanishes; as it does, its factor is free"
CHOICE = (
    "only chooses the cases at which a hypothesis is imposed, and the hypothesis still holds"
    " there: another family of cases of the same statement"
)
NO_EPSILON = "eps is zero in the only reading in which this hypothesis is imposed"

Places = dict[tuple[str, str], tuple[str, ...]]
"""By file and function: the changes."""
