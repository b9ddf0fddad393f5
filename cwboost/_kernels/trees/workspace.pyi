TREE_CRITERIA: dict[str, int]
