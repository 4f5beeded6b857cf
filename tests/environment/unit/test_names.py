"""Names: one word for one thing, and a module's interface is what other modules use of it."""

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[3]
PRODUCT = ("trackers", "tweetwatch")
# What Django and Python look up by these names.
EVERYWHERE = {
    "Command", "Migration", "Meta", "urlpatterns", "router", "logger", "register", "app_name",
    "__all__",
}  # fmt: skip
# They fit everything, so they say nothing.
RIDDLES = {
    "MOST", "AT_ONCE", "told", "tell", "found", "given", "one", "said", "shown", "Told", "Said",
}  # fmt: skip
# Clear where the whole life of the name is in sight.
FEW_LINES = 5
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
# The name of a test says which thing does or is what.
RIDDLES_OF_TESTS = re.compile(
    r"^test_(what|who|whose|it|they|these|those|one_(that|who|whose))_"
    r"|_(told|tells?|whoever|nobody|somebody|anew|meanwhile|laid|chores?|that_(is|are)_none)(_|$)"
)
# Other decorators register a function with whoever calls it.
PLAIN = {"cache", "lru_cache", "contextmanager", "asynccontextmanager"}
# Called by what imports the module by its name (`trackers.apps`), or promised to programs.
BY_NAME = {"refuse_old_databases", "make_roles", "strategy"}
DOTTED = re.compile(r"(?:trackers|tweetwatch)(?:\.\w+)+")


def trees(*folders):
    """The syntax tree of each module, by its dotted name."""
    return {name: tree for folder in folders for name, tree in trees_in(folder).items()}


@cache
def trees_in(folder):
    return {
        ".".join(path.relative_to(PROJECT).with_suffix("").parts).removesuffix(".__init__"):
        ast.parse(path.read_text())
        for path in (PROJECT / folder).rglob("*.py")
        if "migrations" not in path.parts
    }  # fmt: skip


def scripts():
    return {
        name: ast.parse((PROJECT / name).read_text()) for name in ("manage.py", "gunicorn.conf.py")
    }


def names_of(node):
    """The names that a statement of a module defines."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield node.name
        case ast.Assign() | ast.AnnAssign():
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                yield from (each.id for each in ast.walk(target) if isinstance(each, ast.Name))


def definitions():
    """The modules that define each name. The acts of the parts share their verbs on purpose."""
    modules = defaultdict(set)
    for module, tree in trees(*PRODUCT, "fakex").items():
        if module.rpartition(".")[2] == "acts" or module.startswith("fakex.tests"):
            continue
        for node in tree.body:
            for name in names_of(node):
                modules[name].add(module)
    return modules


def imports_of(tree, known):
    """Names that a module takes from those that are known, as pairs of module and name."""
    taken, aliases, attributes = set(), {}, []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if (whole := f"{node.module}.{alias.name}") in known:
                    aliases[alias.asname or alias.name] = whole
                else:
                    taken.add((node.module, alias.name))
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            attributes.append((node.value.id, node.attr))
    return taken | {(aliases.get(name), attribute) for name, attribute in attributes}


def test_a_name_is_defined_in_at_most_three_modules():
    often = {
        name: sorted(modules)
        for name, modules in definitions().items()
        if len(modules) > 3 and name not in EVERYWHERE
    }

    assert not often, "each of these is defined in more than three modules: name what differs"


def test_no_module_defines_a_name_that_says_nothing():
    riddles = {
        name: sorted(modules)
        for name, modules in definitions().items()
        if name.lstrip("_") in RIDDLES
    }

    assert not riddles


def lines_of_riddles(function):
    """The lines where each riddle stands that the function binds, as a local or a parameter."""
    lines, bound, left = defaultdict(set), set(), list(ast.iter_child_nodes(function))
    while left:
        match node := left.pop():
            case ast.Name() | ast.arg():
                name = node.id if isinstance(node, ast.Name) else node.arg
                lines[name].add(node.lineno)
                if isinstance(node, ast.arg) or isinstance(node.ctx, ast.Store):
                    bound.add(name)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                lines[node.name].add(node.lineno)
                bound.add(node.name)
                continue
        # A comprehension is a scope of its own; a short one is as clear as a short life.
        if not isinstance(node, COMPREHENSIONS) or node.end_lineno - node.lineno >= FEW_LINES:
            left += ast.iter_child_nodes(node)
    return {name: lines[name] for name in bound & RIDDLES}


def test_no_local_that_says_nothing_lives_longer_than_a_few_lines():
    riddles = [
        f"{module}:{min(lines)} {name}"
        for module, tree in trees(*PRODUCT, "tests", "fakex").items()
        for function in ast.walk(tree)
        if isinstance(function, FUNCTIONS)
        for name, lines in lines_of_riddles(function).items()
        if max(lines) - min(lines) >= FEW_LINES
    ]

    assert not riddles, "say what it is"


def test_names_used_by_no_other_module_have_an_underscore():
    everything = {**trees(*PRODUCT, "tests", "fakex"), **scripts()}
    used = {pair for tree in everything.values() for pair in imports_of(tree, everything.keys())}
    texts = [path.read_text() for part in PRODUCT for path in (PROJECT / part).rglob("*.py")]
    dotted = {name for text in texts for name in DOTTED.findall(text)}

    public = [
        f"{module}:{node.name}"
        for module, tree in trees(*PRODUCT).items()
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and not node.name.startswith("_")
        and {ast.unparse(each).partition("(")[0] for each in node.decorator_list} <= PLAIN
        and (module, node.name) not in used
        and f"{module}.{node.name}" not in dotted
        and node.name not in BY_NAME
    ]

    assert not public, "only their own module uses these"


def test_no_name_of_a_test_riddles():
    riddles = [
        f"{module}:{node.name}"
        for module, tree in trees("tests", "fakex").items()
        if not module.startswith(("tests.benchmarks", "tests.chaos"))
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
        if RIDDLES_OF_TESTS.search(node.name)
    ]

    assert not riddles, "say which thing does or is what"


def test_fields_are_documented_beside_the_field():
    """Not as a paragraph of the class. What the API answers has its words in openapi.json."""
    paragraphs = {
        f"{module}:{node.name}"
        for module, tree in trees(*PRODUCT, "fakex").items()
        if not module.startswith(("trackers.api", "trackers.bus"))
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for field in node.body
        if isinstance(field, ast.Assign | ast.AnnAssign)
        for name in names_of(field)
        if f"`{name}`: " in (ast.get_docstring(node) or "")
    }

    assert not paragraphs
