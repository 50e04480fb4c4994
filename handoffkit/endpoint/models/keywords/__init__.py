"""What the keyword model knows of words, and how it weighs, asks and answers by them."""
