// What HTML and htmx do not do by themselves. The page can be read and used without this file.
"use strict";

const one = (selector, from = document) => from.querySelector(selector);

function say(text, kind = "bad") {
  const note = document.createElement("p");
  note.className = `note ${kind}`;
  note.textContent = text;
  one("#notice").replaceChildren(...(text ? [note] : []));
}

// --- asking: Enter sends; the field is emptied only once the question has arrived
document.addEventListener("keydown", (event) => {
  const field = event.target;
  if (field.matches?.("textarea[data-send]") && event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    field.form.requestSubmit();
  }
  if (event.key === "Escape" && one("#source")?.hasChildNodes() && !one("dialog[open]")) closeSource();
  const writes = field.matches?.("input, textarea, select") || event.ctrlKey || event.metaKey || event.altKey;
  if (writes || one("dialog[open]") || localStorage.getItem("single-keys") === "off") return;
  if (event.key === "?") showShortcuts();
  if (event.key !== "/") return;
  event.preventDefault();
  if (one("#question")) one("#question").focus();
  else location.assign("/ask");
});

// Single keys can be switched off, for those who speak to their computer.
function showShortcuts() {
  if (!one("#shortcuts")) return; // nobody is signed in
  one("#single-keys").checked = localStorage.getItem("single-keys") !== "off";
  one("#shortcuts").showModal();
}
document.addEventListener("change", (event) => {
  if (event.target.id === "single-keys") localStorage.setItem("single-keys", event.target.checked ? "on" : "off");
});

document.addEventListener("htmx:afterRequest", (event) => {
  const form = event.detail.elt;
  if (!form.matches?.(".drop, .composer")) return;
  showSending(form, 0);
  if (!event.detail.successful) return;
  form.reset();
  if (form.matches(".drop")) return;
  form.elements.form.value = newKey();
  say("");
  one("#turns")?.lastElementChild?.scrollIntoView({ block: "start" });
});

// Names a form: what is sent again under the same name, after a lost connection, is the same question.
function newKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// Text that is too long is counted and refused, never cut.
document.addEventListener("input", (event) => {
  const field = event.target;
  if (!field.dataset?.most) return;
  const [length, most] = [field.value.length, Number(field.dataset.most)];
  const over = length > most;
  const counts = [length, most].map((count) => count.toLocaleString("en"));
  const text = over ? `${counts[0]} characters: at most ${counts[1]} fit. Shorten it.` : "";
  field.setCustomValidity(text);
  let note = field.parentElement.querySelector(".too-long");
  if (over && !note) {
    note = document.createElement("p");
    note.className = "note warn small too-long";
    note.setAttribute("role", "status");
    field.after(note);
  }
  if (note) note.textContent = text;
  if (!over) note?.remove();
});

// --- the server is away: say so, keep the text, try again
const AWAY = "Footnote can’t be reached.";
let retry = 0;

function serverAway(form) {
  clearTimeout(retry);
  if (!form?.matches?.(".composer")) return say(`${AWAY} Check that it is running, then try again.`);
  say(`${AWAY} Your question is kept and will be sent as soon as Footnote is back.`);
  retry = setTimeout(() => form.isConnected && form.requestSubmit(), 3000);
}

// Once the question is on its way, nothing waits to be sent.
document.addEventListener("htmx:beforeRequest", (event) => {
  if (!event.detail.elt.matches?.(".composer")) return;
  clearTimeout(retry);
  retry = 0;
});

for (const failed of ["htmx:sendError", "htmx:timeout"]) {
  document.addEventListener(failed, (event) => serverAway(event.detail.elt));
}
document.addEventListener("htmx:beforeSwap", (event) => {
  const { xhr, elt } = event.detail;
  if (xhr.status < 502 || xhr.getResponseHeader("HX-Retarget")) return;
  event.detail.shouldSwap = false; // a proxy's own page: Footnote did not answer
  serverAway(elt);
});
document.addEventListener("htmx:sseError", () => say(`${AWAY} The answer appears here once Footnote is back.`));
document.addEventListener("htmx:sseOpen", () => one("#notice .bad")?.textContent.startsWith(AWAY) && say(""));
document.addEventListener("input", (event) => {
  if (!retry || !event.target.matches("#question")) return;
  clearTimeout(retry);
  retry = 0;
  say(`${AWAY} Your question is kept. Press Enter to send it again.`);
});

// --- after something was put in its place: show it, announce it, put the focus where a person goes on
const canHover = matchMedia("(hover: hover)").matches; // elsewhere the focus would open a keyboard over the answer

function focusQuestion() {
  if (canHover && document.activeElement === document.body) one("#question")?.focus({ preventScroll: true });
}

document.addEventListener("htmx:afterSettle", (event) => {
  const { elt, target } = event.detail;
  // Words of an answer are not read out one by one as they come; the whole is, once it is there.
  const answer = elt.matches?.("[data-announce]") ? elt : one("[data-announce]");
  if (answer) {
    answer.removeAttribute("data-announce");
    one("#announce").textContent = answer.textContent.trim().slice(0, 1500);
    const turn = answer.closest("article");
    if (!turn.nextElementSibling) turn.scrollIntoView({ block: "start" });
    const choices = turn.querySelectorAll(".checkpoint");
    if (choices.length) choices[choices.length - 1].scrollIntoView({ block: "nearest" });
    focusQuestion();
  }
  if (target?.id === "source") showSource();
  if (["kb-result", "main"].includes(target?.id)) showResult(target);
});
addEventListener("DOMContentLoaded", () => one("#turns") && focusQuestion());

function showResult(place) {
  const dialog = one("dialog", place);
  if (dialog) {
    dialog.removeAttribute("open");
    dialog.showModal();
  } else {
    place.scrollIntoView({ block: "nearest" });
    place.focus({ preventScroll: true });
  }
}

// --- a source beside its answer
let openedFrom = null;
document.addEventListener("click", (event) => {
  const link = event.target.closest?.(".cite, .source-link");
  if (link) {
    one(".cite[aria-current]")?.removeAttribute("aria-current");
    if (link.matches(".cite")) link.setAttribute("aria-current", "true");
    openedFrom = link;
  }
  if (event.target.closest?.("[data-shortcuts]")) showShortcuts();
  if (event.target.closest?.("[data-close-source]")) {
    event.preventDefault();
    closeSource();
  }
});

function showSource() {
  const panel = one("#source");
  panel.focus({ preventScroll: true });
  const quote = one("#quote", panel);
  const box = one(".source-body", panel);
  const reveal = () => {
    if (!quote || !box) return;
    box.scrollLeft += quote.getBoundingClientRect().left - box.getBoundingClientRect().left - 16;
    box.scrollTop += quote.getBoundingClientRect().top - box.getBoundingClientRect().top - box.clientHeight / 3;
  };
  reveal();
  one("img", panel)?.addEventListener("load", reveal, { once: true });
}

function closeSource() {
  one("#source").replaceChildren();
  one(".cite[aria-current]")?.removeAttribute("aria-current");
  openedFrom?.focus();
}

// --- files: dropped ones are sent at once, chosen ones when the button is pressed
for (const kind of ["dragenter", "dragover", "dragleave", "drop"]) {
  document.addEventListener(kind, (event) => {
    const area = event.target.closest?.(".drop, .composer");
    if (!area) return;
    event.preventDefault();
    area.classList.toggle("over", kind === "dragenter" || kind === "dragover");
    if (kind === "drop" && event.dataTransfer.files.length) {
      one("input[type=file]", area).files = event.dataTransfer.files;
      if (area.matches(".drop")) area.requestSubmit();
      else showPicked(area);
    }
  });
}

document.addEventListener("change", (event) => event.target.type === "file" && showPicked(event.target.form));
document.addEventListener("reset", (event) => setTimeout(() => one(".picked", event.target) && showPicked(event.target)));
document.addEventListener("htmx:xhr:progress", (event) => {
  const { loaded, total } = event.detail;
  if (one(".picked:not([hidden])", event.target)) showSending(event.target, loaded / total);
});

function showPicked(form) {
  const names = [...one("input[type=file]", form).files].map((file) => file.name);
  const line = one(".picked", form);
  if (form.elements.question) form.elements.question.required = !names.length;
  line.hidden = !names.length;
  line.textContent = names.length > 1 ? `${names.length} files: ${names.join(", ")}` : names.join();
}

function showSending(form, share) {
  const bar = one(".sending", form);
  if (!bar) return;
  bar.hidden = !(share > 0 && share <= 1);
  if (share < 1) bar.value = share;
  else bar.removeAttribute("value"); // sent, and now read by the server
}
