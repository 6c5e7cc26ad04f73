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
SCALE = "z is a multiple of y and a constant, which a correlation does not see"
SHIFT = "Batch Normalization does not see a constant that is added to the batch"
LINEAR = (
    "the derivative of a linear function, and the second derivative of a quadratic one, is the"
    " same at every point"
)
CONSTANT = "a derivative does not see what does not change, a second one nothing that is linear"
SIGN = "a second derivative does not see the sign of its argument, an absolute value no sign at all"
CANCELS = "the length of this vector divides once and multiplies once"
UNUSED = "only the first input is used here, which is the same for i = k and for i != k"

Places = dict[tuple[str, str], tuple[str, ...]]
"""By file and function: the changes."""
