"""The overview of a table while it is computed: explanations, links, evidence, groups."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from covary import errors
from covary.array_types import OnStage
from covary.engines import Engine, RunTasks
from covary.formatting import listing
from covary.prepare import Prepared
from covary.results.link import IDENTITY, Link
from covary.results.overview import Group, MissingTogether, Overview, named_after
from covary.results.significance import RowDependence
from covary.runs import RunFile
from covary.searching.record import SearchRecord
from covary.significance.null_evidence import FamilyPvalues, NullEvidence, too_rare
from covary.significance.row_dependence import find_row_dependence
from covary.significance.stopping import LEVEL
from covary.significance.time_scales import EvidenceScales
from covary.significance.time_shifts import compared_rows
from covary.structure.evidence import (
    MAX_TESTED,
    LinkPvalues,
    Relation,
    large_relation,
    link_pvalues,
    relations_evidence,
    small_relations,
    unclear_links,
)
from covary.structure.exact import as_functions, find_copies, without_copies
from covary.structure.explanations import Explanations
from covary.structure.identities import MAX_COLUMNS, as_formula, find_identities
from covary.structure.links import (
    Draft,
    Groups,
    directed,
    find_links,
    pair_link,
    strongest_first,
)
from covary.structure.missing import explained_by_missing, find_missing_together
from covary.structure.one_hot import block_links, find_blocks, without_links_in_blocks
from covary.structure.plan import OverviewPlan
from covary.structure.repeats import count_repeated_rows
from covary.structure.tasks import Stages
from covary.table import kind_of_frame, labels_of

# Links with a larger false discovery rate are left out.
MAX_RATE = 0.1


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
        if self.row_dependence is not None:
            errors.warn(errors.dependent_rows(str(self.row_dependence)))
        prepared.precompute(self.plan.measure.needs())
        prepared.precompute(self.plan.measure.evidence_needs())
        with engine.session(prepared) as session:
            run = stages.around(session.run, "what explains each column")
            found = self.explanations = Explanations(prepared, columns, run)
            self.score, self.order = found.score, found.order
            drafts = self._drafts(found)
        family = self._scaled_family(engine, stages)
        null = family.null
        # Of very long series, a part.
        compared = compared_rows(null.prepared if prepared.series else prepared)
        assert null.scales is not None
        scales = null.scales
        compared.precompute(self.plan.measure.evidence_needs())
        with engine.session(compared) as session:
            run = stages.around(session.run, "evidence of links")
            tested = [each for link in drafts for each in small_relations(link)]
            evidence = _evidence_of(tested, scales, run)
        self._compute_family(family, evidence, drafts, compared, engine, stages)
        drafts, _ = self._significant(drafts, evidence, family)
        with engine.session(compared) as session:
            run = stages.around(session.run, "evidence of pairs")
            pairs = _evidence_of(self._pairs_between_groups(drafts), scales, run)
        drafts += self._weak_links(found, drafts, pairs, family)
        evidence |= pairs
        self.links, self.pvalues = self._significant(drafts, evidence, family)
        self.not_examined = self._list_not_examined(found)

    @cached_property
    def row_dependence(self) -> RowDependence | None:
        """Why p-values may be wrong: rows that depend on each other."""
        return find_row_dependence(self.plan.prepared, self.plan.columns)

    def _drafts(self, found: Explanations) -> list[Draft]:
        """Return all links that the score of the table shows, and exact relations."""
        prepared, columns = self.plan.prepared, self.plan.columns
        calendars = {c for c in columns if prepared.table.columns[c].part_of}
        targets = [c for c in columns if c not in calendars]
        copies = find_copies(prepared, targets)
        links = without_copies(find_links(found, targets), copies.original)
        originals = [c for c in targets if c not in copies.original]
        blocks = find_blocks(prepared, originals)
        links = without_links_in_blocks(found, links, blocks)
        links = [directed(found, link) for link in as_functions(found, links)]
        identities = block_links(prepared, blocks)
        dependent = {link.target for link in identities}
        identities += find_identities(prepared, [c for c in originals if c not in dependent])
        identities = [
            replace(link, strongest=strongest_first(found, link.target, link.by))
            for link in identities
        ]
        exact = {link.target for link in identities}
        links = [link for link in (*copies.links, *links) if link.target not in exact]
        return without_circles([*identities, *(as_formula(prepared, link) for link in links)])

    def _scaled_family(self, engine: Engine, stages: Stages) -> FamilyPvalues:
        """Return the null distribution of the evidence, before anything is drawn but scales."""
        plan = self.plan
        null = NullEvidence.of(
            plan.measure, plan.prepared, plan.columns, None, plan.options.seed, each_target=True
        )
        family = FamilyPvalues(null, range(2, min(MAX_TESTED, len(plan.columns)) + 1))
        if family.needs_scales:
            with engine.session(null) as session:
                family.compute_scales(stages.around(session.run, "scales of the evidence"))
        return family

    def _compute_family(
        self,
        family: FamilyPvalues,
        evidence: dict[Relation, float],
        drafts: Sequence[Draft],
        compared: Prepared,
        engine: Engine,
        stages: Stages,
    ) -> None:
        """Draw the null distribution of the evidence; add that of large relations to it."""
        null = family.null
        largest = max(family.sizes)
        with engine.session(null) as session:
            run = stages.around(session.run, "null distribution")
            family.compute(range(2, min(largest, 3) + 1), run)
        large = [large_relation(link) for link in unclear_links(drafts, evidence, family)]
        if large:
            assert null.scales is not None
            with engine.session(compared) as session:
                run = stages.around(session.run, "evidence of larger links")
                evidence.update(_evidence_of(large, null.scales, run))
            with engine.session(null) as session:
                run = stages.around(session.run, "null distribution of larger links")
                family.compute(sorted({each.size for each in large}), run)

    def _significant(
        self, drafts: Sequence[Draft], evidence: dict[Relation, float], family: FamilyPvalues
    ) -> tuple[list[Draft], LinkPvalues]:
        """Return the links with a small false discovery rate, and their p-values.

        Formulas hold in all rows, also if few columns of them show no evidence.
        """
        found = link_pvalues(drafts, evidence, family, len(self.plan.columns))
        is_formula = np.array([link.kind == IDENTITY for link in drafts], np.bool_)
        kept = np.flatnonzero((found.qvalues <= MAX_RATE) | is_formula)
        return [drafts[at] for at in kept.tolist()], LinkPvalues(*(each[kept] for each in found))

    def _connected(self, links: Sequence[Draft]) -> Groups:
        """Return the columns that links connect; the parts of a date are connected, too."""
        groups = Groups(self.plan.columns, links)
        first: dict[int, int] = {}
        for column in self.plan.columns:
            groups.connect(column, first.setdefault(self.plan.prepared.sources[column], column))
        return groups

    def _pairs_between_groups(self, links: Sequence[Draft]) -> list[Relation]:
        """Return all pairs of columns that are not connected."""
        groups = self._connected(links)
        group_of = {column: groups.of(column) for column in self.plan.columns}
        pairs = combinations(self.plan.columns, 2)
        return [Relation(pair, None) for pair in pairs if group_of[pair[0]] != group_of[pair[1]]]

    def _weak_links(
        self,
        found: Explanations,
        drafts: Sequence[Draft],
        evidence: dict[Relation, float],
        family: FamilyPvalues,
    ) -> list[Draft]:
        """Return links between groups that are certain, but too weak for the score of the table.

        Each group has a column that no other one explains. Only such a column gets a link, to the
        column of another group with the strongest evidence.
        """
        columns = self.plan.columns
        groups = self._connected(drafts)
        explained = {link.target for link in drafts}
        calendars = {c for c in columns if self.plan.prepared.table.columns[c].part_of}
        rank = {column: at for at, column in enumerate(found.by_content(columns))}
        certain = [pair for pair, own in evidence.items() if family.expected(2, own) <= LEVEL]
        certain.sort(key=lambda p: (-evidence[p], sorted(rank[c] for c in p.columns)))
        weak: list[Draft] = []
        for (one, other), _ in certain:
            free = [c for c in (one, other) if c not in explained and c not in calendars]
            if not free or groups.of(one) == groups.of(other):
                continue
            fractions = {c: found.unshrunken(c, one + other - c) for c in (one, other)}
            target = max(free, key=lambda c: (fractions[c], -rank[c]))
            cause = one + other - target
            link = pair_link(target, cause, fractions[target], fractions[cause])
            groups.add(link)
            weak.append(link)
            explained.add(target)
        return weak

    def _list_not_examined(self, found: Explanations) -> list[str]:
        prepared, columns = self.plan.prepared, self.plan.columns
        d = len(columns)
        lines = []
        if found.most == 1 and d > 2:
            number = d * math.comb(d - 1, 2)
            lines.append(
                f"{number:,} relations in which two columns explain a third one only together: "
                "too many for this table"
            )
        if d > MAX_COLUMNS:
            lines.append(f"linear identities: possible for up to {MAX_COLUMNS:,} columns")
        if rare := too_rare(prepared, columns):
            names = [str(prepared.names[column]) for column in rare]
            what = f"the p-values of {listing(names[:5])}" + (" and others" if names[5:] else "")
            lines.append(f"{what} with all rows: a sample has few of their rare values")
        return lines

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
        for group in Groups(columns, self.links).members():
            members = [link for link in self.links if link.target in group]
            if members:
                members.sort(key=lambda link: (link.is_exact, -link.explained, rank[link.target]))
                total = math.fsum(link.explained for link in members)
                found.append((group, members, total))
        return sorted(found, key=lambda each: (-each[2], each[0]))

    def result(self, record: SearchRecord) -> Overview:
        """Return the result in the user's terms."""
        prepared, labels = self.plan.prepared, record.labels
        by_name = dict(zip(prepared.names, labels, strict=True))
        groups = []
        linked: set[int] = set()
        for columns, members, _ in self._groups():
            links = tuple(self._link(link, labels) for link in members)
            names = tuple(labels[column] for column in columns)
            by_order = [labels[column] for column in self.order if column in columns]
            groups.append(Group(named_after(by_order, links), names, links))
            linked.update(columns)
        parts = {c for c, each in enumerate(prepared.table.columns) if each.part_of}
        # A date is not alone if its hour or another part of it has a link.
        of_linked = {prepared.sources[column] for column in linked}
        alone = [
            c
            for c in self.plan.columns
            if self.complete and c not in parts and prepared.sources[c] not in of_linked
        ]
        together = find_missing_together(
            prepared, [c for c, each in enumerate(prepared.table.columns) if not each.part_of]
        )
        return Overview(
            tuple(groups),
            alone=tuple(labels[c] for c in alone),
            score=self.score,
            order=tuple(labels[column] for column in self.order),
            missing_together=tuple(
                MissingTogether(tuple(labels[c] for c in each.columns), each.rows, each.share)
                for each in together
            ),
            not_examined=tuple(self.not_examined),
            measure=self.plan.measure.name,
            columns=tuple(labels[c] for c in range(len(labels)) if c not in parts),
            constant=tuple(
                labels[c]
                for c, each in enumerate(prepared.table.columns)
                if each.lag == 0 and not prepared.varies[c]
            ),
            rows=prepared.n_rows,
            repeated_rows=count_repeated_rows(prepared),
            null_of_rows=prepared.table.about_rows(),
            row_dependence=self.row_dependence and self.row_dependence.relabelled(by_name),
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
        if link.is_exact:
            adds = dict.fromkeys(link.by, 1.0)
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


def _evidence_of(
    relations: Sequence[Relation], scales: EvidenceScales, run: RunTasks
) -> dict[Relation, float]:
    """Return the evidence of relations, comparable between them."""
    different = list(dict.fromkeys(relations))
    evidence: dict[Relation, float] = {}
    for first, some in run(relations_evidence, different):
        for relation, found in zip(different[first : first + len(some)], some, strict=True):
            evidence[relation] = found / scales.of_set(relation.columns, relation.target)
    return evidence


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
