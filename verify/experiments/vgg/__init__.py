"""The experiment ``vgg``: the VGG network of paper S."""
