"""The experiment ``resnet``: the residual networks of paper L."""
