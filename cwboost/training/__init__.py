"""The training of a model: from rows and a plan to what a fit keeps."""
