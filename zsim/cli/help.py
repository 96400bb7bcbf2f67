"""Help in groups, with examples at its end.  Light at the top."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click

from zsim.cli.flags import FLAGS, REPEATED

OUTPUT = "Output"
REST = "More of the scenario"
GROUPS: Mapping[str, tuple[str, ...]] = {
    "The pool": (
        "layout", "vdevs", "fill", "alloc", "recordsize", "history", "frag", "ashift", "block_list", "blocks",
        "metaslabs",
    ),
    "Its drives, and what they plug into": (
        "drive", "drive_size", "new_drive", "new_drive_size", "write_cache", "exchanged", "slow", "enclosure",
        "ports",
    ),
    "Host and ZFS": ("release", "product", "tunable", "memory", "cpus", "hz", "autosit"),
    "The operation, and the load": (
        "operation", "order", "replace", "second_at", "old_drive", "target", "begins", "load",
    ),
    "Earlier scans and measurements": ("evidence",),
    "How it is simulated": ("exact", "precision", "engine", "seed"),
    "Scenario files": ("file", "settings"),
}  # fmt: skip
"""Title of a group to the parameters in it, in the order in which help lists them."""
PLACE = {name: title for title, names in GROUPS.items() for name in names}


class GroupedCommand(click.Command):
    """A command whose help sets the flags of a scenario in groups, its own first, and ends with examples.

    Parameters
    ----------
    examples : sequence of str
        Command lines.
    own : mapping of str to sequence of str
        Title of a group to the parameters in it: what this command asks, before the flags of the scenario.
    """

    def __init__(
        self,
        *args: object,
        examples: Sequence[str] = (),
        own: Mapping[str, Sequence[str]] | None = None,
        **kwargs: object,
    ) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self.examples = tuple(examples)
        self.own = dict(own or {})

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, group by group."""
        scenario = {flag.field for flag in FLAGS + REPEATED}
        found: dict[str, list[tuple[str, str]]] = {}
        places = {name: title for title, names in self.own.items() for name in names}
        places = places | {name: title for name, title in PLACE.items() if name not in places}
        order = {name: place for place, name in enumerate(places)}
        parameters = sorted(self.get_params(ctx), key=lambda each: order.get(str(each.name), len(order)))
        for parameter in parameters:
            record = parameter.get_help_record(ctx)
            if record is not None and isinstance(parameter, click.Option):
                name = str(parameter.name)
                title = places.get(name, REST if name in scenario else OUTPUT)
                found.setdefault(title, []).append(record)
        for title in dict.fromkeys((*self.own, *GROUPS, REST, OUTPUT)):
            if title in found:
                with formatter.section(title):
                    formatter.write_dl(found[title])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples."""
        if self.examples:
            with formatter.section("Examples"):
                for line in self.examples:
                    formatter.write_text(line)
