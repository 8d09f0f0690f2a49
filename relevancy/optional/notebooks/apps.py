from relevancy import hooks  # a second AppConfig in this module would be one too many for Django


class NotebooksConfig(hooks.OptionalApp):
    name = "relevancy.optional.notebooks"
    verbose_name = "Notebooks"
