"""The gallery: examples that are run, what they print, and their pictures (`docs/make.py` writes it)."""

from __future__ import annotations

import io
import textwrap
from contextlib import redirect_stdout
from pathlib import Path
from typing import NamedTuple

from zsim.prediction.answer.drawing import render

HERE = Path(__file__).resolve().parent
MADE = "<!-- made by docs/make.py -->"


class Example(NamedTuple):
    """An example: name of its picture, title, what it shows, and Python that binds `picture`."""

    name: str
    title: str
    words: str
    code: str


EXAMPLES = (
    Example(
        "answer", "One drive of a RAID-Z2 pool",
        "The fan shows the progress of eight in ten of the pools that match what was stated. The dashed line "
        "shows, for each moment, the finish time that `zpool status` would give then.",
        """
        import zsim

        prediction = zsim.predict(layout="raidz2x6", fill="62%", drive_size="18TB", history="media-server")
        print(prediction)
        picture = prediction.plot()
        """,
    ),
    Example(
        "layouts", "Layouts at equal data",
        "Each pool stores the same 100 TiB. The bars are 80 % intervals, the dots medians.",
        """
        import zsim

        table = zsim.compare(
            "raidz1x5",
            "raidz2x6",
            "raidz2x10",
            "raidz3x11",
            "mirror2",
            "draid2:8d:41c:2s",
            data=100 * 2**40,
            drive_size="18TB",
            history="media-server",
        )
        print(table.sort("p50_s"))
        picture = table.plot()
        """,
    ),
    Example(
        "fill-and-use", "How full, and what the pool stores",
        "Small records make resilvers long. One line for each use of the pool; the band is p10 to p90.",
        """
        import zsim

        table = zsim.sweep(
            layout="raidz2x6",
            drive_size="8TB",
            fill=[0.2, 0.4, 0.6, 0.8],
            history=["media-server", "home-nas", "vm-host"],
        )
        picture = table.plot()
        """,
    ),
    Example(
        "width-and-fill", "Width and fill",
        "A sweep over two numeric fields is drawn as a heat map.",
        """
        import zsim

        table = zsim.sweep(
            width=[4, 6, 8, 10],
            parity=2,
            drive_size="8TB",
            history="home-nas",
            fill=[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8],
        )
        picture = table.plot()
        """,
    ),
    Example(
        "load", "A pool that is in use",
        "Clients and the resilver share the drives. The first line says how much longer the resilver takes.",
        """
        import zsim

        prediction = zsim.predict(
            layout="mirror2", fill="50%", drive_size="8TB", history="home-nas", load=["random-read,rate=60"]
        )
        print(prediction)
        picture = prediction.plot()
        """,
    ),
)  # fmt: skip


def ran(example: Example) -> tuple[str, str]:
    """Return what an example prints, and its picture as SVG."""
    names: dict[str, object] = {}
    stream = io.StringIO()
    with redirect_stdout(stream):
        exec(compile(textwrap.dedent(example.code), f"gallery: {example.name}", "exec"), names)
    picture = names["picture"]
    return stream.getvalue().rstrip(), render(picture, "svg").decode()  # type: ignore[arg-type]


def gallery() -> str:
    """Run all examples, write their pictures, and return the page."""
    parts = [
        "# Gallery", MADE,
        "What zsim can draw. The examples were run to make this page. Every picture has a dark form too "
        "(`plot(dark=True)`), and is in the HTML report (`--report answer.html`).",
    ]  # fmt: skip
    for example in EXAMPLES:
        printed, picture = ran(example)
        (HERE / "gallery").mkdir(exist_ok=True)
        (HERE / "gallery" / f"{example.name}.svg").write_text(picture, encoding="utf-8")
        code = textwrap.dedent(example.code).strip().replace("picture = ", "")
        parts += [f"## {example.title}", example.words, f"```py\n{code}\n```"]
        if printed:
            parts.append(f"```text\n{printed}\n```")
        parts.append(f"![{example.title}](gallery/{example.name}.svg)")
    return "\n\n".join(parts) + "\n"
