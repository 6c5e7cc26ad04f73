r"""Somebody's network under the theorems: every layer, every bound against actual.

>>> import torch
>>> from verify.audit import audit
>>> _ = torch.manual_seed(0)
>>> model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8),
...     torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(288, 10))
>>> images, labels = torch.randn(16, 3, 8, 8), torch.randint(10, (16,))
>>> report = audit(model, images, labels, torch.nn.functional.cross_entropy, entries=0)
>>> [row.layer for row in report.normalizations], [row.layer for row in report.maps]
(['1'], ['0', '4'])

Source: Santurkar et al. 2018; Lange, Helfrich and Ye 2022.
"""

from theory.packages import missing

try:
    import msgspec  # noqa: F401
    import torch  # noqa: F401
except ModuleNotFoundError as error:
    raise missing(error, "verify") from error

from verify.audit.auditing import audit
from verify.audit.errors import AuditError
from verify.audit.report import Report
from verify.audit.training import Auditor

__all__ = ["AuditError", "Auditor", "Report", "audit"]
