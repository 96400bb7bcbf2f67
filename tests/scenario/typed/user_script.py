# ruff: noqa: T201
"""What a user writes, under strict type checkers."""

from datetime import datetime, timedelta
from pathlib import Path

import zsim

scenario = zsim.Scenario(
    layout="raidz2x6",
    fill=0.62,
    drive_size="18TB",
    recordsize="128K",
    memory=16 << 30,
    tunables={"zfs_vdev_scrub_max_active": 5},
    load=["random-read,rate=50,size=64K", zsim.Load(kind="sync-write", rate=5, size="16K")],
    ports=[zsim.Port(enclosure="port-multiplier-cbs", drives="1,2")],
    evidence=["scrub=25h17m", zsim.FinishedScan(kind="scrub", duration="25h")],
)
backup = zsim.Load(kind="sequential-read", bandwidth="100MB/s")
share_of_all = zsim.Load(kind="random-read", share="30%", hours="08:00-18:00")
threads = zsim.Load(kind="random-read", threads=4, think=timedelta(milliseconds=1))
sick = zsim.SlowDrive(drive=3, stutter_share="1%", stutter_s="200ms")
spells = zsim.SlowDrive(drive=3, factor=5, on_s="2h", off_s=timedelta(hours=20))
own = scenario.replace(
    load=[backup, share_of_all, threads],
    slow=[sick, spells],
    drive=Path("mine.toml"),
    begins=datetime(2026, 5, 1),
)
fuller: zsim.Scenario = scenario.replace(fill="80%", load=None)
prediction: zsim.Prediction = zsim.predict(scenario)
again = zsim.predict(layout="raidz2x6", fill="62%", drive_size="18TB")
third = zsim.predict("raidz2x6", fill=0.62)
hours: float = prediction.resilver_s.p50 / 3600
for point in prediction.progress:
    share: float = point.fraction
for leaf in prediction.leaves:
    print(leaf.role, leaf.utilisation)
table: zsim.Table = zsim.compare(
    "raidz2x6", "mirror2", Path("pool.toml"), fill=0.5, drive_size="18TB", jobs=1
)
six = zsim.compare(["raidz2x6", scenario, fuller], jobs=1)
print(table["p50_s"], table[0], table.sort("p50_s").to_csv(), six.axes, table.to_dict())
equal = zsim.compare("raidz2x6", "mirror2", data="40T", drive_size="18TB", jobs=1)
frame = prediction.to_frame()
frames = table.sort("p50_s", reverse=True).to_frame()
table.save("table.csv")
table.save_plot("table.svg", dark=True)
swept = zsim.sweep(layout="raidz2x6", fill=[0.3, 0.6], jobs=1)
arrays = swept.to_xarray()
print(len(swept), equal, prediction.explain(), repr(fuller), again, third, hours)
prediction.save_plot("answer.svg")
