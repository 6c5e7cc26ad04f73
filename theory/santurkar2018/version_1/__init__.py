"""The first version of the paper, whose section of theorems is another one."""
