# datasets
from .datasets import dataset_names as dataset_names
from .datasets import load as load

# tables
from .tables.dataset import Dataset as Dataset
from .tables.dataset import load_table as load_table

# games
from .games.control_group import AttributeInference as AttributeInference
from .games.candidate_file import CandidateFile as CandidateFile
from .games.classifier_membership import ClassifierMembership as ClassifierMembership
from .games.cell_downcoding import CellDowncoding as CellDowncoding
from .games.game import Game as Game
from .games.curators.indistinguishability import GraphNeighbours as GraphNeighbours
from .games.curators.indistinguishability import Indistinguishability as Indistinguishability
from .games.linked_tables import Intersection as Intersection
from .games.linked_tables import Join as Join
from .games.control_group import Linkability as Linkability
from .games.candidate_file import Membership as Membership
from .games.curators.statistics_game import Newcomer as Newcomer
from .games.pk_anonymity import PkAnonymity as PkAnonymity
from .games.pk_anonymity import PkSummary as PkSummary
from .games.pk_anonymity import summarize_pk as summarize_pk
from .games.playing import Outcome as Outcome
from .games.playing import play as play
from .games.reports import Pool as Pool
from .games.reports import Reports as Reports
from .games.curators.groups_game import SecretBits as SecretBits
from .games.curators.groups_game import SecretNumbers as SecretNumbers
from .games.table_game import SharedPeople as SharedPeople
from .games.control_group import SinglingOut as SinglingOut
from .games.sparse_ratings import SparseRatings as SparseRatings
from .games.curators.statistics_game import StatisticsMembership as StatisticsMembership
from .games.training import Training as Training
from .games.curators.groups_game import VisitingHours as VisitingHours

# Questions about the people of one play
from .games.questions.attribute_question import AttributeQuestion as AttributeQuestion
from .games.questions.person_questions import LinkQuestion as LinkQuestion
from .games.questions.person_questions import MemberQuestion as MemberQuestion
from .games.questions.question import Question as Question
from .games.questions.attribute_question import ReconstructionQuestion as ReconstructionQuestion
from .games.questions.person_questions import RowQuestion as RowQuestion
from .games.questions.person_questions import SinglingOutQuestion as SinglingOutQuestion

# Utility measures of tournaments
from .tournament.rules.measures import ComparedTables as ComparedTables
from .tournament.rules.measures import Propensity as Propensity
from .tournament.rules.measures import RankCorrelations as RankCorrelations
from .tournament.rules.measures import RecordSimilarity as RecordSimilarity
from .tournament.rules.measures import TableStatistics as TableStatistics
from .tournament.rules.measures import Tails as Tails
from .tournament.rules.measures import UtilityMeasure as UtilityMeasure
from .tournament.rules.measures import WorstTwoWay as WorstTwoWay

# studies
from .studies.emoji import Emoji as Emoji
from .studies.epsilon_audit import EpsilonAudit as EpsilonAudit
from .studies.experiment import Experiment as Experiment
from .studies.federated_curves import FederatedCurves as FederatedCurves
from .studies.linked_surveys import LinkedSurveys as LinkedSurveys
from .studies.pram_histogram import PramHistogram as PramHistogram
from .studies.sketches import Sketches as Sketches
from .studies.survey import Survey as Survey

# Audits of claimed epsilons: mechanisms run on neighbouring inputs, and lower bounds on their true epsilon
from .checks.audits.audit import Audit as Audit
from .checks.audits.audit import Neighbours as Neighbours
from .checks.audits.audit import Subject as Subject

# running
from .running.plan import Plan as Plan
from .running.plan import read_plan as read_plan

# Boards from Python: play scenarios, and read what was played
from .running.boards.board_result import BoardResult as BoardResult
from .running.boards.play_board import read_board as read_board
from .running.boards.play_board import run as run
