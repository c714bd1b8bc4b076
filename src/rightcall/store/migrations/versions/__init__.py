"""One module a version, named `NNNN_what`: `revision` is its number, `down_revision` the one before."""
