"""Help pages with options in groups and examples at the end.  Quick to import."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click

from zsim.cli.flags import FLAGS, REPEATED
from zsim.cli.slips import switched

OUTPUT = "Output"
THE_POOL = "The pool"
REST = "More of the scenario"
GROUPS: Mapping[str, tuple[str, ...]] = {
    THE_POOL: (
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


USUAL = (
    "layout", "fill", "alloc", "recordsize", "history", "drive", "drive_size", "release", "product",
    "tunable", "load", "evidence", "file", "settings",
)  # fmt: skip
"""The flags of a scenario that the help of other commands than ``zsim predict`` lists."""
OTHERS = "All other flags of a pool, its drives, host and load: see 'zsim predict --help'."


def groups_of(command: click.Command, ctx: click.Context) -> dict[str, list[tuple[str, str]]]:
    """Return the options of any command, and what they mean, by the title of their group (or "")."""
    if isinstance(command, GroupedCommand):
        return command.groups(ctx)
    options = (each for each in command.get_params(ctx) if isinstance(each, click.Option))
    return {"": [record for each in options if (record := each.get_help_record(ctx)) is not None]}


class GroupedCommand(click.Command):
    """A command whose help sets its options in groups, its own first, and ends with examples.

    Parameters
    ----------
    examples : sequence of str
        Command lines.
    own : mapping of str to sequence of str
        Title of a group to the parameters in it: what this command asks, before the flags of the scenario.
    lists_all : bool
        Whether its help lists every flag of a scenario, or the usual ones.
    without : sequence of str
        Flags of a scenario that mean nothing to this command.
    """

    def __init__(
        self,
        *args: object,
        examples: Sequence[str] = (),
        own: Mapping[str, Sequence[str]] | None = None,
        lists_all: bool = False,
        without: Sequence[str] = (),
        **kwargs: object,
    ) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self.examples = tuple(examples)
        self.own = dict(own or {})
        self.lists_all, self.without = lists_all, frozenset(without)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments; of a pair of flags the second may be written as the first with "off"."""
        return super().parse_args(ctx, switched(args, self.get_params(ctx)))

    def groups(self, ctx: click.Context) -> dict[str, list[tuple[str, str]]]:
        """Return the options that help lists, and what they mean, by the title of their group."""
        scenario = {flag.field for flag in FLAGS + REPEATED} | set(PLACE)
        places = {name: title for title, names in self.own.items() for name in names}
        usual = PLACE if self.lists_all else dict.fromkeys(USUAL, THE_POOL)
        places |= {name: title for name, title in usual.items() if name not in places}
        order = {name: place for place, name in enumerate(places)}
        titles = (*self.own, *GROUPS, REST, OUTPUT)
        shown = [each for each in self.get_params(ctx) if each.name not in self.without]
        found: dict[str, list[tuple[str, str]]] = {title: [] for title in titles}
        for parameter in sorted(shown, key=lambda each: order.get(str(each.name), len(order))):
            record, name = parameter.get_help_record(ctx), str(parameter.name)
            is_listed = self.lists_all or name in places or name not in scenario
            if record is not None and isinstance(parameter, click.Option) and is_listed:
                found[places.get(name, REST if name in scenario else OUTPUT)].append(record)
        return {title: records for title, records in found.items() if records}

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, group by group."""
        for title, records in self.groups(ctx).items():
            with formatter.section(title):
                formatter.write_dl(records)
                if title == THE_POOL and not self.lists_all:
                    formatter.write_text(OTHERS)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples."""
        if self.examples:
            with formatter.section("Examples"):
                for line in self.examples:
                    formatter.write_text(line)
