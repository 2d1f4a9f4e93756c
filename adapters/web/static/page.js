// What HTML and htmx do not do by themselves: send with Enter, empty the field, say that an answer is there, lead the
// eye to a quote and back. The page can be read and used without this file.
"use strict";

const one = (selector, from = document) => from.querySelector(selector);

document.addEventListener("keydown", (event) => {
  const field = event.target;
  if (field.matches?.("textarea[data-send]") && event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    field.form.requestSubmit();
  }
  if (event.key === "Escape" && one("#source")?.hasChildNodes()) closeSource();
});

// A question that was sent leaves an empty field; one that was refused stays, so that it can be mended.
document.addEventListener("htmx:afterRequest", (event) => {
  const form = event.detail.elt;
  if (form.matches?.("form[data-clear]") && event.detail.successful) {
    form.reset();
    one("#turns")?.lastElementChild?.scrollIntoView({ block: "start" });
  }
});

// Words of the answer are not read out one by one as they come; the whole is, when it stands.
document.addEventListener("htmx:afterSettle", (event) => {
  const answer = event.detail.elt.matches?.("[data-announce]") ? event.detail.elt : one("[data-announce]");
  if (answer) {
    answer.removeAttribute("data-announce");
    one("#announce").textContent = answer.textContent.trim().slice(0, 1500);
    // What can be chosen would begin under the field to ask in, where nobody sees that anything is asked.
    const choices = answer.closest("article")?.querySelectorAll(".checkpoint");
    if (choices?.length) choices[choices.length - 1].scrollIntoView({ block: "nearest" });
  }
  if (event.detail.target?.id === "source") showSource();
});

let openedFrom = null;
document.addEventListener("click", (event) => {
  const link = event.target.closest?.(".cite, .source-link");
  if (link) {
    one(".cite[aria-current]")?.removeAttribute("aria-current");
    if (link.matches(".cite")) link.setAttribute("aria-current", "true");
    openedFrom = link;
  }
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

// Files that are dropped are sent at once; those that are chosen, when the button is pressed.
for (const kind of ["dragenter", "dragover", "dragleave", "drop"]) {
  document.addEventListener(kind, (event) => {
    const area = event.target.closest?.(".drop");
    if (!area) return;
    event.preventDefault();
    area.classList.toggle("over", kind === "dragenter" || kind === "dragover");
    if (kind === "drop" && event.dataTransfer.files.length) {
      one("input[type=file]", area).files = event.dataTransfer.files;
      area.requestSubmit();
    }
  });
}
document.addEventListener("htmx:afterRequest", (event) => {
  if (event.detail.elt.matches?.(".drop") && event.detail.successful) event.detail.elt.reset();
});
