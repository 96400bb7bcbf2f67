"""Release of ZFS and facts about the host: ``zfs version``, ``uname -a``, memory, processors."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from zsim.base.errors import InputError
from zsim.observe.texts import nice_bytes, whole
from zsim.scenario.releases.products import load_product, product_names
from zsim.scenario.releases.profile import load_release, version_numbers

_BEGIN = r"^[ \t]{0,20}"
_ZFS = re.compile(
    _BEGIN + r"(?:zfs(?:-kmod)?-v?|version:[ \t]{1,20}|\[?.{0,40}ZFS: Loaded module v"
    r"|ii[ \t]{1,8}(?:zfsutils-linux|zfs-dkms|zfs)[ \t]{1,60}"
    r"|.{0,200}/sys/module/zfs/version[ \t]*\r?\n[ \t]{0,20}v?)"
    r"(\d{1,2}\.\d{1,3}(?:\.\d{1,3}){0,2})",
    re.MULTILINE | re.ASCII,
)
_FREEBSD = re.compile(
    r"\bFreeBSD\b.{0,200}?\b(\d{1,2}\.\d{1,2})-(?:RELEASE|STABLE|CURRENT|RC|BETA|PRERELEASE)", re.ASCII
)
_FREEBSD_VERSION = re.compile(
    _BEGIN + r"(\d{1,2}\.\d{1,2})-(?:RELEASE|STABLE)(?:-p\d{1,3})?[ \t]*$", re.MULTILINE
)
_PROXMOX = re.compile(r"\bpve-manager/(\d{1,2}\.\d{1,2})", re.ASCII)
_SOLARIS = re.compile(r"\bSunOS\b.{0,200}?\b5\.11[ \t]+(11\.\d{1,2})\b", re.ASCII)
_MEMORY = re.compile(
    _BEGIN + r"(?:MemTotal:[ \t]{1,40}(\d{1,15})[ \t]*kB|hw\.physmem:[ \t]*(\d{1,19})"
    r"|Mem:[ \t]{1,40}(\d{1,5}(?:[.,]\d)?)([MGT])i?B?[ \t])",
    re.MULTILINE,
)
"""The last form is that of ``free -h``."""
_CPUS = re.compile(
    _BEGIN + r"(?:CPU\(s\):[ \t]{1,40}|hw\.ncpu:[ \t]*|cpus:[ \t]*)(\d{1,5})[ \t]*$", re.MULTILINE
)
_DEVELOPED = re.compile(r"(\d{1,3})\.(\d{1,3})\.99", re.ASCII)
_KERNEL_MODULE = re.compile(r"zfs-kmod-[\w.-]{3,40}")
_MOST_CPUS = 4096


@dataclass(frozen=True, slots=True)
class HostFacts:
    """What a text tells of the host.

    Attributes
    ----------
    version : str
        As printed: 2.1.5, FreeBSD 9.1, SunOS 11.2; empty if there is none.
    release : str
        The name it has in a scenario; empty where no model of it is there.
    memory : int or None
        [bytes]
    cpus : int or None
    """

    version: str = ""
    release: str = ""
    memory: int | None = None
    cpus: int | None = None

    def completed(self, other: HostFacts) -> HostFacts:
        """Return this with what only the other one tells."""
        return HostFacts(
            self.version or other.version,
            self.release if self.version else other.release,
            self.memory or other.memory,
            self.cpus or other.cpus,
        )


class VersionDocument:
    """The reader of ``zfs version -j``; see `zsim.observe.outputs.Reader`."""

    def recognises(self, text: str) -> bool:
        """Tell whether a JSON document names the version of the kernel module."""
        return bool(_host_of_document(text).version)

    def read(self, text: str, name: str) -> tuple[HostFacts]:
        """Read the version."""
        del name
        return (_host_of_document(text),)


def _host_of_document(text: str) -> HostFacts:
    return read_host("\n".join(_KERNEL_MODULE.findall(text[:4096])))


VERSION_DOCUMENT = VersionDocument()


def recognises(text: str) -> bool:
    """Tell whether a text tells anything of the host."""
    return read_host(text) != HostFacts()


def read(text: str, name: str) -> tuple[HostFacts]:
    """Read it as one of many outputs; see `zsim.observe.outputs.Reader`."""
    del name
    return (read_host(text),)


def read_host(text: str) -> HostFacts:
    """Return what a text tells of the host; of ``zfs version`` the kernel module counts, its last line."""
    head = text[: 1 << 20]
    version, release = _version(head)
    memory = _MEMORY.search(head)
    cpus = _CPUS.search(head)
    count = int(cpus[1]) if cpus else None
    return HostFacts(
        version,
        release,
        _memory(memory) if memory else None,
        count if count and count <= _MOST_CPUS else None,
    )


def _memory(match: re.Match[str]) -> int | None:
    if match[3]:
        return nice_bytes(f"{match[3]}{match[4]}")
    kibibytes, plain = whole(match[1]), whole(match[2])
    return kibibytes * 1024 if kibibytes else plain or None


def _version(text: str) -> tuple[str, str]:
    if found := _ZFS.findall(text):
        return found[-1], known_release(found[-1])
    systems: tuple[tuple[re.Pattern[str], str, Callable[[str], str]], ...] = (
        (_FREEBSD, "FreeBSD", _of_freebsd),
        (_FREEBSD_VERSION, "FreeBSD", _of_freebsd),
        (_PROXMOX, "Proxmox VE", lambda number: _of_product("proxmox", number)),
        (_SOLARIS, "SunOS", lambda number: known_release(f"solaris-{number}")),
    )
    for pattern, system, release in systems:
        if match := pattern.search(text):
            return f"{system} {match[1]}", release(match[1])
    return "", ""


def _of_freebsd(number: str) -> str:
    return known_release(f"freebsd-{number}") or _of_product("freebsd", number)


def _of_product(family: str, number: str) -> str:
    """Return the release that a product ships, or the series of the nearest version with the same major."""
    major, _, minor = number.partition(".")
    same = [name for name in product_names() if name.startswith(f"{family}-{major}.")]
    if not same:
        return ""
    nearest = min(same, key=lambda name: abs(int(name.rpartition(".")[2]) - int(minor)))
    release = load_product(nearest).release
    return release if nearest == f"{family}-{number}" else ".".join(release.split(".")[:2])


def known_release(version: str) -> str:
    """Return the name under which a scenario takes a version, the nearest known one of its series, or ''."""
    parts = _as_released(version).split(".")
    shorter = [".".join(parts[:count]) for count in range(len(parts), 1, -1)]
    for name in shorter:
        for candidate in (name, f"openzfs-{name}", f"zol-{name}"):
            try:
                load_release(candidate)
            except InputError:
                continue
            return candidate if not candidate[0].isdigit() else _series(candidate)
    return ""


def _as_released(version: str) -> str:
    """Return the series that a development version became: 2.2.99 is what was released as 2.3."""
    match = _DEVELOPED.fullmatch(version)
    return f"{match[1]}.{int(match[2]) + 1}" if match else version


def _series(version: str) -> str:
    """Return a bare version with the name of its project, as people write it."""
    return f"{'zol' if version_numbers(version) < (0, 8) else 'openzfs'}-{version}"
