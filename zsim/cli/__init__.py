"""The command line: parse, call the public API, print.

`zsim.cli.main` knows every command by name and one-line help, and imports a command's module only when
that command runs, so that ``zsim --help`` stays quick.  The contract of the module of a command:

* it exposes ``command``, a :class:`click.Command` or :class:`click.Group`;
* at its top it imports nothing heavier than click and `zsim.cli.common`;
* it raises `zsim.base.errors.InputError` for bad input and prints nothing itself in that case;
* results go to stdout, progress and notices to stderr; with ``--json`` stdout holds nothing but the JSON.
"""
