"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  // Without this script all sections are shown one below the other; with it, buttons choose one of them.
  for (const bar of all("[data-switch]")) {
    const options = all(`:scope > .${bar.dataset.switch}`, bar.parentElement);
    if (options.length < 2) continue;
    const choose = (chosen) => {
      options.forEach((option) => { option.hidden = option !== chosen; });
      all("button", bar).forEach((button, index) => button.setAttribute("aria-pressed", options[index] === chosen));
    };
    for (const option of options) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = option.dataset.choice;
      button.addEventListener("click", () => choose(option));
      bar.append(button);
      option.classList.add("switched");
    }
    bar.hidden = false;
    choose(options[0]);
  }

  // Sorting: numbers start with the largest, text and ranks with the first; missing values stay last.
  for (const table of all("table.sortable")) {
    const heads = all("thead th", table);
    const body = table.tBodies[0];
    // No button elements: a browser repeats headings in print only without them.
    const onPress = (element, press) => {
      element.addEventListener("click", press);
      element.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        press();
      });
    };
    heads.forEach((head, column) => onPress(head.querySelector(".sort"), () => {
      const value = (row) => row.cells[column].dataset.sort;
      const rows = [...body.rows];
      const numeric = rows.every((row) => !Number.isNaN(Number(value(row))));
      const first = numeric && column > 0 ? "descending" : "ascending";
      const second = first === "ascending" ? "descending" : "ascending";
      const order = head.getAttribute("aria-sort") === first ? second : first;
      const sign = order === "ascending" ? 1 : -1;
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", order);
      rows.sort((a, b) => {
        const [x, y] = [value(a), value(b)];
        if (x === "" || y === "") return (x === "") - (y === "");
        return sign * (numeric ? x - y : x.localeCompare(y, "en", { numeric: true }));
      });
      body.append(...rows);
    }));
  }

  // A family that is pointed at in a legend, or chosen there, is singled out in the pictures of its place.
  for (const place of all(".place")) {
    let chosen = null;
    const single = (family) => {
      place.classList.toggle("singled", family !== null);
      for (const curve of all(".family", place)) curve.classList.toggle("chosen", curve.dataset.family === family);
    };
    for (const entry of all(".legend .entry", place)) {
      const family = entry.dataset.family;
      entry.addEventListener("pointerenter", () => single(family));
      entry.addEventListener("focus", () => single(family));
      for (const kind of ["pointerleave", "blur"]) entry.addEventListener(kind, () => single(chosen));
      entry.addEventListener("click", () => { chosen = chosen === family ? null : family; single(chosen); });
    }
  }

  // A browser would show the title of a picture over its tooltips.
  for (const title of all(".chart > title")) {
    title.parentElement.setAttribute("aria-label", title.textContent);
    title.remove();
  }

  // Tooltip of the element that is pointed at, tapped or focused.
  const tip = document.getElementById("tip");
  let marked = null;
  const hide = () => {
    tip.hidden = true;
    marked?.classList.remove("marked");
    marked = null;
  };
  // The browser's own tooltip would cover this one, so that its text moves out of its sight.
  const details = (target) => {
    if (target.dataset.details === undefined) {
      const title = target.querySelector(":scope > title");
      target.dataset.details = title ? title.textContent : target.title || target.getAttribute("aria-label");
      title?.remove();
      target.removeAttribute("title");
    }
    const row = target.closest("table.heat") && target.cellIndex > 0 ? target.parentElement.cells[0] : null;
    const column = row && target.closest("table").tHead.rows[1].cells[target.cellIndex];
    return row ? `${column.textContent}\nagainst ${row.textContent}\n${target.dataset.details}` : target.dataset.details;
  };
  const show = (target) => {
    hide();
    tip.textContent = details(target);
    tip.hidden = false;
    const place = target.getBoundingClientRect();
    const left = Math.min(Math.max(8, place.left + place.width / 2 - tip.offsetWidth / 2), document.documentElement.clientWidth - tip.offsetWidth - 8);
    const above = place.top - tip.offsetHeight - 8;
    tip.style.transform = `translate(${Math.round(left)}px, ${Math.round(above > 8 ? above : place.bottom + 8)}px)`;
    marked = target.dataset.row ? document.getElementById(target.dataset.row) : null;
    marked?.classList.add("marked");
  };
  const described = (event) => event.target.closest?.("[data-details], .point, .marks > *, .heat td[title]");
  for (const kind of ["pointerover", "focusin", "click"]) {
    document.addEventListener(kind, (event) => {
      const target = described(event);
      if (target) show(target);
      else if (kind !== "focusin") hide();
    });
  }
  document.addEventListener("focusout", hide);
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
  window.addEventListener("scroll", hide, { passive: true, capture: true });
})();
