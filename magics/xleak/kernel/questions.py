"""What a front end asks beside cells: completion, inspection, completeness, history."""

from __future__ import annotations

from typing import Any

from IPython.core.completer import provisionalcompleter, rectify_completions
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.tokenutil import token_at_cursor

Content = dict[str, Any]


class AnsweringShell(InteractiveShell):
    """A shell that makes the contents of these replies."""

    def complete_reply(self, code: str, cursor: int) -> Content:
        if not 0 <= cursor <= len(code):
            cursor = len(code)
        with provisionalcompleter():
            found = list(rectify_completions(code, self.Completer.completions(code, cursor)))
        types = [
            {
                "start": c.start,
                "end": c.end,
                "text": c.text,
                "type": c.type,
                "signature": c.signature,
            }
            for c in found
        ]
        return {
            "status": "ok",
            "matches": [completion.text for completion in found],
            "cursor_start": found[0].start if found else cursor,
            "cursor_end": found[0].end if found else cursor,
            "metadata": {"_jupyter_types_experimental": types},
        }

    def inspect_reply(self, code: str, cursor: int, detail: int) -> Content:
        try:
            data = self.object_inspect_mime(token_at_cursor(code, cursor), detail_level=detail)
        except KeyError:
            return {"status": "ok", "found": False, "data": {}, "metadata": {}}
        if not self.enable_html_pager:
            data.pop("text/html", None)
        return {"status": "ok", "found": True, "data": data, "metadata": {}}

    def is_complete_reply(self, code: str) -> Content:
        status, indent = self.input_transformer_manager.check_complete(code)
        return {"status": status, **({"indent": " " * indent} if status == "incomplete" else {})}

    def history_reply(self, content: Content) -> Content:
        raw, output = content.get("raw", True), content.get("output", False)
        kind, history = content.get("hist_access_type"), self.history_manager
        found: Any = []
        if kind == "tail":
            found = history.get_tail(content.get("n"), raw=raw, output=output, include_latest=True)
        elif kind == "range":
            session = content.get("session", 0)
            span = history.get_range(
                session, content.get("start", 0), content.get("stop"), raw=raw, output=output
            )
            # IPython calls the running session 0 even where it was asked for by its number.
            found = [(row[0] or session, *row[1:]) for row in span]
        elif kind == "search":
            wanted = {"n": content.get("n"), "unique": content.get("unique", False)}
            found = history.search(content.get("pattern"), raw=raw, output=output, **wanted)
        return {"status": "ok", "history": [list(row) for row in found]}
