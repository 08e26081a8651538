"""HTML pages, taken apart."""

from html.parser import HTMLParser

VOID = {"meta", "br", "hr", "img", "input", "link", "wbr"}
Attributes = dict[str, str | None]


class Page(HTMLParser):
    """What a page holds.

    Attributes:
        tags: every element with its attributes.
        text: all that is shown, and the titles of plots, with single spaces.
        tables: the rows of each table, head first, by its caption.
        scripts, styles: what stands in those elements.

    Raises:
        AssertionError: an element is not closed where it should be.
    """

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, Attributes]] = []
        self.text = ""
        self.tables: dict[str, list[list[str]]] = {}
        self.scripts: list[str] = []
        self.styles: list[str] = []
        self._open: list[str] = []
        self._caption = ""
        self._rows: list[list[str]] = []
        self.feed(source)
        self.close()
        assert not self._open
        self.text = " ".join(self.text.split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)
        if tag == "table":
            self._caption, self._rows = "", []
        elif tag == "tr":
            self._rows.append([])
        elif tag in ("td", "th"):
            self._rows[-1].append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag
        if tag == "table":
            assert self._caption not in self.tables
            self.tables[self._caption] = self._rows

    def handle_data(self, data: str) -> None:
        if "script" in self._open:
            self.scripts.append(data)
        elif "style" in self._open:
            self.styles.append(data)
        else:
            self.text += data
            if "caption" in self._open:
                self._caption += data
            elif {"td", "th"} & set(self._open):
                self._rows[-1][-1] += data.strip("\n")

    def elements(self, tag: str) -> list[Attributes]:
        """The attributes of all elements of a kind."""
        return [attributes for name, attributes in self.tags if name == tag]
