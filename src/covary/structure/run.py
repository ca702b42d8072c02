"""The overview of a table while it is computed: explanations, links, evidence, groups."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from covary.array_types import Columns, OnStage
from covary.engines import Engine, RunTasks
from covary.measures import Measure, find_measure
from covary.prepare import Prepared
from covary.registry import DEFAULT_MEASURE
from covary.results.overview import (
    COPY,
    EXPLAINS,
    GO_TOGETHER,
    Group,
    Link,
    MissingTogether,
    Overview,
    named_after,
)
from covary.runs import OVERVIEW, RunDescription, RunFile
from covary.searching.plan import source_of, table_facts
from covary.searching.record import SearchRecord
from covary.significance.null_evidence import FamilyPvalues, NullEvidence
from covary.significance.stopping import LEVEL
from covary.structure.evidence import (
    MAX_TESTED,
    LinkPvalues,
    large_set,
    link_pvalues,
    sets_evidence,
    small_sets,
    unclear_links,
)
from covary.structure.exact import as_function, find_copies, find_identities, without_copies
from covary.structure.explanations import Explanations
from covary.structure.links import Draft, components, directed, find_links
from covary.structure.missing import explained_by_missing, find_missing_together
from covary.structure.options import OverviewOptions
from covary.structure.tasks import Stages
from covary.table import TableOptions, kind_of_frame, labels_of

# Links with a larger false discovery rate are left out.
MAX_RATE = 0.1


@dataclass(frozen=True)
class OverviewPlan:
    """Everything that defines an overview.

    Parameters
    ----------
    prepared, measure : the columns and the measure
    options : as given by the user
    source : the file of the table, if it is one
    """

    prepared: Prepared
    measure: Measure
    options: OverviewOptions
    source: str | None = None

    @property
    def columns(self) -> list[int]:
        """The columns that vary."""
        prepared = self.prepared
        return prepared.varying(range(len(prepared.names)))

    def parameters(self) -> dict[str, Any]:
        """Return all parameters by name, as JSON types."""
        return {**self.options.to_dict(), **self.prepared.table.options.to_facts()}

    def description(self) -> RunDescription:
        """Return what identifies this overview in a run file."""
        return RunDescription(
            parameters=self.parameters(),
            defaults=OverviewOptions.defaults() | TableOptions.former_defaults(),
            bounds=self.measure.bounds,
            kind=OVERVIEW,
            **table_facts(self.prepared, self.source),
        )


@dataclass
class OverviewRun:
    """One overview and what was found so far."""

    plan: OverviewPlan
    engine: Engine | None = None
    started: datetime | None = None
    finished: datetime | None = None
    complete: bool = False
    score: float = 0.0
    order: list[int] = field(default_factory=list)
    links: list[Draft] = field(default_factory=list)
    pvalues: LinkPvalues | None = None
    not_examined: list[str] = field(default_factory=list)
    explanations: Explanations | None = None

    @contextmanager
    def stored_in(
        self, path: str | os.PathLike[str] | None, *, resume: bool = False
    ) -> Iterator[RunFile | None]:
        """Open the run file of this overview, if it has one."""
        if path is None:
            yield None
            return
        run_file = RunFile.open(path, self.plan.description(), resume=resume)
        try:
            yield run_file
        finally:
            run_file.close()

    def run(
        self,
        engine: Engine,
        run_file: RunFile | None = None,
        on_progress: OnStage | None = None,
    ) -> None:
        """Compute the overview to the end, or until interrupted.

        Results in the run file are not computed again. ``on_progress`` is called with the stage,
        the amount done and the total.
        """
        self.engine = engine
        self.started = datetime.now(UTC)
        stages = Stages(run_file, on_progress)
        try:
            self._run(engine, stages)
            self.complete = True
            if run_file is not None:
                run_file.finish()
        finally:
            self.finished = datetime.now(UTC)

    def _run(self, engine: Engine, stages: Stages) -> None:
        prepared, columns = self.plan.prepared, self.plan.columns
        if len(columns) < 2:
            self.order = list(columns)
            return
        prepared.precompute(self.plan.measure.needs())
        prepared.precompute(self.plan.measure.evidence_needs())
        with engine.session(prepared) as session:
            run = stages.around(session.run, "what explains each column")
            found = self.explanations = Explanations(prepared, columns, run)
            self.score, self.order = found.score, found.order
            drafts = self._drafts(found)
            run = stages.around(session.run, "evidence of links")
            evidence = self._evidence(drafts, run)
        family = self._family(evidence, drafts, engine, stages)
        drafts += self._weak_links(found, drafts, evidence, family)
        self._keep_significant(drafts, evidence, family)
        self.not_examined = self._list_not_examined(found)

    def _drafts(self, found: Explanations) -> list[Draft]:
        """Return all links that the score of the table shows, and exact relations."""
        prepared, columns = self.plan.prepared, self.plan.columns
        calendars = {c for c in columns if prepared.table.columns[c].part_of}
        targets = [c for c in columns if c not in calendars]
        copies = find_copies(prepared, targets)
        links = without_copies(find_links(found, targets), copies.original)
        links = [directed(found, as_function(prepared, link)) for link in links]
        repeated = {link.target for link in copies.links if link.kind == COPY}
        identities = find_identities(prepared, [c for c in targets if c not in repeated])
        exact = {link.target for link in identities}
        links = [link for link in (*copies.links, *links) if link.target not in exact]
        return without_circles([*identities, *links])

    def _evidence(self, drafts: Sequence[Draft], run: RunTasks) -> dict[Columns, float]:
        """Return the evidence of the sets of all links, and of pairs that no link connects."""
        columns = self.plan.columns
        tested = [each for link in drafts for each in small_sets(link)]
        group_of = {
            column: at for at, group in enumerate(components(columns, drafts)) for column in group
        }
        between = [
            (a, b)
            for at, a in enumerate(columns)
            for b in columns[at + 1 :]
            if group_of[a] != group_of[b]
        ]
        return _evidence_of(list(dict.fromkeys([*tested, *between])), run)

    def _family(
        self,
        evidence: dict[Columns, float],
        drafts: Sequence[Draft],
        engine: Engine,
        stages: Stages,
    ) -> FamilyPvalues:
        """Return the null distribution of the evidence; add the evidence of large sets to it."""
        plan = self.plan
        largest = min(MAX_TESTED, len(plan.columns))
        null = NullEvidence.of(plan.measure, plan.prepared, plan.columns, None, plan.options.seed)
        family = FamilyPvalues(null, range(2, largest + 1))
        with engine.session(null) as session:
            run = stages.around(session.run, "null distribution")
            family.compute(range(2, min(largest, 3) + 1), run)
        sets = [large_set(link) for link in unclear_links(drafts, evidence, family)]
        if sets:
            with engine.session(plan.prepared) as session:
                run = stages.around(session.run, "evidence of large sets")
                evidence.update(_evidence_of(sets, run))
            with engine.session(null) as session:
                run = stages.around(session.run, "null distribution of large sets")
                family.compute(sorted(set(map(len, sets))), run)
        return family

    def _weak_links(
        self,
        found: Explanations,
        drafts: Sequence[Draft],
        evidence: dict[Columns, float],
        family: FamilyPvalues,
    ) -> list[Draft]:
        """Return links between groups that are certain, but too weak for the score of the table.

        Each group has a column that no other one explains. Only such a column gets a link, to the
        column of another group with the strongest evidence.
        """
        columns = self.plan.columns
        links = list(drafts)
        explained = {link.target for link in drafts}
        calendars = {c for c in columns if self.plan.prepared.table.columns[c].part_of}
        rank = {column: at for at, column in enumerate(found.by_content(columns))}
        pairs = sorted(
            (pair for pair in evidence if len(pair) == 2),
            key=lambda pair: (-evidence[pair], sorted((rank[pair[0]], rank[pair[1]]))),
        )
        weak: list[Draft] = []
        for pair in pairs:
            if family.expected(2, evidence[pair]) > LEVEL:
                break
            groups = components(columns, links)
            if any(pair[0] in group and pair[1] in group for group in groups):
                continue
            free = [c for c in pair if c not in explained and c not in calendars]
            if not free:
                continue
            target = max(free, key=lambda c: found.unshrunken(c, _other(pair, c)))
            other = _other(pair, target)
            there, back = found.unshrunken(target, other), found.unshrunken(other, target)
            both = min(there, back) >= 0.8 * max(there, back)
            link = Draft(target, (other,), there, GO_TOGETHER if both else EXPLAINS)
            links.append(link)
            weak.append(link)
            explained.add(target)
        return weak

    def _keep_significant(
        self, drafts: Sequence[Draft], evidence: dict[Columns, float], family: FamilyPvalues
    ) -> None:
        """Keep the links with a small false discovery rate."""
        found = link_pvalues(drafts, evidence, family, len(self.plan.columns))
        kept = [at for at in range(len(drafts)) if found.qvalues[at] <= MAX_RATE]
        self.links = [drafts[at] for at in kept]
        self.pvalues = LinkPvalues(*(each[kept] for each in found))

    def _list_not_examined(self, found: Explanations) -> list[str]:
        d = len(self.plan.columns)
        if found.most > 1 or d < 3:
            return []
        number = d * math.comb(d - 1, 2)
        return [f"{number:,} explanations by two columns, unless one of them explains alone"]

    # ------------------------------------------------------------ results

    def record(self, data: Any = None) -> SearchRecord:
        """Return what figures and reports need, in the user's terms."""
        assert self.engine is not None
        labels = labels_of(data)
        prepared = self.plan.prepared
        ordered = [link for _, members, _ in self._groups() for link in members]
        return SearchRecord(
            prepared,
            self.plan.measure,
            self.engine,
            tuple(labels.get(name, name) for name in prepared.names),
            sets=tuple(tuple(sorted(link.columns)) for link in ordered),
            complete=self.complete,
            started=self.started,
            finished=self.finished,
            frame_library=kind_of_frame(data),
        )

    def _groups(self) -> list[tuple[list[int], list[Draft], float]]:
        """Return the columns and links of each group, the most explained group first."""
        columns = self.plan.columns
        rank = {column: at for at, column in enumerate(columns)}
        found = []
        for group in components(columns, self.links):
            members = [link for link in self.links if link.target in group]
            if members:
                members.sort(key=lambda link: (link.is_exact, -link.explained, rank[link.target]))
                total = math.fsum(link.explained for link in members)
                found.append((group, members, total))
        return sorted(found, key=lambda each: (-each[2], each[0]))

    def result(self, record: SearchRecord) -> Overview:
        """Return the result in the user's terms."""
        prepared, labels = self.plan.prepared, record.labels
        groups = []
        linked: set[int] = set()
        for columns, members, _ in self._groups():
            links = tuple(self._link(link, labels) for link in members)
            names = tuple(labels[column] for column in columns)
            groups.append(Group(named_after(names, links), names, links))
            linked.update(columns)
        calendars = {c for c in self.plan.columns if prepared.table.columns[c].part_of}
        together = find_missing_together(prepared, range(len(prepared.names)))
        return Overview(
            tuple(groups),
            alone=tuple(labels[c] for c in self.plan.columns if c not in linked | calendars),
            score=self.score,
            order=tuple(labels[column] for column in self.order),
            missing_together=tuple(
                MissingTogether(tuple(labels[c] for c in each.columns), each.rows, each.share)
                for each in together
            ),
            not_examined=tuple(self.not_examined),
            measure=self.plan.measure.name,
            columns=tuple(labels[c] for c in range(len(labels)) if c not in calendars),
            constant=tuple(label for c, label in enumerate(labels) if not prepared.varies[c]),
            rows=prepared.n_rows,
            parameters=self.plan.parameters(),
            complete=self.complete,
            _frame_library=record.frame_library,
        )

    def _link(self, link: Draft, labels: Sequence[Any]) -> Link:
        """Return a link with the user's names and all numbers."""
        assert self.explanations is not None
        found = self.explanations
        assert self.pvalues is not None
        pvalue, qvalue, family_pvalue = (each[self.links.index(link)] for each in self.pvalues)
        alone: dict[int, float] = dict.fromkeys(link.by, link.explained)
        adds = dict(alone)
        if len(link.by) > 1:
            alone, adds = found.alone(link.target, link.by), found.added(link.target, link.by)
        by = sorted(link.by, key=lambda column: (-alone[column], column))
        return Link(
            labels[link.target],
            tuple(labels[column] for column in by),
            link.explained,
            tuple(alone[column] for column in by),
            tuple(adds[column] for column in by),
            link.kind,
            link.formula,
            float(pvalue),
            float(qvalue),
            float(family_pvalue),
            explained_by_missing(self.plan.prepared, link.target, link.by),
        )


def _evidence_of(sets: list[Columns], run: RunTasks) -> dict[Columns, float]:
    """Return the evidence of sets."""
    evidence: dict[Columns, float] = {}
    for first, some in run(sets_evidence, sets):
        evidence.update(zip(sets[first : first + len(some)], some, strict=True))
    return evidence


def plan_overview(
    data: Any, columns: Sequence[Any] | None, options: OverviewOptions
) -> OverviewPlan:
    """Return the plan of an overview of any data that `read_table` accepts."""
    measure = find_measure(DEFAULT_MEASURE)
    measure, prepared, roles = measure.with_roles(data, columns, None, None)
    measure.check(prepared, len(roles.tested))
    return OverviewPlan(prepared, measure, options, source_of(data))


def without_circles(links: Sequence[Draft]) -> list[Draft]:
    """Return the links without the weakest ones of every circle; exact ones come first."""
    kept: list[Draft] = []
    explains: dict[int, set[int]] = {}  # by column, all columns that it explains, also indirectly
    for link in sorted(links, key=lambda each: (not each.is_exact, -each.explained)):
        reached = {link.target, *explains.get(link.target, set())}
        if reached.intersection(link.by):
            continue
        kept.append(link)
        for column in link.by:
            explains.setdefault(column, set()).update(reached)
        for others in explains.values():
            if others.intersection(link.by):
                others |= reached
    return kept


def _other(pair: Columns, column: int) -> int:
    return pair[1] if pair[0] == column else pair[0]
