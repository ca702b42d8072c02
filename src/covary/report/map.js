(() => {
  const map = document.getElementById("table-map");
  if (!map) return;
  const { columns, links } = JSON.parse(document.getElementById("data").textContent).overview;
  const frame = document.getElementById("frame");
  const form = document.getElementById("find");
  const panel = document.getElementById("chosen");
  const matches = document.getElementById("found");
  const boxes = [...map.querySelectorAll(".column")];
  const lines = [...map.querySelectorAll(".line")];
  const numberOf = (box) => Number(box.dataset.column);
  const boxOf = new Map(boxes.map((box) => [numberOf(box), box]));
  const [, , width, height] = map.getAttribute("viewBox").split(" ").map(Number);

  // ---------------------------------------------------------------- zoom and move

  const MIN_SCALE = 0.2;
  const MAX_SCALE = 4;
  // Smaller texts cannot be read: then a part of the map is shown.
  const MIN_FITTING = 0.78;
  // A small map is enlarged.
  const MAX_FITTING = 1.25;
  let scale = 1;
  // The point of the map at a place in the frame, by default its middle, stays there.
  const setScale = (wanted, x = frame.clientWidth / 2, y = frame.clientHeight / 2) => {
    const corner = () => {
      const [outer, inner] = [frame.getBoundingClientRect(), map.getBoundingClientRect()];
      return [inner.left - outer.left, inner.top - outer.top];
    };
    const [left, top] = corner();
    const ratio = Math.min(MAX_SCALE, Math.max(MIN_SCALE, wanted)) / scale;
    scale *= ratio;
    map.style.width = `${width * scale}px`;
    map.style.height = `${height * scale}px`;
    const [newLeft, newTop] = corner();
    frame.scrollLeft += newLeft + (x - left) * ratio - x;
    frame.scrollTop += newTop + (y - top) * ratio - y;
    frame.classList.toggle("movable", map.clientWidth > frame.clientWidth || map.clientHeight > frame.clientHeight);
  };
  const fit = () => {
    frame.style.height = "";
    const inWindow = Math.max(1, (0.6 * window.innerHeight) / height);
    setScale(Math.max(MIN_FITTING, Math.min(MAX_FITTING, inWindow, frame.clientWidth / width)));
    // Zooming does not move the rest of the page.
    frame.style.height = `${frame.offsetHeight}px`;
    frame.scrollTo(0, 0);
  };
  const zoom = (factor, x, y) => setScale(scale * factor, x, y);
  frame.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    const { left, top } = frame.getBoundingClientRect();
    zoom(Math.exp(-event.deltaY / 300), event.clientX - left, event.clientY - top);
  }, { passive: false });
  let grip = null;
  frame.addEventListener("pointerdown", (event) => {
    if (event.pointerType !== "mouse" || event.button !== 0 || event.target.closest(".column")) return;
    grip = { x: event.clientX + frame.scrollLeft, y: event.clientY + frame.scrollTop };
  });
  window.addEventListener("pointermove", (event) => {
    if (!grip) return;
    frame.classList.add("moving");
    frame.scrollLeft = grip.x - event.clientX;
    frame.scrollTop = grip.y - event.clientY;
  });
  window.addEventListener("pointerup", () => {
    grip = null;
    frame.classList.remove("moving");
  });
  let knownWidth = window.innerWidth;
  window.addEventListener("resize", () => {
    if (window.innerWidth !== knownWidth) fit();
    knownWidth = window.innerWidth;
  });

  // ---------------------------------------------------------------- choose a column

  let chosen = null;
  const linksOf = (column) => links.flatMap((members, at) => (members.includes(column) ? [at] : []));
  const lineOf = (link) => document.querySelector(`.link-list li[data-link="${link}"]`).cloneNode(true);
  const showPanel = (column) => {
    const own = linksOf(column);
    const heading = document.createElement("h3");
    heading.textContent = columns[column];
    const list = document.createElement("ul");
    list.className = "link-list";
    list.append(...own.map(lineOf));
    const note = document.createElement("p");
    note.className = "meaning";
    note.textContent = own.length === 0 ? "This column has no links." : boxOf.has(column) ? "" : "This column is not on the map.";
    panel.replaceChildren(heading, ...(note.textContent ? [note] : []), list);
    panel.hidden = false;
  };
  const choose = (column) => {
    chosen = column;
    const own = new Set(column === null ? [] : linksOf(column));
    const near = new Set([column, ...[...own].flatMap((link) => links[link])]);
    for (const box of boxes) {
      box.setAttribute("aria-pressed", String(numberOf(box) === column));
      box.classList.toggle("related", near.has(numberOf(box)));
    }
    for (const line of lines) line.classList.toggle("related", own.has(Number(line.dataset.link)));
    map.classList.toggle("narrowed", boxOf.has(column));
    if (column === null) panel.hidden = true;
    else showPanel(column);
  };
  // The panel at the lower edge of the window must not cover the column.
  const reveal = (box) => box.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
  const focus = (box) => {
    for (const each of boxes) each.tabIndex = each === box ? 0 : -1;
    box.focus();
  };
  map.addEventListener("click", (event) => {
    const box = event.target.closest(".column");
    if (!box) return choose(null);
    focus(box);
    choose(numberOf(box) === chosen ? null : numberOf(box));
  });

  // ---------------------------------------------------------------- keyboard

  const rectOf = (box) => box.getElementsByTagName("rect")[0].getBBox();
  // How far one rectangle is from another in a direction, without their sizes.
  const directions = {
    ArrowLeft: (from, to) => from.x - to.x - to.width,
    ArrowRight: (from, to) => to.x - from.x - from.width,
    ArrowUp: (from, to) => from.y - to.y - to.height,
    ArrowDown: (from, to) => to.y - from.y - from.height,
  };
  // The nearest column in a direction; distances to the side count twice.
  const neighbour = (box, key) => {
    const from = rectOf(box);
    const side = key === "ArrowLeft" || key === "ArrowRight" ? "y" : "x";
    let [best, least] = [null, Number.POSITIVE_INFINITY];
    for (const other of boxes) {
      const to = rectOf(other);
      const along = directions[key](from, to);
      const distance = along + 2 * Math.abs(to[side] - from[side]);
      if (along >= 0 && distance < least) [best, least] = [other, distance];
    }
    return best;
  };
  map.addEventListener("keydown", (event) => {
    const box = event.target.closest(".column");
    if (!box) return;
    if (event.key in directions) {
      const next = neighbour(box, event.key);
      if (next) focus(next);
    } else if (event.key === "Enter" || event.key === " ") {
      choose(numberOf(box) === chosen ? null : numberOf(box));
    } else return;
    event.preventDefault();
  });
  const reset = () => {
    form.reset();
    search();
    choose(null);
    fit();
  };
  frame.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey) return;
    if (event.key === "+") zoom(1.25);
    else if (event.key === "-") zoom(0.8);
    else if (event.key === "Escape") reset();
    else return;
    event.preventDefault();
  });
  form.elements.closer.addEventListener("click", () => zoom(1.25));
  form.elements.farther.addEventListener("click", () => zoom(0.8));
  form.elements.restart.addEventListener("click", reset);

  // ---------------------------------------------------------------- find a column

  const names = columns.map((name) => name.toLowerCase());
  let found = [];
  const search = () => {
    const part = form.elements.column.value.trim().toLowerCase();
    found = part ? names.flatMap((name, at) => (name.includes(part) ? [at] : [])) : [];
    // Columns on the map, and names that begin with the text, come first.
    const rank = (at) => 2 * !boxOf.has(at) + !names[at].startsWith(part);
    found.sort((one, other) => rank(one) - rank(other));
    for (const box of boxes) box.classList.toggle("found", found.includes(numberOf(box)));
    const shown = found.length === 1 ? "1 column" : `${found.length} columns`;
    matches.textContent = part ? `${shown}${found.length ? "; press Enter" : ""}` : "";
  };
  form.addEventListener("input", search);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!found.length) return;
    const next = found[(found.indexOf(chosen) + 1) % found.length];
    choose(next);
    if (boxOf.has(next)) reveal(boxOf.get(next));
  });

  // ---------------------------------------------------------------- start

  // Fonts differ: no text is wider than its box.
  for (const box of boxes) {
    const [name, number] = box.getElementsByTagName("text");
    const room = box.getElementsByTagName("rect")[0].getBBox().width - 16 - (number ? number.getComputedTextLength() + 6 : 0);
    if (name.getComputedTextLength() > room) {
      name.setAttribute("textLength", room);
      name.setAttribute("lengthAdjust", "spacingAndGlyphs");
    }
  }
  fit();
})();
