from relevancy import hooks  # a second AppConfig in this module would be one too many for Django


class MovesConfig(hooks.OptionalApp):
    name = "relevancy.optional.moves"
    verbose_name = "Changed document ids"
