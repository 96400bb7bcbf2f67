# ruff: noqa: T201
"""Look at reports in headless Chromium: nothing overflows at 420, 800 and 1600 px, the console stays empty.

``python tests/report/chromium.py REPORT.html...`` exits 1 and says what is wrong; run it before a release.
"""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

WIDTHS = (420, 800, 1600)
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PROBE = """
<script>
window.addEventListener("load", () => setTimeout(() => {
  const found = [...document.querySelectorAll("iframe")].map((frame) => {
    const page = frame.contentDocument, width = page.documentElement.clientWidth;
    const inside = (node) => node.closest(".wide, pre, svg");
    const wide = [...page.body.querySelectorAll("*")]
      .filter((node) => !inside(node) && node.getBoundingClientRect().right > width + 1)
      .map((node) => node.tagName + "." + node.className);
    return {width: frame.clientWidth, page: page.documentElement.scrollWidth, wide: wide.slice(0, 5),
            broken: [...page.images].filter((each) => !each.naturalWidth).length,
            height: page.documentElement.scrollHeight};
  });
  const told = document.createElement("script");
  told.type = "application/json"; told.id = "found"; told.textContent = JSON.stringify(found);
  document.body.append(told);
}, 300));
</script>
"""
"""Measures each frame and writes what it found into the page, which is then dumped."""


def browser() -> str | None:
    """Return the command of a Chromium, or None."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def look_at(report: Path, command: str) -> list[str]:
    """Return what is wrong with a report at any width; empty if nothing is."""
    text = html.escape(report.read_text(encoding="utf-8"))
    frames = "".join(
        f'<iframe srcdoc="{text}" style="width:{width}px;height:900px;border:0"></iframe>' for width in WIDTHS
    )
    with tempfile.TemporaryDirectory() as directory:
        probe = Path(directory) / "probe.html"
        probe.write_text(f"<!DOCTYPE html><meta charset=utf-8><body>{frames}{PROBE}</body>", encoding="utf-8")
        flags = (
            "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            "--enable-logging=stderr", f"--user-data-dir={directory}/profile", "--window-size=1800,1200",
            "--virtual-time-budget=5000", "--host-resolver-rules=MAP * ~NOTFOUND", "--dump-dom",
            probe.as_uri(),
        )  # fmt: skip
        found = subprocess.run([command, *flags], capture_output=True, text=True, check=False, timeout=120)
    said = re.findall(r"CONSOLE[^\n]*", found.stderr)
    measured = re.search(
        r'<script type="application/json" id="found">(.*?)</script>', found.stdout, re.DOTALL
    )
    if measured is None:
        return [f"{report.name}: Chromium did not show it: {found.stderr[-500:]}"]
    wrong = [f"{report.name}: console: {each}" for each in said]
    for frame in json.loads(html.unescape(measured[1])):
        if frame["page"] > frame["width"]:
            wrong.append(f"{report.name} at {frame['width']} px is {frame['page']} px wide")
        wrong += [f"{report.name} at {frame['width']} px: {each} overflows" for each in frame["wide"]]
        if frame["broken"]:
            wrong.append(f"{report.name} at {frame['width']} px: a picture is missing")
    return wrong


def main(words: list[str]) -> int:
    """Look at each report named."""
    command = browser()
    if command is None:
        print("no Chromium here: nothing looked at")
        return 0
    wrong = [each for word in words for each in look_at(Path(word), command)]
    print("\n".join(wrong) or f"{len(words)} reports look right at {', '.join(map(str, WIDTHS))} px")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
