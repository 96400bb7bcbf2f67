"""``zsim.risk``: the chance of loss of a scenario, as a range and by grade."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Literal, NamedTuple, Unpack

import numpy as np

from zsim.base.errors import InputError, check_function, check_kind
from zsim.base.model_data import models_directory
from zsim.base.notebook import reporting
from zsim.base.provenance import provenance
from zsim.base.units import format_fraction
from zsim.case.case import Case
from zsim.case.resolve import resolve
from zsim.planning.risk import reliability
from zsim.planning.risk.answer import RiskAnswer
from zsim.planning.risk.bad_sectors import faulted, lost_to_errors, with_certain_loss, words
from zsim.planning.risk.evaluate import (
    WORLDS_SIMULATED,
    WORLDS_SOLVED,
    Loss,
    Report,
    loss_within,
    movers,
    repeated_windows,
    summed_up,
    window_loss,
)
from zsim.planning.risk.from_status import risk_subject
from zsim.planning.risk.one_vdev.group import Discipline, Floats, Group, Repair, Worlds
from zsim.planning.risk.plain_disks import ALL_LOST, single_drives, without_repairs
from zsim.planning.risk.question import (
    OPEN,
    Method,
    RiskInputs,
    Unknowns,
    as_plain,
    assumed_age,
    unknowns,
    with_erc_of,
)
from zsim.planning.risk.records import Assumed, Grades
from zsim.planning.risk.reliability import Spread, number
from zsim.planning.risk.stated import life_words, stated_words
from zsim.planning.risk.story import VdevStory, degraded_loss, rest_words, scrubs, stories_of, story_loss
from zsim.planning.risk.surface import LossSurface, surface
from zsim.planning.risk.warnings import is_endless, length_words, missing_at_first, unlike, warnings
from zsim.planning.timeline.api import printed, timeline
from zsim.planning.timeline.plan import Plan
from zsim.planning.timeline.wording import unchanged
from zsim.planning.usable import data_bytes
from zsim.prediction.answer.records import Quantiles
from zsim.prediction.simulated import scenario_words
from zsim.scenario.asked import Asked, pool_of, said
from zsim.scenario.layout import VdevSpec
from zsim.scenario.model import Scenario
from zsim.scenario.releases.profile import ReleaseProfile
from zsim.scenario.words import NO_REPAIR
from zsim.vdevs.kind import LOG, kind_of

if TYPE_CHECKING:
    from zsim.planning.timeline.records import TimelineAnswer
    from zsim.scenario.keyword_types import AnyFields

TERA = 1e12
MOST_TOLERATED = 7
HALF_REPAIRED = 0.5
REPAIRED = ("operation", "replace_in")
OF_ONE_REPAIR = (
    "evidence", "slow", "bad_sectors", "attached", "exchanged", "replace", "second_at", "old_drive", "target",
    "new_drive", "new_drive_size",
)  # fmt: skip
"""Fields about the vdev under repair, and about what this repair has shown."""
INSTANT = Quantiles(p50=0.0)
"""The repair of a pool that is lost with its first drive."""
_NOUNS = {"scrub": "a scrub", "expand": "an expansion", "remove": "a removal"}

Hours = Callable[[Scenario, Report], Quantiles]
"""Gives the duration of a scenario's repair."""


def risk(
    scenario: Asked | Plan | None = None,
    inputs: RiskInputs | None = None,
    on_progress: Report | None = None,
    hours_of: Hours | None = None,
    **fields: Unpack[AnyFields],
) -> RiskAnswer:
    """Estimate the chance of data loss during a repair, within a year, and over several years.

    Parameters
    ----------
    scenario : Scenario, mapping, str, Path or Plan, optional
        As `zsim.predict` takes it; for a `Plan` of `zsim.timeline`, the repair lasts as long as the plan.
        Also the output of ``zpool status``, as text or the path of a file: while a resilver, rebuild or scrub
        runs, the window is what `zsim.eta` says is left of it.
    inputs : RiskInputs, optional
        What is stated about failures and repairs; the rest is assumed, and listed in the answer.
    on_progress : callable, optional
        Called with the share done, 0 to 1, and what is being done.
    hours_of : callable, optional
        Returns the duration of the repair; replaces `zsim.prediction`.
    **fields
        Fields of the scenario, over what it states.

    Returns
    -------
    RiskAnswer

    Raises
    ------
    InputError
        When an input is impossible.

    Examples
    --------
    >>> inputs = RiskInputs(hours="24h", afr="5%", correlation=1, latent=False, detect=0)
    >>> f"1 in {1 / risk('raidz1x10', inputs).window.vdev.p:.0f}"
    '1 in 792'
    """
    remedy = 'write zsim.RiskInputs(afr="1.5%")'
    check_kind("inputs", inputs, (RiskInputs, NoneType), "they are a zsim.RiskInputs", remedy)
    check_function("hours_of", hours_of)
    report = reporting(on_progress)
    _check_fields(fields)
    return _solved(_question(scenario, inputs or RiskInputs(), fields), report, hours_of or predicted_hours)


class _Question(NamedTuple):
    """A pool that the chance of loss is asked of, and what is stated about its failures, checked.

    Attributes
    ----------
    scenario : Scenario
    case : Case
        That scenario, resolved.
    inputs : RiskInputs
    plan : Plan or None
        What happens to the pool, if that is more than one repair.
    implied : collection of str
        Fields of the scenario that nobody stated.
    """

    scenario: Scenario
    case: Case
    inputs: RiskInputs
    plan: Plan | None
    implied: Collection[str]


def _question(scenario: Asked | Plan | None, asked: RiskInputs, fields: AnyFields) -> _Question:
    """Return what is asked; refuse what has no answer."""
    plan = None
    if isinstance(scenario, str | Path) and (found := printed(scenario)) is not None:
        scenario, fields = risk_subject(found, asked, fields), {}
    if isinstance(scenario, Plan):
        plan = scenario.with_scenario(fields)
        scenario = plan.pool
    unsaid = [name for name in REPAIRED if said(name, scenario, fields) is None]
    scenario = pool_of(scenario, fields)
    implied = unsaid if scenario.pool_layout.data[0].is_disk else []
    plain = scenario.pool_layout.is_plain
    if scenario.operation == "scrub" and "operation" not in implied:
        plan = plan or Plan.from_dict({"scenario": scenario.stated(), "events": [{"do": "scrub"}]})
    if scenario.operation == "scrub" and not plain:
        # A drive that fails meanwhile is replaced as any other.
        scenario = scenario.replace(operation=None)
    asked = with_erc_of(asked, scenario.erc)
    case = resolve(scenario)
    if not plain:
        _refuse(case)
        if plan is None and missing_at_first(case) != 1:
            _refuse_missing(case, asked)
    return _Question(scenario, case, asked, plan, implied)


def _solved(question: _Question, report: Report, hours_of: Hours) -> RiskAnswer:
    """Return the answer, once repairs and the passes of a plan are predicted."""
    scenario, case, inputs, plan, _ = question
    plain = case.layout.is_plain
    # With a plan the other half of that time is its passes.
    part = 0.5 if plan is not None else 1.0

    def listen(share: float, words: str) -> None:
        report(part * share, words)

    hours = INSTANT if plain else _hours(inputs, scenario, listen, hours_of)
    spread = Spread(hours.p50, hours.p10 or hours.p50, hours.p90 or hours.p50)
    # Spares take over by themselves, hot ones and those of a dRAID.
    spares = case.layout.vdevs[0].spares + case.layout.spares
    known = unknowns(inputs.with_spares(spares), spread, scenario.drive)
    known = without_repairs(known) if plain else known
    others = _other_repairs(scenario, case, inputs, listen, hours_of)
    story = None if plan is None else _planned(plan, inputs, case, report)
    report(0.8, "solving")
    answer = _answer(question, known, hours, story, others)
    report(1.0, "solved")
    return answer


def _check_fields(fields: Mapping[str, object]) -> None:
    """Refuse what is about failures among the fields of the pool."""
    known = {each.name for each in dataclasses.fields(RiskInputs)} - set(Scenario.field_infos())
    for name in fields:
        if name in known:
            allowed = "it is about failures and repairs, and no field of a scenario"
            raise InputError(name, fields[name], allowed, f"write zsim.RiskInputs({name}={fields[name]!r})")


def _planned(plan: Plan, inputs: RiskInputs, case: Case, report: Report) -> PlannedRepair:
    """Return what a plan does to the vdevs."""
    for name in ("hours", "mttr"):
        if (value := getattr(inputs, name)) is not None and not scrubs(plan):
            raise InputError(f"--{name}", value, "the plan says how long its repairs take", "leave it out")
    if inputs.chosen_method != "chain":
        raise InputError("method", inputs.chosen_method, "plans are solved as chains", "leave it out")
    story = timeline(plan, on_progress=lambda share, words: report(0.4 + 0.4 * share, words))
    if story.whole_s["p90"] == 0.0 and not story.stays_whole:
        allowed = "nothing in it takes time: no drive is missing, and no pass runs"
        raise InputError("plan", story.title, allowed, "let a drive fail, or scrub")
    by_number = {
        number: group_of(vdev, case, inputs)
        for number, vdev in enumerate(case.layout.vdevs)
        if vdev.alloc_class != LOG
    }
    return PlannedRepair(story, stories_of(plan, story, by_number), rest_words(plan), scrubs(plan))


class PlannedRepair(NamedTuple):
    """A plan's timeline, what it does to each vdev, and the repair that runs, if that is all there is."""

    timeline: TimelineAnswer
    stories: tuple[VdevStory, ...]
    rest: str = ""
    is_scrub: bool = False

    @property
    def pace(self) -> Spread:
        """How long it takes, as a multiple of the middle [1]."""
        times = self.length
        low, middle, high = (
            math.inf if value is None else value for value in (times.p10, times.p50, times.p90)
        )
        return Spread(1.0, low / middle, high / middle)

    @property
    def length(self) -> Quantiles:
        """How long it takes until the pool is whole; where it always or never is, until its passes end."""
        found = self.timeline
        over = found.stays_whole or found.whole_s["p50"] is None
        return Quantiles(**(found.over_s if over else found.whole_s))

    @property
    def spans(self) -> Literal["plan", "rest", "scrub"]:
        """What the window is of."""
        return "rest" if self.rest else "scrub" if self.is_scrub else "plan"

    @property
    def words(self) -> str:
        """What the plan is, and how long it takes."""
        if self.rest:
            return f"{length_words(self.length)} are left of {self.rest}"
        until = f"{unchanged(self.timeline)}, over" if self.timeline.stays_whole else "whole"
        return f"{self.timeline.title}: {until} after {length_words(self.length)}"

    def loss(self, drawn: LossSurface) -> Loss:
        """Return the chances within the plan."""
        worlds, scores = drawn.solved.worlds, drawn.solved.scores.get("hours")
        pace = np.ones(len(worlds)) if scores is None else self.pace.at(scores)
        return drawn.loss(story_loss(self.stories, worlds, pace))


def predicted_hours(scenario: Scenario, report: Report) -> Quantiles:
    """Return the duration of a scenario's repair as `zsim.prediction` gives it."""
    from zsim.prediction.api import predict

    return predict(scenario, on_progress=lambda share, words: report(0.8 * share, words)).resilver_s


def _hours(inputs: RiskInputs, scenario: Scenario, report: Report, hours_of: Hours) -> Quantiles:
    stated = inputs.hours or inputs.mttr
    return Quantiles(p50=stated) if stated is not None else hours_of(scenario, report)


def _refuse(case: Case) -> None:
    """Refuse what has no window of its own, or a chance that nothing but a fire would decide."""
    if case.operation in NO_REPAIR:
        allowed = f"{_NOUNS[case.operation]} repairs no missing drive"
        remedy = (
            "take operation resilver, or a plan of the whole: --plan (do = 'expand', 'remove' or 'scrub')"
        )
        raise InputError("operation", case.operation, allowed, remedy)
    for vdev in case.layout.vdevs:
        if vdev.tolerance > MOST_TOLERATED:
            allowed = f"mirrors of up to {MOST_TOLERATED + 1} drives are computed"
            raise InputError("layout", str(vdev), allowed, "beyond that drives do not decide it")


def _refuse_missing(case: Case, inputs: RiskInputs) -> None:
    """Refuse a window that begins with more drives missing than there is parity, or by a way without it."""
    vdev, count = case.layout.vdevs[0], missing_at_first(case)
    if count > vdev.tolerance:
        allowed = (
            f"{vdev} can lose {vdev.tolerance}: beyond that, what can still be read of the others decides"
        )
        raise InputError("drives missing", count, allowed, "copy what is readable, and see zpool status -v")
    if inputs.chosen_method != "chain" or inputs.mttr is not None:
        name, value = ("--mttr", inputs.mttr) if inputs.mttr is not None else ("method", inputs.method)
        words = f"{count} drives are missing" if count else "the replaced drive still works"
        allowed = f"{words}, and that is solved as a chain with a fixed repair"
        raise InputError(name, value, allowed, "leave it out")


def groups(
    case: Case, inputs: RiskInputs, paces: Mapping[VdevSpec, float] | None = None
) -> tuple[tuple[int, Group], ...]:
    """Return the vdevs of a pool as groups, each with its count; the first is the one under repair.

    `paces`: how long the repair of the others takes, in units of its own [1].
    """
    runs = Counter(case.layout.stored)
    known = paces or {}
    return tuple(
        (count, dataclasses.replace(group_of(vdev, case, inputs), pace=known.get(vdev, 1.0)))
        for vdev, count in runs.items()
    )


def _other_repairs(
    scenario: Scenario, case: Case, inputs: RiskInputs, report: Report, hours_of: Hours
) -> dict[VdevSpec, Quantiles]:
    """Return the repairs of vdevs unlike the one that is asked about, as each is predicted."""
    if inputs.hours is not None or inputs.mttr is not None or case.layout.is_plain:
        return {}
    found: dict[VdevSpec, Quantiles] = {}
    for vdev, other in repairs_of_others(scenario, case):
        with contextlib.suppress(InputError):  # such as a dedup vdev: it is taken as the first one is
            found[vdev] = hours_of(other, report)
    return found


def repairs_of_others(scenario: Scenario, case: Case) -> Iterator[tuple[VdevSpec, Scenario]]:
    """Yield the vdevs unlike the one under repair, each once, with the scenario of its own repair."""
    seen = {case.layout.vdevs[0]}
    repair = dict.fromkeys(OF_ONE_REPAIR)
    for place, vdev in enumerate(scenario.pool_layout.vdevs):
        if vdev not in seen and not vdev.is_disk and vdev.alloc_class != LOG:
            seen.add(vdev)
            yield vdev, scenario.changed({**repair, "replace_in": str(place)})


def group_of(vdev: VdevSpec, case: Case, inputs: RiskInputs) -> Group:
    """Return a top-level vdev as the reliability model sees it."""
    return Group.of(
        vdev,
        discipline=inputs.discipline
        or _discipline(case.release, inputs, rebuilt=_is_rebuilt_again(vdev, case)),
        repair=Repair() if inputs.mttr is None else Repair(minimum=0.0),
        correlation_law=inputs.chosen_law,
        shape=inputs.shape,
        age=assumed_age(inputs),
        stress=inputs.stress,
    )


def _discipline(release: ReleaseProfile, inputs: RiskInputs, *, rebuilt: bool = False) -> Discipline:
    """Return what a second failure does to a running repair; papers repair one after the other.

    `rebuilt`: it is a sequential rebuild that the next drive begins anew.
    """
    if inputs.mttr is not None:
        return "serial"
    return "restart" if rebuilt or release.second_target == "restart" else "apart"


def _is_rebuilt_again(vdev: VdevSpec, case: Case) -> bool:
    """Tell whether the next drive that fails begins the rebuild of the first anew.

    Where it is attached to the same vdev at once (vdev_rebuild.c:vdev_rebuild, vdev_rebuild_reset_wanted): a
    second distributed spare.  With one alone it waits for a drive, and the rebuild has ended by then.
    """
    if case.operation != "rebuild" or not kind_of(vdev.kind).has_distributed_spares:
        return False
    return case.onto_spare and vdev.spares > 1


def _answer(
    question: _Question,
    known: Unknowns,
    hours: Quantiles,
    planned: PlannedRepair | None,
    others: Mapping[VdevSpec, Quantiles],
) -> RiskAnswer:
    case, inputs = question.case, question.inputs
    method = inputs.chosen_method
    parts = groups(case, inputs, {vdev: each.p50 / hours.p50 for vdev, each in others.items()})
    drawn = surface(known, WORLDS_SOLVED if method == "chain" else WORLDS_SIMULATED, inputs.seed)
    worlds = as_repeated(case, parts[0][1], drawn.solved.worlds)
    plain = case.layout.is_plain
    errors = () if planned is not None else lost_to_errors(case, hours.p50)
    if planned is not None:
        window = _grades(planned.loss(drawn))
    else:
        window = ALL_LOST if plain else _in_repair(question, parts[0][1], drawn, worlds, faulted(errors))
    first = loss_within(parts, worlds, 1.0, method, inputs.seed)
    year = drawn.loss(first)
    years = drawn.loss(loss_within(parts, worlds, inputs.years, method, inputs.seed))
    lost = bytes_lost(year, case)
    return RiskAnswer(
        subject=_subject(case, hours, planned),
        stated=(*scenario_words(case.scenario, question.implied), *stated_words(inputs, repairs=not plain)),
        window_of=planned.spans if planned is not None else "failure" if plain else "repair",
        method=method,
        window=with_certain_loss(window, errors),
        per_year=_grades(year),
        years=_grades(years),
        horizon_years=inputs.years,
        bytes_lost_per_tb_year=summed_up(lost, year.error),
        repair_s=hours,
        missing_s=float(drawn.many.missing.mean()),
        movers=movers(drawn.solved.scores, first.vdev),
        assumptions=tuple(Assumed(field=name, text=text) for name, text in known.notes.items()),
        warnings=(
            *warnings(case, inputs, planned is not None),
            *unlike(case, inputs, others),
            *single_drives(case),
            *life_words(inputs, known.rate.middle * known.age_factor.middle, inputs.years),
            *slower(hours, planned),
            *words(case, errors),
        ),
        inputs={"stated": as_plain(inputs), "taken": _taken(known, len(worlds), parts[0][1])},
        provenance=_provenance(case, inputs),
    )


def _in_repair(question: _Question, group: Group, drawn: LossSurface, worlds: Worlds, errors: int) -> Grades:
    """Return the chances within the repair that is asked about; so many drives are faulted for `errors`."""
    inputs = question.inputs
    method = inputs.chosen_method
    gone = errors if method == "chain" and inputs.mttr is None else 0
    return _grades(drawn.loss(in_repair(question.case, group, worlds, method, inputs.seed, gone)))


def as_repeated(case: Case, group: Group, worlds: Worlds) -> Worlds:
    """Return worlds with the repairs of the case's release, which may begin anew after each error."""
    return repeated_windows(group, worlds) if is_endless(case.release) else worlds


def in_repair(case: Case, group: Group, worlds: Worlds, method: Method, seed: int, gone: int = 0) -> Loss:
    """Return the chances within one repair of the first vdev, with what is missing when it begins.

    So many drives more are `gone`, faulted for their errors.
    """
    missing = missing_at_first(case) + gone
    if missing != 1:
        return degraded_loss(group, worlds, missing)
    return window_loss(group, worlds, method, seed)


def _grades(loss: Loss) -> Grades:
    return Grades(
        files=summed_up(loss.files, loss.error),
        vdev=summed_up(loss.vdev, loss.error),
        pool=summed_up(loss.pool, loss.error),
    )


def bytes_lost(year: Loss, case: Case) -> Floats:
    """Return the bytes expected to be lost of each TB of data in a year (NOMDL, Greenan et al. 2010).

    All of it with the pool; of a vdev's share what was not repaired, half on average; of a burst of latent
    errors the records it lies in.
    """
    data = max(data_bytes(case), 1.0)
    record = number("latent", "blocks") * case.recordsize / (data / TERA)
    share = HALF_REPAIRED / len(case.layout.data)
    result: Floats = TERA * (year.pool + (year.vdev - year.pool) * share) + (year.files - year.vdev) * record
    return result


def _subject(case: Case, hours: Quantiles, planned: PlannedRepair | None) -> str:
    full = f"{format_fraction(case.fill)} full{' (assumed)' if case.assumed('fill') else ''}"
    if case.layout.is_plain:
        alone = f"{case.layout}, {full}, {case.release.name}, a drive that fails takes the pool with it"
        return alone if planned is None else f"{planned.words}; {alone}"
    whole = "a whole repair" if planned is not None and planned.spans == "rest" else "repair"
    pool = f"{case.layout}, {full}, {case.release.name}, {whole} {length_words(hours)}"
    if planned is None:
        return pool
    return f"{planned.words}; {pool}"


def _taken(known: Unknowns, worlds: int, group: Group) -> dict[str, object]:
    """Return the inputs as they were used, in SI units."""
    spreads = {
        name: {"p10": spread.low, "p50": spread.middle, "p90": spread.high}
        for name in OPEN
        for spread in (getattr(known, name),)
    }
    removal = known.removal if math.isfinite(known.removal) else "never"
    return {
        **spreads, "removal": removal, "tripping": known.tripping, "worlds": worlds,
        "discipline": group.discipline, "correlation_law": group.correlation_law,
        "drives": group.children, "tolerance": group.tolerance,
    }  # fmt: skip


def slower(hours: Quantiles, planned: PlannedRepair | None) -> tuple[str, ...]:
    """Return what is to be said of a repair of which more is left than nine in ten take in all."""
    if planned is None or not planned.rest or hours.p90 is None or planned.length.p50 is None:
        return ()
    if planned.length.p50 <= hours.p90:
        return ()
    return (
        "the running repair is slower than nine in ten such repairs: later ones are counted with"
        f" {length_words(hours)}; if they are as slow, the other columns are too low; zsim eta names the"
        " likeliest reason",
    )


def _provenance(case: Case, inputs: RiskInputs) -> dict[str, object]:
    return {**provenance(case.scenario.stated(), inputs.seed), **source_hashes(Path(__file__).parent)}


def source_hashes(*rooms: Path) -> dict[str, str]:
    """Return the hashes of the sources in some folders, and of the reliability models."""
    data = sorted((models_directory() / reliability.FOLDER).glob("*.toml"))
    found = {room.name: _hash(sorted(room.rglob("*.py"))) for room in rooms}
    return {**found, "reliability": _hash(data)}


def _hash(paths: list[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:16]
