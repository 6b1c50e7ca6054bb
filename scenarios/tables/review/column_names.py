"""Words in the name of a column that hint at its role."""

from __future__ import annotations

import re
from collections.abc import Sequence

# Texts that look like names of people, by their form and by common given names.

GIVEN_NAMES = frozenset((
    "aaron", "abigail", "adam", "ahmed", "aisha", "akira", "alan", "albert", "alexander", "alexandra", "ali", "alice",
    "alicia", "amanda", "amelia", "amina", "amit", "amy", "ana", "andrea", "andreas", "andrew", "angela", "anita",
    "anja", "anjali", "ann", "anna", "anne", "anthony", "antonio", "aoife", "arthur", "ashley", "ava", "barbara",
    "beatrice", "ben", "benjamin", "bernd", "betty", "birgit", "brandon", "brian", "carl", "carla", "carlos",
    "carmen", "carol", "caroline", "catherine", "charles", "chloe", "chris", "christian", "christina", "christine",
    "christopher", "claire", "clara", "claudia", "cynthia", "daisuke", "daniel", "daniela", "david", "deborah",
    "deepak", "dennis", "diana", "diego", "dieter", "dmitri", "donald", "donna", "dorothy", "edward", "elena",
    "elias", "elijah", "elizabeth", "ella", "emily", "emma", "eric", "ethan", "eva", "evelyn", "ezra", "fatima",
    "felix", "fernando", "finn", "fiona", "francesca", "francesco", "francisco", "frank", "franz", "fritz", "gabriel",
    "gary", "george", "gerhard", "giovanni", "giulia", "grace", "hana", "hannah", "hans", "harry", "haruka", "hassan",
    "heather", "heike", "heinz", "helen", "helena", "helga", "henry", "hiroshi", "hugo", "ibrahim", "ines", "ingrid",
    "irene", "isabel", "isabella", "isla", "ivan", "jack", "jacob", "jacqueline", "james", "jan", "jane", "janet",
    "jason", "javier", "jean", "jennifer", "jessica", "jin", "joan", "johannes", "john", "jonas", "jonathan", "jorge",
    "jose", "joseph", "joshua", "juan", "judith", "julia", "julie", "justin", "jürgen", "karen", "karin", "karl",
    "katherine", "kathleen", "katrin", "keiko", "kelly", "kenji", "kevin", "kimberly", "klaus", "kofi", "kumar",
    "lars", "laura", "lauren", "lena", "leo", "leon", "levi", "liam", "lily", "linda", "lisa", "louis", "louise",
    "luca", "lucas", "lucy", "luis", "lukas", "luke", "manuel", "marco", "margaret", "maria", "marie", "mark",
    "markus", "martin", "martina", "mary", "mateo", "matthew", "max", "maximilian", "megan", "mehmet", "mei",
    "melissa", "mia", "michael", "michelle", "miguel", "mohamed", "mohammad", "mohammed", "monika", "muhammad",
    "nancy", "natalia", "natalie", "nathan", "nicholas", "nicole", "nina", "noah", "nora", "olga", "oliver", "olivia",
    "omar", "oscar", "owen", "pablo", "pamela", "patricia", "patrick", "paul", "paula", "pedro", "peter", "petra",
    "philip", "pierre", "priya", "rachel", "rahul", "raj", "ralf", "raymond", "rebecca", "richard", "robert", "roger",
    "ronald", "rosa", "ruth", "ryan", "sabine", "sakura", "samantha", "samuel", "sandra", "sara", "sarah", "satoshi",
    "scott", "sean", "sebastian", "sergei", "sharon", "simon", "sofia", "sophia", "sophie", "stefan", "stephanie",
    "stephen", "steven", "susan", "susanne", "takashi", "tanja", "teresa", "theo", "theresa", "thomas", "timothy",
    "tom", "tyler", "ursula", "uwe", "valentina", "vanessa", "victor", "vincent", "walter", "wei", "werner",
    "william", "wolfgang", "yasmin", "yuki", "yuko", "yusuf", "zoe",
))  # fmt: skip
"""Common given names of several languages, in lower case; names of months, cities and countries are left out."""
_WORD = r"[^\W\d_]+(?:[-'’.][^\W\d_]+)*\.?"
_LAST_FIRST = re.compile(rf"{_WORD}(?: {_WORD}){{0,3}}, *({_WORD})(?: {_WORD}){{0,3}}")
_FIRST_LAST = re.compile(rf"(?:(?:mr|mrs|ms|dr|prof|herr|frau)\.? )?({_WORD})(?: {_WORD}){{1,3}}", re.IGNORECASE)
FORMED = 0.8
"""Share of distinct texts that have the form of a name, from which a column may hold names of people."""
GIVEN = 0.2
"""Share of distinct texts with a common given name in its place, from which a column holds names of people.

Cities, companies, streets and titles of jobs have the form, too, but few of them have a given name in that place.
"""


def look_like_people(texts: Sequence[str]) -> bool:
    """Return True if most texts read "Surname, Given" or "Given Surname", and many begin with a common given name.

    Examples
    --------
    >>> look_like_people(["Patel, Ava", "O'Neill, Leo", "Smith, John"]), look_like_people(["New York", "Los Angeles"])
    (True, False)
    """
    stripped = [text.strip() for text in texts]
    matches = [match for text in stripped if (match := _LAST_FIRST.fullmatch(text) or _FIRST_LAST.fullmatch(text))]
    if not matches or len(matches) < FORMED * len(texts):
        return False
    return sum(match[1].casefold() in GIVEN_NAMES for match in matches) >= GIVEN * len(texts)


IDENTIFIERS = frozenset((
    "id", "ids", "uid", "uuid", "guid", "ssn", "nhs", "mrn", "passport", "iban", "account", "accountnumber",
    "serial", "rowid", "rownames", "rownumber", "index", "idx", "pk", "name", "username", "login", "nickname", "email",
    "mail", "phone", "telephone", "mobile", "fax", "url", "telefon", "personalnr", "personalnummer", "kundennr",
    "kundennummer", "patientennr", "patientennummer", "ausweisnummer", "aktenzeichen", "svnr",
    *(
        f"{who}{number}"
        for who in ("versicherten", "fall", "mitglieds", "matrikel", "vertrags", "konto", "steuer", "mitarbeiter",
                    "sozialversicherungs", "telefon")
        for number in ("nr", "nummer")
    ),
    *(
        f"{who}{number}"
        for who in ("patient", "case", "customer", "client", "member", "employee", "student", "subject", "policy",
                    "contract", "account", "record", "hospital", "participant", "respondent", "person", "insurance")
        for number in ("no", "nr", "num", "number", "code", "key", "ref")
    ),
))  # fmt: skip
NAMES = frozenset((
    "fullname", "forename", "forenames", "firstname", "givenname", "middlename", "surname", "lastname", "familyname",
    "maidenname", "streetaddress", "nachname", "vorname", "vornamen", "familienname", "geburtsname", "anschrift",
    "strasse", "straße", "hausnummer",
))  # fmt: skip
NAMES_JAPANESE = ("氏名", "姓名", "フリガナ", "ふりがな", "番地")
IDENTIFIERS_JAPANESE = (
    "名前", "識別", "ＩＤ", "連番", "通し番号", "整理番号", "管理番号",
    "受付番号", "社員番号", "会員番号", "顧客番号", "患者番号", "症例番号",
    "カルテ番号", "被保険者番号", "学籍番号", "個人番号", "マイナンバー", "旅券", "電話",
    "メール", "口座",
)  # fmt: skip
PERSONS = frozenset((
    "person", "patient", "customer", "client", "employee", "staffmember", "student", "pupil", "applicant", "claimant",
    "policyholder", "accountholder", "beneficiary", "tenant", "resident", "donor", "passenger", "kunde", "kundin",
    "mitarbeiter", "mitarbeiterin", "patientin", "schüler", "schülerin", "mieter", "mieterin", "antragsteller",
    "患者", "顧客", "社員", "従業員", "会員", "生徒", "学生", "本人", "利用者",
))  # fmt: skip
"""Words that hint at a person if they are the whole name. Beside others, as in "customer type", they do not."""
HOUSEHOLDS = frozenset((
    "household", "households", "hh", "hid", "family", "families", "haushalt", "familie", "世帯番号", "世帯", "dwelling",
    "menage",
))  # fmt: skip
HOUSEHOLDS_JAPANESE = ("世帯", "家族")
"""Words of columns that number households; beside others, as in "household size", they need a word for a number."""
HOUSEHOLD_NUMBERS = frozenset(
    f"{household}{number}"
    for household in ("household", "hh", "family", "fam", "home", "dwelling", "haushalts", "haushalt", "familien")
    for number in ("id", "no", "nr", "num", "number", "nummer", "code", "key")
)
"""Words for the number of a household, as in "Family No"; "number of families" is none."""
FREE_TEXT = frozenset((
    "note", "notes", "remark", "remarks", "comment", "comments", "memo", "bemerkung", "bemerkungen", "kommentar",
    "notiz", "notizen", "anmerkung", "anmerkungen",
))  # fmt: skip
FREE_TEXT_JAPANESE = ("備考", "メモ", "コメント", "自由記述")
SENSITIVE = frozenset((
    "salary", "salaries", "income", "wage", "wages", "earning", "earnings", "pay", "compensation", "bonus",
    "wealth", "debt", "loan", "balance", "diagnosis", "diagnoses", "disease", "illness", "sickness", "condition",
    "icd", "icd9", "icd10", "symptom", "medication", "treatment", "therapy", "hiv", "cancer", "diabetes",
    "disability", "disabled", "pregnancy", "pregnant", "abortion", "depression", "affair", "affairs", "religion",
    "religious", "faith", "politics", "political", "party", "vote", "voted", "union", "sexuality", "orientation",
    "crime", "criminal", "conviction", "convicted", "offence", "offense", "arrest", "gehalt", "lohn",
    "einkommen", "diagnose", "diagnosen", "krankheit", "konfession", "behinderung",
))  # fmt: skip
SENSITIVE_JAPANESE = (
    "給与", "給料", "年収", "月収", "収入", "所得", "賃金", "賞与", "資産", "負債", "借入", "借金", "残高",
    "病名", "疾患", "疾病", "傷病", "診断", "病歴", "症状", "既往", "治療", "投薬", "処方", "障害", "障がい", "妊娠",
    "宗教", "信仰", "信条", "思想", "支持政党", "投票", "組合", "性的指向", "犯罪", "前科", "逮捕",
)  # fmt: skip
OUTCOMES = frozenset((
    "y", "target", "outcome", "label", "class", "result", "response", "default", "churn",
))  # fmt: skip
POSTCODES = frozenset((
    "postcode", "postcodes", "postalcode", "zip", "zipcode", "zipcodes", "plz", "postleitzahl", "postleitzahlen",
))  # fmt: skip
POSTCODES_JAPANESE = ("郵便番号", "〒")
WEIGHTS = frozenset((
    "sampleweight", "samplingweight", "surveyweight", "designweight", "basicweight", "baseweight", "finalweight",
    "personweight", "householdweight", "hhweight", "populationweight", "calibrationweight", "calibratedweight",
    "fnlwgt", "finalwgt", "finalwt", "wgt", "wght", "pweight", "pwgt", "pwgtp", "wgtp", "perwt", "hhwt", "wtfinal",
    "wtperfin", "repwgt", "repwt", "dweight", "pspwght", "pweights", "statweight", "weighting", "weightfactor",
    "weightingfactor", "expansionfactor", "expfactor", "raisingfactor", "grossingfactor", "grossingupfactor",
    "inverseprobability", "ipw", "gewichtung", "hochrechnungsfaktor", "hochrechnung", "hrf", "personengewicht",
    "haushaltsgewicht", "stichprobengewicht", "designgewicht",
))  # fmt: skip
WEIGHTS_JAPANESE = ("ウェイト", "ウエイト", "乗率", "拡大係数", "調査重み", "標本重み", "抽出重み")
PERHAPS_WEIGHTS = frozenset(("weight", "weights", "wt", "w", "gewicht", "gewichte", "重み"))
"""Names of weights of a survey, or of bodies and goods."""
OUTCOMES_JAPANESE = ("目的変数", "結果", "成否")


def hints_at(name: str, words: frozenset[str], japanese: tuple[str, ...]) -> bool:
    """Return True if a name holds one of some words: an English or German word as a whole, a Japanese word anywhere.

    Examples
    --------
    >>> [hints_at(name, SENSITIVE, SENSITIVE_JAPANESE) for name in ("annualIncome", "incoming", "年収（万円）")]
    [True, False, True]
    """
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()
    parts = re.findall(r"[a-zß]+\d*", spaced)
    letters = {re.sub(r"\d+$", "", part) for part in parts}
    joined = re.sub(r"[^a-zß0-9]", "", spaced)
    return bool(words & {*parts, *letters, joined}) or any(word in name for word in japanese)


def is_called(name: str, words: frozenset[str]) -> bool:
    """Return True if the whole name of a column is one of some words in lower case.

    Examples
    --------
    >>> [is_called(name, PERSONS) for name in ("Patient", "patient type")]
    [True, False]
    """
    return name.strip().lower() in words
