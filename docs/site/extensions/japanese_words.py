"""Terms of Japanese texts, for the search index and for queries; the same split for queries in JavaScript."""

import itertools
import re
import unicodedata

LONGEST = 4
"""Number of characters of the longest Japanese term in the index. Most words are at most as long."""
JAPANESE = "々〆〇\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Kana and kanji, as a class of characters that regular expressions of both languages know."""
RUN = re.compile(f"[{JAPANESE}]+|[^\\W{JAPANESE}]+")


def runs(text: str) -> list[str]:
    """Unbroken runs of Japanese characters, and words of other letters and digits."""
    return RUN.findall(unicodedata.normalize("NFKC", text))


def is_japanese(run: str) -> bool:
    """Whether a run consists of Japanese characters."""
    return re.match(f"[{JAPANESE}]", run) is not None


def index_terms(text: str) -> list[str]:
    """All terms by which a text is found: each part of at most four Japanese characters, and the other words.

    Japanese has no spaces between words. A dictionary would divide a compound word in one way, and a reader's query in
    another.
    """
    return [
        term
        for run in runs(text)
        for term in (
            [
                run[start:end]
                for start in range(len(run))
                for end in range(start + 1, min(start + LONGEST, len(run)) + 1)
            ]
            if is_japanese(run)
            else [run]
        )
    ]


def query_terms(text: str) -> list[str]:
    """Terms that a page must contain to answer a query: neighbouring parts of at most four characters.

    They are about equally long, and do not overlap, so that the browser highlights all of them.
    """
    terms = []
    for run in runs(text):
        parts = -(-len(run) // LONGEST) if is_japanese(run) else 1
        ends = [len(run) * number // parts for number in range(parts + 1)]
        terms += [run[start:end] for start, end in itertools.pairwise(ends)]
    return terms


def names(cell: str) -> list[str]:
    """Names in a cell of the glossary, which commas, brackets or a colon separate."""
    return [name for name in (one.strip() for one in re.split("[、,：:（）()]", cell)) if name]


SCRIPT = r"""
function splitQuery(text) {
  const isJapanese = /^[JAPANESE]/u;
  return (text.normalize("NFKC").match(/[JAPANESE]+|(?:(?![JAPANESE])[\p{L}\p{N}_])+/gu) || []).flatMap((run) => {
    const parts = isJapanese.test(run) ? Math.ceil(run.length / LONGEST) : 1;
    const end = (number) => Math.floor((run.length * number) / parts);
    return Array.from({ length: parts }, (_, number) => run.slice(end(number), end(number + 1)));
  });
}

// Sphinx also lists pages that lack terms of one or two characters, and scores a term in a title like a part of a word.
Scorer.score = ([, , , , score, file, kind]) => {
  if (kind !== "text") return score;
  const { filenames, terms, titleterms } = Search._index;
  const page = filenames.indexOf(file);
  const isIn = (index, term) => [index[term]].flat().includes(page);
  const query = new URLSearchParams(window.location.search).get("q") || "";
  const wanted = splitQuery(query.toLowerCase()).filter((term) => !/^\d+$/.test(term));
  const missing = wanted.filter((term) => !isIn(terms, term) && !isIn(titleterms, term));
  return (wanted.some((term) => isIn(titleterms, term)) ? Scorer.title : score) - 100 * missing.length;
};

// Sphinx has an empty text here.
Documentation.addTranslations({
  messages: {
    "Search finished, found one page matching the search query.": ["${resultCount}件見つかりました。"],
  },
  plural_expr: "0",
});
""".replace("JAPANESE]", f"{JAPANESE}]").replace("LONGEST", str(LONGEST))
"""`query_terms` in JavaScript, the order of the pages that were found, and their number in words."""
