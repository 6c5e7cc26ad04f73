"""The papers' networks, each with its normalisation chosen by name.

- :mod:`~theory.nn.networks.deep_linear`: paper S, the deep linear network
- :mod:`~theory.nn.networks.vgg`: paper S, VGG for 32 by 32
- :mod:`~theory.nn.networks.dense`: paper L, three or two hidden layers of 100 units
- :mod:`~theory.nn.networks.convolutional`: paper L, the 5-layer convolutional network
- :mod:`~theory.nn.networks.resnet`: paper L, ResNet-110, post- and pre-activation, and ResNet-18

Every network's normalisation layers, by name, are
:func:`theory.nn.normalization.normalization_layers` of it.  Networks that are drawn from equal
generators and differ in their normalisation alone start from equal weights.
"""
