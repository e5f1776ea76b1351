// The page of a run: shows its state, which the server sends once per second. With "?once" it shows the present state alone.
"use strict";

const byId = (id) => document.getElementById(id);
const charts = new Map();  // by title
let lastHeard = 0, ended = false, started = "";

const duration = (seconds) => {
  if (seconds === undefined || !Number.isFinite(seconds)) return "–";
  const all = Math.round(seconds), hours = Math.floor(all / 3600), two = (n) => String(n).padStart(2, "0");
  return hours > 0 ? `${hours}:${two(Math.floor(all / 60) % 60)}:${two(all % 60)}` : `${Math.floor(all / 60)}:${two(all % 60)}`;
};
const timeOfDay = (seconds) => new Date(seconds * 1000).toLocaleTimeString();
const shortTask = (task) => task.replace(/^\/job:(\w+)\/replica:0\/task:(\d+)$/, "$1/$2");

const shortDevice = (device) => device.replace(/^(.*)\/device:(\w+:\d+)$/, (all, task, name) => `${shortTask(task)} ${name}`);

function showHead(run) {
  document.title = `${run.name} – Troupe`;
  byId("name").textContent = run.name || "Troupe";
  const phase = run.ending || run.phase;
  byId("phase").textContent = phase.replace("_", " ");
  byId("phase").className = "phase " + phase;
  byId("folder").textContent = run.folder;
  const share = run.last_step ? Math.min(1, run.step / run.last_step) : 0;
  byId("bar").hidden = !run.last_step;
  byId("bar").setAttribute("aria-valuenow", Math.round(share * 100));
  byId("done").style.width = `${share * 100}%`;
  byId("progress").textContent = [
    `epoch ${run.epoch}` + (run.max_epochs ? ` of ${run.max_epochs}` : ""),
    `step ${run.step}` + (run.last_step ? ` of ${run.last_step} (${Math.floor(share * 100)} %)` : ""),
    `running for ${duration(run.time - run.started)}`].join("  ·  ");
}

function showTiles(run) {
  const tiles = [["Time left", run.phase === "ended" ? "ended" : duration(run.seconds_left)], ["Loss of the epoch", short(run.epoch_loss)],
    ["Steps per second", short(run.steps_per_second)], ["Samples per second", short(run.samples_per_second)]];
  const score = run.scores.at(-1);
  const metric = score && Object.keys(score).find((key) => key.startsWith("valid/") && key !== "valid/loss");
  if (metric) tiles.push([metric, short(score[metric])]);
  if (run.gradients && run.gradients.applied) tiles.push(["Mean staleness", short(run.gradients.mean_staleness)]);
  tiles.push(["Last checkpoint", run.checkpoint ? `step ${run.checkpoint.step}` : "none"]);
  byId("tiles").replaceChildren(...tiles.map(([label, value]) => {
    const tile = element("div", "tile");
    tile.append(element("div", "label", label), element("div", "value", value));
    return tile;
  }));
}

function chart(title) {
  if (!charts.has(title)) charts.set(title, new Chart(byId("charts"), title));
  return charts.get(title);
}

function showCharts(run) {
  const groups = new Map([["loss", []]]);  // by what stands behind the "/"
  for (const key of new Set(run.scores.flatMap((score) => Object.keys(score)))) {
    if (!key.includes("/")) continue;
    const what = key.slice(key.indexOf("/") + 1);
    if (!groups.has(what)) groups.set(what, []);
    groups.get(what).push({ name: key, points: run.scores.filter((score) => key in score).map((score) => [score.step, score[key]]) });
  }
  groups.get("loss").push({ name: "single steps", points: run.losses, faint: true });
  for (const [what, curves] of groups) chart(what[0].toUpperCase() + what.slice(1) + " by step").show(curves);
}

// Returns a bar of the parts, each [what, amount, number of its colour], and its legend.
function shares(parts, format) {
  const all = parts.reduce((sum, part) => sum + part[1], 0) || 1;
  const bar = element("div", "stack"), legend = element("ul", "legend");
  parts.forEach(([what, amount, colour]) => {
    if (amount / all > 0.001) {
      const piece = element("div", "k" + colour);
      piece.style.flexGrow = amount / all;
      piece.style.flexBasis = "0";
      piece.title = `${what}: ${format(amount)}`;
      bar.append(piece);
    }
    const item = element("li");
    item.append(element("span", "swatch k" + colour), `${what} ${(100 * amount / all).toFixed(1)} %`);
    legend.append(item);
  });
  return [bar, legend];
}

function showSpent(run) {
  const [bar, legend] = shares(Object.entries(run.spent).map(([what, seconds], i) => [what, seconds, i]), duration);
  const queue = run.input;
  if (queue) legend.append(element("li", "", `${queue.batches_ready} of ${queue.batches_most} batches ready`));
  byId("spent").replaceChildren(bar, legend);
}

function showSteps(run) {
  const devices = run.devices || [], shown = 3;
  byId("steps-card").hidden = devices.length === 0;
  byId("steps").replaceChildren(...devices.flatMap((device) => {
    const parts = device.ops.slice(0, shown).map((op, i) => [op.op, op.us, i]);
    parts.push(["other ops", device.ops.slice(shown).reduce((sum, op) => sum + op.us, 0), 3],
      ["waiting for others", device.waiting_us + device.outside_us, 4], ["between ops", device.between_nodes_us, 5]);
    return [element("h3", "", `${shortDevice(device.device)}: ${short(device.step_us / 1000)} ms`),
      ...shares(parts, (us) => `${short(us / 1000)} ms`)];
  }));
}

function showNodes(run) {
  byId("nodes-card").hidden = run.nodes.length === 0;
  byId("nodes").replaceChildren(...run.nodes.map((node) => {
    const row = element("tr");
    row.append(element("td", "", shortTask(node.task)), element("td", node.linked ? "up" : "down", node.linked ? "linked" : "missing"),
      element("td", "", node.linked ? node.transport : node.problem),
      element("td", "", `${node.cores.toFixed(2)} cores`),
      element("td", "", `${short(node.sent_bytes_per_second / 1e6)} MB/s`),
      element("td", "", `${short(node.received_bytes_per_second / 1e6)} MB/s`),
      element("td", "", `${short(node.unsent_bytes / 1e6)} MB`), element("td", "", String(node.restarts)),
      element("td", "", node.linked ? "now" : node.last_seen ? timeOfDay(node.last_seen) : "never"));
    return row;
  }));
}

function showNotes(run) {
  byId("notes-card").hidden = run.notes.length === 0;
  const list = byId("notes"), atEnd = list.scrollTop + list.clientHeight >= list.scrollHeight - 8;
  list.replaceChildren(...run.notes.map((note) => {
    const item = element("li");
    item.append(element("time", "", timeOfDay(note.time)), element("span", "", note.text));
    return item;
  }));
  if (atEnd) list.scrollTop = list.scrollHeight;
}

function show(run) {
  lastHeard = Date.now();
  ended = run.phase === "ended";
  for (const part of [showHead, showTiles, showCharts, showSpent, showSteps, showNodes, showNotes]) part(run);
  if (started === run.folder) return;
  started = run.folder;
  const picture = byId("graph");
  picture.onload = () => { byId("graph-card").hidden = false; };
  picture.src = "graph.svg";
}

async function begin() {
  show(await (await fetch("status")).json());
  document.body.dataset.shown = "yes";
  if (location.search === "?once") return;
  const source = new EventSource("events");
  source.onmessage = (event) => {
    const run = JSON.parse(event.data);
    show(run);
    if (run.phase === "ended") source.close();
  };
  setInterval(() => {
    if (Date.now() - lastHeard < 5000 || ended) return;
    byId("phase").textContent = "gone";
    byId("phase").className = "phase gone";
  }, 1000);
}

begin().catch((error) => { byId("progress").textContent = `the run does not answer: ${error.message}`; });
