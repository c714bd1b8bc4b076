"""Redaction: taking out of what is shown what must not be shown, after it was compared.

`rules` say what is hidden, `shapes` know secrets by what they look like, `spans` finds places in texts, `known` finds
again what was hidden elsewhere, in all `forms` that texts write it in and where only the beginning of it is shown, and
`redactor` takes it out.
"""
