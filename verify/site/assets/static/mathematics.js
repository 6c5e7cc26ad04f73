/* Sets each formula by KaTeX; where no scripts run the browser sets the MathML that stands there. */
"use strict";

const SHORT = 40; // characters of LaTeX that fit on a line of a telephone

(() => {
  for (const math of document.querySelectorAll(".katex > math")) {
    const source = math.querySelector("annotation").textContent;
    const set = document.createElement("span");
    katex.render(source, set, {
      displayMode: math.getAttribute("display") === "block",
      throwOnError: false,
      strict: "ignore",
    });
    const after = math.parentElement.nextSibling;
    const mark = /^[,.;:)?]+/.exec(after?.data ?? "");
    math.parentElement.replaceWith(mark && source.length < SHORT ? set : set.firstChild);
    if (mark && source.length < SHORT) {
      after.splitText(mark[0].length); // else a line may end between a formula and its comma
      set.className = "unbroken";
      set.append(after);
    }
  }
  const sought = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (sought) sought.scrollIntoView();
})();
