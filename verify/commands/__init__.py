"""The commands, each in a module that is imported only when it is asked for."""
