"use strict";
// The leaderboard is sorted before this runs: it adds filter, sorting, columns, and the choice of two runs.
(() => {
const byId = id => document.getElementById(id);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const on = (target, event, run) => target.addEventListener(event, run);
const table = byId("lb"), body = table.tBodies[0], rows = [...body.rows], heads = [...table.tHead.rows[0].cells];
all("[data-live]").forEach(element => { element.hidden = false; });
const texts = new Map(), boxes = all(".checks input"), fixed = heads.length - boxes.length;
const label = head => head.textContent.trim();
rows.forEach(row => {
  const marks = all(".tag", row).map(tag => "#" + tag.textContent), link = row.querySelector("th a");
  const shown = [...row.cells].slice(fixed).map((cell, i) => label(heads[fixed + i]) + "=" + cell.textContent.trim());
  texts.set(row, [link.textContent, ...marks, ...shown].map(text => text.toLowerCase()));
  const tick = Object.assign(document.createElement("input"), { type: "checkbox", value: link.getAttribute("href").slice(5, -5) });
  tick.setAttribute("aria-label", "Compare " + link.textContent);
  link.before(tick);
});

// A line under the last run that is tied with the best, while the best are first.
const line = () => {
  rows.forEach(row => row.classList.remove("last"));
  if (!heads[2].hasAttribute("aria-sort") || heads[2].getAttribute("aria-sort") !== best) return;
  const tied = [...body.rows].filter(row => row.classList.contains("tied") && !row.hidden);
  if (tied.length) tied[tied.length - 1].classList.add("last");
};
const best = heads[2].getAttribute("aria-sort");
const key = cell => cell.dataset.v === undefined ? cell.textContent.trim().toLowerCase() : Number(cell.dataset.v);
all("th[data-sorts]", table).forEach(head => {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = head.textContent;
  head.replaceChildren(button);
  on(button, "click", () => {
    const before = head.getAttribute("aria-sort"), at = head.cellIndex;
    const up = before ? before === "descending" : head.dataset.sorts === "up", sign = up ? 1 : -1;
    rows.sort((a, b) => {
      const x = key(a.cells[at]), y = key(b.cells[at]);
      if (typeof x === "string" || typeof y === "string") return sign * String(x).localeCompare(String(y), "en", { numeric: true });
      return sign * (x - y);
    });
    body.append(...rows);
    all("[aria-sort]", table).forEach(other => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    line();
  });
});

const find = byId("find"), only = byId("only"), status = byId("status");
const champion = rows.find(row => row.classList.contains("champ"));
const since = champion ? Number(champion.cells[6].dataset.v) : 0;
const filter = () => {
  const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
  let seen = 0;
  rows.forEach(row => {
    const parts = texts.get(row);
    const fits = word => word.startsWith("#") || word.includes("=") ? parts.includes(word) : parts[0].includes(word);
    const kind = only.value === "tied" ? row.classList.contains("tied") :
      only.value === "champion" ? Number(row.cells[6].dataset.v) >= since : true;
    row.hidden = !(kind && words.every(fits));
    seen += !row.hidden;
  });
  status.textContent = seen === rows.length ? "All " + seen + " runs" :
    seen ? seen + " of " + rows.length + " runs" : "Nothing matches. Clear the filter to see all " + rows.length + ".";
  line();
};
on(find, "input", filter);
on(only, "change", filter);
boxes.forEach(box => on(box, "change", () => {
  const at = fixed + Number(box.value);
  [table.tHead.rows[0], ...rows].forEach(row => { row.cells[at].hidden = !box.checked; });
}));

// Two runs: a link where their comparison was made, else the command that makes it.
const pair = byId("pair"), ticks = all("tbody input", table);
ticks.forEach(box => on(box, "change", () => {
  const chosen = ticks.filter(tick => tick.checked).map(tick => tick.value);
  pair.removeAttribute("href");
  if (chosen.length !== 2) {
    pair.textContent = chosen.length > 2 ? chosen.length + " runs are selected: leave two" : "Select two runs to compare them";
    return;
  }
  const reference = table.dataset.reference, other = chosen.find(stem => stem !== reference);
  const page = "compare/" + other + ".html", made = all("a", body).some(link => link.getAttribute("href") === page);
  if (chosen.includes(reference) && made) {
    pair.href = page;
    pair.textContent = "Compare the two";
  } else {
    pair.textContent = "evalreport compare " + chosen.map(stem => "--run-id " + stem.slice(-8)).join(" ") + " -o compare.html";
  }
}));
line();
})();
