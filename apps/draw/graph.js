"use strict";
// A click on a folded scope shows its drawing; the trail leads back. The address says which drawing is shown, for the browser's history.
const pictures = new Map([...document.querySelectorAll(".picture")].map((picture) => [picture.id, picture]));
const byScope = new Map([...pictures.values()].map((picture) => [picture.dataset.scope, picture]));
const trail = document.querySelector(".trail"), zoom = document.querySelector(".zoom");
let scale = 1;

function button(text, parent, action) {
  const made = document.createElement("button");
  made.textContent = text;
  made.addEventListener("click", action);
  parent.append(made);
}

function resize() {
  for (const svg of document.querySelectorAll(".picture svg")) {
    const width = svg.viewBox.baseVal.width * 1.33;
    svg.style.width = scale === 0 ? "100%" : `${width * scale}px`;
  }
}

function show() {
  const shown = pictures.get(location.hash.slice(1)) || pictures.get("whole");
  for (const picture of pictures.values()) picture.hidden = picture !== shown;
  trail.replaceChildren();
  const parts = shown.dataset.scope === "" ? [] : shown.dataset.scope.split("/");
  for (let i = 0; i <= parts.length; i++) {
    const picture = byScope.get(parts.slice(0, i).join("/"));
    if (picture) button(i === 0 ? "the whole graph" : parts[i - 1], trail, () => { location.hash = picture.id; });
  }
}

for (const box of document.querySelectorAll("g.folded")) {
  const target = [...box.classList].find((name) => pictures.has(name));
  if (!target) continue;
  box.classList.add("opens");
  box.addEventListener("click", () => { location.hash = target; });
}
button("−", zoom, () => { scale = Math.max(0.25, (scale || 1) / 1.25); resize(); });
button("+", zoom, () => { scale = Math.min(4, (scale || 1) * 1.25); resize(); });
button("fit", zoom, () => { scale = 0; resize(); });
window.addEventListener("hashchange", show);
resize();
show();
