"""What a loss landscape shows along a training: what ``dln`` and ``vgg`` share."""
