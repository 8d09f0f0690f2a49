from relevancy import hooks  # a second AppConfig in this module would be one too many for Django


class OutcomesConfig(hooks.OptionalApp):
    name = "relevancy.optional.outcomes"
    verbose_name = "Online outcomes"
