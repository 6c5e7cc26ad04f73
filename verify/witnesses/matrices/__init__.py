"""The witnesses of statements about matrices: of a layer, of maps, of a descent."""
