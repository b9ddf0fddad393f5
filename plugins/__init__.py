"""Families shipped with cwboost; each uses public names only, as a third party's would."""
