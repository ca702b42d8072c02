"use strict";
(() => {
  const { figures, points } = JSON.parse(document.getElementById("data").textContent);
  const root = document.documentElement;
  const button = document.getElementById("theme");

  // ---------------------------------------------------------------- figures

  let printing = false;
  const dark = () => root.classList.contains("dark") && !printing;
  const config = () => {
    const text = dark() ? "#e6e9ed" : "#1b1f24";
    const line = dark() ? "#3a424c" : "#d0d7de";
    return {
      background: "transparent",
      font: "system-ui, sans-serif",
      title: { color: text },
      axis: { labelColor: text, titleColor: text, gridColor: line, gridOpacity: 0.6, domainColor: line, tickColor: line },
      legend: { labelColor: text, titleColor: text, symbolStrokeColor: dark() ? "#5b96dd" : "#4285d0" },
      view: { stroke: line },
      text: { color: text },
    };
  };
  // The page contains each row once; each figure selects its rows.
  const withRows = (figure) => {
    if (!figure.usermeta) return figure;
    const { fields, rows } = figure.usermeta;
    const values = rows.map((row) => Object.fromEntries(fields.map((field) => [field, points[field][row]])));
    return { ...figure, usermeta: undefined, data: { values } };
  };
  const withHalo = (figure) => {
    for (const { mark } of figure.layer ?? []) {
      if (mark.style === "halo") mark.stroke = dark() ? "#14181d" : "#ffffff";
    }
    return figure;
  };
  // An estimate that reserves space until the figure is drawn.
  const estimatedHeight = ({ concat, columns, height }) =>
    concat ? Math.ceil(concat.length / columns) * (concat[0].height + 85) : height + 48;
  // Show names and values only as text: by default a tooltip may contain pictures and links.
  const formatTooltip = (value, text) => {
    const line = ([name, cell]) => `<tr><td class="key">${text(name)}</td><td class="value">${text(cell)}</td></tr>`;
    return `<table>${Object.entries(value).map(line).join("")}</table>`;
  };
  // A figure is drawn when it is near the window. This moves everything below it, so the page
  // scrolls back to the target of the last link until the user scrolls.
  let linkTarget = null;
  const scrollToTarget = () => linkTarget?.scrollIntoView({ behavior: "instant" });
  const followLink = () => {
    linkTarget = location.hash.length > 1 ? document.getElementById(location.hash.slice(1)) : null;
    scrollToTarget();
  };
  window.addEventListener("hashchange", followLink);
  document.addEventListener("click", (event) => {
    if (event.target.closest('a[href^="#"]')) setTimeout(followLink);
  });
  for (const name of ["wheel", "touchmove", "keydown", "mousedown"]) {
    window.addEventListener(name, () => { linkTarget = null; }, { passive: true });
  }
  const drawn = new Map();
  const draw = (place) => {
    const options = { mode: "vega-lite", actions: false, renderer: "canvas", config: config(), tooltip: { formatTooltip } };
    const figure = withHalo(withRows(figures[place.dataset.figure]));
    const view = vegaEmbed(place, figure, options).then((result) => {
      place.dataset.drawn = dark() ? "dark" : "light";
      place.style.minHeight = "";
      scrollToTarget();
      return result.view;
    });
    drawn.set(place, view);
    const form = place.closest("section").querySelector("form.mark");
    if (form && figure.concat) markRows(form, view);
  };
  const observer = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (entry.isIntersecting && !drawn.has(entry.target)) draw(entry.target);
    }
  }, { rootMargin: "600px" });
  const places = [...document.querySelectorAll("[data-figure]")];
  for (const place of places) {
    place.style.minHeight = `${estimatedHeight(figures[place.dataset.figure])}px`;
    observer.observe(place);
  }

  // ---------------------------------------------------------------- marking rows without a mouse

  const figureOf = (form) => form.closest("section").querySelector("[data-figure]");
  const quarter = (field, rows, part) => {
    const values = rows.map((row) => points[field][row]).filter((value) => value !== null).sort((a, b) => a - b);
    // Equal values belong to one quarter: the quarter of the first of them.
    const first = new Map();
    values.forEach((value, at) => first.has(value) || first.set(value, Math.floor((4 * at) / values.length)));
    const inside = [...first].filter(([, quarter]) => quarter === part).map(([value]) => value);
    return inside.length ? { field, low: inside[0], high: inside.at(-1) } : { field, low: 1, high: 0 };
  };
  const quarters = ["in the lowest quarter", "in the second quarter", "in the third quarter", "in the highest quarter"];
  const levelsOf = (field) => JSON.parse(field.selectedOptions[0].dataset.levels);
  // Each column has its own parts: quarters of its numbers, or its levels.
  const offerParts = ({ part, field }) => {
    const levels = levelsOf(field);
    const kept = levels.length || part.dataset.levels ? "" : part.value;
    const parts = levels.length ? levels : quarters;
    part.replaceChildren(new Option("(any value)", ""), ...parts.map((text, at) => new Option(text, at)));
    part.dataset.levels = levels.length || "";
    part.value = kept;
  };
  const chosenPart = ({ part, field }, rows) => {
    if (part.value === "") return { field: null, low: 0, high: 0, level: null };
    const levels = levelsOf(field);
    if (levels.length) return { field: field.value, low: 0, high: 0, level: levels[part.value] };
    return { ...quarter(field.value, rows, Number(part.value)), level: null };
  };
  const markRows = (form, view) => {
    const { rows } = figures[figureOf(form).dataset.figure].usermeta;
    const chosen = chosenPart(form.elements, rows);
    const inside = rows.filter((row) => {
      const value = points[chosen.field]?.[row] ?? null;
      if (value === null) return false;
      return chosen.level === null ? value >= chosen.low && value <= chosen.high : value === chosen.level;
    });
    form.querySelector("output").textContent = chosen.field === null ? "" : `${inside.length} of ${rows.length} drawn rows`;
    view.then((ready) => ready.signal("mark", chosen).runAsync());
  };
  for (const form of document.querySelectorAll("form.mark")) {
    offerParts(form.elements);
    form.elements.field.addEventListener("input", () => offerParts(form.elements));
    form.addEventListener("input", () => {
      const place = figureOf(form);
      if (drawn.has(place)) markRows(form, drawn.get(place));
    });
  }

  // ---------------------------------------------------------------- theme

  const setTheme = (isDark) => {
    root.classList.toggle("dark", isDark);
    button.setAttribute("aria-pressed", String(isDark));
    [...drawn.keys()].forEach(draw);
  };
  // Print all figures, on white, and all tables.
  window.addEventListener("beforeprint", () => {
    printing = true;
    for (const each of document.querySelectorAll("details")) each.open = true;
    places.forEach(draw);
  });
  window.addEventListener("afterprint", () => {
    printing = false;
    if (dark()) places.forEach(draw);
  });
  button.addEventListener("click", () => setTheme(!dark()));
  if (window.matchMedia("(prefers-color-scheme: dark)").matches) setTheme(true);

  // ---------------------------------------------------------------- list of sets

  for (const each of document.forms) each.addEventListener("submit", (event) => event.preventDefault());
  followLink();
  const list = document.getElementById("list");
  if (!list) return;
  const body = list.tBodies[0];
  const rows = [...body.rows];
  const value = (row, key) => {
    const number = Number.parseFloat(row.querySelector(`td[data-key="${key}"]`).textContent);
    return Number.isNaN(number) ? Number.POSITIVE_INFINITY : number;
  };
  list.tHead.addEventListener("click", (event) => {
    const heading = event.target.closest("button");
    if (!heading) return;
    const cell = heading.closest("th");
    const descending = cell.getAttribute("aria-sort") === "ascending";
    for (const other of list.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    cell.setAttribute("aria-sort", descending ? "descending" : "ascending");
    const key = heading.dataset.key;
    const sign = descending ? -1 : 1;
    const rank = (a, b) => value(a, "rank") - value(b, "rank");
    rows.sort((a, b) => {
      const [one, other] = [value(a, key), value(b, key)];
      return one === other ? rank(a, b) : sign * (one < other ? -1 : 1);
    });
    body.append(...rows);
  });
  const form = document.getElementById("filter");
  const count = document.getElementById("count");
  const filter = () => {
    const part = form.elements.column.value.trim().toLowerCase();
    const maxSize = Number.parseFloat(form.elements.size.value);
    const hide = form.elements.hide?.checked;
    const maxP = form.elements.p ? Number.parseFloat(form.elements.p.value) : Number.NaN;
    let shown = 0;
    for (const row of rows) {
      const fits =
        (!part || row.dataset.columns.toLowerCase().includes(part)) &&
        !(value(row, "size") > maxSize) &&
        !(hide && "addsNothing" in row.dataset) &&
        !(maxP >= 0 && value(row, "p") > maxP);
      row.hidden = !fits;
      shown += fits;
    }
    count.textContent = `${shown} of ${rows.length} sets`;
  };
  form.addEventListener("input", filter);
  filter();
})();
