from .attack import Attack as Attack
from .attack import Knowledge as Knowledge
from .claims import Claims as Claims
from .claims import Decisions as Decisions
from .claims import Predicates as Predicates
from .claims import RankedAnswers as RankedAnswers
from .claims import ValueClaims as ValueClaims
