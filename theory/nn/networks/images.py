"""What a network takes, as its first layer: images of one shape, and nothing else."""

from __future__ import annotations

from torch import Tensor, nn


class Images(nn.Module):
    """Passes batches of images as they are, and refuses anything else.

    Args:
        channels: of an image.
        height, width: in pixels.
        least: the smallest side that the network can do with.

    Raises:
        ValueError: no channels, or a side below the least.
    """

    def __init__(self, channels: int, height: int, width: int, least: int = 1) -> None:
        super().__init__()
        self.shape = (channels, height, width)
        if channels < 1 or min(height, width) < least:
            raise ValueError(
                f"images of shape (channel, height, width) = {self.shape}; expected at least one "
                f"channel and {least} by {least} pixels, or a kernel would be larger than its map: "
                "enlarge the images"
            )

    def forward(self, images: Tensor) -> Tensor:
        """Return the images.

        Raises:
            TypeError: not floating.
            ValueError: another shape, or none.
        """
        given = f"inputs of shape {tuple(images.shape)} and dtype {images.dtype}"
        if not images.is_floating_point():
            raise TypeError(f"{given}; expected floats: divide grey values by their largest")
        if tuple(images.shape[1:]) != self.shape or len(images) == 0:
            expected = ", ".join(map(str, self.shape))
            raise ValueError(
                f"{given}; expected (batch, {expected}): reshape them, or make the network for "
                "their shape"
            )
        return images

    def extra_repr(self) -> str:
        """Return the shape of an image, for the printed form."""
        return ", ".join(map(str, self.shape))
