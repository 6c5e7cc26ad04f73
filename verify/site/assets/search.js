/* Pages that tell of statements stand before the code's, whose modules are called after them. */
var Scorer = {
  score: ([page, , , , score]) => (page.startsWith("reference/") ? score / 100 : score),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
/* What is shown of a page has each formula once, as its source. */
const MATHEMATICS = /<math[^]*?<annotation[^>]*>([^]*?)<\/annotation>[^]*?<\/math>/g;
const textOf = Search.htmlToText;
Search.htmlToText = (page, anchor) => textOf(page.replace(MATHEMATICS, "$1"), anchor);
