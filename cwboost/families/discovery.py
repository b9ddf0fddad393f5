"""Discovery of weak-learner families and init models through entry points.

An entry point of the group ``cwboost`` names a family, or a module that implements the hooks of
`cwboost.hookspecs`; one of the group ``cwboost.init`` names an init model. Its own name is that of
the family or model, which is therefore found without importing any other plugin.
"""

from collections.abc import Iterable, Sequence

from cwboost.families.contract import WeakLearnerFamily
from cwboost.families.init_contract import InitModel
from cwboost.families.plugin_loading import PluginRecord, other_plugins, own_plugins
from cwboost.families.registry import INIT_MODELS, WEAK_LEARNERS, FamilyError, kind_of, registry_of


def get_family(name: str) -> type[WeakLearnerFamily]:
    """Return the class of a registered family.

    Parameters
    ----------
    name : str
        Its registered name.

    Raises
    ------
    FamilyError
        (a ValueError) If no family has the name, if two have it, if it is turned off, or if the
        plugin that should bring it failed; the message has the reason, with the plugin's own error.

    Examples
    --------
    >>> from cwboost import get_family
    >>> get_family("stump")().get_params()
    {'max_bins': 256, 'max_features': None}
    """
    return WEAK_LEARNERS.get(name)


def get_init(name: str) -> type[InitModel]:
    """Return the class of a registered init model.

    Parameters
    ----------
    name : str
        Its registered name.

    Raises
    ------
    FamilyError
        (a ValueError) As for `get_family`.
    """
    return INIT_MODELS.get(name)


def distribution_of(plugin_class: type[WeakLearnerFamily | InitModel]) -> tuple[str, str] | None:
    """Return name and version of the distribution that brings a class as a plugin; None if none."""
    record = registry_of(plugin_class).find(plugin_class.name)
    if record is None or record.entry_point is None or record.plugin_class is not plugin_class:
        return None
    return record.distribution, record.version


def register_family(family_class: type[WeakLearnerFamily]) -> type[WeakLearnerFamily]:
    """Register a family under its name for the rest of the process.

    Models can then be trained with the name, saved and loaded. A program that loads such a model
    registers the family first. Ship a family for others as a plugin.

    Parameters
    ----------
    family_class : type
        A subclass of `WeakLearnerFamily` whose constructor works without arguments. A class with
        the module and qualified name of an earlier one replaces it.

    Returns
    -------
    type
        The class, so that the function serves as a decorator.

    Raises
    ------
    TypeError, ValueError
        If the class breaks the contract.
    FamilyError
        (a ValueError) If the name belongs to another family.

    Examples
    --------
    >>> import cwboost
    >>> from cwboost import StumpFamily
    >>> @cwboost.register_family
    ... class FewFeatures(StumpFamily):
    ...     name = "few_features"
    ...
    ...     def __init__(self, max_features=2):
    ...         super().__init__(max_features)
    >>> cwboost.get_family("few_features").__name__
    'FewFeatures'
    """
    WEAK_LEARNERS.register(family_class)
    return family_class


def resolve_weak_learner(spec: str | WeakLearnerFamily | Sequence) -> WeakLearnerFamily:
    """Return the family that ``weak_learner`` asks for: by name, an instance, a list of these.

    "auto" is the family "tree" with its defaults.

    `FamilyError` is raised for what cannot be used, such as an instance that breaks the contract.
    """
    if isinstance(spec, str):
        return get_family("tree" if spec == "auto" else spec)()
    if isinstance(spec, (list, tuple)) and spec:
        for member in spec:
            resolve_weak_learner(member)
        return get_family("mixed")(families=spec)
    if isinstance(spec, WeakLearnerFamily):
        try:
            WEAK_LEARNERS.examine(type(spec), spec)
        except (TypeError, ValueError) as error:
            raise FamilyError(f"weak_learner={spec!r} cannot be used: {error}") from error
        return spec
    hint = ""
    if isinstance(spec, type) and issubclass(spec, WeakLearnerFamily):
        hint = f"; pass an instance: {spec.__name__}()"
    raise TypeError(
        "weak_learner must be the name of a registered family, a WeakLearnerFamily instance, or a "
        f"list of at least one of these, got {kind_of(spec)}{hint}"
    )


def list_plugins() -> list[PluginRecord]:
    """Return a record of every family, init model and failure; imports all plugins.

    Of each kind, cwboost's own come first, then those registered at run time, then the others by
    distribution.
    """
    return [*WEAK_LEARNERS.all(), *INIT_MODELS.all()]


def refresh() -> None:
    """Forget what was discovered, so that packages installed since are found."""
    for cached in (own_plugins, other_plugins):
        cached.cache_clear()
    WEAK_LEARNERS.clear()
    INIT_MODELS.clear()


def check_capabilities(
    family: WeakLearnerFamily,
    *,
    is_sparse: bool = False,
    contains: str | None = None,
    requires: Iterable[str] = (),
) -> None:
    """Raise ValueError for a family that lacks a capability that training needs.

    `contains` says what X has besides finite numbers, and `requires` names further `Capabilities`
    that the caller relies on.
    """
    needed = dict.fromkeys(requires, "is required")
    if is_sparse:
        needed["sparse_input"] = "is needed because X is sparse"
    if contains:
        needed["missing_values"] = (
            f"is needed because X contains {contains}; impute it, for example with "
            "sklearn.impute.SimpleImputer, or use another weak learner"
        )
    members = family.members()
    for member in members:
        declared = member.capabilities
        lacking = [capability for capability in needed if not getattr(declared, capability)]
        if not lacking:
            continue
        able = sorted(
            repr(record.name)
            for record in WEAK_LEARNERS.all()
            # A mixture has what its members have.
            if record.state == "loaded"
            and getattr(record.plugin_class, "members", None) is WeakLearnerFamily.members
            and set(lacking) <= set(record.capabilities)
        )
        where = " of the mixture" if len(members) > 1 else ""
        raise ValueError(
            f"weak learner {member.name!r} ({member!r}){where} lacks a capability: "
            f"{'; '.join(f'{capability} {needed[capability]}' for capability in lacking)}. "
            f"Registered families with {' and '.join(lacking)}: {', '.join(able) or 'none'}."
        )
