"""``zsim predict`` and ``zsim scenario``: flags, bad input, outputs; a fixed answer stands for the engine."""

from __future__ import annotations

import json
import sys
import types
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import pytest

from zsim.case.case import Case
from zsim.case.resolve import resolve
from zsim.cli import computing, flags
from zsim.cli.forecasts import predict as predict_module
from zsim.cli.forecasts import rerun as rerun_module
from zsim.cli.forecasts import scenario as scenario_module
from zsim.cli.main import main
from zsim.prediction.answer.prediction import Prediction, PredictionInterrupted
from zsim.scenario.files import FILE_FIELDS
from zsim.scenario.model import Scenario

BASE = ["--layout", "raidz2x6", "--fill", "0.62"]


class FakeEngine:
    """Stands for `zsim.prediction.api`: remembers what it was asked."""

    def __init__(self, answer: Prediction) -> None:
        self.answer = answer
        self.asked: list[Scenario] = []
        self.other_ways: list[bool] = []

    def predict(
        self, case: Case, on_progress: Callable[[float, str], None], portion: str, *, other_ways: bool
    ) -> Prediction:
        on_progress(0.5, "half")
        self.other_ways.append(other_ways)
        self.asked.append(case.scenario)
        return self.answer


def case_without_files(scenario: Scenario) -> Case:
    """Return the case of a scenario, whether the files it names are there or not."""
    case = resolve(scenario.replace(**dict.fromkeys(FILE_FIELDS)))
    return replace(case, scenario=scenario)


@pytest.fixture
def engine(prediction: Prediction, monkeypatch: pytest.MonkeyPatch) -> FakeEngine:
    """An engine that answers at once."""
    fake = FakeEngine(prediction)
    module = types.ModuleType("zsim.prediction.api")
    module.case_of = case_without_files  # type: ignore[attr-defined]
    module.predict_case = fake.predict  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "zsim.prediction.api", module)
    monkeypatch.setattr(computing, "NOTICE_AFTER_S", 1000.0)
    return fake


def run(command: click.Command, *words: str) -> int:
    """Run one command as the group would, with the group's treatment of errors."""
    from zsim.cli import main as entry

    try:
        with command.make_context(command.name, list(words)) as context:
            return command.invoke(context) or 0
    except click.exceptions.Exit as leave:
        return leave.exit_code
    except (Exception, KeyboardInterrupt) as error:
        return entry.report_error(error)


def predict(*words: str) -> int:
    return run(predict_module.command, *words)


@pytest.mark.parametrize(
    ("words", "asked"), [((), False), (("--why",), True), (("-v",), True), (("--json",), True)]
)
def test_other_scan_orders_are_simulated_where_they_are_shown(
    words: tuple[str, ...], asked: bool, engine: FakeEngine
) -> None:
    assert predict(*BASE, *words) == 0
    assert engine.other_ways == [asked]


def test_the_answer_is_printed_in_words(engine: FakeEngine, capsys: pytest.CaptureFixture[str]) -> None:
    assert predict(*BASE) == 0
    out, err = capsys.readouterr()
    assert "17 h" in out
    assert "Bottleneck" in out
    assert "\x1b" not in out  # no colours in a pipe
    assert err == ""
    assert engine.asked == [Scenario(layout="raidz2x6", fill=0.62)]


def test_json_is_alone_on_stdout(
    engine: FakeEngine, prediction: Prediction, capsys: pytest.CaptureFixture[str]
) -> None:
    assert predict(*BASE, "--json") == 0
    assert json.loads(capsys.readouterr().out) == prediction.to_dict()


def test_outputs_are_written(engine: FakeEngine, prediction: Prediction, tmp_path: Path) -> None:
    names = ("-o", "a.json", "--plot", "a.svg", "--report", "a.html")
    words = [str(tmp_path / word) if "." in word else word for word in names]
    assert predict(*BASE, *words) == 0
    assert Prediction.load(tmp_path / "a.json") == prediction
    assert (tmp_path / "a.svg").read_text(encoding="utf-8").startswith("<?xml")
    assert "<svg" in (tmp_path / "a.html").read_text(encoding="utf-8")


WITH_SPECIAL = "raidz2x6+special:mirror2"
FLAG_VALUES = {
    "layout": ("raidz3x9", "raidz3x9"),
    "vdevs": ("4", 4),
    "fill": ("62%", 0.62),
    "alloc": ("2T", 2 * 2**40),
    "drive": ("hd103uj", "hd103uj"),
    "drive_size": ("4TB", 4 * 10**12),
    "new_drive": ("mg10aca20", "mg10aca20"),
    "new_drive_size": ("8TB", 8 * 10**12),
    "recordsize": ("1M", 2**20),
    "frag": ("20%", 0.2),
    "history": ("media-server", "media-server"),
    "block_list": ("pool.blocks.parquet", "pool.blocks.parquet"),
    "blocks": ("pool.blocks.csv", "pool.blocks.csv"),
    "metaslabs": ("pool.metaslabs.csv", "pool.metaslabs.csv"),
    "ashift": ("9", 9),
    "memory": ("16G", 16 * 2**30),
    "cpus": ("4", 4),
    "release": ("zol-0.7", "zol-0.7"),
    "hz": ("250", 250),
    "operation": ("scrub", "scrub"),
    "order": ("legacy", "legacy"),
    "replace": ("2", 2),
    "second_at": ("80%", 0.8),
    "old_drive": ("online", "online"),
    "enclosure": ("direct", "direct"),
    "begins": ("fri 13:41", 4 * 86400 + 13 * 3600 + 41 * 60),
    "engine": ("reference", "reference"),
    "precision": ("1%", 0.01),
    "seed": ("7", 7),
    "vdev_fills": ("80%", (0.8,)),
    "vdev_frags": ("20%", (0.2,)),
    "special_small_blocks": ("32K", 2**15),
    "special_drive": ("generic-sata-ssd", "generic-sata-ssd"),
    "special_drive_size": ("960GB", 960 * 10**9),
    "special_added_at": ("20%", 0.2),
    "replace_in": ("0", "0"),
    "rewritten": ("30%", 0.3),
    "erc": ("7s", 7.0),
    "platform": ("linux", "linux"),
    "product": ("debian-13", "debian-13"),
}


def test_every_field_of_the_scenario_has_a_flag() -> None:
    reachable = {flag.field for flag in flags.FLAGS + flags.REPEATED} | {name for name, _ in flags.SWITCHES}
    assert reachable | {"tunables", "evidence"} == set(Scenario.field_infos())


@pytest.mark.parametrize("field", [flag.field for flag in flags.FLAGS if flag.field != "target"])
def test_a_flag_sets_its_field(engine: FakeEngine, field: str, capsys: pytest.CaptureFixture[str]) -> None:
    text, value = FLAG_VALUES[field]
    layout = "raidz1x4+1" if field == "rewritten" else WITH_SPECIAL if "special" in field else "raidz2x6"
    base = [] if field == "layout" else ["--layout", layout]
    code = predict(*base, f"--{field.replace('_', '-')}", text)
    assert code == 0, capsys.readouterr().err
    asked, attribute = engine.asked[0], {"replace": "replaced_drives"}.get(field, field)
    found = asked.stated()[field] if field == "layout" else getattr(asked, attribute)
    assert found == value


def test_repeated_flags_and_switches(engine: FakeEngine) -> None:
    words = ["--ports", "port-multiplier-cbs:0,1", "--ports", "usb-dock:new", "--no-write-cache", "--exact"]
    words += ["--load", "random-read,rate=50", "--load", "sync-write,threads=2"]
    words += ["--tunable", "zfs_vdev_scrub_max_active=5", "--tunable", "zfs_vdev_scrub_min_active=2"]
    assert predict(*BASE, *words) == 0
    asked = engine.asked[0]
    assert [str(port) for port in asked.ports or ()] == ["port-multiplier-cbs:0,1", "usb-dock:new"]
    assert (asked.write_cache, asked.exact) == (False, True)
    assert [load.kind for load in asked.load or ()] == ["random-read", "sync-write"]
    assert asked.tunables == {"zfs_vdev_scrub_max_active": 5, "zfs_vdev_scrub_min_active": 2}


def test_file_then_set_then_flags(engine: FakeEngine, tmp_path: Path) -> None:
    path = tmp_path / "pool.toml"
    path.write_text('layout = "mirror2"\nfill = 0.2\nseed = 1\ncpus = 2\n[tunables]\nzfs_scan_legacy = 1\n')
    tunable = ["--tunable", "zfs_vdev_scrub_max_active=4"]
    assert (
        predict("--scenario", str(path), "--set", "seed=2", "--set", "cpus=3", "--cpus", "4", *tunable) == 0
    )
    asked = engine.asked[0].stated()
    assert (asked["layout"], asked["fill"], asked["seed"], asked["cpus"]) == ("mirror2", 0.2, 2, 4)
    assert asked["tunables"] == {"zfs_scan_legacy": 1, "zfs_vdev_scrub_max_active": 4}


def test_a_flag_for_alloc_replaces_the_fill_of_a_file(engine: FakeEngine, tmp_path: Path) -> None:
    path = tmp_path / "pool.toml"
    path.write_text('layout = "mirror2"\nfill = 0.2\n')
    assert predict("--scenario", str(path), "--alloc", "1T") == 0
    assert engine.asked[0].fill is None
    assert engine.asked[0].alloc == 2**40


# words after --layout raidz2x6 --fill 0.62; what the sentence must name
ABSURD: tuple[tuple[str, str], ...] = (
    ("--fill 62", "fill"),
    ("--fill -1", "fill"),
    ("--fill nan", "fill"),
    ("--fill inf", "fill"),
    ("--fill full", "fill"),
    ("--fill 0", "fill"),
    ("--fill 101%", "fill"),
    ("--fill 1e-400", "fill"),
    ("--layout raidz2", "layout"),
    ("--layout raidz2x2", "layout"),
    ("--layout raidz4x9", "layout"),
    ("--layout raidz2x99999999999999999999", "layout"),
    ("--layout mirror1", "layout"),
    ("--layout 0*raidz2x6", "layout"),
    ("--layout draid2:8d", "layout"),
    ("--layout ''", "layout"),
    ("--layout 💾", "layout"),
    ("--layout 4*raidz2x6 --vdevs 3", "vdevs"),
    ("--vdevs 0", "vdevs"),
    ("--vdevs -3", "vdevs"),
    ("--vdevs 2.5", "vdevs"),
    ("--vdevs many", "vdevs"),
    ("--alloc 2T", "alloc"),
    ("--drive nosuchdrive", "drive"),
    ("--drive ''", "drive"),
    ("--drive /dev/null.toml", "drive"),
    ("--drive-size 4", "drive"),
    ("--drive-size -4TB", "drive_size"),
    ("--drive-size 4XB", "drive_size"),
    ("--drive-size 1e30TB", "drive_size"),
    ("--new-drive-size 1TB", "new_drive_size"),
    ("--recordsize 100K", "recordsize"),
    ("--recordsize 0", "recordsize"),
    ("--recordsize 1G", "recordsize"),
    ("--frag 2", "frag"),
    ("--frag -5%", "frag"),
    ("--ashift 8", "ashift"),
    ("--ashift 17", "ashift"),
    ("--ashift twelve", "ashift"),
    ("--ashift 99999999999999999999999", "ashift"),
    ("--memory 0", "memory"),
    ("--memory lots", "memory"),
    ("--memory -1G", "memory"),
    ("--cpus 0", "cpus"),
    ("--release openzfs-9.9", "release"),
    ("--release windows-11", "release"),
    ("--release ''", "release"),
    ("--hz 0", "hz"),
    ("--operation repair", "operation"),
    ("--operation rebuild", "operation"),
    ("--order random", "order"),
    ("--order sorted --release zol-0.6.5", "order"),
    ("--replace 0", "replace"),
    ("--replace 3", "replace"),
    ("--replace 7 --old-drive online", "replace"),
    ("--old-drive broken", "old_drive"),
    ("--target distributed-spare", "target"),
    ("--target moon", "target"),
    ("--ports nonsense", "port"),
    ("--ports port-multiplier-cbs:99", "port"),
    ("--ports port-multiplier-cbs:3-1", "port"),
    ("--load storm", "load"),
    ("--load random-read", "load"),
    ("--load random-read,rate=-1", "rate"),
    ("--load random-read,rate=50,size=5", "size"),
    ("--begins someday", "begins"),
    ("--engine steam", "engine"),
    ("--precision 0", "precision"),
    ("--precision 200%", "precision"),
    ("--seed -1", "seed"),
    ("--seed x", "seed"),
    ("--tunable zfs_no_such_tunable=1", "zfs_no_such_tunable"),
    ("--tunable zfs_resilver_delay=1", "zfs_resilver_delay"),
    ("--tunable zfs_vdev_scrub_max_active", "--tunable"),
    ("--tunable zfs_vdev_scrub_max_active=", "--tunable"),
    ("--tunable =5", "--tunable"),
    ("--tunable zfs_vdev_scrub_max_active=banana", "zfs_vdev_scrub_max_active"),
    ("--set fill", "override"),
    ("--set nosuchfield=3", "nosuchfield"),
    ("--set recordsize=[1,2]", "recordsize"),
    ("--set recordsize.x=3", "recordsize"),
    ("--scenario nowhere.toml", "nowhere.toml"),
    ("--scenario .", "scenario"),
    ("--plot picture.gif", "picture.gif"),
    ("--plot nowhere/picture.svg", "picture.svg"),
    ("-o result.txt", "result.txt"),
    ("-o nowhere/result.json", "result.json"),
    ("--report page.md", "page.md"),
    ("--no-such-flag", "--no-such-flag"),
    ("--fill", "--fill"),
    ("surplus", "surplus"),
)


@pytest.mark.parametrize(("words", "named"), ABSURD, ids=[words for words, _ in ABSURD])
def test_absurd_input_gets_one_sentence(
    engine: FakeEngine,
    words: str,
    named: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    import shlex

    monkeypatch.chdir(tmp_path)
    code = predict(*BASE, *shlex.split(words))
    out, err = capsys.readouterr()
    assert code == 2, err
    assert out == ""
    assert len(err.splitlines()) == 1
    assert err.startswith("zsim: ")
    assert named in err
    assert "Traceback" not in err
    assert "pydantic" not in err
    assert len(err) < 500
    assert list(tmp_path.iterdir()) == []
    assert engine.asked == []


@pytest.mark.parametrize(
    "content",
    [
        b"layout = ",
        b"\xff\xfe\x00",
        b"layout = 3\n",
        b"[layout]\nx = 1\n",
        b'layout = "raidz2x6"\nfill = true\n',
        b'layout = "raidz2x6"\nfill = []\n',
        b'layout = "raidz2x6"\nunknown = 1\n',
        b'layout = "raidz2x6"\ntunables = 3\n',
        b'layout = "raidz2x6"\n[[load]]\nkind = "random-read"\n',
        b'layout = "raidz2x6"\n[[ports]]\nenclosure = "x"\ndrives = []\n',
        b'layout = "raidz2x6"\nseed = 1.5\n',
        b'layout = "raidz2x6"\nseed = 1979-05-27\n',
        b"fill = 0.5\n",
        b"",
    ],
)
def test_a_scenario_file_that_is_none_is_refused(
    engine: FakeEngine, content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "pool.toml"
    path.write_bytes(content)
    assert predict("--scenario", str(path)) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1
    assert engine.asked == []


def test_without_a_layout_the_forms_are_named(engine: FakeEngine, capsys: pytest.CaptureFixture[str]) -> None:
    assert predict() == 2
    assert "layout is missing" in capsys.readouterr().err


def scenario(*words: str) -> int:
    return run(scenario_module.command, *words)


def test_the_schema_is_one_that_accepts_what_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    import jsonschema

    assert scenario("schema") == 0
    schema = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert scenario("show", *BASE, "--load", "random-read,rate=5", "--json") == 0
    stated: dict[str, Any] = json.loads(capsys.readouterr().out)["scenario"]
    jsonschema.validate(stated, schema)


def test_what_show_writes_predict_reads(
    engine: FakeEngine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "pool.toml"
    words = [*BASE, "--drive-size", "4TB", "--recordsize", "1M", "--ports", "port-multiplier-cbs:1,2"]
    assert scenario("show", *words, "-o", str(path)) == 0
    assert predict("--scenario", str(path)) == 0
    assert predict(*words) == 0
    assert engine.asked[0] == engine.asked[1]


def test_show_lists_what_is_assumed(capsys: pytest.CaptureFixture[str]) -> None:
    assert scenario("show", *BASE) == 0
    out = capsys.readouterr().out
    assert 'layout = "raidz2x6"' in out
    assert "recordsize" in out
    assert "128K" in out


def test_the_group_and_the_command_agree(engine: FakeEngine, capsys: pytest.CaptureFixture[str]) -> None:
    """What this module calls directly is what ``zsim predict`` runs."""
    assert main(["predict", *BASE]) == 0
    assert "17 h" in capsys.readouterr().out


def test_rerun_says_what_moved_and_what_changed(
    engine: FakeEngine, prediction: Prediction, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "result.json"
    prediction.save(path)
    assert run(rerun_module.command, str(path)) == 0
    assert "The same bit for bit" in capsys.readouterr().out
    assert engine.asked[0] == Scenario(layout="raidz2x6", fill=0.62)
    changed = {"io_count": 3, "provenance": prediction.provenance | {"zsim": "9.9.9"}}
    engine.answer = prediction.model_copy(update=changed)
    assert run(rerun_module.command, str(path), "--json") == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["same"], told["moved"]) == (False, ["io_count"])
    assert told["changed"] == [{"what": "zsim", "then": "0.1.0", "now": "9.9.9"}]


def test_rerun_takes_the_last_bits_for_the_platform(
    engine: FakeEngine, prediction: Prediction, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "result.json"
    prediction.save(path)
    p50 = prediction.resilver_s.p50
    for share, code, words in ((4e-15, 0, "one part in 1,000,000,000"), (2e-9, 1, "Different")):
        near = prediction.resilver_s.model_copy(update={"p50": p50 * (1.0 + share)})
        engine.answer = prediction.model_copy(update={"resilver_s": near})
        assert run(rerun_module.command, str(path)) == code
        assert words in capsys.readouterr().out
        assert run(rerun_module.command, str(path), "--json") == code
        told = json.loads(capsys.readouterr().out)
        assert (told["same"], told["bit_for_bit"]) == (code == 0, False)
        assert told["moved" if code else "rounded"] == ["resilver_s.p50"]


@pytest.mark.parametrize(
    ("share", "code", "words"), [(2e-11, 0, "one part in 1,000,000,000"), (8e-8, 1, "Different")]
)
def test_rerun_takes_no_more_for_other_libraries(
    share: float, code: int, words: str,
    engine: FakeEngine, prediction: Prediction, tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """Regressions of another numpy differ in their last bits alone; quantiles moved by 8e-8 before."""
    path = tmp_path / "result.json"
    here, others = (prediction.provenance | {"libraries": {"numpy": each}} for each in ("9.8", "9.9"))
    prediction.model_copy(update={"provenance": here}).save(path)
    near = prediction.resilver_s.model_copy(update={"p50": prediction.resilver_s.p50 * (1.0 + share)})
    engine.answer = prediction.model_copy(update={"resilver_s": near, "provenance": others})
    assert run(rerun_module.command, str(path)) == code
    assert words in capsys.readouterr().out


def test_rerun_refuses_what_is_no_result(
    engine: FakeEngine, prediction: Prediction, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "result.json"
    prediction.model_copy(update={"provenance": {}}).save(path)
    for name in (path, tmp_path / "absent.json", tmp_path):
        assert run(rerun_module.command, str(name)) == 2
        assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.parametrize("as_json", [True, False])
def test_ctrl_c_tells_what_is_known_and_writes_nothing(
    engine: FakeEngine,
    prediction: Prediction,
    as_json: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def stopped(scenario: Scenario, portion: str, *, other_ways: bool) -> Prediction:
        raise PredictionInterrupted(prediction)

    monkeypatch.setattr(predict_module, "compute", stopped)
    words = ["--json"] if as_json else []
    assert predict(*BASE, "-o", str(tmp_path / "result.json"), *words) == 130
    out, err = capsys.readouterr()
    assert ("17 h" in out) is not as_json
    assert err.splitlines()[-1] == "zsim: interrupted; nothing was written"
    assert list(tmp_path.iterdir()) == []
