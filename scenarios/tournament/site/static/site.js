"use strict";
// Everything works without this script: it shows and reads times in the viewer's zone, counts down, takes dropped
// files, prevents a second click, and refreshes the board when the server says that something has changed.
(() => {
  const units = [86400, 3600, 60, 1];

  const zone = new Intl.DateTimeFormat(document.documentElement.lang === "ja" ? "ja" : undefined, {
    weekday: "short", year: "numeric", month: "short", day: "numeric", hour: "numeric", minute: "2-digit", timeZoneName: "short",
  });

  function showTimes() {
    for (const one of document.querySelectorAll("time[datetime]")) {
      const moment = new Date(one.dateTime);
      if (!Number.isNaN(moment.getTime())) {
        one.title = one.textContent;
        one.textContent = zone.format(moment);
      }
    }
  }

  // Fields of time are in the viewer's zone, too; a hidden field tells the server the moment.
  function readTimes() {
    for (const hidden of document.querySelectorAll("[data-moment-of]")) {
      const field = document.getElementById(hidden.dataset.momentOf);
      const name = document.querySelector(`[data-zone="${field.id}"]`);
      const update = () => {
        const moment = new Date(field.value);
        const known = !Number.isNaN(moment.getTime());
        hidden.value = known ? moment.toISOString() : "";
        name.textContent = zone.formatToParts(known ? moment : new Date()).find((one) => one.type === "timeZoneName").value;
      };
      field.addEventListener("input", update);
      window.addEventListener("pageshow", update);
      update();
    }
  }

  function countDown() {
    for (const one of document.querySelectorAll("[data-until]")) {
      let left = Math.floor((new Date(one.dataset.until) - Date.now()) / 1000);
      if (left <= 0) {
        one.textContent = one.dataset.over;
        continue;
      }
      const parts = [];
      const words = one.dataset.units.split(" ");
      for (const [place, length] of units.entries()) {
        const count = Math.floor(left / length);
        left -= count * length;
        if (count || parts.length) parts.push(`${count} ${words[place]}`);
      }
      one.textContent = one.dataset.left.replace("{left}", parts.slice(0, 2).join(" "));
    }
  }

  function takeDrops() {
    for (const form of document.querySelectorAll("form.drop")) {
      const input = form.querySelector("input[type=file]");
      for (const kind of ["dragenter", "dragover"]) {
        form.addEventListener(kind, (event) => { event.preventDefault(); form.classList.add("over"); });
      }
      for (const kind of ["dragleave", "drop"]) {
        form.addEventListener(kind, () => form.classList.remove("over"));
      }
      form.addEventListener("drop", (event) => {
        event.preventDefault();
        const files = event.dataTransfer.files;
        if (files.length > 1 && !input.multiple) return;
        if (files.length) { input.files = files; input.focus(); }
      });
    }
  }

  function preventSecondClick() {
    document.addEventListener("submit", (event) => {
      const button = event.target.querySelector("button:not([name])");
      if (event.target.dataset.sent) { event.preventDefault(); return; }
      event.target.dataset.sent = "yes";
      if (button) button.setAttribute("aria-disabled", "true");
    });
    // The back button shows the page as it was left.
    window.addEventListener("pageshow", () => {
      for (const form of document.querySelectorAll("form[data-sent]")) {
        delete form.dataset.sent;
        form.querySelector("button")?.removeAttribute("aria-disabled");
      }
    });
  }

  // The parts of the host's page as tabs; without this script they stand below each other.
  function showTabs() {
    const links = [...document.querySelectorAll("nav.tabs a")];
    const show = () => {
      const chosen = links.find((one) => one.hash === location.hash) ?? links[0];
      for (const one of links) {
        document.querySelector(one.hash).closest("section").hidden = one !== chosen;
        if (one === chosen) one.setAttribute("aria-current", "true");
        else one.removeAttribute("aria-current");
      }
    };
    if (!links.length) return;
    window.addEventListener("hashchange", show);
    show();
  }

  function follow() {
    if (!document.body.classList.contains("live") || !window.EventSource) return;
    let waiting = false;
    const refresh = async () => {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" }, cache: "no-cache" });
      if (!answer.ok) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const main = document.getElementById("main");
      const scrolled = [...main.querySelectorAll(".scroll")].map((one) => one.scrollLeft);
      const focused = [...main.querySelectorAll("a, [tabindex]")].indexOf(document.activeElement);
      main.replaceChildren(...page.getElementById("main").childNodes);
      main.querySelectorAll(".scroll").forEach((one, place) => { one.scrollLeft = scrolled[place] ?? 0; });
      if (focused >= 0) main.querySelectorAll("a, [tabindex]")[focused]?.focus({ preventScroll: true });
      showTimes();
      countDown();
    };
    new EventSource("/live").addEventListener("changed", () => {
      if (waiting) return;
      waiting = true;
      // Viewers come within two seconds, not all at the same moment.
      setTimeout(() => { waiting = false; refresh().catch(() => {}); }, 200 + Math.random() * 1800);
    });
  }

  showTimes();
  readTimes();
  countDown();
  setInterval(countDown, 1000);
  takeDrops();
  preventSecondClick();
  showTabs();
  follow();
})();
