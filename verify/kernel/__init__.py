"""A proof assistant's kernel as a witness: Coq checks theorems stated from the definitions.

- :mod:`~verify.kernel.coq`: where Coq is, and what to do where it is not;
- :mod:`~verify.kernel.theorems`: the theorems of a Coq file, their statements and hashes;
- :mod:`~verify.kernel.compilation`: files compiled in the order of what they need, several at
  once, each only when it or what it needs has changed;
- :mod:`~verify.kernel.evidence`: what was checked, under which assumptions.
"""
