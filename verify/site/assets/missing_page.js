/* The root of the site is the nearest folder above this address that has the site's style. */
(() => {
  const base = document.createElement("base");
  for (let folder = new URL(".", location); ; folder = new URL("..", folder)) {
    const asked = new XMLHttpRequest();
    asked.open("HEAD", new URL("_static/site.css", folder), false); // links below wait for it
    asked.send();
    base.href = folder.href;
    if (asked.status === 200 || folder.pathname === "/") break;
  }
  document.head.append(base);
  addEventListener("DOMContentLoaded", () => {
    for (const link of document.querySelectorAll('a[href^="#"]')) {
      link.href = location.href.split("#")[0] + link.getAttribute("href");
    }
  });
})();
