"use strict";
// Filters by words and labels. All else works without it; for browsers that do not do so by themselves yet, it also
// opens what a link leads to and what is printed.
(() => {
  const form = document.getElementById("filters");
  const reveal = () => {
    const target = document.getElementById(location.hash.slice(1));
    const details = target && target.closest("article > details");
    if (details) details.open = true;
  };
  addEventListener("hashchange", reveal);
  reveal();

  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("article > details:not([open])")];
    for (const details of closed) details.open = true;
  });
  addEventListener("afterprint", () => {
    for (const details of closed) details.open = false;
  });

  if (!form) return;
  const words = document.getElementById("words");
  const found = document.getElementById("found");
  const facets = [...form.querySelectorAll(".facet")];
  const boxes = [...form.querySelectorAll("[type=checkbox]")];
  const rows = [...document.querySelectorAll("#grid tbody tr")].map((row) => {
    const body = row.dataset.of && document.getElementById(row.dataset.of);
    return {
      row,
      article: body && body.closest("article"),
      text: row.textContent.toLowerCase(),
      labels: ` ${row.dataset.labels || ""} `,
    };
  });

  const filter = () => {
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    const labels = facets.map((facet) => facet.value).filter((value) => value.trim());
    const shown = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
    let count = 0;
    for (const { row, article, text, labels: own } of rows) {
      const fits = wanted.every((word) => text.includes(word)) && labels.every((label) => own.includes(` ${label} `));
      row.hidden = !fits;
      if (article) article.hidden = !fits;
      if (fits && shown.has(row.dataset.outcome)) count += 1;
    }
    found.textContent = `${count} of ${rows.length} shown`;
  };

  let waiting = 0;
  form.addEventListener("input", () => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(filter);
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  document.getElementById("clear").addEventListener("click", () => {
    form.reset();
    filter();
    words.focus();
  });
  document.getElementById("scripted").hidden = false;
  filter();
})();
