"""Lange, Helfrich, Ye: Batch Normalization Preconditioning for Neural Network Training."""
