/* Statements and guides stand before the code, whose modules are called after them, and layers. */
const ASIDE = /^(reference|implementations)\//;
var Scorer = {
  score: ([page, , , , score]) => (ASIDE.test(page) ? score / 100 : score),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
/* What is shown of a page has each formula once, as its source; of a place without text, all of it. */
const MATHEMATICS = /<math[^]*?<annotation[^>]*>([^]*?)<\/annotation>[^]*?<\/math>/g;
const textOf = Search.htmlToText;
Search.htmlToText = (page, anchor) => {
  const told = page.replace(MATHEMATICS, "$1");
  return textOf(told, anchor) || textOf(told);
};
