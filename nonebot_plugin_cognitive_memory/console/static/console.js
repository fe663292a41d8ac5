"use strict";
// Shows the value of a slider beside it, and counts the chosen rows of a list; every page works without this file.
document.addEventListener("input", (event) => {
  const slider = event.target;
  if (slider.type === "range") {
    const shown = document.getElementById(`${slider.id}-value`);
    if (shown) shown.textContent = slider.value;
  }
});
document.addEventListener("change", (event) => {
  const box = event.target;
  if (box.dataset && box.dataset.chooses) {
    for (const one of document.querySelectorAll(`input[type=checkbox][name=${box.dataset.chooses}]`)) one.checked = box.checked;
  }
});
