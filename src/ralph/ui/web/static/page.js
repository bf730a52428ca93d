// The page works without this script; with it, what has changed is loaded again at once.
"use strict";

const state = document.getElementById("connection");
const page = document.body;
const tell = (name) => page.dispatchEvent(new Event(name));
let feed = null;

function disconnect() {
  if (feed) feed.close();
  feed = null;
}

// A browser opens few connections to one host, so only a tab that is looked at keeps one.
function connect() {
  if (document.hidden) {
    disconnect();
    return;
  }
  if (feed) return;
  feed = new EventSource(page.dataset.root + "/feed?after=" + encodeURIComponent(page.dataset.seq));
  feed.addEventListener("open", () => {
    state.textContent = "live";
  });
  feed.addEventListener("error", () => {
    // The browser tries again by itself, from the last event that it has seen, unless it is refused.
    const isOver = feed && feed.readyState === EventSource.CLOSED;
    state.textContent = isOver ? "ended: open the newest link" : "no connection, trying again";
  });
  feed.addEventListener("news", (event) => {
    page.dataset.seq = event.lastEventId;
    tell("news");
  });
}

window.addEventListener("pageshow", connect);
window.addEventListener("pagehide", disconnect);
document.addEventListener("visibilitychange", connect);
// What sessions say is in no event; and a part that was in use when news came is loaded now.
setInterval(() => {
  if (!feed || feed.readyState !== EventSource.OPEN) return;
  const part = document.getElementById("live");
  tell(isBehind && !useOf(part) ? "news" : "tick");
}, 2000);

// A part that is loaded again keeps what is open in it, focused and scrolled.
const nameOf = (one) =>
  one.id || one.getAttribute("href") || (one.form ? new URLSearchParams(new FormData(one.form)).toString() : one.parentElement.id);
const within = (part, what) => [...part.querySelectorAll(what)];
let kept = null;

let isBehind = false;

// Why a part must stay as it is: a button that is replaced while it is pressed does nothing.
function useOf(part) {
  const isWritten = (one) => one === document.activeElement || one.value !== one.defaultValue;
  if (within(part, "input:not([type=hidden]), textarea").some(isWritten)) return "waits until you have sent what you are writing";
  if (part.querySelector(":active")) return "waits";
  const chosen = getSelection();
  return !chosen.isCollapsed && chosen.containsNode(part, true) ? "waits while text is selected" : "";
}

page.addEventListener("htmx:beforeSwap", (event) => {
  const part = event.detail.target;
  if (part.dataset.live === undefined || !event.detail.shouldSwap) return;
  const focused = part.contains(document.activeElement) ? document.activeElement : null;
  const use = useOf(part);
  isBehind = use !== "";
  if (isBehind) {
    event.detail.shouldSwap = false;
    state.textContent = use;
    return;
  }
  kept = {
    focus: focused && nameOf(focused),
    open: within(part, "details[open]").map((one) => one.id),
    scrolled: within(part, ".scroll, pre").map((one) => [one.scrollLeft, one.scrollTop]),
  };
});

page.addEventListener("htmx:afterSwap", () => {
  const part = document.getElementById("live");
  if (!kept || !part) return;
  state.textContent = "live";
  within(part, "details").forEach((one) => {
    one.open = one.open || kept.open.includes(one.id);
  });
  within(part, ".scroll, pre").forEach((one, number) => {
    [one.scrollLeft, one.scrollTop] = kept.scrolled[number] || [0, 0];
  });
  const focus = kept.focus && within(part, "a, button, summary, [tabindex]").find((one) => nameOf(one) === kept.focus);
  if (focus) focus.focus({ preventScroll: true });
  kept = null;
});

const file = document.getElementById("file");
if (file) {
  file.parentElement.hidden = false;
  file.addEventListener("change", async () => {
    file.form.elements.text.value = await file.files[0].text();
  });
}

// Lines of a diff are chosen by a click, with Shift up to there; the form follows them.
let first = null;

function choose(row, isMore) {
  const form = row.closest("section").querySelector(".comment-form");
  if (!form) return;
  const isSame = (one) => first && one.dataset.path === first.dataset.path && one.dataset.side === first.dataset.side;
  if (!isMore || !isSame(row) || row.closest("table") !== first.closest("table")) first = row;
  const rows = within(row.closest("table"), "tr[data-line]");
  const [start, end] = [rows.indexOf(first), rows.indexOf(row)].sort((a, b) => a - b);
  const chosen = rows.slice(start, end + 1).filter(isSame);
  within(document, "tr.picked").forEach((one) => one.classList.remove("picked"));
  chosen.forEach((one) => one.classList.add("picked"));
  const fields = form.elements;
  fields.path.value = row.dataset.path;
  fields.side.value = row.dataset.side;
  fields.first.value = chosen[0].dataset.line;
  fields.last.value = chosen[chosen.length - 1].dataset.line;
  const place = within(document, "tr.form-here")[0] || document.createElement("tr");
  place.className = "form-here";
  const cell = place.cells[0] || place.insertCell();
  cell.colSpan = 3;
  const old = cell.querySelector(".comment-form");
  if (old && old !== form) old.home.append(old);
  form.home = form.home || form.parentElement;
  chosen[chosen.length - 1].after(place);
  cell.append(form);
  fields.text.focus({ preventScroll: true });
}

page.addEventListener("click", (event) => {
  const row = event.target.closest("tr[data-line]");
  if (row && (event.shiftKey || getSelection().isCollapsed)) choose(row, event.shiftKey);
});

// Several comments are sent together, so that one attempt answers all of them.
within(document, ".comment-form").forEach((form) => {
  const fields = form.elements;
  const drafts = [];
  const draft = () => ({
    path: decodeURIComponent(fields.path.value),
    first: Number(fields.first.value),
    last: Number(fields.last.value),
    side: fields.side.value,
    text: fields.text.value,
  });
  const more = form.querySelector(".more");
  more.hidden = false;
  more.addEventListener("click", () => {
    if (!form.reportValidity()) return;
    const one = draft();
    drafts.push(one);
    const line = document.createElement("li");
    line.textContent = `${one.path}:${one.first}-${one.last} ${one.text}`;
    form.querySelector(".drafts").append(line);
    fields.text.value = "";
    fields.text.required = false;
    form.querySelector(".main").textContent = `send ${drafts.length}`;
  });
  form.addEventListener("submit", () => {
    if (fields.text.value.trim()) drafts.push(draft());
    if (drafts.length) fields.comments.value = JSON.stringify(drafts);
  });
});
