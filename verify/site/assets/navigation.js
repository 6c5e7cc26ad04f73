/* Shows the list of all pages, whose addresses are from the site's root. */
(() => {
  const root = document.documentElement.dataset.content_root;
  const sidebar = document.currentScript.parentElement;
  sidebar.innerHTML = pages;
  for (const link of sidebar.querySelectorAll("a")) link.href = root + link.getAttribute("href");
})();
