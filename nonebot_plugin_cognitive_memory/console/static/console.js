"use strict";
// Shows the value of a slider beside it; every page works without this file.
document.addEventListener("input", (event) => {
  const slider = event.target;
  if (slider.type === "range") {
    const shown = document.getElementById(`${slider.id}-value`);
    if (shown) shown.textContent = slider.value;
  }
});
