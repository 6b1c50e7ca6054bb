"""What README, pages and help say of a defense is what it guarantees on a table with declared domains."""

import ast
import itertools
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import defenses
import defenses.dp
import defenses.ldp
from defenses import Microdata
from defenses.base.hierarchy import Hierarchy
from metrics.columns.domains import CategoricalDomain, NumericDomain
from scenarios.commands.defend import EPILOG
from scenarios.running.methods.methods import given_parameters

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs/site/en").rglob("*.md")),
    *sorted((ROOT / "docs/site/ja").rglob("*.md")),
]
PRIVACY = ("epsilon", "delta", "k", "l", "t")
WORDS = {"epsilon": "epsilon|ε", "delta": "delta|δ", "k": "(?<!P)k-(anonymity|匿名性)", "pk": "Pk-"}
SETTINGS = {
    "TopBottomCoding": {"share": 0.05},
    "Anatomy": {"l": 2},
    "RecordSwapping": {"columns": ["job"]},
    "RetentionReplacement": {"epsilon": 2.0},
    "OptimalRetention": {"epsilon": 2.0},
    "OptimalRetentionFromNoisyHistogram": {"epsilon_matrix": 1.0, "epsilon_release": 1.0},
}
OTHER_KINDS = {"GraphCurator", "PrivateGradientDescent", "FederatedAveraging"}
"""Their guarantees are not about a table, or need parameters that a page of words cannot give."""


def records():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, 300),
            "job": rng.choice(["a", "b", "c"], 300),
            "illness": np.repeat(list("xyz"), 100),
        }
    )
    return Microdata(
        frame,
        quasi_identifiers=("age",),
        sensitive=("illness",),
        domains={
            "age": NumericDomain(18, 90, integer=True, cuts=(40, 60)),
            "job": CategoricalDomain(("a", "b", "c")),
            "illness": CategoricalDomain(("x", "y", "z")),
        },
        hierarchies={"age": Hierarchy.from_intervals([[40, 60]], 18, 90, True)},
    )


def statement(name):
    return getattr(defenses, name)(**SETTINGS.get(name, {})).guarantee(records()).statement


def guaranteed(name, **parameters):
    guarantee = getattr(defenses, name)(**(parameters or SETTINGS.get(name, {}))).guarantee(records())
    return {word: getattr(guarantee, word) for word in (*PRIVACY, "pk")}


def defended():
    """Commands ``tokumei defend METHOD -p ...`` with a parameter of privacy, by page."""
    texts = [(path.name, path.read_text(encoding="utf-8")) for path in PAGES] + [("defend --help", EPILOG)]
    for place, text in texts:
        for line in re.findall(r"tokumei defend ([A-Z][^|#\n]*)", text):
            method, *words = shlex.split(line.rstrip(" \\"))
            given = dict(one.split("=", 1) for flag, one in itertools.pairwise(words) if flag == "-p")
            if set(given) & set(PRIVACY):
                yield pytest.param(method, given, id=f"{place}: {method} {given}")
        for method, words in re.findall(r"""-d ["']([A-Z]\w+)((?: \w+=[\w.]+)+)["']""", text):
            given = dict(one.split("=", 1) for one in words.split())
            if set(given) & set(PRIVACY):
                yield pytest.param(method, given, id=f"{place}: -d {method} {given}")


PROMISE = re.compile(r"guarantees|has a guarantee|differential(ly)? priva|差分プライバシー|を保証")
NOTHING = re.compile(r"guarantees nothing|no guarantee|without a guarantee|何も保証しない|保証はない|保証しません")
SENTENCES = re.compile(r"(?<=[.!?。])\s*|\|")


def broken_promises(text):
    """Sentences of a page that say more, or less, of the defenses that they name than these guarantee."""
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    words = {**WORDS, "epsilon": f"{WORDS['epsilon']}|differential(ly)? priva|差分プライバシー", "t": "t-closeness"}
    for sentence in SENTENCES.split(" ".join(prose.split())):
        names = {name for name in re.findall(r"`([A-Z]\w+)`", sentence) if hasattr(defenses, name)} - OTHER_KINDS
        if not PROMISE.search(sentence) and not NOTHING.search(sentence):
            continue
        said = {name for name, pattern in words.items() if re.search(pattern, sentence)} - {"delta"}
        for name in names:
            kept = {word for word, value in guaranteed(name).items() if value is not None}
            if kept if NOTHING.search(sentence) else not said <= kept or not kept:
                yield name, sentence


def constructed():
    """Defenses and mechanisms that pages audit, or construct with a parameter of privacy, and their parameters."""
    kinds = {name: getattr(room, name) for room in (defenses.ldp, defenses.dp, defenses) for name in dir(room)}
    for place in PAGES:
        text = place.read_text(encoding="utf-8")
        for name, flags in re.findall(r"tokumei audit ([A-Z]\w+)((?: -p [\w=.]+)+)", text):
            yield pytest.param(
                kinds[name], given_parameters(flags.split()[1::2]), id=f"{place.name}: audit {name}{flags}"
            )
        for name, arguments in re.findall(r"\b([A-Z]\w+)\(([^()]*)\)", text):
            if not hasattr(kinds.get(name), "guarantee"):
                continue
            try:
                call = ast.parse(f"dict({arguments})", mode="eval").body
                given = {each.arg: ast.literal_eval(each.value) for each in call.keywords}
            except (SyntaxError, ValueError):
                # Of an ellipsis or an expression, the page gives no number.
                continue
            if set(given) & set(PRIVACY):
                yield pytest.param(kinds[name], given, id=f"{place.parent.name}/{place.name}: {name}({arguments})")


def rows(page):
    """Methods and words of guarantee in the table of families of a page ``choose.md``."""
    for line in page.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if line.startswith("| **") and len(cells) == 7:
            yield re.findall(r"`(\w+)`", cells[1]), cells[2]


@pytest.mark.parametrize(("method", "given"), list(defended()))
def test_a_command_with_a_parameter_of_privacy_guarantees_it(method, given):
    stated = guaranteed(method, **given_parameters([f"{name}={text}" for name, text in given.items()]))
    for name in set(given) & set(PRIVACY):
        assert stated[name] == float(given[name]), f"{method} guarantees no {name} of {given[name]}"


@pytest.mark.parametrize(("kind", "given"), list(constructed()))
def test_a_class_constructed_with_a_parameter_of_privacy_guarantees_it(kind, given):
    made = kind(**given)
    guaranteed = made.guarantee(records()) if callable(made.guarantee) else made.guarantee
    for name in set(given) & set(PRIVACY):
        assert getattr(guaranteed, name) == given[name], f"{kind.__name__} guarantees no {name} of {given[name]}"


def test_pages_of_both_languages_construct_defenses():
    """Otherwise the test above would hold nothing."""
    assert len(list(constructed())) > 10
    assert {case.id.split("/")[0] for case in constructed()} >= {"learn", "guides"}


@pytest.mark.parametrize("language", ["en", "ja"])
def test_families_guarantee_what_the_page_says(language):
    page, seen = ROOT / f"docs/site/{language}/choose.md", 0
    for methods, words in rows(page):
        for method in set(methods) - OTHER_KINDS:
            stated, seen = guaranteed(method), seen + 1
            said = {name for name, pattern in WORDS.items() if re.search(pattern, words)}
            if "or none" in words or "またはなし" in words:
                continue
            if f"`{method}`" in words:
                # The row says of it what its statement says.
                assert statement(method)
                continue
            kept = {name for name, value in stated.items() if value is not None}
            assert said - {"delta"} <= kept, f"{page}: {method}"
            assert said or not kept, f"{page}: {method}"
    assert seen > 20


@pytest.mark.parametrize("language", ["en", "ja"])
def test_what_the_questions_recommend_guarantees_something(language):
    text = (ROOT / f"docs/site/{language}/choose.md").read_text(encoding="utf-8")
    questions = re.search(r"^1\. \*\*.*?(?=^## )", text, re.MULTILINE | re.DOTALL)[0]
    recommended = set(re.findall(r"`([A-Z]\w+)`", questions)) - OTHER_KINDS
    assert len(recommended) >= 7
    for name in recommended:
        assert any(value is not None for value in guaranteed(name).values()), f"{name} guarantees nothing"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}/{page.name}")
def test_sentences_promise_what_the_defenses_guarantee(page):
    assert list(broken_promises(page.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    ("sentence", "broken"),
    [
        ("`OptimalRetention` guarantees epsilon = 2.", {"OptimalRetention"}),
        ("Take `Mondrian`, which guarantees differential privacy.", {"Mondrian"}),
        ("`Mondrian` and `Shuffle` guarantees k-anonymity.", {"Shuffle"}),
        ("`Mondrian` guarantees nothing.", {"Mondrian"}),
        ("`RetentionReplacement` guarantees epsilon. `OptimalRetention` guarantees nothing.", set()),
        ("`OptimalRetention` は差分プライバシーを保証します。", {"OptimalRetention"}),
    ],
)
def test_a_wrong_promise_in_a_sentence_is_seen(sentence, broken):
    assert {name for name, _ in broken_promises(f"# Page\n\n{sentence}\n")} == broken


def test_a_method_without_a_guarantee_would_be_seen():
    assert guaranteed("OptimalRetention", epsilon=2.0)["epsilon"] is None
