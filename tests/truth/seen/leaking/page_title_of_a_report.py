# /// truth
# question = "asked"
# style = "short"
# needs = ["bs4"]
# thread = "Stack Overflow, 2011 and later: a string taken from a parsed page keeps the whole tree, although the soup was deleted"
# leaked = "24 * 500_000"
# cause_cell = 1
# cause_line = "soup = BeautifulSoup(html"
# holder = ["title", "NavigableString", "title.parent"]
# repair = "title = str(title)"
# ///
# %%
import gc
from bs4 import BeautifulSoup
html = "<html><head><title>Report 2019/07</title></head><body>" + "".join(f"<pre>{'0123456789' * 50_000}</pre>" for _ in range(24)) + "</body></html>"
soup = BeautifulSoup(html, "html.parser")
title = soup.title.string
# %%
del soup, html
gc.collect()
print(title.upper())
