/* Sets each formula by KaTeX; where no scripts run the browser sets the MathML that stands there. */
"use strict";

(() => {
  for (const math of document.querySelectorAll(".katex > math")) {
    const source = math.querySelector("annotation").textContent;
    const set = document.createElement("span");
    katex.render(source, set, {
      displayMode: math.getAttribute("display") === "block",
      throwOnError: false,
      strict: "ignore",
    });
    math.parentElement.replaceWith(...set.childNodes);
  }
  const sought = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (sought) sought.scrollIntoView();
})();
