r"""Training one residual network of the experiment ``resnet`` for some epochs, on several devices.

::

    torchrun --nproc-per-node=8 -m verify.experiments.resnet.distributed \
        ResNet-18 group+bnp --data DATA --epochs 90 --device cuda

Each process takes its share of every batch, and the gradients are averaged: without Batch
Normalization, whose statistics are those of each process's share, the steps are those of a single
process, up to rounding; BNP pools its statistics over the processes.  Without ``torchrun`` it is
one process.  A checkpoint is kept after each epoch, and taken up again.

Tested with several processes on a CPU; **not tested on GPUs**.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import torch
import typer
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel

from verify.experiments.evidence import as_json
from verify.experiments.resnet.experiment import SMALL_SUBJECTS, SUBJECTS
from verify.experiments.resnet.training import ResNetTraining
from verify.subjects.cache import read_tensors, write_tensors

KNOWN = {subject.name: subject for subject in (*SUBJECTS, *SMALL_SUBJECTS)}


def main(
    network: Annotated[str, typer.Argument(help=f"One of {', '.join(KNOWN)}.")],
    method: Annotated[str, typer.Argument(help="batch, group, bnp or group+bnp.")],
    folder: Annotated[Path, typer.Option(help="For checkpoint and numbers.")] = Path("resnet-run"),
    data: Annotated[
        Path | None, typer.Option(help="Folder of the data sets; without, the embedded digits.")
    ] = None,
    epochs: Annotated[int | None, typer.Option(help="How many; without, the paper's.")] = None,
    seed: Annotated[int, typer.Option(help="Of weights, order and augmentation.")] = 0,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
) -> None:
    """Train, and write the numbers after each epoch."""
    if network not in KNOWN or method not in KNOWN[network].family.recipes:
        known = "; ".join(f"{n}: {', '.join(s.family.recipes)}" for n, s in KNOWN.items())
        raise typer.BadParameter(f"{network!r} by {method!r} is not known; choose of {known}")
    with processes(device) as (rank, count, own_device):
        piece = training(network, method, data, epochs, seed, own_device, (rank, count))
        checkpoint = folder / "checkpoint.pt"
        if checkpoint.is_file():
            state = read_tensors(checkpoint)
            assert isinstance(state, dict)
            piece.load_state_dict(state)
        while piece.done < piece.steps:
            piece.step()
            if piece.done % piece.steps_per_epoch == 0 and rank == 0:
                numbers = as_json(piece.numbers())
                folder.mkdir(parents=True, exist_ok=True)
                write_tensors(checkpoint, piece.state_dict())
                (folder / "numbers.json").write_text(json.dumps(numbers, indent=1) + "\n")
                typer.echo(
                    f"epoch {piece.done // piece.steps_per_epoch}: training loss "
                    f"{numbers['training_loss'][-1]}, test accuracy {numbers['test_accuracy'][-1]}"
                )


def training(
    network: str,
    method: str,
    data: Path | None,
    epochs: int | None,
    seed: int,
    device: str,
    process: tuple[int, int],
) -> ResNetTraining:
    """Return the training as one process of several sees it.

    Raises:
        ValueError: a batch cannot be shared evenly.
    """
    subject, (_, count) = KNOWN[network], process
    if subject.batch % count:
        raise ValueError(
            f"{count} processes cannot share batches of {subject.batch} images evenly; choose a "
            "number of processes that divides it"
        )
    images = subject.source(data, device)
    shared = replace(
        subject.training(method, lambda: images, device),
        process=process,
        wrapped=DistributedDataParallel if count > 1 else _alone,
    )
    steps = (epochs or subject.family.epochs) * (len(images) // subject.batch)
    return ResNetTraining(shared, seed, steps)


@contextmanager
def processes(device: str) -> Iterator[tuple[int, int, str]]:
    """Join the processes that ``torchrun`` started; yield this one's number, how many, its device.

    Args:
        device: "cpu", or "cuda", of which each process takes the one of its own number.
    """
    if "RANK" not in os.environ:
        yield 0, 1, device
        return
    own = f"cuda:{os.environ['LOCAL_RANK']}" if device == "cuda" else device
    if device == "cuda":
        torch.cuda.set_device(own)
    distributed.init_process_group("nccl" if device == "cuda" else "gloo")
    try:
        yield distributed.get_rank(), distributed.get_world_size(), own
    finally:
        distributed.destroy_process_group()


def _alone(model: nn.Module) -> nn.Module:
    return model


if __name__ == "__main__":
    typer.run(main)
