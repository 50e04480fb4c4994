"""The call panel: a widget for notebooks, the kernel's half of it in Python, the page's in `static/`.

Nothing here is loaded before a panel is asked for: anywidget and ipywidgets are behind this door alone.
"""
