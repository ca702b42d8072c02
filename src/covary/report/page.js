"use strict";
(() => {
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const root = document.documentElement;
  const button = document.getElementById("theme");

  // ---------------------------------------------------------------- figures

  const dark = () => root.classList.contains("dark");
  const config = () => {
    const text = dark() ? "#e6e9ed" : "#1b1f24";
    const line = dark() ? "#3a424c" : "#d0d7de";
    return {
      background: "transparent",
      title: { color: text },
      axis: { labelColor: text, titleColor: text, gridColor: line, domainColor: line, tickColor: line },
      legend: { labelColor: text, titleColor: text },
      view: { stroke: line },
      text: { color: text },
    };
  };
  const drawn = new Map();
  const draw = (place) => {
    const options = { actions: false, renderer: "canvas", config: config(), loader: { http: false } };
    const spec = figures[place.dataset.figure];
    drawn.set(place, vegaEmbed(place, spec, options).then((result) => result.view));
  };
  const near = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (entry.isIntersecting && !drawn.has(entry.target)) draw(entry.target);
    }
  }, { rootMargin: "600px" });
  const places = [...document.querySelectorAll("[data-figure]")];
  places.forEach((place) => near.observe(place));
  window.addEventListener("beforeprint", () => {
    places.filter((place) => !drawn.has(place)).forEach(draw);
  });

  // ---------------------------------------------------------------- theme

  const wear = (isDark) => {
    root.classList.toggle("dark", isDark);
    button.setAttribute("aria-pressed", String(isDark));
    [...drawn.keys()].forEach(draw);
  };
  button.addEventListener("click", () => wear(!dark()));
  if (window.matchMedia("(prefers-color-scheme: dark)").matches) wear(true);

  // ---------------------------------------------------------------- the list

  const list = document.getElementById("list");
  const body = list.tBodies[0];
  const rows = [...body.rows];
  const value = (row, key) => {
    const number = Number.parseFloat(row.querySelector(`td[data-key="${key}"]`).textContent);
    return Number.isNaN(number) ? Number.POSITIVE_INFINITY : number;
  };
  list.tHead.addEventListener("click", (event) => {
    const pressed = event.target.closest("button");
    if (!pressed) return;
    const head = pressed.closest("th");
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const other of list.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const key = pressed.dataset.key;
    const sign = down ? -1 : 1;
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
    const wanted = form.elements.column.value.trim().toLowerCase();
    const size = Number.parseFloat(form.elements.size.value);
    const most = form.elements.p ? Number.parseFloat(form.elements.p.value) : Number.NaN;
    let left = 0;
    for (const row of rows) {
      const fits =
        (!wanted || row.dataset.columns.toLowerCase().includes(wanted)) &&
        !(value(row, "size") > size) &&
        !(most >= 0 && value(row, "p") > most);
      row.hidden = !fits;
      left += fits;
    }
    count.textContent = `${left} of ${rows.length} sets`;
  };
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  filter();
})();
