from relevancy import hooks  # a second AppConfig in this module would be one too many for Django


class StudiesConfig(hooks.OptionalApp):
    name = "relevancy.optional.studies"
    verbose_name = "Studies"
