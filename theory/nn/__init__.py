"""The layers, methods, measures and networks that the papers define, as parts for PyTorch."""
