// What plain HTML and htmx do not: send with Enter, drop files, keep the newest words in view. Everything works without.
"use strict";

document.addEventListener("keydown", (event) => {
  const field = event.target;
  if (field.matches("textarea[data-send]") && event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    field.form.requestSubmit();
  }
});
