"""A Jupyter toolkit for learning and prototyping voice agents."""
