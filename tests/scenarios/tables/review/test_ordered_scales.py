"""Scales are put into their order, in several languages, and other categories are left as they are."""

import tomllib

import numpy as np
import pandas as pd
import pytest
from run_tools import invoke

from metrics.columns import CategoricalDomain, NumericDomain
from scenarios.tables.review.ordered_scales import gaps_in_scale, scale_places, with_scale_order

SCALES = """
strongly disagree | disagree | neutral | agree | strongly agree
Strongly Disagree | Disagree | Neither agree nor disagree | Agree | Strongly Agree
disagree strongly | disagree slightly | agree slightly | agree strongly
very dissatisfied | fairly dissatisfied | neither satisfied nor dissatisfied | fairly satisfied | very satisfied
not at all important | slightly important | moderately important | very important | extremely important
never | rarely | sometimes | often | always
never | monthly | weekly | daily
very poor | poor | fair | good | very good | excellent
much worse | worse | about the same | better | much better
low risk | medium risk | high risk
none | mild | moderate | severe
primary | secondary | bachelor | master | PhD
High school | Some college | Bachelor's degree | Master's degree | Doctorate
7th-8th | 9th | 11th | HS-grad | Some-college | Bachelors | Masters | Doctorate
Jan | Feb | Mar | Dec
January | April | September
Mon | Tue | Fri
XS | S | M | L | XL
small | medium | large
stage I | stage II | stage IV
Q1 | Q2 | Q3
<18 | 18-64 | 65+
<10k | 10k-20k | 20k-50k | 50k+
100万円未満 | 100万円〜200万円 | 200万円以上
under 18 | 18 to 64 | 65 and over
9-10 | 11-20 | 100-120
0 | 1 | 2-3 | 4+
less than 10,000 | 10,000-19,999 | 20,000 or more
1 strongly disagree | 2 disagree | 3 neutral | 10 agree
nie | selten | manchmal | immer
stimme gar nicht zu | stimme eher nicht zu | stimme eher zu | stimme voll zu
低 | 中 | 高
小 | 中 | 大
全くそう思わない | そう思わない | あまりそう思わない | どちらともいえない | ややそう思う | そう思う | とてもそう思う
非常に不満 | 不満 | やや不満 | 普通 | やや満足 | 満足 | 非常に満足
反対 | どちらかといえば反対 | どちらかといえば賛成 | 賛成
全くない | ほとんどない | たまに | 時々 | よくある | いつも
中学校 | 高校 | 専門学校 | 短大 | 大学 | 大学院
中卒 | 高卒 | 大卒
1月 | 2月 | 10月
20歳未満 | 20〜29歳 | 30〜39歳 | 40歳以上
10代 | 20代 | 30代
月 | 水 | 金
軽症 | 中等症 | 重症
1 star | 2 stars | 5 stars
★ | ★★ | ★★★★
星1つ | 星2つ | 星5つ
no children | 1 child | 2 children | 3 or more children
less than 1 year | 1-2 years | more than 5 years
1年未満 | 1〜3年 | 3年以上
never | rarely | often | daily | always
never | monthly or less | 2-4 times a month | 4 or more times a week
not at all | several days | more than half the days | nearly every day
no pain | mild pain | severe pain | worst pain
no trust | little trust | a lot of trust | full trust
definitely not | probably not | unsure | probably yes | definitely yes
1 (strongly disagree) | 2 | 3 | 5 (strongly agree)
2023Q4 | 2024Q1 | 2024Q2
2023-12 | 2024-01 | 2024-10
jamais | parfois | souvent | toujours
月1回未満 | 月1〜3回 | 週1〜2回 | 毎日
""".strip().splitlines()
OTHERS = """
red | green | blue
female | male | diverse
01000 | 01001 | 01002
ward 1 | ward 2 | ward 3
ward 1 | ward 2 | 3-4
A | B | C
d | a | n
employed | retired | pupil | none
single | married | divorced
18-24 | 20-30 | 40-50
agree | disagree | cook
satisfied | agree | neutral
often | frequently | never
1 Main Street | 2 Main Street | 3 Elm Street
none | diabetes | asthma
男 | 女 | 不明
""".strip().splitlines()


@pytest.mark.parametrize("line", SCALES)
def test_steps_of_a_scale_are_put_in_order(line):
    steps = line.split(" | ")
    for seed in range(3):
        mixed = tuple(np.random.default_rng(seed).permutation(steps).tolist())
        found = with_scale_order(CategoricalDomain(mixed, inferred=True))
        assert found.ordered
        assert list(found.categories) == steps


@pytest.mark.parametrize("line", OTHERS)
def test_other_categories_keep_their_order(line):
    assert scale_places(line.split(" | ")) is None


def test_few_categories_declared_ones_and_numbers_are_left_alone():
    for domain in (
        CategoricalDomain(("no", "yes"), inferred=True),
        CategoricalDomain(("never", "always", "often")),
        NumericDomain(0, 1, inferred=True),
    ):
        assert with_scale_order(domain) is domain
    assert scale_places([]) is None


@pytest.mark.parametrize("gap", ["don't know", "prefer not to say", "わからない", "無回答"])
def test_answers_beside_a_scale_are_named(gap):
    assert gaps_in_scale(["agree", "disagree", "neutral", gap]) == [gap]
    assert gaps_in_scale(["red", "green", "blue", gap]) == []
    assert gaps_in_scale(["agree", "disagree", "neutral"]) == []


@pytest.mark.thorough
def test_describe_proposes_the_order_and_says_what_keeps_a_scale_from_one(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    pd.DataFrame(
        {
            "trust": rng.choice(["agree", "disagree", "neutral", "strongly agree"], 200),
            "vote": rng.choice(["never", "sometimes", "always", "refused"], 200),
            "colour": rng.choice(["red", "green", "blue"], 200),
        }
    ).to_csv(tmp_path / "survey.csv", index=False)
    monkeypatch.chdir(tmp_path)
    said = invoke("describe", "survey.csv", "-o", "roles.toml").stderr
    assert "vote: an ordered scale apart from refused, which is a category; with --na refused describe" in said
    columns = tomllib.loads((tmp_path / "roles.toml").read_text())["columns"]
    assert columns["trust"]["categories"] == ["disagree", "neutral", "agree", "strongly agree"]
    assert [columns[name]["ordered"] for name in ("trust", "vote", "colour")] == [True, False, False]
    invoke("describe", "survey.csv", "-o", "roles.toml", "--force", "--na", "refused")
    assert tomllib.loads((tmp_path / "roles.toml").read_text())["columns"]["vote"]["ordered"]
    invoke("validate", "survey.csv", "--write-roles", "written.toml")
    assert tomllib.loads((tmp_path / "written.toml").read_text())["columns"]["trust"]["ordered"]
