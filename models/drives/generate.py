"""Write the drive models of this directory from ``survey.json`` (facts drive by drive, with their sources).

A drive added later is a file of its own in ``additions``, in the form of the survey (how:
docs/how-to/add-a-drive.md).  Run ``python models/drives/generate.py`` after a change to either or to the
methods below; a test compares its output with the committed files.  A value is taken as its source states
it; what no source states is estimated by a named method, carries the method in its note and an uncertainty
(one relative standard deviation).  Numbers remembered but never seen in a source are not in the survey.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from zsim.drives.models.generations import LATEST, first_year, outer_rate

HERE = Path(__file__).parent

# When and from which size on surveyed rates are held against the law of capacity and time: drives are
# described in the year after they appear, and smaller ones were sold for too long to know their platters.
AGE_OF_SURVEYED, LEAST_OF_SURVEYED = 1, 1e12

# Drives of which no rate, nor the platters to derive one from, is known: left out rather than invented.
LEFT_OUT = {"146z10", "15k450", "c15k600", "st3600057ss", "850evo", "s3500"}

NAMES = {
    "he8": "ultrastar-he8",
    "he10": "ultrastar-he10",
    "mg11-24": "mg11aca24",
    "x300-8": "x300-8tb",
    "n300-8": "n300-8tb",
    "ironwolfpro20": "ironwolf-pro-20tb",
    "860evo": "860-evo-1tb",
    "870evo4": "870-evo-4tb",
    "870qvo4": "870-qvo-4tb",
    "960evo1": "960-evo-1tb",
    "970evo1": "970-evo-1tb",
    "970evo500": "970-evo-500gb",
    "980-1": "980-1tb",
    "pm983-960": "pm983-960gb",
    "970evoplus1tb": "970-evo-plus-1tb",
    "970evoplus2tb": "970-evo-plus-2tb",
    "980pro1tb": "980-pro-1tb",
    "990pro2tb": "990-pro-2tb",
    "870evo2tb": "870-evo-2tb",
    "ct1000mx500ssd1": "mx500-1tb",
    "s3700": "dc-s3700-400gb",
}

REFERENCES = {
    "density_law": "Fit over the surveyed drives whose platters and outer rate are both sourced: "
    "outer rate / rpm = c * (capacity per platter)^p (linear density grows as the root of areal density)",
    "capacity_law": "Fit over the surveyed 3.5-inch drives with a sourced outer rate: "
    "outer rate / rpm = c * capacity^p",
    "generations": "The density law over the platters of drives of the capacity that are in use "
    "(models/platters/hard-disks.toml); uncertainty: against the stated outer rates of the survey",
    "sustained": "Writes beyond the fast region, which a resilver soon fills: 169 to 480 MB/s of SATA drives "
    "(870 QVO, 870 EVO), 300 to 1200 MB/s of NVMe ones (970 EVO): TechPowerUp, KitGuru, PC Perspective",
    "zone_ratio": "Inner/outer where stated: ES.3 0.474, 7K500 0.478, WD40EFAX 0.444, T7K250 0.51; "
    "reviews of 2007-2010 imply 0.52-0.60",
    "zone_count": "Hitachi Deskstar 7K500 and T7K250 specifications: 30 zones",
    "seek_survey": "Median of sourced average seeks of 7200 rpm 3.5-inch drives (7.4, 8.2, 8.5, 8.5 ms); "
    "5400 rpm about 1.6 ms more; write about 0.8 ms more; full stroke 1.95 times the average",
    "hc310": "WD Ultrastar DC HC310 OEM specification p23: track to track 0.23 ms read, 0.32 ms write",
    "seek_knee": "Break of the two-piece seek curve of six drives measured by DIXtrac: 6-25 % of the stroke",
    "t7k250_access": "Hitachi T7K250 and 7K80 specifications p33: 4096 random reads in 54.6 and 55.9 s, "
    "less average seek 8.5 ms, half a revolution and the transfer",
    "savvio_overhead": "Seagate Savvio 10K product manual p17: 0.2 ms controller overhead",
    "ncq": "SATA NCQ: 32 tags (Serial ATA II); SAS drives hold more, ZFS keeps fewer outstanding",
    "consumer_queue": "How many held commands the firmware weighs: 94 against 57 random reads/s at depth 32 "
    "and 1 of a ST2000DM006 (ublk-disksim VALIDATION.md), about +50 % with 32 threads on a 500 GB Seagate "
    "(ilsistemista.net)",
    "he_writes": "Dirty extents the firmware sorts: 4K random writes of 315 (He8) and 405 per second (He10), "
    "Tom's Hardware Italia 10 TB roundup",
    "krevat2011": "Krevat, Tucek, Ganger: Disks Are Like Snowflakes, HotOS 2011: drives of one batch differ "
    "significantly in bandwidth; the size used here is an assumption",
    "common": "Usual for drives of this class and time; no source seen for this model",
    "fast15": "Assumed; the mechanism is that of Aghayev and Desnoyers: Skylight, FAST 2015",
    "schmorp": "blog.schmorp.de/2015-10-08-smr-archive-drives-fast-now.html on the Seagate 8 TB: "
    "bands of 15 to 40 MB, a cache of 25 GB that stores up to 250000 separate writes",
    "hwslave": "HardwareSlave, Seagate Archive HDD 8 TB review: persistent cache of almost 20 GB",
    "nand": "Samsung PM983 specification: 85 us random read, 50 us random write; Intel S3700: 50/65 us",
    "pcie4": "c't 2024/4, Samsung 990 Pro 4 TB: 7.46 GB/s read through PCIe 4.0 x4 (heise.de)",
    "little": "Little's law: commands in service = random IOPS * latency of one command",
    "definition": "Definition of the generic drive",
}
SOURCE_KIND = {
    "rule": "derived",
    "smartctl": "measured",
    "hdparm": "measured",
    "manual": "datasheet",
    "review": "datasheet",
    "web": "datasheet",
    "issue": "measured",
}


def quantity(
    value: float, unit: str, kind: str, source: str, uncertainty: float | None = None, note: str | None = None
) -> dict[str, Any]:
    """Return one number with what must stand beside it."""
    number: dict[str, Any] = {"value": value, "unit": unit, "kind": kind, "source": source}
    if uncertainty is not None:
        number["uncertainty"] = uncertainty
    if note:
        number["note"] = note
    return number


class Survey:
    """The survey and the two rate laws fitted over it."""

    def __init__(self, path: Path) -> None:
        data = json.loads(path.read_text())
        self.sources: dict[str, dict[str, str]] = data["sources"]
        self.drives: list[dict[str, Any]] = data["drives"]
        for drive in self.drives:
            drive["values"].setdefault("capacity_bytes", {"v": int(73.4e9), "src": ["name"]})
        self.density_law = self._fit(needs_platters=True)
        self.capacity_law = self._fit(needs_platters=False)
        # Drives added one by one stand beside the fits: they move no other drive's estimates.
        for addition in sorted((path.parent / "additions").glob("*.json")):
            more = json.loads(addition.read_text())
            self.sources = {**more["sources"], **self.sources}
            self.drives = [*self.drives, *more["drives"]]

    def _fit(self, *, needs_platters: bool) -> tuple[float, float, float]:
        """Fit log(rate at 7200 rpm) on log(GB [per platter]); return slope, intercept, residual."""
        points = []
        for drive in self.drives:
            values = drive["values"]
            if "rate_outer_mbs" not in values or is_flash(drive) or "10k" in drive["class"]:
                continue
            if needs_platters and "platters" not in values:
                continue
            size = values["capacity_bytes"]["v"] / 1e9
            size /= values["platters"]["v"] if needs_platters else 1
            points.append((math.log(size), math.log(values["rate_outer_mbs"]["v"] * 7200 / rpm_of(drive))))
        x, y = np.array(points).T
        slope, intercept = np.polyfit(x, y, 1)
        return float(slope), float(intercept), float(np.std(y - slope * x - intercept, ddof=2))

    def density_rate(self, rpm: float) -> float:
        """Return the outer rate of a drive with platters of 1 TB [MB/s]."""
        slope, intercept, _ = self.density_law
        return rpm / 7200 * math.exp(intercept + slope * math.log(1000))

    def generation_error(self) -> float:
        """Return how far stated outer rates are from those by capacity and time, as a root mean square."""
        errors = []
        for drive in self.drives:
            stated = drive["values"].get("rate_outer_mbs")
            if stated is None or is_flash(drive) or "10k" in drive["class"]:
                continue
            size = drive["values"]["capacity_bytes"]["v"]
            if size < LEAST_OF_SURVEYED:
                continue
            law = self.density_rate(rpm_of(drive)), self.density_law[0]
            errors.append(math.log(stated["v"] / outer_rate(size, first_year(size) + AGE_OF_SURVEYED, *law)))
        return float(np.sqrt(np.mean(np.square(errors))))

    def stated(self, drive: dict[str, Any], key: str, unit: str, scale: float = 1.0) -> dict[str, Any] | None:
        """Return a sourced value of the survey as a quantity, or None."""
        entry = drive["values"].get(key)
        if entry is None:
            return None
        reference = entry["src"][0]
        note = entry.get("note")
        kind = SOURCE_KIND[self.sources[reference]["kind"]]
        written = key == "rate_write_outer_mbs" and not (note and note.startswith("vendor"))
        if (note and "measured" in note) or written or key == "access_ms_measured":
            kind = "measured" if kind != "derived" else kind
        return quantity(entry["v"] * scale, unit, kind, reference, note=note)


def is_flash(drive: dict[str, Any]) -> bool:
    """Tell flash from disks by the class of the survey."""
    return str(drive["class"]).startswith("ssd")


def rpm_of(drive: dict[str, Any]) -> float:
    """Return the rotation speed, from the class where no source states it [rpm]."""
    stated = drive["values"].get("rpm")
    if stated:
        return float(stated["v"])
    for text, rpm in (("5900", 5900.0), ("5400", 5400.0), ("10k", 10000.0), ("15k", 15000.0)):
        if text in drive["class"]:
            return rpm
    return 7200.0


def estimated_outer_rate(survey: Survey, drive: dict[str, Any]) -> dict[str, Any]:
    """Estimate an outer rate from the platters, or from the capacity and the self-test time."""
    gigabytes = drive["values"]["capacity_bytes"]["v"] / 1e9
    speed = rpm_of(drive) / 7200
    if drive["id"] == "hd754jj":
        return quantity(
            136.0, "MB/s", "assumed", "th2tb", 0.1, "as HD502HJ of the same generation (500 GB platters)"
        )
    if "platters" in drive["values"]:
        slope, intercept, _ = survey.density_law
        rate = speed * math.exp(intercept + slope * math.log(gigabytes / drive["values"]["platters"]["v"]))
        return quantity(round(rate, 1), "MB/s", "fitted", "density_law", 0.08)
    slope, intercept, spread = survey.capacity_law
    rate, weight = speed * math.exp(intercept + slope * math.log(gigabytes)), 1 / spread**2
    guess = drive["estimated"].get("rate_outer_mbs")
    if guess is None:
        return quantity(round(rate, 1), "MB/s", "fitted", "capacity_law", round(spread, 2))
    if "rate_mean_mbs" in drive["values"]:
        return quantity(
            guess["v"],
            "MB/s",
            "derived",
            drive["values"]["rate_mean_mbs"]["src"][0],
            0.08,
            "from the mean rate under the square-root zone law",
        )
    if "uncertainty" in guess:
        return quantity(guess["v"], "MB/s", "assumed", guess["src"], guess["uncertainty"], guess["method"])
    both = math.exp((weight * math.log(rate) + 16 * math.log(guess["v"])) / (weight + 16))
    return quantity(
        round(both, 1),
        "MB/s",
        "fitted",
        "capacity_law",
        round((weight + 16) ** -0.5, 2),
        "weighted with the rate implied by the self-test time (good to 25 %)",
    )


def rates(survey: Survey, drive: dict[str, Any]) -> dict[str, Any]:
    """Return outer and inner rate of a disk."""
    outer = survey.stated(drive, "rate_outer_mbs", "MB/s") or estimated_outer_rate(survey, drive)
    inner = survey.stated(drive, "rate_inner_mbs", "MB/s")
    if inner is None and "rate_mean_mbs" in drive["values"] and "rate_inner_mbs" in drive["estimated"]:
        inner = quantity(
            drive["estimated"]["rate_inner_mbs"]["v"],
            "MB/s",
            "derived",
            drive["values"]["rate_mean_mbs"]["src"][0],
            0.06,
            "from the mean rate under the square-root zone law",
        )
    if inner is None:
        inner = quantity(
            round(0.48 * outer["value"], 1), "MB/s", "derived", "zone_ratio", 0.08, "0.48 of the outer rate"
        )
    return {"outer_rate": outer, "inner_rate": inner}


def seeks(survey: Survey, drive: dict[str, Any]) -> dict[str, Any]:
    """Return the seek figures of a disk."""
    consumer = drive["class"].startswith(("desktop", "nas", "archive"))
    spread = 0.15 if consumer else 0.08
    guess = {key: entry["v"] for key, entry in drive["estimated"].items()}
    average = survey.stated(drive, "seek_read_ms", "ms") or quantity(
        guess["seek_read_ms"], "ms", "assumed", "seek_survey", spread
    )
    full = survey.stated(drive, "full_stroke_read_ms", "ms") or quantity(
        round(1.95 * average["value"], 1), "ms", "derived", "seek_survey", 0.06, "1.95 * average"
    )
    stated_write = drive["values"].get("seek_write_ms")
    settle = round(stated_write["v"] - average["value"], 2) if stated_write else 0.8
    return {
        "seek_track": quantity(0.25 if "10k" not in drive["class"] else 0.2, "ms", "assumed", "hc310", 0.3),
        "seek_average": average,
        "seek_full": full,
        "seek_knee": quantity(0.15, "1", "assumed", "seek_knee", 0.4, "fraction of the stroke"),
        "write_settle": quantity(
            settle,
            "ms",
            "derived",
            stated_write["src"][0] if stated_write else "seek_survey",
            None if stated_write else 0.5,
            "average write seek less average read seek",
        ),
    }


def electronics(survey: Survey, drive: dict[str, Any], outer_rate: float) -> dict[str, Any]:
    """Return overheads, caches, sectors and the interface of a disk."""
    consumer = drive["class"].startswith(("desktop", "nas", "archive"))
    gigabytes = drive["values"]["capacity_bytes"]["v"] / 1e9
    overhead = (
        quantity(0.6, "ms", "derived", "t7k250_access", 0.5)
        if consumer
        else quantity(0.2, "ms", "assumed", "savvio_overhead", 0.5)
    )
    cache = survey.stated(drive, "cache_mb", "MiB") or quantity(
        32 if gigabytes < 1500 else 64 if gigabytes < 8000 else 256, "MiB", "assumed", "common", 0.5
    )
    sector = 512 if gigabytes < 1900 else 4096
    track = outer_rate * 60 / rpm_of(drive) * 1e6 / 1024
    return {
        "read_overhead": overhead,
        "write_overhead": dict(overhead),
        "queue_depth": quantity(8, "commands", "fitted", "consumer_queue", 0.4, "of the 32 it holds")
        if consumer
        else quantity(32, "commands", "datasheet", "ncq"),
        "queue_max_age": quantity(2, "s", "assumed", "common", 0.5),
        "cache": cache,
        "cached_extents": quantity(1000, "extents", "fitted", "he_writes", 0.5),
        "write_cache": quantity(cache["value"] / 2, "MiB", "assumed", "common", 0.5, "half of the buffer"),
        "read_ahead": quantity(
            round(track / 64) * 64, "KiB", "assumed", "common", 0.5, "about one outer track"
        ),
        "interface_rate": interface_rate(drive, gigabytes),
        "logical_sector": survey.stated(drive, "logical_sector", "B")
        or quantity(512, "B", "assumed", "common"),
        "physical_sector": survey.stated(drive, "physical_sector", "B")
        or quantity(sector, "B", "assumed", "common"),
    }


def interface_rate(drive: dict[str, Any], gigabytes: float) -> dict[str, Any]:
    """Return the payload rate of the drive's port: 6 Gb/s where stated or from 2 TB on, else 3 Gb/s."""
    stated = drive["values"].get("interface")
    note = "payload after 8b/10b coding"
    if stated and "6 Gb/s" in stated["v"]:
        return quantity(600, "MB/s", "derived", stated["src"][0], note=note)
    return quantity(600 if gigabytes >= 2000 else 300, "MB/s", "assumed", "common", note=note)


def shingles(drive: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of a drive-managed shingled disk."""
    if "SMR" not in drive["class"]:
        return {}
    same = drive["id"] == "st8000as0002"
    cache = (
        quantity(20, "GB", "measured", "hwslave") if same else quantity(20, "GB", "assumed", "schmorp", 0.5)
    )
    kind, spread = ("measured", None) if same else ("assumed", 0.5)
    return {
        "persistent_cache": cache,
        "cached_writes": quantity(250_000, "writes", kind, "schmorp", spread),
        "band": quantity(
            26, "MiB", kind, "schmorp", 0.3, "15 to 40 MB, by the place on the drive; their middle"
        ),
        "idle_before_cleaning": quantity(1, "s", "assumed", "fast15", 0.5),
    }


def spread(kind: str) -> dict[str, Any]:
    """Return how much drives of one model differ (relative standard deviations)."""
    if kind == "flash":
        return {
            "rate": quantity(0.03, "1", "assumed", "common"),
            "overhead": quantity(0.1, "1", "assumed", "common"),
        }
    return {
        "rate": quantity(0.04, "1", "assumed", "krevat2011"),
        "seek": quantity(0.03, "1", "assumed", "common"),
        "overhead": quantity(0.1, "1", "assumed", "common"),
    }


OBSERVED = (
    ("mean_rate", "rate_mean_mbs", "MB/s"),
    ("write_outer_rate", "rate_write_outer_mbs", "MB/s"),
    ("write_mean_rate", "rate_write_mean_mbs", "MB/s"),
    ("access_time", "access_ms_measured", "ms"),
    ("random_read_iops", "rand_read_iops", "1/s"),
    ("random_write_iops", "rand_write_iops", "1/s"),
    ("self_test", "ext_selftest_min", "min"),
)


def disk(survey: Survey, drive: dict[str, Any]) -> dict[str, Any]:
    """Return the model of a surveyed disk."""
    rpm = survey.stated(drive, "rpm", "rpm") or quantity(rpm_of(drive), "rpm", "assumed", "common")
    both = rates(survey, drive)
    parameters = {
        "capacity": survey.stated(drive, "capacity_bytes", "B"),
        "rotation": rpm,
        **both,
        "zones": quantity(30, "1", "assumed", "zone_count"),
        **seeks(survey, drive),
        **electronics(survey, drive, both["outer_rate"]["value"]),
        **shingles(drive),
    }
    return {
        "kind": "mechanical",
        "recording": "smr" if "SMR" in drive["class"] else "cmr",
        "queue_policy": "sptf",
        "parameters": parameters,
        "spread": spread("mechanical"),
        "observed": observations(survey, drive),
    }


def observations(survey: Survey, drive: dict[str, Any]) -> dict[str, Any]:
    """Return what was observed of the drive but is no parameter: the model is shown beside it."""
    found = {name: survey.stated(drive, key, unit) for name, key, unit in OBSERVED}
    return {name: value for name, value in found.items() if value is not None}


def flash(survey: Survey, drive: dict[str, Any]) -> dict[str, Any]:
    """Return the model of a surveyed solid-state drive."""
    nvme = "nvme" in drive["class"]
    read = survey.stated(drive, "rate_outer_mbs", "MB/s") or quantity(
        3000 if nvme else 540, "MB/s", "assumed", "common", 0.15
    )
    write = survey.stated(drive, "rate_write_outer_mbs", "MB/s") or quantity(
        2000 if nvme else 500, "MB/s", "assumed", "common", 0.2
    )
    iops = drive["values"].get("rand_read_iops")
    latency = survey.stated(drive, "read_latency_us", "us") or quantity(85, "us", "assumed", "nand", 0.3)
    lanes = round(iops["v"] * latency["value"] * 1e-6) if iops else (32 if nvme else 8)
    link = quantity(3500 if nvme else 550, "MB/s", "assumed", "common", 0.05)
    if drive["values"].get("interface", {}).get("v") == "PCIe 4.0 x4":
        link = quantity(7460, "MB/s", "measured", "pcie4")
    parameters = {
        "capacity": survey.stated(drive, "capacity_bytes", "B"),
        "read_rate": read,
        "write_rate": write,
        "read_latency": latency,
        "write_latency": survey.stated(drive, "write_latency_us", "us")
        or quantity(50, "us", "assumed", "nand", 0.4),
        "parallel_commands": quantity(max(lanes, 1), "1", "derived" if iops else "assumed", "little", 0.2),
        "queue_depth": quantity(
            1024 if nvme else 32, "commands", "assumed" if nvme else "datasheet", "common" if nvme else "ncq"
        ),
        "interface_rate": link,
        "logical_sector": quantity(512, "B", "assumed", "common"),
        "physical_sector": quantity(4096, "B", "assumed", "common"),
    }
    cliff = survey.stated(drive, "sustained_write_after_cache_mbs", "MB/s")
    if cliff:
        parameters["slc_cache"] = survey.stated(drive, "write_cache_gb", "GB") or quantity(
            42, "GB", "assumed", "common", 0.5
        )
        parameters["write_rate_after_cache"] = cliff
    return {
        "kind": "flash",
        "recording": "flash",
        "queue_policy": "fcfs",
        "parameters": parameters,
        "spread": spread("flash"),
        "observed": observations(survey, drive),
    }


def generic(survey: Survey) -> dict[str, dict[str, Any]]:
    """Return the generic drives: the stated defaults, scalable to any capacity."""
    models = {}
    disks = (
        ("generic-7200rpm-cmr", "nearline 7200", 8000, 7200, "CMR"),
        ("generic-5400rpm-cmr", "nas 5400", 4000, 5400, "CMR"),
        ("generic-5400rpm-smr", "desktop 5400 SMR", 4000, 5400, "SMR"),
    )
    for name, kind, gigabytes, rpm, recording in disks:
        entry = {
            "id": name,
            "class": kind,
            "estimated": {"seek_read_ms": {"v": 8.4 if rpm == 7200 else 10.0}},
            "values": {"capacity_bytes": {"v": idema_bytes(gigabytes), "src": ["definition"]}},
        }
        model = generic_model(survey, entry, disk)
        model["parameters"]["rotation"] = quantity(rpm, "rpm", "assumed", "definition")
        model["note"] = (
            f"Typical {rpm} rpm 3.5-inch {recording} drive; a scenario may scale it to any capacity: "
            "the outer rate then follows the platters of its time."
        )
        models[name] = model
    solid = (("generic-sata-ssd", "ssd sata", 285), ("generic-nvme-ssd", "ssd nvme", 600))
    for name, kind, sustained in solid:
        entry = {
            "id": name,
            "class": kind,
            "estimated": {},
            "values": {"capacity_bytes": {"v": idema_bytes(1000), "src": ["definition"]}},
        }
        models[name] = generic_model(survey, entry, flash)
        write = quantity(sustained, "MB/s", "derived", "sustained", 0.45, "geometric mean of the range")
        models[name]["parameters"]["write_rate"] = write
        models[name]["note"] = "Typical solid-state drive without a write cliff; scalable to any capacity."
    return models


def generic_model(survey: Survey, entry: dict[str, Any], build: Any) -> dict[str, Any]:
    """Return a generic model built by the same methods as a surveyed one."""
    survey.sources.setdefault("definition", {"kind": "rule", "title": REFERENCES["definition"], "where": ""})
    model: dict[str, Any] = build(survey, entry)
    model["parameters"]["capacity"]["kind"] = "assumed"
    if "outer_rate" in model["parameters"]:
        model["parameters"] |= rates_by_time(survey, entry)
    return {"vendor": "generic", "model": entry["id"], "class": entry["class"], "aliases": [], **model}


def rates_by_time(survey: Survey, entry: dict[str, Any]) -> dict[str, Any]:
    """Return the rates of a generic disk: by the platters of drives of its capacity in use today."""
    density, exponent = round(survey.density_rate(rpm_of(entry)), 1), round(survey.density_law[0], 3)
    rate = outer_rate(entry["values"]["capacity_bytes"]["v"], LATEST, density, exponent)
    sure = round(survey.density_law[2], 2)
    return {
        "outer_rate": quantity(
            round(rate, 1), "MB/s", "fitted", "generations", round(survey.generation_error(), 2)
        ),
        "inner_rate": quantity(
            round(0.48 * rate, 1), "MB/s", "derived", "zone_ratio", 0.08, "0.48 of the outer rate"
        ),
        "density_rate": quantity(density, "MB/s", "fitted", "density_law", sure, "with platters of 1 TB"),
        "density_exponent": quantity(exponent, "1", "fitted", "density_law", sure),
    }


def idema_bytes(gigabytes: int) -> int:
    """Return the capacity of an advertised size after IDEMA LBA1-02 and LBA1-03 [bytes]."""
    if gigabytes <= 8000:
        return 512 * (97_696_368 + 1_953_504 * (gigabytes - 50))
    return 512 * math.ceil(gigabytes * 1_953_125 / 2**21) * 2**21


def surveyed(survey: Survey, drive: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return file stem and model of one surveyed drive."""
    model = flash(survey, drive) if is_flash(drive) else disk(survey, drive)
    codes = [] if is_flash(drive) else re.findall(r"\b[A-Z]{2,}[0-9]{2,}[A-Z0-9]*\b", drive["model"])
    head = {
        "vendor": drive["vendor"],
        "model": drive["model"],
        "class": drive["class"],
        "aliases": sorted({drive["id"], *(code.lower() for code in codes)}),
    }
    if drive.get("note"):
        head["note"] = drive["note"]
    return NAMES.get(drive["id"], drive["id"]), head | model


def references_of(survey: Survey, model: dict[str, Any]) -> dict[str, str]:
    """Return the references a model uses, by key."""
    keys = {
        entry["source"] for table in ("parameters", "spread", "observed") for entry in model[table].values()
    }
    titles = {}
    for key in sorted(keys):
        source = survey.sources.get(key)
        where = f" ({source['where']})" if source and source["where"] else ""
        titles[key] = REFERENCES[key] if key in REFERENCES else f"{source['title']}{where}"  # type: ignore[index]
    return titles


def toml_value(value: Any) -> str:
    """Return a value as TOML (strings, numbers, lists of strings, one-line tables)."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml_value(item)}" for key, item in value.items()) + " }"
    if isinstance(value, float) and value == int(value):
        return str(int(value))
    return json.dumps(value, ensure_ascii=False)


def toml_lines(survey: Survey, model: dict[str, Any]) -> Iterable[str]:
    """Yield the lines of a drive file."""
    yield "# Written by generate.py from survey.json: change those, not this file."
    for key in ("vendor", "model", "class", "aliases", "kind", "recording", "queue_policy", "note"):
        if key in model:
            yield f"{key} = {toml_value(model[key])}"
    for table in ("parameters", "spread", "observed"):
        if model[table]:
            yield f"\n[{table}]"
            yield from (f"{key} = {toml_value(entry)}" for key, entry in model[table].items())
    yield "\n[references]"
    yield from (f"{key} = {toml_value(text)}" for key, text in references_of(survey, model).items())


def all_models(survey_file: Path = HERE / "survey.json") -> dict[str, str]:
    """Return the text of every drive file by file name."""
    survey = Survey(survey_file)
    models = dict(surveyed(survey, drive) for drive in survey.drives if drive["id"] not in LEFT_OUT)
    models |= generic(survey)
    return {f"{name}.toml": "\n".join(toml_lines(survey, model)) + "\n" for name, model in models.items()}


def main() -> int:
    """Write every drive file beside this script."""
    for name, text in all_models().items():
        (HERE / name).write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
