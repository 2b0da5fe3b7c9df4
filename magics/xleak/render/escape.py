"""Text for HTML."""

from __future__ import annotations


def escape(text: str) -> str:
    """The text with the special characters of HTML escaped, those of attributes too."""
    # Its table of entities takes half a MiB, and most sessions show no page.
    import html

    return html.escape(text, quote=True)
