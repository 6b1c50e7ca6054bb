"""Finds assertions of time in the code of tests: what a clock says depends on what else the machine does."""

import ast
import re
from collections import ChainMap
from types import MappingProxyType

CLOCKS = {"monotonic", "perf_counter", "process_time", "thread_time", "time"}
CLOCKS |= {f"{name}_ns" for name in CLOCKS} | {"cpu_times", "default_timer", "times", "utcnow"}
CLOCKS_WITH_ARGUMENTS = {"getrusage", "now"}
CLOCK_IN_TEXT = re.compile(r"\b(monotonic|perf_counter|process_time|thread_time|time\.time|getrusage)(_ns)?\(")
DURATION = re.compile(r"(^|_)(seconds|elapsed|duration|runtime|took)$")
WORDS = re.compile(
    r"monotonic|perf_counter|process_time|thread_time|\btime\(\)|times\(\)|getrusage|default_timer|utcnow|now\("
    r"|seconds\b|elapsed|duration\b|runtime\b|took\b|timeout=|\.result\(\w|\.wait\(\w|settimeout"
)
"""What a module that asserts a time holds; the others need not be read."""
ORDER = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
RAISING = {"result", "settimeout"}
"""Methods that raise when the time is over that is their last argument."""
SHORTEST_PATIENCE = 60
"""Seconds that something may take on a busy machine before a test that waits for it fails."""
EXPIRED = {"Empty", "TimeoutError", "TimeoutExpired"}


def name_of(node):
    """The last name of a reference: `x` of `x`, `a.x` and `a["x"]`."""
    if isinstance(node, ast.Subscript):
        node = node.slice
    return next((getattr(node, field) for field in ("attr", "id", "value") if hasattr(node, field)), None)


def full_name(node):
    """All of a name with dots, or None for another expression."""
    if isinstance(node, ast.Attribute):
        before = full_name(node.value)
        return before and f"{before}.{node.attr}"
    return getattr(node, "id", None)


def timed(value):
    """Whether a value stems from a clock. That of a tuple is a tuple, so that one of its items can be told."""
    return any(map(timed, value)) if isinstance(value, tuple) else value


def either(first, second):
    """What is known of one value or the other."""
    if isinstance(first, tuple) and isinstance(second, tuple) and len(first) == len(second):
        return tuple(map(either, first, second))
    if timed(first) and timed(second):
        return True
    return first if timed(first) else second


class Clocked:
    """Which names of a module stem from clocks.

    Parameters
    ----------
    tree : ast.Module
        The module.
    known : dict
        What functions of other modules return, by name.
    """

    def __init__(self, tree, known):
        self.returns = dict(known)
        self.scopes = []
        self.enter(tree, {})
        # Functions may be read before those that they call.
        for _ in range(3):
            for scope, names, nodes in self.scopes:
                for node in nodes:
                    self.read(node, names, scope)

    def enter(self, scope, names):
        """Collect a module or a function and what is in it; nested functions share the names of the outermost one."""
        nodes = list(own_nodes(scope))
        self.scopes.append((scope, names, nodes))
        for node in nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                self.enter(node, names if isinstance(scope, ast.FunctionDef) else ChainMap({}, names))

    def read(self, node, names, scope):
        """Read a statement, or an expression that names something."""
        if isinstance(node, ast.arg):
            # Perhaps a fixture.
            self.bind(ast.Name(node.arg), self.returns.get(node.arg, False), names)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                self.bind(target, self.value(node.value, names), names)
        elif isinstance(node, ast.AnnAssign | ast.AugAssign | ast.NamedExpr) and node.value:
            self.bind(node.target, self.value(node.value, names), names)
        elif isinstance(node, ast.For | ast.comprehension):
            self.bind(node.target, timed(self.value(node.iter, names)), names)
        elif isinstance(node, ast.withitem) and node.optional_vars:
            self.bind(node.optional_vars, self.value(node.context_expr, names), names)
        elif isinstance(node, ast.Return | ast.Yield) and node.value and hasattr(scope, "name"):
            value = self.value(node.value, names)
            self.returns[scope.name] = either(self.returns.get(scope.name, False), value)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "append":
            self.bind(node.func.value, any(timed(self.value(one, names)) for one in node.args), names)

    def bind(self, target, value, names):
        """Let a target have a value."""
        if isinstance(target, ast.Tuple | ast.List):
            whole = isinstance(value, tuple) and len(value) == len(target.elts)
            for place, part in enumerate(target.elts):
                self.bind(part, value[place] if whole else timed(value), names)
        elif isinstance(target, ast.Starred | ast.Subscript):
            self.bind(target.value, timed(value), names)
        else:
            name = full_name(target)
            if timed(value) and name:
                names[name] = either(names.get(name, False), value)

    def value(self, node, names):
        """What is known of an expression."""
        if (name := full_name(node)) in names:
            return names[name]
        if isinstance(node, ast.Tuple | ast.List):
            return tuple(self.value(one, names) for one in node.elts)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            whole, place = self.value(node.value, names), node.slice.value
            if isinstance(whole, tuple) and isinstance(place, int) and place < len(whole):
                return whole[place]
        if isinstance(node, ast.Call):
            name = name_of(node.func)
            if name in CLOCKS_WITH_ARGUMENTS or (name in CLOCKS and not node.args):
                return True
            if isinstance(node.func, ast.Name) and name in self.returns:
                return self.returns[name]
        return any(timed(self.value(child, names)) for child in ast.iter_child_nodes(node))

    def assertions(self):
        """Lines that assert a time, with what they say."""
        for _, names, nodes in self.scopes:
            for node in nodes:
                if isinstance(node, ast.Assert) and (
                    timed(self.value(node.test, names)) or orders_a_duration(node.test)
                ):
                    yield node.lineno, ast.unparse(node)
                elif isinstance(node, ast.If) and timed(self.value(node.test, names)) and fails(node.body):
                    yield node.lineno, f"if {ast.unparse(node.test)}: fails"


def own_nodes(scope):
    """Nodes of a function or a module without those of functions in it, in order."""
    for child in ast.iter_child_nodes(scope):
        yield child
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from own_nodes(child)


def orders_a_duration(test):
    """Whether a condition says that something named as a time is more or less than something."""
    for node in ast.walk(test):
        if isinstance(node, ast.Compare) and any(isinstance(one, ORDER) for one in node.ops):
            called = {one.func for one in ast.walk(node) if isinstance(one, ast.Call)}
            parts = (one for side in (node.left, *node.comparators) for one in ast.walk(side) if one not in called)
            if any(DURATION.search(str(name_of(one))) for one in parts if isinstance(one, ast.expr)):
                return True
    return False


def fails(block):
    """Whether a block raises or fails."""
    nodes = [node for statement in block for node in ast.walk(statement)]
    return any(
        isinstance(node, ast.Raise) or (isinstance(node, ast.Call) and name_of(node.func) == "fail") for node in nodes
    )


def clocks_in_texts(tree):
    """Lines of programs in texts that read a clock."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and CLOCK_IN_TEXT.search(node.value):
            yield node.lineno, "a program in a text reads a clock"


def short_waits(tree):
    """Lines that fail if something takes longer than a patience that is too short for a busy machine."""
    constants = {}
    for node in tree.body:
        if isinstance(node, ast.Assign):
            constants.update((full_name(target), number(node.value, constants)) for target in node.targets)
    asserted = {one for node in ast.walk(tree) if isinstance(node, ast.Assert) for one in ast.walk(node)}
    # An end of the patience is expected, or asked for.
    expected = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.With | ast.Try):
            heads = [item.context_expr for item in getattr(node, "items", ())]
            heads += [handler.type for handler in getattr(node, "handlers", ()) if handler.type]
            if any(name in ast.unparse(head) for head in heads for name in EXPIRED):
                expected.update(one for part in node.body for one in ast.walk(part))
        elif isinstance(node, ast.If | ast.While):
            expected.update(ast.walk(node.test))
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            expected.update(ast.walk(node))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node not in expected:
            limits = [one.value for one in node.keywords if one.arg == "timeout"]
            method = getattr(node.func, "attr", None)
            # A wait for an event fails only where its outcome is asserted.
            if method in RAISING or (method == "wait" and node in asserted):
                limits += node.args[-1:]
            for limit in limits:
                if (seconds := number(limit, constants)) is not None and seconds < SHORTEST_PATIENCE:
                    yield node.lineno, f"waits for {seconds:g} s: {ast.unparse(node)}"


def number(node, constants):
    """The number that an expression of numbers and constants of the module is, or None."""
    if isinstance(node, ast.BinOp) and type(node.op) in (ast.Mult, ast.Div):
        first, second = number(node.left, constants), number(node.right, constants)
        if first and second:
            return first * second if isinstance(node.op, ast.Mult) else first / second
    found = node.value if isinstance(node, ast.Constant) else constants.get(full_name(node))
    return found if isinstance(found, int | float) else None


def asserted_times(text, helpers=MappingProxyType({})):
    """Lines of a module that assert a time, with what they say, and what its functions return, if of a clock.

    Parameters
    ----------
    text : str
        The module.
    helpers : mapping of str
        What functions of other modules return, by module.
    """
    imported = re.findall(r"^from (\w+) import", text, re.M)
    if not WORDS.search(text) and not any(helpers.get(name) for name in imported):
        return [], {}
    tree = ast.parse(text)
    known = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module in helpers:
            returns = helpers[node.module]
            known |= {one.asname or one.name: returns[one.name] for one in node.names if one.name in returns}
    clocked = Clocked(tree, known)
    found = {*clocked.assertions(), *clocks_in_texts(tree), *short_waits(tree)}
    return sorted(found), {name: value for name, value in clocked.returns.items() if timed(value)}
