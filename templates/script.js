"use strict";
// Everything is in the page before this runs: it adds the sliders, sorting, filters and the matrix's readout.
// Nothing is stored, fetched or evaluated; text reaches the page through textContent alone.
// The code between "only NAME" and "always" is only in pages with data of that name.
(() => {
const byId = id => document.getElementById(id);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const on = (target, event, run) => target.addEventListener(event, run);
const set = (element, name, value) => element.setAttribute(name, value);
const each = (values, run) => Object.entries(values).forEach(([key, value]) => run(key, value));
const make = (tag, text) => Object.assign(document.createElement(tag), { textContent: text });
const data = JSON.parse(byId("data").textContent);

// Numbers as in evalreport/core/format.py.
const commas = text => text.replace(/^(\d+)/, whole => whole.replace(/\B(?=(\d{3})+$)/g, ","));
const rounded = (value, digits) => {
  const [number, power = 0] = Math.abs(value).toPrecision(15).split("e");
  return (Math.round(`${number}e${Number(power) + digits}`) / 10 ** digits).toFixed(digits);
};
const fixed = (value, digits) => {
  const text = rounded(value, digits);
  return (value < 0 && Number(text) ? "−" : "") + commas(text);
};
const count = value => fixed(value, Number.isInteger(value) ? 0 : 1);
const between = (value, end, digits, most) => {
  if (value === 0 || Math.abs(value) === end) return fixed(value, digits);
  for (let places = digits; places <= most; places++) {
    const shown = Number(rounded(value, places));
    if (shown !== 0 && shown !== end) return fixed(value, places);
  }
  const step = 10 ** -most, small = Math.abs(value) < end / 2;
  const limit = fixed(Math.sign(value) * (small ? step : end - step), most);
  return (small === value > 0 ? "<" : ">") + limit;
};
const percent = (share, n) => between(share * 100, 100, n > 2000 && share !== 0 && share !== 1 ? 1 : 0, 2) + "%";
const ratio = value => between(value, 1, 2, 4);
const threshold = value => between(Math.floor(value * 1000 + 1e-6) / 1000 || value, 1, 3, 8);

const write = (id, text) => { const element = byId(id); if (element) element.textContent = text; };
const counts = (prefix, values) => each(values, (key, value) => write(prefix + key, count(value)));
const meter = (id, text, share) => {
  const element = byId(id);
  if (!element) return;
  element.textContent = text;
  const bar = Math.round(100 * (share || 0));
  element.className = bar ? "b" + String(Math.min(100, bar)).padStart(2, "0") : "";
};
const show = (element, on) => set(element, "visibility", on ? "visible" : "hidden");
const part = (a, b) => b ? a / b : null;
const rates = (prefix, values) => each(values, (key, [value, form, n]) =>
  meter(prefix + key, value === null ? "–" : form(value, n), value));

all("[data-live]").forEach(element => { element.hidden = false; });

// The ring of a chart: the plot is 290 by 254 units from (40, 8).
const ring = (id, x, y) => {
  const mark = document.querySelector("#" + id + " .ring");
  if (!mark) return;
  const ends = byId(id).dataset.axes.split(" ").map(Number), xs = ends.slice(0, 2), ys = ends.slice(2);
  const inside = x !== null && y !== null && x >= xs[0] && x <= xs[1];
  show(mark, inside);
  if (!inside) return;
  const clip = share => Math.min(1, Math.max(0, share));
  const at = [40 + 290 * clip((x - xs[0]) / (xs[1] - xs[0])), 262 - 254 * clip((y - ys[0]) / (ys[1] - ys[0]))];
  set(mark, "transform", "translate(" + at.map(a => a.toFixed(1)).join(" ") + ")");
};

// A slider over places, with its presets; `paint` shows a place and returns a sentence about it. The places lie
// where `x` says, or one beside the other.
const slider = (id, paint, x) => {
  const input = byId(id + "-slider");
  if (!input) return null;
  const buttons = all("button[data-for=" + id + "]");
  let timer = 0, place = Number(x ? input.dataset.place : input.value);
  const near = value => x ? x.reduce((best, at, i) => Math.abs(at - value) < Math.abs(x[best] - value) ? i : best, 0) : value;
  const update = () => {
    const sentence = paint(place);
    set(input, "aria-valuetext", sentence);
    buttons.forEach(b => set(b, "aria-pressed", String(Number(b.dataset.place) === place)));
    return sentence;
  };
  const announce = () => {
    const sentence = update();
    clearTimeout(timer);
    timer = setTimeout(() => write(id + "-status", sentence), 400);
  };
  const go = i => { place = i; input.value = x ? x[i] : i; announce(); };
  on(input, "input", () => { place = near(Number(input.value)); announce(); });
  // A key moves to the next place, even where several steps of the handle lead to the same one.
  if (x) on(input, "keydown", event => {
    const way = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (!way || place + way < 0 || place + way >= x.length) return;
    event.preventDefault();
    go(place + way);
  });
  buttons.forEach(b => on(b, "click", () => go(Number(b.dataset.place))));
  update();
  return { update, buttons, go };
};

// only threshold
// An interval after Wilson, in per cent: two digits of its half-width decide the decimals, as in evalreport/core/result.py.
const wilson = (k, n, z) => {
  const p = k / n, c = (p + z * z / 2 / n) / (1 + z * z / n);
  const h = z * Math.sqrt(p * (1 - p) / n + z * z / 4 / n / n) / (1 + z * z / n);
  const values = [p, k ? Math.max(0, c - h) : 0, k === n ? 1 : Math.min(1, c + h)].map(v => 100 * v);
  const half = Number(((values[2] - values[1]) / 2).toPrecision(2));
  const exact = v => v === 0 || v === 100;
  const d = Math.max(0, 1 - Math.floor(Math.log10(half))) || Number(values.some(v => !exact(v) && exact(Math.round(v))));
  return values.map(v => fixed(v, exact(v) ? 0 : d) + "%");
};

const sweep = data.threshold;
if (sweep && "N" in sweep) {
  const { t, tp, fp, P, N, x, now, z } = sweep, n = P + N, cost = byId("miss-cost");
  let miss = Number(cost.value);
  const explorer = slider("threshold", i => {
    const fn = P - tp[i], tn = N - fp[i], flagged = tp[i] + fp[i];
    const recall = part(tp[i], P), precision = part(tp[i], flagged);
    const shares = {
      recall: [tp[i], P], specificity: [tn, N], precision: [tp[i], flagged], npv: [tn, tn + fn], flagged: [flagged, n],
    };
    write("threshold-value", threshold(t[i]));
    counts("count-", { tp: tp[i], fn, fp: fp[i], tn });
    const finds = tp[i] - tp[now], wrong = fp[i] - fp[now];
    if (now !== undefined) each({ tp: finds, fn: -finds, fp: wrong, tn: -wrong }, (key, more) => write("change-" + key,
      more ? count(Math.abs(more)) + (more > 0 ? " more than at " : " fewer than at ") + threshold(t[now]) : ""));
    each(shares, (key, [k, of]) => {
      if (!z) return rates("rate-", { [key]: [part(k, of), percent, of] });
      const [value, low, high] = of ? wilson(k, of, z) : ["–", "", ""];
      write("rate-" + key, value);
      write("rate-" + key + "-i", low && low + " to " + high);
    });
    const f1 = part(2 * tp[i], 2 * tp[i] + fp[i] + fn), price = fixed(100 * (fp[i] + miss * fn) / n, 1);
    if (z) { write("rate-f1", f1 === null ? "–" : ratio(f1)); write("rate-cost", price); }
    else { rates("rate-", { f1: [f1, ratio] }); meter("rate-cost", price); }
    const at = x[i];
    [["l", 0, at], ["r", at, 1000 - at]].forEach(([side, from, wide]) => each(
      { x: from / 10 + "%", width: wide / 10 + "%", viewBox: from + " 0 " + wide + " 172" },
      (name, value) => set(byId("scores-" + side), name, value)));
    set(byId("scores-hand"), "x", at / 10 + "%");
    ring("roc", part(fp[i], N), recall);
    ring("pr", recall, precision);
    ring("utility-chart", t[i] < 1 ? t[i] : null, tp[i] / n - fp[i] / n * t[i] / (1 - t[i]));
    return "Threshold " + threshold(t[i]) + ": " + count(tp[i]) + " of " + count(P) + " found, " + count(fn) +
      " missed, " + count(fp[i]) + " false positives";
  }, x);
  if (explorer) {
    const cheapest = explorer.buttons.find(b => b.dataset.key === "cost"), first = cheapest && cheapest.dataset.place;
    on(cost, "input", () => {
      const given = Number(cost.value), flag = byId("flag-cost");
      set(cost, "aria-invalid", String(!(given > 0)));
      if (!(given > 0)) return write("cost-status", "Give a number above 0. The threshold stays where it is.");
      miss = given;
      let best = 0;
      const total = i => fp[i] + miss * (P - tp[i]);
      t.forEach((_, i) => { if (total(i) < total(best)) best = i; });
      if (first && cost.value === cost.defaultValue) best = Number(first);
      if (cheapest) { cheapest.dataset.place = best; cheapest.textContent = "Cheapest " + threshold(t[best]); }
      if (flag) { set(flag, "x", x[best] / 10 + "%"); flag.querySelector("tspan").textContent = threshold(t[best]); }
      explorer.go(best);
      write("cost-status", "Cheapest at this cost: " + threshold(t[best]) + ", " + count(tp[best]) + " found for " + count(fp[best]) + " false positives.");
    });
  }
} else if (sweep) {
  const { t, tp, fp, P, n, rows, macro, exact } = sweep;
  slider("threshold", i => {
    const recall = part(tp[i], P), precision = part(tp[i], tp[i] + fp[i]);
    write("threshold-value", threshold(t[i]));
    counts("count-", { tp: tp[i], fn: P - tp[i], fp: fp[i] });
    rates("rate-", {
      precision: [precision, percent, rows],
      recall: [recall, percent, rows],
      f1: [part(2 * tp[i], tp[i] + fp[i] + P), ratio],
      macro: [macro[i], ratio],
      exact: [exact[i] / n, percent, rows],
    });
    meter("rate-added", fixed((tp[i] + fp[i]) / n, 2));
    ring("pr", recall, precision);
    return "Threshold " + threshold(t[i]) + ": " + count(tp[i]) + " of " + count(P) + " labels found, " +
      count(fp[i]) + " added";
  });
}
// always

// only cutoff
const cutoff = data.cutoff;
if (cutoff) slider("cutoff", i => {
  const { t, answered, right, n, rows, unit } = cutoff, wrong = answered[i] - right[i];
  write("cutoff-value", threshold(t[i]));
  counts("cutoff-", { n: answered[i], wrong, person: n - answered[i] });
  rates("cutoff-", {
    answered: [answered[i] / n, percent, rows],
    right: [part(right[i], answered[i]), percent, answered[i]],
  });
  ring("coverage", answered[i] / n, part(right[i], answered[i]));
  return "Confidence " + threshold(t[i]) + ": " + count(answered[i]) + " " + unit + " predicted, " + count(wrong) +
    " of them wrong";
});
// always

// only matched
// Two runs at the same number of alerts: the baseline, and the run that is compared with it.
const alerts = data.matched;
if (alerts) slider("alerts", i => {
  const { a, n, P, names, what, sides } = alerts, rate = 1000 * a[i] / n;
  const [base, run] = ["base", "run"].map((prefix, k) => {
    const side = sides[k], t = side.t[i], tp = side.found[i], fp = side.false_positives[i];
    write(prefix + "-t", t === null ? "above all" : threshold(t));
    counts(prefix + "-", { tp, fn: P - tp, fp, tn: n - P - fp });
    return tp;
  });
  const more = run - base;
  const gap = more ? count(Math.abs(more)) + (more > 0 ? " more" : " fewer") : "as many";
  const said = "With at most " + count(a[i]) + " alerts each, " + names[1] + " finds " + gap + ": " + count(run) +
    " and " + count(base) + " of " + count(P) + " " + what + ".";
  write("alerts-value", fixed(rate, rate >= 100 || Number.isInteger(rate) ? 0 : 1));
  write("alerts-said", said);
  return said;
});
// always

all("[data-fold]").forEach(details => { details.open = false; });

// On a phone each cell of a wide table has the label of its column.
all("table.t").forEach(table => {
  const heads = [...table.tHead.rows[0].cells].map(head => head.textContent);
  if (heads.length < 4) return;
  table.classList.add("rows");
  all("td", table.tBodies[0]).forEach(cell => { cell.dataset.head = heads[cell.cellIndex]; });
});

// Sorting: a head's text becomes a button.
all("th[data-sorts]").forEach(head => {
  const button = make("button", head.textContent), table = head.closest("table"), body = table.tBodies[0];
  button.type = "button";
  head.replaceChildren(button);
  on(button, "click", () => {
    const before = head.getAttribute("aria-sort");
    const up = before ? before === "descending" : head.dataset.sorts === "up";
    const keyed = [...body.rows].map(row => {
      const cell = row.cells[head.cellIndex], number = cell.dataset.v;
      return [number === undefined ? null : Number(number), cell.textContent.toLowerCase(), row];
    });
    const numeric = keyed.some(key => key[0] !== null), sign = up ? 1 : -1;
    keyed.sort((a, b) => {
      if (!numeric) return sign * (a[1] < b[1] ? -1 : a[1] > b[1] ? 1 : 0);
      if (a[0] === null || b[0] === null) return (a[0] === null) - (b[0] === null);
      return sign * (a[0] - b[0]);
    });
    body.append(...keyed.map(key => key[2]));
    all("[aria-sort]", table).forEach(other => other.removeAttribute("aria-sort"));
    set(head, "aria-sort", up ? "ascending" : "descending");
  });
});

all("[data-filters]").forEach(box => {
  const id = box.dataset.filters, rows = [...byId(id).tBodies[0].rows];
  const find = byId(id + "-find"), choice = byId(id + "-show");
  const filter = () => {
    const wanted = find.value.trim().toLowerCase(), key = choice.value;
    let seen = 0;
    rows.forEach(row => {
      const fits = row.cells[0].textContent.toLowerCase().includes(wanted) &&
        (!key || (row.dataset.marks || "").split(" ").includes(key));
      row.hidden = !fits;
      seen += fits;
    });
    write(id + "-status", seen === rows.length ? "All " + count(seen) + " shown" :
      seen ? count(seen) + " of " + count(rows.length) + " shown" :
      "Nothing matches. Clear the filter to see all " + count(rows.length) + ".");
  };
  on(find, "input", filter);
  on(choice, "change", filter);
});

// only confusions
// The matrix of many classes.
const svg = byId("matrix"), m = data.confusions;
if (svg && m) {
  const K = m.names.length, weight = new Map(), place = [];
  for (let i = 0; i < m.weights.length; i++) weight.set(m.cells[2 * i] + "," + m.cells[2 * i + 1], m.weights[i]);
  let order = m.orders.kin, row = 0, column = 0;
  const [cross, box] = ["cross", "box"].map(look => {
    const path = document.createElementNS(svg.namespaceURI, "path");
    set(path, "class", look);
    return svg.appendChild(path);
  });
  const name = code => code === K ? "unparsed" : m.names[code];
  const bucket = (r, c, w) => {
    const share = w / m.support[r], steps = r === c ? [0.5, 0.75, 0.9] : [0.05, 0.1, 0.2];
    return (r === c ? "r" : "w") + (1 + steps.filter(step => share >= step).length);
  };
  const draw = () => {
    const found = new Map();
    weight.forEach((w, key) => {
      const [r, c] = key.split(",").map(Number);
      if (c === K) return;
      const look = bucket(r, c, w);
      const d = `M${place[c]} ${place[r]}h1v1h-1z`;
      found.set(look, (found.get(look) || "") + d);
    });
    all("path[class^=r],path[class^=w]", svg).forEach(path =>
      set(path, "d", found.get(path.getAttribute("class")) || ""));
    show(byId("matrix-families"), order === m.orders.kin);
  };
  const select = (r, c) => {
    row = r; column = c;
    const w = weight.get(r + "," + c) || 0, back = weight.get(c + "," + r) || 0, support = m.support[r];
    const readout = byId("readout"), lines = [];
    const title = make("b", count(w) + " of " + count(support) + " “" + name(r) + "” predicted as “" + name(c) + "”" +
      (w ? " (" + percent(w / support) + ")" : ""));
    if (r !== c && c < K) lines.push("Reverse: " + count(back) + " of " + count(m.support[c]) + ".");
    (m.texts[r + "," + c] || []).forEach(text => lines.push("“" + text + "”"));
    readout.replaceChildren(title, ...lines.map(line => make("p", line)));
    mark();
  };
  const mark = () => {
    const inside = column < K, y = place[row], x = place[column];
    show(cross, inside); show(box, inside);
    if (!inside) return;
    set(cross, "d", `M0 ${y}H${K}M0 ${y + 1}H${K}M${x} 0V${K}M${x + 1} 0V${K}`);
    set(box, "d", `M${x} ${y}h1v1h-1z`);
  };
  const point = event => {
    const frame = svg.getBoundingClientRect(), size = frame.width / K;
    const x = (event.clientX - frame.left) / size, y = (event.clientY - frame.top) / size, reach = Math.ceil(10 / size);
    let best = null, least = 10 / size;
    for (let r = Math.floor(y) - reach; r <= y + reach; r++) for (let c = Math.floor(x) - reach; c <= x + reach; c++) {
      if (r < 0 || c < 0 || r >= K || c >= K || !weight.has(order[r] + "," + order[c])) continue;
      const away = Math.hypot(Math.max(r - y, 0, y - r - 1), Math.max(c - x, 0, x - c - 1));
      if (away <= least) { least = away; best = [order[r], order[c]]; }
    }
    if (best && (best[0] !== row || best[1] !== column)) select(...best);
  };
  on(svg, "pointermove", point);
  on(svg, "click", point);
  const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  on(svg, "keydown", event => {
    const move = moves[event.key];
    let r = place[row], c = column < K ? place[column] : place[row];
    if (event.key === "Home") c = r;
    else if (!move) return;
    else {
      const inside = () => r + move[0] >= 0 && r + move[0] < K && c + move[1] >= 0 && c + move[1] < K;
      const from = [r, c];
      let filled = false;
      while (inside() && !filled) {
        r += move[0]; c += move[1];
        filled = !event.shiftKey || weight.has(order[r] + "," + order[c]);
      }
      if (!filled) [r, c] = from;
    }
    event.preventDefault();
    select(order[r], order[c]);
  });
  set(svg, "tabindex", "0");
  set(svg, "role", "application");
  const arrange = () => order.forEach((code, at) => { place[code] = at; });
  on(byId("matrix-order"), "change", event => {
    order = m.orders[event.target.value];
    arrange(); draw(); mark();
  });
  all("[data-cell]").forEach(item => {
    const button = document.createElement("button"), [r, c] = item.dataset.cell.split(",").map(Number);
    button.type = "button";
    button.className = "rank";
    button.append(...item.childNodes);
    item.replaceWith(button);
    on(button, "click", () => select(r, c));
  });
  arrange();
  select(...m.first);
}
// always

all("textarea").forEach(box => on(box, "focus", () => box.select()));

// Links within the page: a sandboxed frame does not scroll to them automatically.
const links = all("nav a"), bar = document.querySelector("nav");
const visit = id => {
  const target = byId(id);
  if (!target) return;
  const heading = target.querySelector("h1,h2") || target;
  set(heading, "tabindex", "-1");
  target.scrollIntoView();
  heading.focus({ preventScroll: true });
};
all("a[href^='#']").forEach(link => on(link, "click", event => {
  event.preventDefault();
  visit(link.getAttribute("href").slice(1));
}));
const current = id => links.forEach(link => {
  if (link.getAttribute("href") !== "#" + id) { link.removeAttribute("aria-current"); return; }
  set(link, "aria-current", "true");
  if (bar.scrollWidth > bar.clientWidth) bar.scrollLeft = link.offsetLeft - 16;
});
const watch = new IntersectionObserver(seen => seen.forEach(entry => {
  if (entry.isIntersecting) current(entry.target.id);
}), { rootMargin: "-15% 0px -75% 0px" });
all("main>section").forEach(section => watch.observe(section));

// Figures and tables as files, made here under the names that evalreport/page/csv_tables.py gives them. A frame
// of others may not save, so that nothing is offered there.
const words = cell => [...cell.childNodes].map(node => node.textContent.trim()).filter(text => text).join(" ")
  .replace(/\s+/g, " ").replace("……", "");
const value = cell => {
  const text = words(cell), exact = cell.dataset.v;
  const numeric = cell.matches("td:is(.n,.q,.est,.ref)") && /^[+−-]?\d[\d,]*(\.\d+)?%?$/.test(text);
  if (numeric && (exact || !text.endsWith("%"))) return Number(exact || text.replaceAll(",", "").replace("−", "-"));
  return `"${text.replace(/^\s*[=+\-@＝＋－＠]/, "'$&").replaceAll(`"`, `""`)}"`;
};
const csv = table => [...table.rows].map(row =>
  [...row.cells].filter(cell => !cell.matches(".forest .plot")).map(value).join(",") + "\r\n").join("");
const LOOKS = "fill fill-opacity font paint-order stroke stroke-dasharray stroke-linecap stroke-width text-anchor vector-effect".split(" ");
const painted = figure => {
  const copy = figure.cloneNode(true), shown = all("*", figure);
  all("*", copy).forEach((element, i) => LOOKS.forEach(name =>
    element.style.setProperty(name, getComputedStyle(shown[i])[name])));
  all(".cross,.cross+.box", copy).forEach(hand => hand.remove());
  return copy;
};
// A table with intervals in it as one drawing: a line of 26 units per row, columns as wide as their longest text.
const tabled = table => {
  const space = table.querySelector("svg").namespaceURI, out = document.createElementNS(space, "svg"), wide = [];
  const dress = (made, values) => each(values, (name, value) => set(made, name, value));
  const put = (made, values) => { dress(made, values); out.append(made); };
  const rows = [...table.rows].map(row => [...row.cells].map((cell, i) => {
    const svg = cell.querySelector("svg"), ends = all(".ends:not(.under) span", cell);
    const childNodes = ends[0] ? [] : [...cell.childNodes].filter(node =>
      svg ? node.localName === "small" : node.className !== "gloss");
    const text = words({ childNodes });
    wide[i] = Math.max(wide[i] || 0, 20 + 7 * text.length + (svg ? 270 : 0));
    return [svg, ends, text, cell.matches(".est,.ci,.ref,.n")];
  }));
  rows.forEach((cells, r) => cells.reduce((x, [svg, ends, text, right], i) => {
    const y = 26 * r + 18, last = ends.length - 1;
    const write = (x, side, text) => text &&
      put(Object.assign(document.createElementNS(space, "text"), { textContent: text }), { x, y, "text-anchor": side });
    write(right ? x + wide[i] - 20 : svg ? x + 270 : x, right ? "end" : "start", text);
    ends.forEach((end, k) => write(x + 260 * k / last, k ? k < last ? "middle" : "end" : "start", words(end)));
    if (svg) put(painted(svg), { x, y: y - 16, width: 260, height: 24, overflow: "visible" });
    return x + wide[i];
  }, 10));
  dress(out, { width: wide.reduce((a, b) => a + b, 10), height: 26 * rows.length, fill: getComputedStyle(table).color });
  out.style.font = "13px sans-serif";
  return out;
};
const drawing = figure => {
  const copy = figure.matches("svg") ? painted(figure) : tabled(figure);
  copy.style.background = getComputedStyle(document.body).backgroundColor;
  return new XMLSerializer().serializeToString(copy);
};
const files = byId("files");
if (self === top && files) {
  const box = make("details", ""), summary = make("summary", "Save figures and tables");
  set(box, "data-live", "");
  box.append(summary);
  all("main>section").forEach(section => {
    const line = make("p", section.querySelector("h1,h2").textContent + ": ");
    let unnamed = 0;
    set(line, "class", "note");
    all("svg[role][id],table", section).forEach(element => {
      const id = element.id || section.id + (unnamed++ ? "-" + unnamed : ""), table = element.matches("table");
      const offer = (ending, written) => {
        const link = make("a", id + ending);
        link.download = link.textContent;
        link.href = "data:,";
        on(link, "click", () => { link.href = URL.createObjectURL(new Blob([written(element)])); });
        line.append(link, " ");
      };
      if (table) offer(".csv", csv);
      if (!table || element.querySelector("svg")) offer(".svg", drawing);
    });
    if (line.children.length) box.append(line);
  });
  if (box.children.length > 1) files.append(box);
}

})();
